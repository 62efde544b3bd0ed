#!/usr/bin/env python3
"""Words decide nothing: a copy of the tree in which the letters of every sentence are swapped (string literals of two
words or more in the folders that speak to people) is built, and asks the compilers and runners of the recorded tunings
for the same jobs, comes to the same winners, and goes on from runs of the store as before.

usage: altered_sentences.py [--build FOLDER] [--show]

Exit status: 0 all of that held, 1 something did not, 2 wrong use.
"""
import argparse
import codecs
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("trial", "tune", "profiler", "output", "measure", "worker", "plan", "session", "cli")
# A raw string is a file's content, an include's or a character's quotes are no string.
LITERAL = re.compile(r'(R"(\w*)\(.*?\)\2")|(//[^\n]*|#include[^\n]*|\'(?:\\.|[^\'\\\n])+\')|"((?:\\.|[^"\\\n])*)"', re.S)
KEPT = re.compile(r"\{[^{}]*\}|\\.|[{}]|[^{}\\]+")
TESTS = ("Recorded/Replay.*", "OneTuner.FindsTheFastestOfEachDispatchAndProvesIt", "OneTuner.ASecondRunDoesNothingAgain",
         "OneTuner.NoServerIsPreparedForWhatIsKnown", "OnCoresAndGpus.GoesOnWhereItWasStopped/cpu",
         "FlagSearch.FindsTheBestOfEachGroupTogether", "FlagSearch.FindsWhatToTuneWithBesideTheBest")


def altered(text):
    return "".join(piece if piece[0] in "{\\" else codecs.encode(piece, "rot13") for piece in KEPT.findall(text))


def alter(path, show):
    count = 0

    def replace(match):
        nonlocal count
        text = match[4]
        if text is None or " = " in text or not re.search(r"[A-Za-z]{2,}[^{}\"]* [^{}\"]*[A-Za-z]{2,}", re.sub(r"\{[^{}]*\}", "", text)):
            return match[0]
        count += 1
        if show:
            print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}: {text}")
        return f'"{altered(text)}"'

    path.write_text(LITERAL.sub(replace, path.read_text()))
    return count


def alter_reasons(tape):
    text = subprocess.run(["zstd", "-dcq", tape], capture_output=True, text=True, check=True).stdout
    text, count = re.subn(r'("reason":")([^"]*)"', lambda match: f'{match[1]}{altered(match[2])}"', text)
    plain = tape.with_suffix("")
    plain.write_text(text)
    subprocess.run(["zstd", "-qf", "--rm", plain], check=True)  # of a file, whose size the frame says
    return count


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], **more)
    if done.returncode != 0:
        sys.exit(f"altered_sentences.py: {' '.join(map(str, command))}: exit {done.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="keep the copy and its build here")
    parser.add_argument("--show", action="store_true", help="print each sentence")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-altered-") as temporary:
        copy = (options.build or pathlib.Path(temporary)).resolve() / "tree"
        if copy.exists():
            shutil.rmtree(copy)
        copy.mkdir(parents=True)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        count = sum(alter(path, options.show) for folder in FOLDERS
                    for path in sorted((copy / "src" / folder).rglob("*")) if path.suffix in (".h", ".cc"))
        reasons = sum(map(alter_reasons, (copy / "tests" / "tune_fake" / "recordings").glob("*.jsonl.zst")))
        print(f"{count} sentences are altered, and {reasons} reasons of the recordings", flush=True)
        build = copy.parent / "build"
        run("cmake", "--preset", "dev", "-S", copy, "-B", build, "-DHONE_UNITY=ON", "-DHONE_TEST_FOLDERS=tune_fake",
            cwd=copy, stdout=subprocess.DEVNULL)
        run("cmake", "--build", build, "--target", "test_tune_fake", stdout=subprocess.DEVNULL)
        run(build / "tests" / "test_tune_fake", f"--gtest_filter={':'.join(TESTS)}")


if __name__ == "__main__":
    main()
