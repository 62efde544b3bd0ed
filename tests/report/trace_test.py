"""The trace of a real tuning: Chrome's format, slices that nest, and the sums of the time table.

python3 trace_test.py --hone build/dev/hone

With the wheel `perfetto` and its trace_processor_shell (in PATH, or named by TRACE_PROCESSOR), Perfetto's own parser
reads it too, and a query over it gives the same sums.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """func.func @product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
# The table is printed after the trace's last moment, and what passes until then is the store's.
GROWS_LATER = "search and store"


def perfetto():
    """Perfetto's reader of a file; None where it is not installed."""
    shell = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
    try:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    except ImportError:
        return None
    return shell and (lambda file: TraceProcessor(trace=str(file), config=TraceProcessorConfig(bin_path=shell)))


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hone-trace-")
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        (folder / "product.mlir").write_text(PROGRAM)
        tuned = subprocess.run([options.hone, "tune", "product.mlir", "--budget", "8s", "--threads", "1", "--json",
                                "--quiet"], cwd=folder, check=True, capture_output=True, text=True)
        cls.table = json.loads(tuned.stdout)["time_budget"]
        subprocess.run([options.hone, "report", "hone.db", "--trace", "trace.json"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        cls.file = folder / "trace.json"
        cls.wrote_page = (folder / "report.html").exists()
        cls.events = json.loads(cls.file.read_text())["traceEvents"]
        cls.slices = [event for event in cls.events if event["ph"] == "X"]

    def threads(self, end):
        named = {event["tid"] for event in self.events
                 if event["name"] == "thread_name" and event["args"]["name"].startswith(end)}
        return [event for event in self.slices if event["tid"] in named]

    def expect_the_tables_sums(self, sums):
        """`sums`: seconds by category and name; of failed compiles as ("compiling", "what failed")."""
        self.assertGreater(len(self.table), 6)
        for row in self.table:
            category = {"session": "session", "compiling": "stage"}[row["of"]]
            key = ("compiling", row["phase"]) if row["phase"] == "what failed" else (category, row["phase"])
            # A slice is in whole microseconds.
            delta = 1e-3 + 2e-6 * row["count"]
            if row["phase"] == GROWS_LATER:
                self.assertLessEqual(sums[key], row["seconds"] + delta)
            else:
                self.assertAlmostEqual(sums[key], row["seconds"], delta=delta, msg=key)

    def test_the_page_is_written_only_where_it_is_asked_for(self):
        self.assertFalse(self.wrote_page)

    def test_sums_are_those_of_the_time_table(self):
        sums = collections.Counter()
        for each in self.slices:
            sums[each["cat"], each["name"]] += each["dur"] / 1e6
            if each["args"].get("failed"):
                sums["compiling", "what failed"] += each["dur"] / 1e6
        self.expect_the_tables_sums(sums)

    def test_slices_of_a_thread_nest(self):
        by_thread = collections.defaultdict(list)
        for each in self.slices:
            by_thread[each["tid"]].append(each)
        for slices in by_thread.values():
            open_ends = []
            for each in sorted(slices, key=lambda each: (each["ts"], -each["dur"])):
                while open_ends and open_ends[-1] <= each["ts"]:
                    open_ends.pop()
                end = each["ts"] + each["dur"]
                self.assertTrue(not open_ends or end <= open_ends[-1], each)
                open_ends.append(end)

    def test_it_has_workers_device_waits_rounds_and_launches(self):
        jobs = {each["name"].split()[0] for each in self.threads("compile worker")}
        self.assertLessEqual({"candidate", "translate", "load_program", "compile_program"}, jobs)
        names = {each["name"] for each in self.threads("device")}
        self.assertLessEqual({"load", "verify", "measure", "program"}, names)
        self.assertIn("wait for compiles", {each["name"] for each in self.threads("waits")})
        self.assertTrue([name for name in names if name.startswith("round 1 of ")], names)
        launches = self.threads("launches")
        self.assertTrue(launches)
        # The flags that a CPU's search chose may name the same product "matmul_like".
        for each in launches:
            self.assertRegex(each["name"], r"^product_dispatch_0_matmul(_like)?_64x64x64_f32$")
        self.assertIn("default", {each["name"] for each in self.threads("call")})

    def test_perfetto_reads_it(self):
        reader = perfetto()
        if reader is None:
            self.skipTest("the wheel perfetto and its trace_processor_shell are not installed")
        with reader(self.file) as trace:
            self.assertEqual([row.name for row in trace.query(
                "select name from stats where severity in ('error', 'data_loss') and value > 0")], [])
            sums = collections.Counter({(row.category, row.name): row.seconds for row in trace.query(
                "select category, name, sum(dur) / 1e9 as seconds from slice group by category, name")})
            for row in trace.query("""select sum(dur) / 1e9 as seconds from slice join args using (arg_set_id)
                                      where key = 'args.failed' and int_value = 1"""):
                sums["compiling", "what failed"] = row.seconds or 0
        self.expect_the_tables_sums(sums)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
