"""Figures of the source tree, to compare two commits by: size, places where words decide, interfaces, type names
used twice, and the walk of a candidate.

  python3 tests/architecture/house_figures.py [--places] [--interfaces] [--namesakes]
                                              [--walk BUILD --input MODEL --dispatch NAME --iree FOLDER]

Tokens are those of C++, C, CUDA and Python files below src/, outside comments. A place where words decide is one where
code of hone's own sentences (SENTENCES) compares a value that has a sentence or a composed name (WORDS) with another
text, or looks for text in it; --places lists them.

An interface is a class with a pure virtual function. Its implementations are the classes below src/ that derive from it
and are none themselves; --interfaces lists them.

A type name is used twice if headers below src/ define a class, struct, union, enumeration or alias of that name more
than once. Only types outside of others and of unnamed namespaces count; specialisations do not. --namesakes lists them.

--walk counts the functions that run more often where one candidate more is tried: BUILD is built with
HONE_COVERAGE=ON, and MODEL tuned with all CONFIGURATIONS and without the last, REPEATS times each. A function is listed
if it ran more often in each tuning with the last than in any without it: what is polled for, or runs again as a process
is started again, differs from tuning to tuning. Lambdas, constructors, destructors, operators, JSON conversions and
functions of at most three lines are left out. A template counts once. A process that is killed or ends by _exit writes
no counts, so that two calls of this differ: 402 and 472 functions were listed of one build.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*|/\*.*?\*/)', re.S)
PYTHON_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(#[^\n]*)')
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\d[\w.\']*|::|->|<=>|[<>=!+\-*/%&|^]=|&&|\|\||<<|>>|[^\s\w]')

# Whose texts are hone's own; the others read those of compilers, drivers and files.
SENTENCES = ("tune", "trial", "profiler", "output", "store", "worker", "measure", "plan", "session", "cli")
WORDS = r"(?:message|failure|verdict|reason|step|words|label|variant|without_spec|description|tolerance)"
DECIDES = [
    re.compile(rf"\b{WORDS}(?:\(\))?\s*[=!]=\s*(?:\"|k[A-Z])"),
    re.compile(rf"\b{WORDS}(?:\(\))?\.(?:starts_with|ends_with|contains|r?find)\((?!'\\n')"),
    # A whole program as compiled, by the composed name that people read.
    re.compile(r"\b(?:variants?_?|entries_of_)(?:->|\.)(?:find|timed_for|at|discard|set_aside|compile_plainly(?:_ahead)?)\("
               r"|\bvariant_of\(|\b(?:VerifiedBuild|FlagTrial|FlagSet|ProgramBuild)::name\b|\b(?:v|variant|alone->)\.?name [=!]= "),
]

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?\s*(?::(?!:)([^;{]*))?\{")
# A brace, with its namespace if it has a name, or what a class, enumeration or alias is called.
SCOPE = re.compile(
    r"\b(?P<space>namespace\s+[\w:]+\s*)\{|[{}]|\busing\s+(?P<alias>\w+)\s*="
    r"|\b(?:class|struct|union|enum(?:\s+class)?)\s+(?P<type>\w+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?(?=\{)")
PURE = re.compile(r"\bvirtual\b[^;{}]*=\s*0\s*;")

# Those who pass a candidate on from the tuner to the runner; the rest works on it.
PASSES_ON = re.compile(
    r"tune/dispatch/dispatch_(?:tuner|search|bench)|tune/services/(?:compile_service|rounds|runner_service)|^trial/"
    r"|worker/(?:compile_pool|fork_server|forking_server|job_process|runner_process|runner_jobs)"
    r"|measure/runner\.|iree/compile_worker|prepared_dispatch")
CONFIGURATIONS = 3
REPEATS = 3
LEAST_LINES = 4


def files(suffixes):
    return sorted(p for p in SRC.rglob("*") if p.suffix in suffixes and p.is_file())


def without_comments(path):
    text = path.read_text(errors="replace")
    comment = PYTHON_COMMENT if path.suffix == ".py" else COMMENT
    return comment.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[1] else m[0], text)


def size():
    sources = files({".h", ".cc", ".c", ".cu", ".py"})
    return {
        "tokens": sum(len(TOKEN.findall(without_comments(path))) for path in sources),
        "files": len(sources),
        "files of cli": sum(path.is_relative_to(SRC / "cli") for path in sources),
    }


def places():
    found = []
    for path in files({".h", ".cc"}):
        if path.relative_to(SRC).parts[0] not in SENTENCES:
            continue
        for number, line in enumerate(without_comments(path).splitlines(), 1):
            if any(pattern.search(line) for pattern in DECIDES):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def end_of_block(text, opening):
    """Where the block ends that the brace at `opening` begins."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[opening:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    return len(text)


