"""The figures of bench/results and the page that scripts/benchmarks-page makes of them.

Run by ctest, or by hand: python3 tests/architecture/benchmarks_page_test.py [-v]
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
MOST_LINES, MOST_WIDTH, MOST_COLUMNS, MOST_CELL = 120, 120, 8, 30
TEXT, NUMBER = (str,), (int, float)
FIELDS = {
    "workload": TEXT,
    "machine": (str, type(None)),
    "baseline": (str, type(None)),
    "baseline_value": (*NUMBER, type(None)),
    "hone_value": (*NUMBER, type(None)),
    "unit": (str, type(None)),
    "speedup": (*NUMBER, type(None)),
    "interval": (float, list, type(None)),  # half of its width, or its two ends
    "peers": (list,),
    "date": (str, type(None)),
    "commit": (str, type(None)),
    "command": (str, type(None)),
    "shown": (bool,),
}


class BenchmarksPage(unittest.TestCase):
    def test_the_page_is_what_the_data_gives(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "scripts/benchmarks-page", "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_page_is_short_and_its_tables_are_narrow(self):
        lines = (ROOT / "docs/benchmarks.md").read_text().splitlines()
        self.assertLessEqual(len(lines), MOST_LINES)
        for line in lines:
            if not line.startswith("|"):
                self.assertLessEqual(len(line), MOST_WIDTH, line)
                continue
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            self.assertLessEqual(len(cells), MOST_COLUMNS, line)
            self.assertLessEqual(max(map(len, cells)), MOST_CELL, line)

    def test_each_figure_has_the_fields(self):
        machines = json.loads((RESULTS / "machines.json").read_text())
        for path in sorted(RESULTS.glob("*.json")):
            if path.name == "machines.json":
                continue
            for row in json.loads(path.read_text())["rows"]:
                with self.subTest(file=path.name, workload=row.get("workload")):
                    self.check(row, machines)

    def check(self, row, machines):
        for field, kinds in FIELDS.items():
            self.assertIn(field, row)
            self.assertIsInstance(row[field], kinds, field)
        self.assertIn(row["machine"], [None, *machines])
        if row["date"]:
            self.assertRegex(row["date"], r"^\d{4}-\d{2}-\d{2}$")
        if row["baseline_value"] is not None or row["hone_value"] is not None:
            self.assertTrue(row["unit"])
        if isinstance(row["interval"], list) and row["speedup"] is not None:
            low, high = row["interval"]
            self.assertLessEqual(low, row["speedup"])
            self.assertLessEqual(row["speedup"], high)
        for peer in row["peers"]:
            self.assertTrue(peer["name"])
            self.assertIn("value", peer)

    def test_figures_of_the_readme_are_in_the_data(self):
        data = " ".join(path.read_text() for path in RESULTS.glob("*.json"))
        rows = [line for line in (ROOT / "README.md").read_text().splitlines() if re.search(r"\| \d{4}-\d{2}-\d{2} \|$", line)]
        self.assertTrue(rows)
        for row in rows:
            for figure in re.findall(r"([\d.]+) (?:ms|s)\b", row):
                with self.subTest(row=row, figure=figure):
                    self.assertRegex(data, rf"(?<![\d.]){re.escape(figure)}(?:\.0)?(?![\d.])")

    def test_pages_link_to_files_and_sections_that_exist(self):
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
                name, _, section = target.partition("#")
                linked = page.parent / name if name else page
                with self.subTest(page=str(page.relative_to(ROOT)), target=target):
                    self.assertTrue(linked.exists())
                    if section:
                        self.assertIn(section, self.sections(linked))

    def sections(self, page):
        titles = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
        return [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]


if __name__ == "__main__":
    unittest.main()
