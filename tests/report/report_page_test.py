"""The HTML report in headless Chromium: it draws without an error, asks for nothing, agrees with the
store, and can be used on a phone, in the dark and without a mouse.

python3 report_page_test.py --hone build/dev/hone --make-store build/dev/tests/report_store
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import chromium

CANDIDATES = 300


def duration(seconds):
    """As hone prints it (src/base/text.h)."""
    for scale, unit in ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1, "s")):
        if seconds < 999.5 * scale:
            value = seconds / scale
            return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"
    return f"{seconds / 60:.3g} min"


def rows_of(page, table):
    """The text of a table's body cells, by row."""
    return page.evaluate(f"[...document.querySelectorAll({json.dumps(table + ' tbody tr')})]"
                         ".map(row => [...row.cells].map(cell => cell.innerText.trim()))")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hone-report-")
        folder = pathlib.Path(cls.folder.name)
        store, cls.file = folder / "hone.db", folder / "report.html"
        subprocess.run([options.make_store, store, str(CANDIDATES)], check=True)
        subprocess.run([options.hone, "report", store, "-o", cls.file], check=True, stdout=subprocess.DEVNULL)
        ask = lambda *words: json.loads(subprocess.check_output([options.hone, "store", *words]))
        cls.dispatches = ask("list", store, "--json")["dispatches"]
        cls.candidates = ask("export", store, "--format", "json")["candidates"]
        cls.browser = chromium.Chromium()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, fragment="", width=1280, height=900, **kind):
        page = self.browser.page(width, height, **kind)
        page.open(self.file, fragment)
        self.addCleanup(lambda: self.assertEqual(page.errors(), []))
        return page

    def of_dispatch(self, name):
        return [row for row in self.candidates if row["dispatch_name"] == name and row["configuration"] != "{}"]

    def test_summary_agrees_with_store_list(self):
        page = self.open()
        shown = rows_of(page, "#dispatches")
        self.assertEqual(len(shown), len(self.dispatches))
        for cells, row in zip(shown, self.dispatches):
            self.assertIn(row["dispatch"], cells[0])
            if row["tried"] == 0:
                self.assertEqual(cells[1:5], ["–"] * 4)
                continue
            self.assertEqual(cells[1], duration(row["default_seconds"]))
            self.assertEqual(cells[2], duration(row["best_seconds"]))
            self.assertEqual(cells[3], f"{row['speedup']:.2f}×")
            # hone store list counts the default too.
            self.assertEqual(int(cells[5]), row["tried"] - 1)
            self.assertEqual(int(cells[6]), row["right"] - 1)
            self.assertEqual(int(cells[7]), sum(row["failed"].values()))

    def test_begins_with_verdict_and_score(self):
        # A dispatch has 268435456 operations at 500 GFLOP/s: 0.5369 ms, its 3 MiB at 50 GB/s 0.0629 ms. Three are
        # launched once each, so the limit is 1.61 ms. (10 - 5) / (10 - 1.61) = 0.596.
        for width, height, dark, phone in ((390, 844, False, True), (768, 1024, True, False), (1280, 900, False, False)):
            page = self.open(width=width, height=height, dark=dark, phone=phone)
            first = page.evaluate("document.querySelector('main').firstElementChild.innerText").split("\n\n")
            self.assertEqual(first[:4], [
                "net.mlir",
                "2.00 ± 0.45 times faster than the compiler’s defaults",
                "95 % CI 1.60-2.50, 20 rounds, false-positive rate at most 5 %",
                "60 % of the gap between the default and the machine’s limit closed"], width)
            self.assertEqual("\n".join(first[4:]).split("\n")[:7], [
                "Default", "10.0 ms", "Chosen build", "5.00 ms", "spec", "Machine’s limit", "1.61 ms"], width)
            title, score = (page.evaluate(f"document.querySelector('{each}').getBoundingClientRect().toJSON()")
                            for each in ("#title", ".score"))
            self.assertLessEqual(title["bottom"], score["top"], width)
            self.assertLessEqual(score["bottom"], height / 2, width)
            bar = page.evaluate("document.querySelector('.gap span').offsetWidth / document.querySelector('.gap').offsetWidth")
            self.assertAlmostEqual(bar, 0.596, delta=0.005)

    def test_score_is_shown_only_if_all_of_it_is_known(self):
        page = self.open()
        score = lambda limit, more="": page.evaluate(
            "scoreOf({...programResult(report, report.programs[0]), program: {limits: [{device: 1, build: 1, "
            f"why_unknown: 'the device’s peaks were not measured', seconds: {limit}}}]}}, {more}}})")
        self.assertEqual(score("2e-3"), {"share": 5 / 8, "limit": 2e-3})
        self.assertEqual(score("null"), {"why": "the device’s peaks were not measured"})
        self.assertIn("faster than its roofline of 6.00 ms", score("6e-3")["why"])
        outcome = "run: {events: [{kind: 'verdict', text: {outcome: 'not proved', reason: ''}}]}"
        self.assertEqual(score("2e-3", outcome), {"why": "nothing was proved"})
        self.assertEqual(score("2e-3", "base: null"), {"why": "the default or the chosen build was not timed"})
        self.assertEqual(page.evaluate("scoreBlock({why: 'no whole program was timed'}).textContent"),
                         "Score: not shown, because no whole program was timed.")

    def test_verdict_is_the_runs_own(self):
        page = self.open()
        verdict = lambda outcome, reason="": page.evaluate(
            "programVerdict(report, {...programResult(report, report.programs[0]), run: {state: 'finished', "
            f"events: [{{kind: 'verdict', text: {json.dumps({'outcome': outcome, 'reason': reason})}}}]}}}})")
        self.assertEqual(verdict("nothing faster"), {"title": "Nothing faster was found",
                                                     "detail": "The default is the best of what was tried."})
        self.assertEqual(verdict("nothing faster", "two rounds are too few"),
                         {"title": "Nothing faster was proved", "detail": "Two rounds are too few."})
        self.assertEqual(verdict("repaired", "it works with O3"), {"title": "Repaired", "detail": "It works with O3."})
        self.assertEqual(verdict("not proved", "no time"), {"title": "Not proved", "detail": "No time."})
        killed = page.evaluate("programVerdict(report, {...programResult(report, report.programs[0]), best: null, "
                               "run: {state: 'interrupted', events: []}})")
        self.assertEqual(killed, {"title": "No verdict",
                                  "detail": "State of the run: interrupted. The same command continues it."})
        self.assertEqual(verdict("nothing usable", "no build runs"), {"title": "Nothing usable", "detail": "No build runs."})
        page.evaluate("report.dispatches[0].candidates.states[0] = 'wrong'")  # as the default, the first candidate
        self.assertEqual(verdict("not proved", "no time")["title"], "Wrong by default")

    def test_verdict_and_score_at_several_sizes(self):
        # (1.4 - 1.2) / 2 = 0.1 and (1.08 - 1) / 2 = 0.04. Two sizes share the 5 % of error: 97.5 % each.
        at_sizes = [{"speedup": 1.3, "speedup_low": 1.2, "speedup_high": 1.4, "rounds": 20},
                    {"speedup": 1.04, "speedup_low": 1, "speedup_high": 1.08, "rounds": 20}]
        proof = {"variant": "O3", "recommended": "O3", "recommended_in_error": 0.05,
                 "against_default": {"at_sizes": at_sizes}}
        page = self.open()
        page.evaluate(f"""(() => {{
          const program = report.programs[0], run = report.runs[0];
          program.measurements = ['default, M=1', 'O3, M=1', 'default, M=512', 'O3, M=512']
              .map(variant => ({{...program.measurements[0], variant}}));
          run.events = [{{kind: 'program proof', text: {json.dumps(proof)}}},
                        {{kind: 'compile flags', text: {{variant: 'O3, M=1', flags: []}}}}];
          globalThis.result = programResult(report, program);
        }})()""")
        self.assertEqual(page.evaluate("programVerdict(report, result)"), {
            "title": "1.30 ± 0.10 times faster at M=1, 1.04 ± 0.04 times faster at M=512 than the compiler’s defaults",
            "detail": "97.5 % CI 1.20-1.40 at M=1, 1.00-1.08 at M=512, 20 rounds, false-positive rate at most 5 %"})
        self.assertEqual(page.evaluate("scoreOf(result)"), {"why": "the program was timed at several sizes"})

    def test_summary_says_what_to_do(self):
        text = self.open().evaluate("document.querySelector('main').innerText")
        self.assertIn("iree-compile net.mlir --iree-llvmcpu-target-cpu=host --spec=out/tuning_spec.mlir", text)
        self.assertIn("hone tune net.mlir --budget 1h", text)

    def test_candidates_agree_with_store_export(self):
        page = self.open("#dispatch-0")
        page.evaluate("[...document.querySelectorAll('details')].forEach(each => { each.open = true; })")
        page.wait("document.querySelector('[aria-label^=\"All candidates\"]') !== null")
        page.evaluate("""(() => {
          const more = [...document.querySelectorAll('button')].find(each => each.textContent.startsWith('Show'));
          while (!more.hidden) more.click();
        })()""")
        shown = {int(cells[0]): cells for cells in rows_of(page, '[aria-label^="All candidates"]')}
        wanted = self.of_dispatch("net_dispatch_0")
        self.assertEqual(sorted(shown), sorted(row["candidate"] for row in wanted))
        for row in wanted:
            cells = shown[row["candidate"]]
            if row["state"] == "measured":
                self.assertEqual(cells[1], duration(row["median_seconds"]), row["candidate"])
            else:
                self.assertEqual(cells[3], row["failure_kind"])
            self.assertEqual(dict(pair.split("=") for pair in cells[4].split()),
                             {name: str(value) for name, value in json.loads(row["configuration"]).items()}
                             if isinstance(row["configuration"], str) else
                             {name: str(value) for name, value in row["configuration"].items()})

    def test_chart_holds_every_candidate(self):
        page = self.open("#dispatch-0")
        points = page.evaluate("""Object.fromEntries(Chart.getChart(document.querySelector('.tall canvas')).data.datasets
          .map(set => [set.label, set.data.length]))""")
        rows = self.of_dispatch("net_dispatch_0")
        failed = sum(row["state"] == "failed" for row in rows)
        self.assertEqual(points, {"winner": 1, "verified": len(rows) - failed - 1, "default": 2, "failed": failed})

    def test_a_knob_can_be_chosen(self):
        page = self.open("#dispatch-0")
        for knob in ("unroll", "dist_m", ""):
            page.evaluate(f"""(() => {{
              const select = document.querySelector('.choice select');
              select.value = {json.dumps(knob)};
              select.dispatchEvent(new Event('change'));
            }})()""")
            title = page.evaluate("Chart.getChart(document.querySelector('.tall canvas')).options.scales.x.title.text")
            self.assertEqual(title, knob or "order tried")

    def test_asks_for_nothing(self):
        page = self.open("#dispatch-0")
        self.assertEqual([url for url in page.requests() if not url.startswith("data:")],
                         [self.file.resolve().as_uri() + "#dispatch-0"] if any("#" in url for url in page.requests())
                         else [self.file.resolve().as_uri()])

    def test_a_compilers_words_are_text(self):
        page = self.open("#dispatch-0")
        self.assertEqual(page.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertIn("<img src=", page.evaluate("document.querySelector('.failures').innerText"))
        self.assertNotEqual(page.evaluate("document.title"), "run")

    def test_its_policy_forbids_requests(self):
        page = self.browser.page(800, 600)
        page.open(self.file)
        answer = page.evaluate("fetch('https://example.com/').then(() => 'sent', () => 'refused')")
        self.assertEqual(answer, "refused")
        self.assertTrue(any("Content Security Policy" in error for error in page.errors()), page.errors())

    def test_fits_a_phone(self):
        for fragment in ("", "#dispatch-0", "#dispatch-1", "#dispatch-2"):
            page = self.open(fragment, 390, 844, phone=True)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390, fragment)

    def test_text_is_readable_in_light_and_dark(self):
        for dark in (False, True):
            page = self.open("#dispatch-0", dark=dark)
            for ink in ("ink", "quiet", "accent", "good", "bad"):
                for ground in ("surface", "page"):
                    ratio = page.evaluate(CONTRAST.replace("INK", ink).replace("GROUND", ground))
                    self.assertGreaterEqual(ratio, 4.5, (ink, ground, dark))  # WCAG 2.1, 1.4.3

    def test_is_used_by_keyboard(self):
        page = self.open()
        page.press("Tab", 9)
        self.assertEqual(page.evaluate("document.activeElement.className"), "skip")
        page.evaluate("document.querySelector('#dispatches a').focus()")
        page.press("Enter", 13)
        page.wait("document.documentElement.dataset.shown === '0'")
        self.assertEqual(page.evaluate("document.activeElement.id"), "title")
        page.evaluate("history.back()")
        page.wait("document.documentElement.dataset.shown === 'summary'")

    def test_everything_has_a_name_for_screen_readers(self):
        for fragment in ("", "#dispatch-0"):
            page = self.open(fragment)
            nodes = page.call("Accessibility.getFullAXTree")["nodes"]
            nameless = [node["role"]["value"] for node in nodes
                        if not node["ignored"] and node["role"]["value"] in
                        ("button", "link", "combobox", "image", "img", "table", "region", "heading")
                        and not node.get("name", {}).get("value")]
            self.assertEqual(nameless, [], fragment)


CONTRAST = """(() => {
  const style = getComputedStyle(document.documentElement);
  const luminance = name => {
    const parts = style.getPropertyValue('--' + name).trim().slice(1).match(/../g).map(hex => parseInt(hex, 16) / 255)
        .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const [low, high] = [luminance('INK'), luminance('GROUND')].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
})()"""

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--make-store", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