def interfaces():
    """The classes that implement each interface: {name: names}."""
    bases, pure = collections.defaultdict(set), set()
    for path in files({".h", ".cc"}):
        text = STRING.sub("", without_comments(path))
        classes = list(CLASS.finditer(text))
        for each in classes:
            bases[each[1]] |= set(re.findall(r"(\w+)\s*(?:<[^,]*>)?\s*(?:,|$)", each[2] or ""))
        for function in PURE.finditer(text):
            around = [each for each in classes if each.end() <= function.start() < end_of_block(text, each.end() - 1)]
            pure.add(around[-1][1])

    def derives(name, other):
        return any(base == other or derives(base, other) for base in bases.get(name, ()) if base != name)

    return {each: sorted(name for name in bases if name not in pure and derives(name, each)) for each in sorted(pure)}


def namesakes():
    """The headers that define each type name defined more than once: {name: paths}."""
    defined = collections.defaultdict(list)
    for path in files({".h"}):
        around = []  # for each open block, whether it is a namespace with a name
        for found in SCOPE.finditer(STRING.sub("", without_comments(path))):
            if name := found["type"] or found["alias"]:
                if all(around):
                    defined[name].append(str(path.relative_to(ROOT)))
            elif found[0] == "}":
                around.pop()
            else:
                around.append(found["space"] is not None)
    return {name: paths for name, paths in sorted(defined.items()) if len(paths) > 1}


def counts(build, command, environment):
    """How often each function of src/ ran: {(file, name): count}."""
    for old in build.rglob("*.gcda"):
        old.unlink()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    ran = collections.Counter()
    for data in build.rglob("*.gcda"):
        read = subprocess.run(["gcov", "--json-format", "--stdout", "--demangled-names", str(data)], cwd=data.parent,
                              capture_output=True, text=True)
        for line in read.stdout.splitlines():
            for file in json.loads(line)["files"]:
                path = pathlib.Path(os.path.normpath(build / file["file"]))
                if not path.is_relative_to(SRC):
                    continue
                for function in file["functions"]:
                    lines = function["end_line"] - function["start_line"] + 1
                    name = function["demangled_name"]
                    if lines >= LEAST_LINES and is_listed(name):
                        ran[str(path.relative_to(SRC)), without_arguments(name)] += function["execution_count"]
    return ran


def is_listed(name):
    if "{lambda" in name or "operator" in name or "~" in name or "::from_json" in name or "::to_json" in name:
        return False
    path = without_arguments(name).split("::")
    return len(path) < 2 or path[-1] != path[-2]


def without_arguments(name):
    """"f" of "int f<g<int>>(int)": the instances of a template are one function."""
    name = name.replace("(anonymous namespace)::", "").split("(")[0]
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.split(" ")[-1]


def walk(build, model, dispatch, iree):
    most, least = collections.Counter(), {}  # of each function: runs without the last candidate, and with it
    for candidates in [CONFIGURATIONS - 1, CONFIGURATIONS] * REPEATS:
        with tempfile.TemporaryDirectory() as folder:
            command = [build / "hone", "tune", model, "--dispatch", dispatch, "--no-program", "--no-baselines", "--seed", "1",
                       "--candidates", str(candidates), "--budget", "10m", "--plain", "--store", f"{folder}/a.db", "--out", folder]
            ran = counts(build, command, {**os.environ, "HONE_IREE": str(iree)})
        if candidates < CONFIGURATIONS:
            most |= ran
        else:
            least = {key: min(count, ran[key]) for key, count in (least or ran).items()}
    return sorted(key for key, count in least.items() if count > most[key])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--places", action="store_true")
    parser.add_argument("--interfaces", action="store_true")
    parser.add_argument("--namesakes", action="store_true")
    parser.add_argument("--walk", type=pathlib.Path)
    parser.add_argument("--input", type=pathlib.Path)
    parser.add_argument("--dispatch")
    parser.add_argument("--iree", type=pathlib.Path)
    given = parser.parse_args()
    decided, implemented, twice = places(), interfaces(), namesakes()
    figures = {**size(), "places where words decide": len(decided), "interfaces": len(implemented),
               "interfaces with one implementation": sum(len(names) == 1 for names in implemented.values()),
               "type names used twice": len(twice)}
    if given.places:
        print("\n".join(decided))
    if given.interfaces:
        print("\n".join(f"{name}: {', '.join(names)}" for name, names in implemented.items()))
    if given.namesakes:
        print("\n".join(f"{name}: {', '.join(paths)}" for name, paths in twice.items()))
    if given.walk:
        walked = walk(given.walk.resolve(), given.input.resolve(), given.dispatch, given.iree)
        passing = [(file, name) for file, name in walked if PASSES_ON.search(file)]
        for file, name in walked:
            print(f"{file}: {name}")
        figures["calls of the walk"], figures["files of the walk"] = len(walked), len({f for f, _ in walked})
        figures["calls that pass on"], figures["files that pass on"] = len(passing), len({f for f, _ in passing})
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
