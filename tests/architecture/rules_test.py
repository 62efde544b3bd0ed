"""The rules of the source tree that a compiler does not check (ARCHITECTURE.md, CONTRIBUTING.md).

Run by ctest, or by hand: python3 tests/architecture/rules_test.py [-v] [Rules.test_NAME]
"""

import pathlib
import re
import runpy
import statistics
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"

# The architecture: each folder of src/ and the folders below it that it uses. It says again what
# DEPENDS in src/CMakeLists.txt says, so that a dependency is added on purpose and in two places.
FOLDERS = {
    "base": [],
    "emulator": ["base"],
    "problem": ["base"],
    "space": ["problem"],
    "search": ["space"],
    "plan": ["base"],
    "device": ["problem"],
    "device/cpu": ["device"],
    "device/gpu": ["device"],
    "device/cuda": ["device/gpu"],
    "device/hip": ["device/gpu"],
    "device/emulated": ["device", "emulator"],
    "provider": ["space", "device"],
    "provider/iree/compiler": ["provider"],
    "provider/iree/cpu": ["provider/iree/compiler"],
    "provider/iree/gpu": ["provider/iree/compiler"],
    "provider/iree/program": ["provider/iree/cpu", "provider/iree/gpu"],
    "provider/iree/spec": ["provider/iree/cpu"],
    "provider/iree/spec_upgrade": ["provider/iree/spec"],
    "provider/iree/vector": ["provider"],
    "provider/iree": ["provider/iree/program", "provider/iree/spec_upgrade", "provider/iree/vector"],
    "provider/triton": ["provider"],
    "provider/library": ["device"],
    "provider/external": ["provider"],
    "worker": ["provider"],
    "measure": ["provider", "device"],
    "store": ["space"],
    "trial": ["worker", "measure", "store"],
    "tune/services": ["plan", "search", "trial"],
    "tune/dispatch": ["tune/services"],
    "tune/program": ["tune/dispatch"],
    "tune/compare": ["tune/program"],
    "tune": ["tune/program"],
    "output": ["store", "tune", "tune/compare"],
    "profiler": ["tune/services", "output"],
    "session": ["tune", "output", "profiler", "provider/iree", "provider/triton", "provider/external", "provider/library", "device/cpu", "device/cuda", "device/hip", "device/emulated"],
    "selftest": ["session"],
    "fleet": ["plan"],
    "cli": ["session", "selftest", "fleet", "profiler", "tune", "tune/compare", "output", "provider/iree", "provider/triton", "provider/external", "provider/library", "device/cpu", "device/cuda", "device/hip"],
}

# The seams: the only classes with pure virtual functions. A Kernel is what a Device loads, a
# ProgramProvider a Provider of pieces of programs, with the SpecWriter that follows it and a
# ProgramRuntime that runs them, a RunnerTransport the way to who has the Device.
SEAMS = {"Provider", "ProgramProvider", "ProgramRuntime", "SpecWriter", "Device", "Kernel", "Library", "ListProvider", "Strategy", "WorkerPool", "CompileWorker", "RunnerTransport", "Observer", "Launcher"}

# Headers of libraries that only these folders may know.
LIBRARY_OWNERS = {"sqlite3.h": ["store"], "CLI/": ["cli"], "zstd.h": ["store"], "yaml-cpp/": ["cli", "profiler", "provider", "provider/triton"]}

