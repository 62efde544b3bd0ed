"""The wheel that scripts/package makes of a build: its name, size and contents, and that pip installs a hone
that finds the IREE it lies beside.

python3 wheel_test.py --build build/dev
"""

import argparse
import email
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"


def package(build, out):
    return subprocess.run([ROOT / "scripts" / "package", "--build", build, "--out", out], capture_output=True, text=True)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hone-wheel-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        made = package(options.build, cls.folder / "dist")
        if made.returncode:
            raise RuntimeError(made.stderr)
        cls.file, = (cls.folder / "dist").iterdir()
        cls.wheel = zipfile.ZipFile(cls.file)
        cls.addClassCleanup(cls.wheel.close)
        cls.version = subprocess.check_output([options.build / "hone", "--version"], text=True).split()[1]

    def read(self, name):
        return self.wheel.read(f"hone-{self.version}.{name}").decode()

    def test_its_name_says_what_it_runs_on(self):
        name = re.fullmatch(r"hone-([\d.]+)-(py3-none-manylinux_2_(\d+)_(x86_64|aarch64))\.whl", self.file.name)
        self.assertIsNotNone(name, self.file.name)
        self.assertEqual(name[1], self.version)
        self.assertLessEqual(int(name[3]), 35)
        self.assertIn(f"Tag: {name[2]}\n", self.read("dist-info/WHEEL"))
        # The newest glibc of a symbol, and no symbol of another library.
        symbols = subprocess.check_output(["objdump", "-T", options.build / "hone"], text=True)
        versions = set(re.findall(r"\((\w+)_([\d.]+)\)", symbols))
        self.assertEqual({library for library, _ in versions}, {"GLIBC"})
        self.assertEqual(max(int(version.split(".")[1]) for _, version in versions), int(name[3]))

    def test_it_is_small(self):
        self.assertLessEqual(self.file.stat().st_size, 10_000_000)

    def test_it_holds_the_program_its_manual_completion_and_licences(self):
        data, info = f"hone-{self.version}.data", f"hone-{self.version}.dist-info"
        self.assertEqual(sorted(self.wheel.namelist()), sorted([
            f"{data}/scripts/hone", f"{data}/data/share/man/man1/hone.1",
            f"{data}/data/share/bash-completion/completions/hone", f"{data}/data/share/zsh/site-functions/_hone",
            f"{data}/data/share/fish/vendor_completions.d/hone.fish", f"{info}/METADATA", f"{info}/WHEEL",
            f"{info}/RECORD", f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE"]))
        self.assertEqual(self.read("dist-info/licenses/NOTICE"), (ROOT / "NOTICE").read_text())
        program = self.wheel.getinfo(f"{data}/scripts/hone")
        self.assertEqual(program.external_attr >> 16 & 0o777, 0o755)
        with self.wheel.open(program) as file:
            self.assertEqual(file.read(4), b"\x7fELF")

    def test_its_metadata_pins_what_scripts_versions_pins(self):
        metadata = email.message_from_string(self.read("dist-info/METADATA"))
        self.assertEqual((metadata["Name"], metadata["Version"]), ("hone", self.version))
        self.assertEqual(metadata["Summary"], "hone finds, verifies and proves the fastest kernel for every part of a "
                         "tensor program, and writes the file that makes IREE use it.")
        self.assertEqual(metadata.get_payload(), (ROOT / "README.md").read_text())
        pins = re.findall(r"^  ([\w-]+)==(\S+)$", (ROOT / "scripts" / "versions").read_text(), re.M)
        version = dict(pins)
        self.assertEqual(metadata.get_all("Provides-Extra"), ["iree", "onnx", "triton"])
        self.assertEqual(metadata.get_all("Requires-Dist"), [
            f'iree-base-compiler[onnx]=={version["iree-base-compiler"]} ; extra == "iree"',
            f'iree-base-runtime=={version["iree-base-runtime"]} ; extra == "iree"',
            f'onnx=={version["onnx"]} ; extra == "onnx"', f'triton=={version["triton"]} ; extra == "triton"'])

    def test_the_same_build_gives_the_same_bytes(self):
        again = package(options.build, self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.folder / "again" / self.file.name).read_bytes(), self.file.read_bytes())

    def test_hone_finds_the_iree_it_is_installed_beside(self):
        environment = self.folder / "environment"
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", environment], check=True)
        # pip of the project's environment; nothing is fetched.
        subprocess.run([ROOT / ".venv" / "bin" / "python", "-m", "pip", "--python", environment, "install", "--no-deps",
                        "--no-index", "--quiet", "--disable-pip-version-check", self.file], check=True)
        packages, = environment.glob("lib/python3*/site-packages")
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        ask = lambda: json.loads(subprocess.check_output([environment / "bin" / "hone", "devices", "--json"],
                                                         cwd=self.folder, env=variables))["iree"]
        self.assertIn("pip install", ask()["missing"])
        there, = (ROOT / ".venv").glob("lib/python3*/site-packages/iree")
        (packages / "iree").symlink_to(there)
        self.assertEqual(ask()["library"], str(packages / "iree/compiler/_mlir_libs/libIREECompiler.so"))
        self.assertTrue((environment / "share" / "man" / "man1" / "hone.1").is_file())


class Refused(unittest.TestCase):
    def test_a_build_without_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            done = package(folder, folder)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"package: {folder} holds no program 'hone': build it there first\n"))

    def test_a_program_that_needs_a_newer_glibc(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "hone.c"
            source.write_text('#include <stdio.h>\n#include <stdlib.h>\n'
                              'int main(void) { return printf("hone 1.%u\\n", arc4random()) < 0; }\n')
            subprocess.run(["cc", source, "-o", source.with_suffix("")], check=True)
            done = package(folder, folder)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"package: {folder}/hone needs glibc 2.36 for arc4random; 2.35 is the newest allowed\n"))
            self.assertEqual(sorted(os.listdir(folder)), ["hone", "hone.c"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
