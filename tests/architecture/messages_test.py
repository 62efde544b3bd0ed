"""The rules of help and messages: each begins with a noun or a verb.

Run by ctest, or by hand: python3 -B tests/architecture/messages_test.py [-v] [Messages.test_NAME]

String literals are read from the sources. A literal that is put together at run time is judged by its beginning.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPENERS = ("what", "one", "those", "of", "that", "who")  # in small letters
HELP_OPENERS = (*OPENERS, "by")

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
HELP_CALLS = re.compile(r"\b(?:add_option|add_flag|add_flag_callback|add_subcommand|set_help_flag|group|description|"
                        r"footer|add|flag)\(")
MESSAGE_CALLS = re.compile(r"\b(?:input_error|environment_error|failure|say|print|note|warn|Error)[({]")
HELP_TABLES = re.compile(r"^constexpr (?:Example|EnvironmentVariable|ExtentFlag|Provider|RefusedFlag)\b[^;]*?= \{", re.M)


def without_comments(text):
    """The text with comments blanked, so that lines keep their numbers."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*', lambda m: m[0] if m[0][0] == '"' else "", text)


def arguments(text, start):
    """The arguments of the call or initialiser whose bracket opens before `start`, each as (position, source)."""
    depth, begin, at = 1, start, start
    while depth > 0 and at < len(text):
        if text[at] == '"':
            match = LITERAL.match(text, at)
            at = match.end() if match else at + 1
            continue
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and text[at] == ","):
            yield begin, text[begin:at]
            begin = at + 1
        at += 1


def literal(source):
    """The text of the string literals that an argument begins with; adjacent ones are one. None without."""
    source = source.lstrip()
    parts = []
    while match := LITERAL.match(source):
        parts.append(match[1])
        source = source[match.end():].lstrip()
    return "".join(parts) if parts else None


def literals(text, calls):
    """(line, text) of each literal that is an argument of one of `calls`."""
    for call in calls.finditer(text):
        for begin, source in arguments(text, call.end()):
            if (found := literal(source)) is not None:
                yield text.count("\n", 0, begin) + 1, found


def table_literals(text):
    """(line, text) of each literal in a row of a table of help texts."""
    for table in HELP_TABLES.finditer(text):
        for begin, row in arguments(text, table.end()):
            opened = row.find("{")
            for offset, source in arguments(row, opened + 1) if opened >= 0 else ():
                if (found := literal(source)) is not None:
                    yield text.count("\n", 0, begin + offset) + 1, found


def first_word(text):
    match = re.match(r"[\s\\n]*([A-Za-z]+)\b", text)
    return match[1].lower() if match else ""


def sources(folder):
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".h", ".cc"):
            yield path.relative_to(ROOT), without_comments(path.read_text())


class Messages(unittest.TestCase):
    def expect_none(self, found):
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_help_begins_with_a_noun_or_a_verb(self):
        self.expect_none([
            f"{path}:{line}: {text}" for folder in ("src/cli", "src/session") for path, source in sources(folder)
            for line, text in (*literals(source, HELP_CALLS), *table_literals(source))
            if first_word(text) in HELP_OPENERS
        ])

    def test_a_message_begins_with_a_noun_or_a_verb(self):
        self.expect_none([
            f"{path}:{line}: {text}" for path, source in sources("src")
            for line, text in literals(source, MESSAGE_CALLS)
            if first_word(text) in OPENERS
        ])

    def test_help_texts_and_messages_are_found(self):
        source = without_comments('// add_flag("--x", "of a comment")\n'
                                  'command.add_option("--top", f(1, 2), "those of " // why\n "it")->group("What");\n'
                                  'constexpr Example kExamples[] = {\n    {"man", "hone man", "one page"},\n};\n'
                                  'return input_error("what {}", "of");\n')
        found = [*literals(source, HELP_CALLS), *table_literals(source), *literals(source, MESSAGE_CALLS)]
        self.assertEqual([text for _, text in found if first_word(text) in OPENERS],
                         ["those of it", "What", "one page", "what {}", "of"])


if __name__ == "__main__":
    unittest.main()