# Names of libraries, compilers and vendors -> the folders whose code may say them, besides cli, which knows all. A
# further library or compiler is then a folder of its own, with folders in it or not, and a line of session/registry.cc.
OWN_NAMES = {
    "openblas": ["provider/library"],
    "onednn|dnnl": ["provider/library"],
    "cublas": ["device/cuda"],
    "hipblas": ["device/hip"],
    "(?-i:iree|Iree|IREE)": ["provider/iree", "profiler"],  # and not what "requireEqual" is made of
    "triton": ["provider/triton"],
    "ptxas": ["device/cuda"],
    "llvm": ["provider/iree", "profiler", "emulator"],
    # What its compiler is told, which is opaque to everybody else (provider/artifact.h).
    "lowering_config|translation_info|compilation_info": ["provider/iree", "profiler"],
    "nvidia": ["device/cuda", "provider/triton", "profiler"],
    # Besides the device: what code is compiled for, and its formats.
    "cuda": ["device/cuda", "problem", "profiler", "provider", "provider/iree", "provider/triton", "provider/external"],
    # Nobody asks whether a place is the host's cores: what follows from that is a trait (device/place.h).
    "kHostKind": ["device", "device/cpu"],
}
# Kinds of devices in session and cli, which know all: registered, chosen by the command line, and what belongs to one of them.
KINDS_IN_CLI = {
    "common_options.cc": "says what --device takes",
    "devices_command.cc": "shows its assembler and library",
    "doctor_software.cc": "looks for its software",
    "generate_command.cc": "reads what is generated for",
    "generate_command.h": "the old flag and its default",
    "profile_command.cc": "reads the old flag and chooses its default",
    "other_tools.cc": "the dispatch profiler's spelling of --cuda-arch",
    "places.cc": "chooses what --device names",
    "registry.cc": "registers it",
    "replacing_kernels.cc": "says what the kernels run on",
    "other_tuners_options.cc": "tune_gemm's --gpu-ids as --device",
}
# In comments too: these folders do not know that there are such libraries.
STRICT_FOLDERS = {"measure", "trial", "tune", "output", "worker", "search", "space", "store"}
STRICT_NAMES = {"openblas", "onednn|dnnl", "cublas", "hipblas"}
# What is left, each file with what it may say and why.
NAMED_ELSEWHERE = {
    "device/cpu/executable_library.h": ("iree_hal_executable_library_query", "the format that a CPU loads: IREE's"),
    "device/cpu/executable.cc": ("IREE", "the same format, in its errors"),
    "device/cuda/toolkit.cc": ("triton/backends/nvidia", "a folder of its wheel, in which NVIDIA's tools are"),
    "output/gpu_report.cc": ("what IREE emits", "a documented note of the report"),
    "output/session_report.cc": ("in IREE", "a documented column"),
    "problem/gpu_targets.cc": ("nvidia", "the table of GPUs, by their makers"),
    "provider/iree/compiler/flags_file.cc": ("cuda|NVIDIA|nvidia", "how a command's flags name a target"),
    "store/encoding.h": ("iree_runtime", "a phase that stores of today hold by this name"),
    "tune/program/program_outputs.cc": ("iree-run-module", "where the tolerance comes from, as it is printed"),
}

# What cmake/precompiled/libraries.h brings along: with the presets that use it (HONE_PCH) a file that
# lacks one of these includes compiles all the same. What a name needs -> how the name looks; any one
# of the headers will do.
HIDDEN_INCLUDES = {
    "algorithm": r"std::(?:ranges::)?(?:sort|stable_sort|find(?:_if)?(?:_not)?|(?:any|all|none)_of|count_if"
    r"|copy(?:_n|_if)?|fill(?:_n)?|transform|reverse|(?:min|max|minmax)(?:_element)?|clamp|(?:lower|upper)_bound"
    r"|partition|nth_element|shuffle|remove_if|unique|equal|rotate|sample|replace|search|mismatch)\(",
    "array": r"std::array\b",
    "atomic": r"std::atomic\b",
    "bit": r"std::(?:bit_cast|popcount|bit_width|countr_zero|has_single_bit|bit_ceil|bit_floor)\b",
    "charconv": r"std::(?:from|to)_chars\b",
    "chrono": r"std::chrono\b",
    "cmath": r"std::(?:sqrt|cbrt|log(?:2|10|1p)?|exp2?|pow|floor|ceil|trunc|l?l?round|is(?:nan|inf|finite)|hypot|fma)\(",
    "cmath cstdlib": r"std::abs\(",
    "cstdint": r"std::u?int(?:\d+|ptr|max)_t\b",
    "cstring": r"std::(?:mem(?:cpy|cmp|set|move|chr)|str(?:len|cmp|error|chr))\(",
    "filesystem": r"std::filesystem\b",
    "fmt/format.h fmt/ranges.h": r"\bfmt::",
    "fstream": r"std::[io]?fstream\b",
    "functional": r"std::(?:function|hash|greater|less|plus|multiplies)\b",
    "iterator string vector map set array": r"std::(?:back_inserter|next|prev|distance|make_move_iterator)\(",
    "limits": r"std::numeric_limits\b",
    "map": r"std::(?:multi)?map\b",
    "memory": r"std::(?:(?:unique|shared|weak)_ptr|make_(?:unique|shared))\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock|scoped_lock)\b",
    "nlohmann/json.hpp": r"\bnlohmann::",
    "numeric": r"std::(?:accumulate|iota|gcd|lcm|reduce|inner_product|midpoint)\(",
    "optional": r"std::(?:optional|nullopt)\b",
    "random": r"std::(?:mt19937(?:_64)?|random_device|\w+_distribution)\b",
    "ranges": r"std::views\b",
    "set": r"std::(?:multi)?set\b",
    "span": r"std::span\b",
    "sstream": r"std::[io]?stringstream\b",
    "string": r"std::(?:string|to_string|stoi|stoll|stod|getline)\b",
    "string_view string": r"std::string_view\b",
    "thread": r"std::(?:j?thread|this_thread)\b",
    "tl/expected.hpp": r"\btl::",
    "tuple": r"std::(?:tuple|make_tuple|tie)\b",
    "unordered_map": r"std::unordered_map\b",
    "variant": r"std::(?:variant|get_if|visit|monostate)\b",
    "vector": r"std::vector\b",
}

