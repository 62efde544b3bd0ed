"""The page of hone profile --report in headless Chromium: it draws without an error, and agrees with the table.

python3 profile_page_test.py --hone build/dev/hone
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import chromium


class ProfilePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hone-profile-page-")
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        # Two sizes of each of m and n; the sums are as long everywhere.
        subprocess.run([options.hone, "profile", "--generate", "--device", "cpu", "--threads", "1", "-m", "16,32", "-n",
                        "24,48", "-k", "64", "--types", "f32", "--configs", "default", "--providers", "iree",
                        "--report", "profile.html", "--output", "rows.json"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        cls.file = folder / "profile.html"
        cls.rows = json.loads((folder / "rows.json").read_text())
        cls.browser = chromium.Chromium()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, **kind):
        page = self.browser.page(1280, 900, **kind)
        page.open(self.file, "")
        self.addCleanup(lambda: self.assertEqual(page.errors(), []))
        return page

    def test_table_agrees_with_json(self):
        shown = self.open().evaluate("[...document.querySelectorAll('#profile tbody tr')]"
                                     ".map(row => [...row.cells].map(cell => cell.innerText.trim()))")
        self.assertEqual(len(shown), 4)
        for cells, row in zip(shown, self.rows):
            self.assertEqual(cells[0], row["Operation"] + "_tile_config_default")
            self.assertEqual(cells[1:3], ["IREE Codegen", "SUCCESS"])
            self.assertAlmostEqual(float(cells[4]), row["GFLOPs"], delta=row["GFLOPs"] / 50)

    def test_roofline_holds_every_dispatch(self):
        page = self.open()
        page.wait("document.querySelector('.tall canvas') !== null")
        sets = page.evaluate("""Object.fromEntries(Chart.getChart(document.querySelector('.tall canvas')).data.datasets
          .map(set => [set.label, set.data.length]))""")
        self.assertEqual(sets["IREE Codegen"], 4)
        self.assertEqual(sets["f32"], 3)

    def test_heat_map_is_over_the_swept_dimensions(self):
        page = self.open()
        heads = page.evaluate("[...document.querySelectorAll('.heat th')].map(each => each.innerText.trim())")
        self.assertEqual(heads, ["m ↓ n →", "24", "48", "16", "32"])
        best = max(row["GFLOPs"] for row in self.rows)
        cells = page.evaluate("[...document.querySelectorAll('.heat td')].map(each => Number(each.innerText))")
        self.assertEqual(len(cells), 4)
        self.assertAlmostEqual(max(cells), best, delta=best / 50)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
