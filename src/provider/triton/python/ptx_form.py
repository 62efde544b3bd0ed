"""The last steps of a dispatch's kernel on an NVIDIA GPU: PTX with the parameters of IREE's launches.

Pointers behind these parameters point to variables of the module. This is text in the PTX, and nothing else changes.
"""
import re

from stated_kernel import ALIGNMENT

FORMAT = "cuda-ptx"


def options(device, has_descriptors):
    """Triton's, beside those of all backends."""
    if int(device.arch) >= 100:
        return {}
    # Versions that drivers of CUDA 12.3 read, and of 12.7 if tensor descriptors load tiles.
    return {"ptx_version": 86 if has_descriptors else 83}


def attributes(kernel, binding):
    """Triton's of a pointer, beside those of all backends."""
    return []


def inspect_stages(*arguments):
    """Triton's hook on its stages, without the last: hone assembles the PTX once it is as IREE launches it. Assembling
    it here too took a fifth of a compile (0.06 of 0.4 s; 0.44 of 1.5 s with a GELU behind the product)."""
    if not arguments:
        return ("up to ptx", "up to ptx")  # of the key in Triton's cache
    _, stages, *_ = arguments
    stages["cubin"] = lambda ptx, metadata: b""
    return None


def finished(kernel, compiled, _, parameters, variables):
    """(code, dynamic shared memory in bytes) under the dispatch's name and with so many parameters. Those behind them
    point to `variables` of the module instead; parameters beyond must not be read."""
    ptx = compiled.asm["ptx"]
    begin = ptx.index("(", ptx.index(f".entry {kernel.name}"))
    end = ptx.index(")", begin)
    listed = [each.strip() for each in ptx[begin + 1:end].split(",")]
    if len(listed) < parameters:
        raise ValueError(f"the kernel has {len(listed)} parameters; IREE's launches give {parameters}")
    head, body, declared = ptx[:begin + 1], ptx[end:], []
    for place, hidden in enumerate(listed[parameters:]):
        name = re.escape(hidden.split()[-1])
        if place < len(variables):
            variable = f"{kernel.name}_memory{place}"
            declared.append(declaration(variable, variables[place]))
            body = re.sub(rf"ld\.param(?:::entry)?\.[bu]64(\s+%\w+,\s*)\[{name}\];", rf"mov.b64\g<1>{variable};", body)
        if re.search(rf"\b{name}\b", body):
            raise ValueError(f"the kernel reads {hidden.split()[-1]}, which IREE's launches do not give")
    entry = head.rindex("\n", 0, head.index(f".entry {kernel.name}")) + 1
    head = head[:entry] + "".join(declared) + head[entry:]
    ptx = head + "\n\t" + ",\n\t".join(listed[:parameters]) + "\n" + body
    return ptx.replace(kernel.name, kernel.entry).encode(), compiled.metadata.shared


def declaration(name, variable):
    """It is zero when the module is loaded, unless it has words."""
    if not variable.words:
        return f".global .align {ALIGNMENT} .b8 {name}[{variable.bytes}];\n"
    return f".global .align {ALIGNMENT} .b32 {name}[{len(variable.words)}] = {{{', '.join(map(str, variable.words))}}};\n"
