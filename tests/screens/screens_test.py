"""What hone prints in terminals of 40, 80 and 200 columns and into a pipe: no line is wider than the terminal, the
closing screen of a tuning has at most 40 lines of 100 columns, and listings in a pipe have whole names.

  python3 tests/screens/screens_test.py --hone build/dev/hone
"""

import argparse
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = None
PROGRAM = ROOT / "examples" / "matmul_512.mlir"
MOST_LINES, MOST_COLUMNS = 40, 100


def in_terminal(columns, *arguments, folder):
    """Exit status, and the lines of stdout as a terminal of so many columns gets them."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([HONE, *map(str, arguments)], cwd=folder, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    read = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # EIO: the program has closed the terminal
            break
        if not part:
            break
        read += part
    os.close(ours)
    process.communicate()
    return process.returncode, read.decode().replace("\r\n", "\n").splitlines()


def in_pipe(*arguments, folder):
    run = subprocess.run([HONE, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    return run.returncode, run.stdout.splitlines()


def width(line):
    return sum(0 if unicodedata.combining(c) else 1 for c in line)


class Screens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hone-screens-")
        cls.at = pathlib.Path(cls.folder.name)
        cls.tuned = in_terminal(80, "tune", PROGRAM, "--budget", "5s", "--no-flags", "--no-baselines", "--out", "out",
                                folder=cls.at)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def expect_narrow(self, lines, columns):
        # A word, such as a path, that is longer than the terminal stays whole.
        wide = [line for line in lines if width(line) > columns and max(map(width, line.split())) <= columns]
        self.assertTrue(lines)
        self.assertEqual(wide, [])

    def test_a_tuning_begins_with_its_verdict_and_takes_one_screen(self):
        status, lines = self.tuned
        self.assertIn(status, (0, 1), lines)
        self.expect_narrow(lines, 80)
        self.assertLessEqual(len(lines), MOST_LINES)
        self.assertRegex(lines[0], r"^(With out/compile_flags\.txt the program ran|Nothing faster|NOT PROVED)")
        self.assertTrue(any(line.startswith("written:  ") for line in lines), lines)

    def test_a_tuning_found_again_says_the_same_into_a_pipe(self):
        status, lines = in_pipe("tune", PROGRAM, "--budget", "5s", "--no-flags", "--no-baselines", "--out", "out",
                                folder=self.at)
        self.assertIn(status, (0, 1), lines)
        self.expect_narrow(lines, MOST_COLUMNS)
        self.assertLessEqual(len(lines), MOST_LINES)

    def test_a_dry_run_says_what_it_would_cost(self):
        status, lines = in_pipe("tune", PROGRAM, "--budget", "15s", "--dry-run", "--store", "dry.db", folder=self.at)
        self.assertEqual(status, 0, lines)
        self.assertRegex(lines[0], r"^1 of 1 dispatches would be tuned \(100 % of the time\) with --budget 15s$")
        self.assertRegex("\n".join(lines), r"time: +at most 1\.\d+ min, proof included")

    def test_dispatches_fit_each_terminal(self):
        for columns in (40, 80, 200):
            status, lines = in_terminal(columns, "dispatches", ROOT / "examples" / "attention_block.mlir", folder=self.at)
            self.assertEqual(status, 0, lines)
            self.expect_narrow(lines, columns)

    def test_dispatches_have_whole_names_in_a_pipe(self):
        status, lines = in_pipe("dispatches", ROOT / "examples" / "attention_block.mlir", folder=self.at)
        self.assertEqual(status, 0)
        names = [line for line in lines if re.search(r"\S*_dispatch_\d+\S*", line)]
        self.assertTrue(names)
        self.assertFalse([line for line in names if "…" in line])

    def test_a_profile_fits(self):
        status, lines = in_terminal(80, "dispatches", PROGRAM, "--profile", "--quick", folder=self.at)
        self.assertEqual(status, 0, lines)
        self.expect_narrow(lines, 80)
        self.assertLessEqual(len(lines), MOST_LINES)

    def test_flags_begin_with_the_verdict(self):
        status, lines = in_terminal(80, "flags", PROGRAM, "--budget", "5s", "--out", "flags", "--store", "flags.db",
                                    folder=self.at)
        self.assertEqual(status, 0, lines)
        self.expect_narrow(lines, 80)
        self.assertLessEqual(len(lines), MOST_LINES)
        # Which verdict it is depends on the machine and its noise.
        self.assertRegex(lines[0], r"^(Nothing is faster than the default|.+: (faster|slower|no different), )")

    def test_a_spec_check_fits(self):
        spec = self.at / "spec.mlir"
        spec.write_text("module attributes {iree_codegen.tuning_spec_with_default_entrypoint, "
                        "transform.with_named_sequence} {\n" +
                        "".join(f"""  transform.named_sequence @match_a_product_of_a_kind_{i}(%root: !transform.any_op
      {{transform.readonly}}) -> (!transform.any_op) {{
    transform.match.operation_name %root ["linalg.conv_{i}"] : !transform.any_op
    transform.yield %root : !transform.any_op
  }}
  transform.named_sequence @apply_{i}(%op: !transform.any_op {{transform.readonly}}) {{ transform.yield }}
""" for i in range(60)) +
                        """  transform.named_sequence @__kernel_config(%root: !transform.any_op {transform.consumed})
      -> (!transform.any_op) attributes {iree_codegen.tuning_spec_entrypoint} {
    %done = transform.foreach_match in %root
      """ + ",\n      ".join(f"@match_a_product_of_a_kind_{i} -> @apply_{i}" for i in range(60)) +
                        """ : (!transform.any_op) -> !transform.any_op
    transform.yield %done : !transform.any_op
  }
}
""")
        for columns in (40, 80, 200):
            status, lines = in_terminal(columns, "spec", "check", spec, "--program", PROGRAM, folder=self.at)
            self.assertEqual(status, 1, lines)
            self.assertRegex(lines[0], r"^0 of 60 entries work ")
            self.expect_narrow(lines, columns)
            self.assertLessEqual(len(lines), MOST_LINES)
            self.assertIn("30 more (--json)", lines)

    def test_a_comparison_fits(self):
        for name in ("a.npy", "b.npy"):
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
            header += " " * (117 - len(header)) + "\n"
            (self.at / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                                         struct.pack("<4f", 1, 2, 3, 4))
        for columns in (40, 80, 200):
            status, lines = in_terminal(columns, "compare", "a.npy", "b.npy", folder=self.at)
            self.assertEqual(status, 0, lines)
            self.expect_narrow(lines, columns)


def main():
    global HONE
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", type=pathlib.Path, required=True)
    given, rest = parser.parse_known_args()
    HONE = given.hone.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
