"""Assembles PTX by the ptxas that Triton brings along."""
import re
import subprocess
import tempfile

import triton


def assemble(ptx, folder):
    """The machine code. ValueError with the assembler's words."""
    arch = re.search(r"^\.target\s+(sm_\w+)", ptx, re.M).group(1)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".ptx") as source, \
            tempfile.NamedTemporaryFile(dir=folder, suffix=".cubin") as code:
        source.write(ptx.encode())
        source.flush()
        done = subprocess.run([triton.knobs.nvidia.ptxas.path, f"--gpu-name={arch}", "-o", code.name, source.name],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(f"ptxas: {done.stderr.strip()}")
        return code.read()
