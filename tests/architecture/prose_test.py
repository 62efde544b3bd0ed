"""The rules of the pages: short sentences, short lines, a noun or a verb first, files that exist. Comments of
src/ begin likewise.

Run by ctest, or by hand: python3 tests/architecture/prose_test.py [-v] [Prose.test_NAME]

Code blocks, tables, headings and link targets are not prose. A span of code counts as one word.
"""

import glob
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = 25
COLUMNS = 120
OPENERS = ("What", "One", "Those", "Of", "That", "Who")

MARKER = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
FILE = re.compile(r"(?<![\w./$*<>:-])[\w.-]+(?:/[\w.*-]+)+")
# A path that begins with one of these is in the repository; any other is an output, or somebody else's.
FOLDERS = {"src", "tests", "scripts", "bench", "docs", "examples", "cmake"}
FOLDERS |= {path.name for path in (ROOT / "src").rglob("*") if path.is_dir()}
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|vs|etc)\.")


def pages():
    """Path and text of each page under the rules."""
    found = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    return [(p, p.read_text()) for p in found]


def without_targets(line):
    return re.sub(r"\]\([^)]*\)", "]", line)


def prose_lines(text):
    """(number, line) of the lines that are prose or blank; code, tables and headings are blank."""
    fenced = False
    blank = True
    code = False
    indent = 0  # of the list item that the line may belong to
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield number, ""
            continue
        if fenced or re.match(r"\s*(\||#{1,6} )", line):
            yield number, ""
            blank = True
            continue
        if not line.strip():
            yield number, ""
            blank = True
            continue
        depth = len(line) - len(line.lstrip())
        marker = MARKER.match(line)
        if depth == 0:
            indent = marker.end() if marker else 0
        if depth >= indent + 4 and (blank or code):
            code = True
            yield number, ""
            blank = False
            continue
        code = False
        blank = False
        if marker:
            indent = marker.end()
        yield number, line


def paragraphs(text):
    """(number of the first line, words as one line) of each paragraph and bullet."""
    first, parts = 0, []
    for number, line in prose_lines(text):
        marker = MARKER.match(line)
        if (not line or marker) and parts:
            yield first, " ".join(parts)
            parts = []
        if line:
            if not parts:
                first = number
            parts.append(line[marker.end():] if marker else line.strip())
    if parts:
        yield first, " ".join(parts)


def plain(paragraph):
    """The paragraph without markup; a span of code is one word."""
    paragraph = re.sub(r"`[^`]*`", "CODE", without_targets(paragraph))
    return re.sub(r"[*\[\]]", "", paragraph)


def sentences(paragraph):
    text = ABBREVIATIONS.sub(r"\1", plain(paragraph))
    return [s for s in re.split(r"(?<=[.!?])[\"')]*\s+", text) if s]


def words(sentence):
    return [w for w in sentence.split() if re.search(r"\w", w)]


def named_files(page, line):
    """(name, patterns of where it may be) of each file that the line names by a link or in a span of code. Code names
    it from the page's folder, the root or a folder of src/ on, with or without its extension; NAME is any name."""
    for link in re.findall(r"\]\(([^):#]+)[)#]", line):
        yield link, [page.parent / link]
    for name in FILE.findall(" ".join(re.findall(r"`([^`]+)`", line))):
        if name.split("/")[0] in FOLDERS:
            pattern = re.sub(r"\b[A-Z]{2,}\b", "*", name)
            folders = (page.parent, ROOT, ROOT / "src/**")
            yield name, [folder / (pattern + ending) for folder in folders for ending in ("", ".*")]


class Prose(unittest.TestCase):
    def expect_none(self, found):
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_a_sentence_has_at_most_25_words(self):
        self.expect_none([
            f"{path.relative_to(ROOT)}:{number}: {len(words(sentence))} words: {sentence}"
            for path, text in pages() for number, paragraph in paragraphs(text)
            for sentence in sentences(paragraph) if len(words(sentence)) > WORDS
        ])

    def test_a_line_has_at_most_120_columns(self):
        self.expect_none([
            f"{path.relative_to(ROOT)}:{number}: {len(without_targets(line))} columns"
            for path, text in pages() for number, line in prose_lines(text)
            if len(without_targets(line)) > COLUMNS
        ])

    def test_a_paragraph_begins_with_a_noun_or_a_verb(self):
        self.expect_none([
            f"{path.relative_to(ROOT)}:{number}: {plain(paragraph)[:60]}"
            for path, text in pages() for number, paragraph in paragraphs(text)
            if plain(paragraph).split()[:1] and plain(paragraph).split()[0].rstrip(",:.") in OPENERS
        ])

    def test_a_page_of_docs_begins_with_a_command(self):
        # scripts/docs-commands runs it.
        self.expect_none([
            str(path.relative_to(ROOT)) for path, text in pages()
            if path.parent != ROOT and "\n```sh" not in re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]
        ])

    def test_files_that_a_page_names_exist(self):
        more = [ROOT / "bench/README.md", *sorted((ROOT / "examples").rglob("README.md"))]
        self.expect_none([
            f"{path.relative_to(ROOT)}:{number}: {name}"
            for path, text in [*pages(), *((p, p.read_text()) for p in more)]
            for number, line in enumerate(text.splitlines(), 1)
            for name, patterns in named_files(path, line)
            if not any(glob.glob(str(pattern), recursive=True) for pattern in patterns)
        ])

    def test_sentences_are_told_apart(self):
        self.assertEqual([len(words(s)) for s in sentences("Two words. `a b c` is one, e.g. here (so).")], [2, 6])

    def test_a_comment_begins_with_a_noun_or_a_verb(self):
        opener = re.compile(rf"\s*//+ *({'|'.join(OPENERS)})\b")
        found = []
        for path in sorted((ROOT / "src").rglob("*")):
            if path.suffix not in (".h", ".cc", ".c", ".cu"):
                continue
            above = False  # whether the line before is a comment too
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if not above and (match := opener.match(line)):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {match[1]}")
                above = line.lstrip().startswith("//")
        self.expect_none(found)


if __name__ == "__main__":
    unittest.main()