MOST_LINES = 800
MOST_LINES_MEDIAN = 150


def closure(direct):
    """Folder -> every folder it reaches, itself included."""
    reached = {}

    def visit(folder, path):
        if folder in path:
            raise ValueError("circle: " + " -> ".join([*path, folder]))
        if folder not in reached:
            below = [visit(other, [*path, folder]) for other in direct[folder]]
            reached[folder] = {folder}.union(*below)
        return reached[folder]

    for folder in direct:
        visit(folder, [])
    return reached


def cmake_folders():
    """Folder -> DEPENDS, of every hone_library() in src/CMakeLists.txt."""
    text = re.sub(r"#.*", "", (SRC / "CMakeLists.txt").read_text())
    folders = {}
    for call in re.findall(r"\bhone_library\(([^)]*)\)", text):
        keyword, lists = "", {"": []}
        for word in call.split():
            if word == "UNITY":
                continue
            if word in ("DEPENDS", "LIBRARIES", "SUBFOLDERS"):
                keyword = word
                lists.setdefault(keyword, [])
            else:
                lists[keyword].append(word)
        folders[lists[""][0]] = lists.get("DEPENDS", [])
    return folders


def folder_of(path):
    """The folder of FOLDERS that a path below src/ belongs to; main.cc is the command line's."""
    path = pathlib.PurePosixPath(path)
    for parent in path.parents:
        if str(parent) in FOLDERS:
            return str(parent)
    return "cli" if str(path) == "main.cc" else None


def sources(*tops, suffixes=(".h", ".cc", ".c")):
    for top in tops:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def includes(path):
    """(line number, delimiter, name) of every #include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if match:
            yield number, match[1], match[2]


def code(path, strings=False):
    """The file's lines without comments, and without the contents of strings unless asked for; line numbers kept."""
    pattern = r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/'
    keep = lambda match: match[0] if strings and match[0][0] in 'R"' else "\n" * match[0].count("\n")
    return re.sub(pattern, keep, path.read_text()).splitlines()


def reached_includes(path, known):
    """The headers from outside that the file includes, itself or by files of src/."""
    if path not in known:
        known[path] = set()
        for _, delimiter, name in includes(path):
            own = SRC / name
            known[path] |= reached_includes(own, known) if delimiter == '"' and own.exists() else {name}
    return known[path]


class Rules(unittest.TestCase):
    maxDiff = None

    def expect_none(self, broken, rule):
        if broken:
            self.fail(rule + ":\n  " + "\n  ".join(broken))

    def test_dependencies_are_those_of_the_architecture(self):
        stated, meant = closure(cmake_folders()), closure(FOLDERS)
        broken = [f"{folder}: only in src/CMakeLists.txt" for folder in stated.keys() - meant.keys()]
        broken += [f"{folder}: only in FOLDERS" for folder in meant.keys() - stated.keys()]
        for folder in sorted(stated.keys() & meant.keys()):
            for other in sorted(stated[folder] ^ meant[folder]):
                where = "src/CMakeLists.txt" if other in stated[folder] else "FOLDERS"
                broken.append(f"{folder} reaches {other} only in {where}")
        self.expect_none(broken, "src/CMakeLists.txt and FOLDERS in this file state the same")

    def test_includes_follow_the_dependencies(self):
        allowed = closure(FOLDERS)
        broken = []
        for path in sources("src"):
            place = path.relative_to(SRC).as_posix()
            folder = folder_of(place)
            if folder is None:
                broken.append(f"src/{place}: in no folder of src/CMakeLists.txt")
                continue
            for line, delimiter, name in includes(path):
                if delimiter == "<":
                    continue
                other = folder_of(name)
                if other is None or not (SRC / name).exists():
                    broken.append(f'src/{place}:{line}: "{name}" is no file, from src/ on')
                elif other not in allowed[folder]:
                    broken.append(f'src/{place}:{line}: {folder} must not use {other} ("{name}")')
        self.expect_none(broken, "quoted includes name a file from src/ on, in a folder below")

    def test_libraries_stay_in_their_folder(self):
        broken = []
        for path in sources("src"):
            place = path.relative_to(SRC).as_posix()
            for line, _, name in includes(path):
                for header, owners in LIBRARY_OWNERS.items():
                    if name.startswith(header) and folder_of(place) not in owners:
                        broken.append(f"src/{place}:{line}: <{name}> belongs to {owners} of src")
        self.expect_none(broken, "some libraries are known to few folders only")

    def test_names_of_compilers_and_libraries_stay_in_their_folder(self):
        broken, used = [], set()
        for path in sources("src"):
            place = path.relative_to(SRC).as_posix()
            folder = folder_of(place)
            if folder in ("session", "cli"):
                continue
            lines = code(path, strings=True)
            everything = path.read_text().splitlines()
            for name, owners in OWN_NAMES.items():
                if any(folder == owner or folder.startswith(owner + "/") for owner in owners):
                    continue
                strict = folder.split("/")[0] in STRICT_FOLDERS and name in STRICT_NAMES
                for number, line in enumerate(everything if strict else lines, 1):
                    rest = line
                    if place in NAMED_ELSEWHERE and re.search(name, line, re.I):
                        rest = re.sub(NAMED_ELSEWHERE[place][0], "", line)
                        used.add(place)
                    if re.search(name, rest, re.I):
                        broken.append(f"src/{place}:{number}: {line.strip()[:90]}")
        broken += [f"{place} is listed for what it does not say" for place in NAMED_ELSEWHERE.keys() - used]
        self.expect_none(broken, "a library, compiler or vendor is named in its own folder and in cli only")

    def test_kinds_of_devices_are_named_in_few_files_of_the_command_line(self):
        named = {
            path.name
            for path in sources("src/session", "src/cli")
            if re.search("kHostKind|cuda", "\n".join(code(path, strings=True)), re.I)
        }
        self.assertEqual(named, KINDS_IN_CLI.keys(), "those in cli that name a kind of devices")

    def test_no_tuner_opens_a_driver(self):
        opening = re.compile(r"\bDriver::open\b|\bopen_device\(|\bLeasedDevices\b|\blist_devices\(")
        broken = [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for path in sources("src")
            if not folder_of(path.relative_to(SRC).as_posix()).startswith("device")
            for number, line in enumerate(code(path), 1)
            if opening.search(line)
        ]
        self.expect_none(broken, "devices are opened and listed by their kind (device/device.h) only")

    def test_a_source_includes_its_own_header_first(self):
        # Which also compiles every such header on its own; tests/architecture/CMakeLists.txt
        # compiles those that have no source of their own.
        broken = []
        for path in sources("src", suffixes=(".cc",)):
            header = path.with_suffix(".h")
            if header.exists():
                first = next(includes(path), (0, "", "nothing"))
                if first[2] != header.relative_to(SRC).as_posix():
                    broken.append(f"{path.relative_to(ROOT)}: first includes {first[2]}")
        self.expect_none(broken, "x/name.cc includes x/name.h before anything else")

    def test_no_include_is_left_to_the_precompiled_header(self):
        broken, known = [], {}
        for path in sources("src"):
            lines, reached = code(path), reached_includes(path, known)
            for headers, name in HIDDEN_INCLUDES.items():
                meant = set(headers.split())
                if path.suffix == ".h" and "nlohmann/json.hpp" in meant:
                    meant.add("nlohmann/json_fwd.hpp")
                if not meant & reached:
                    used = [number for number, line in enumerate(lines, 1) if re.search(name, line)]
                    broken += [f"{path.relative_to(ROOT)}:{used[0]}: needs <{headers.split()[0]}>"] if used else []
        self.expect_none(broken, "a file includes what it names, by its own includes or those of src/ in it")

    def test_headers_are_included_once(self):
        broken = [
            str(path.relative_to(ROOT))
            for path in sources("src", "tests", "bench", suffixes=(".h",))
            if "#pragma once" not in path.read_text().splitlines()
        ]
        self.expect_none(broken, "headers have #pragma once")

    def test_files_stay_small(self):
        lines = {
            path.relative_to(ROOT).as_posix(): path.read_text().count("\n")
            for path in sources("src", "tests", "bench", suffixes=(".h", ".cc", ".c", ".py"))
        }
        broken = [f"{name}: {count} lines" for name, count in lines.items() if count > MOST_LINES]
        self.expect_none(broken, f"no file has more than {MOST_LINES} lines")
        self.assertLessEqual(statistics.median(lines.values()), MOST_LINES_MEDIAN)

    def test_triton_spells_operations_of_the_table(self):
        table = set(re.findall(r'"(?:arith|math)\.(\w+)"', (SRC / "problem/scalar_operation.cc").read_text()))
        spelled = runpy.run_path(str(SRC / "provider/triton/python/element_values.py"))
        for words in ("_ARITHMETIC", "_ARITHMETIC_OF_BITS", "_CHOICES", "FUNCTIONS"):
            self.assertLessEqual(set(spelled[words]), table, f"{words} has what problem/scalar_operation.cc lacks")

    def test_only_the_seams_are_pure_virtual(self):
        broken = []
        for path in sources("src"):
            text = "\n".join(code(path))
            for match in re.finditer(r"\bvirtual\b[^;{}]*=\s*0\s*;", text):
                name = re.findall(r"\b(?:class|struct)\s+(\w+)[^;{]*\{", text[: match.start()])[-1]
                if name not in SEAMS:
                    line = text.count("\n", 0, match.start()) + 1
                    broken.append(f"{path.relative_to(ROOT)}:{line}: {name}")
        self.expect_none(broken, "pure virtual functions only in " + ", ".join(sorted(SEAMS)))

    def test_libraries_return_errors(self):
        # A forked child leaves by _exit, which is not meant here.
        ending = re.compile(r"(?<![\w.>])(?:std::)?(?:exit|quick_exit|abort|assert|terminate)\s*\(")
        broken = []
        for path in sources("src"):
            for number, line in enumerate(code(path), 1):
                if ending.search(line):
                    broken.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
        self.expect_none(broken, "no exit, abort or assert in src/: errors are returned as Result")

    def test_the_walk_of_a_candidate_names_functions_where_they_are(self):
        line = re.compile(r"^- `([\w:]+)(?:\(\w+\))?` — (\S+) — ")
        page = (ROOT / "tests/architecture/candidate_walk.md").read_text()
        broken, listed = [], 0
        for text in page.splitlines():
            found = line.match(text)
            if not found:
                self.assertFalse(text.startswith("- `"), text)
                continue
            listed += 1
            function, path = found[1].split("::")[-1], SRC / found[2]
            if not path.is_file() or not re.search(rf"\b{function}\s*\(", path.read_text()):
                broken.append(f"{found[1]} is not in src/{found[2]}")
        self.expect_none(broken, "candidate_walk.md lists functions in files that have them")
        self.assertIn(f"| all | 312 | 80 | {listed} | 44 |", page)

    def test_text_names_no_developers_machine(self):
        ignored = {".git", ".venv", ".cache", "build", "dist", "out"}
        foreign = re.compile(r"(?<![\w.})*$-])/(?:home|root|work|Users)/|\.\./shared\b")
        broken = []
        for path in sorted(ROOT.rglob("*")):
            inside = path.relative_to(ROOT)
            if inside.parts[0] in ignored or "__pycache__" in inside.parts or not path.is_file():
                continue
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if foreign.search(line):
                    broken.append(f"{inside}:{number}: {line.strip()[:80]}")
        self.expect_none(broken, "no path of one developer's machine in the repository")


if __name__ == "__main__":
    unittest.main()
