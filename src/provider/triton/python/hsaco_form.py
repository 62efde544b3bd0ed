"""The last steps of a dispatch's kernel on an AMD GPU: a code object with the arguments of IREE's launches.

LLVM's text is changed before machine code is made of it, since arguments lie at fixed places there:
- pointers behind those of a launch become variables of the module;
- local memory has a fixed size, since IREE's launches ask for none.
"""
import re

from stated_kernel import ALIGNMENT

FORMAT = "rocm-hsaco"


def options(device, has_descriptors):
    """Triton's, beside those of all backends."""
    return {}


def attributes(kernel, binding):
    """Triton's of a pointer, beside those of all backends: offsets of 32 bits allow buffer instructions. Addresses of
    what is masked lie beyond the end, by less than a quarter of that."""
    return [["tt.pointer_range", 32]] if kernel.reach(binding) < 3 * 2**29 else []


def inspect_stages(*arguments):
    """Triton's hook on its stages, without the last ones."""
    if not arguments:
        return ("up to llir", "up to llir")  # of the key in Triton's cache
    _, stages, *_ = arguments

    def no_assembly(_, metadata):
        metadata["name"] = ""  # which Triton asks for
        return ""
    stages["amdgcn"] = no_assembly
    stages["hsaco"] = lambda amdgcn, metadata: b""
    return None


def finished(kernel, compiled, given, parameters, variables):
    """(code, dynamic local memory in bytes) under the dispatch's name and with so many parameters. Those behind them
    are `variables` of the module instead; parameters beyond must not be read."""
    from triton.compiler.compiler import make_backend
    backend = make_backend(compiled.metadata.target)
    said = backend.parse_options(dict(given))
    llir = as_iree_launches(compiled.asm["llir"], kernel.name, kernel.entry, parameters, variables)
    llir, found = re.subn(r"(@global_smem = )external( .*addrspace\(3\) global )\[0 x i8\]",
                          rf"\g<1>internal\g<2>[{compiled.metadata.shared} x i8] poison", llir)
    if compiled.metadata.shared and not found:
        raise ValueError("the kernel's local memory is not declared as this version of hone knows it")
    metadata = {}
    return backend.make_hsaco(backend.make_amdgcn(llir, metadata, said), metadata, said), 0


def as_iree_launches(llir, name, entry, parameters, variables):
    head = re.search(rf"^define amdgpu_kernel void @{name}\(", llir, re.M)
    end = closing(llir, head.end())
    listed = split(llir[head.end():end])
    if len(listed) < parameters:
        raise ValueError(f"the kernel has {len(listed)} parameters; IREE's launches give {parameters}")
    begin = llir.index("{\n", end) + 2
    body, declared = llir[begin:], []
    for place, hidden in enumerate(listed[parameters:]):
        # Values are numbered: parameters, then the first block, then what is computed.
        value = rf"%{parameters + place}(?![\w.])"
        if place < len(variables):
            variable = f"@{name}_memory{place}"
            declared.append(declaration(variable, variables[place]))
            body = re.sub(value, variable, body)
        if re.search(value, body):
            raise ValueError(f"the kernel reads '{hidden}', which IREE's launches do not give")
    # The first block keeps its number, by which others refer to it, unless it has a name.
    label = "" if re.match(r"[\w.$\"-]+:", body) else f"{len(listed)}:\n"
    define = f"define amdgpu_kernel void @{entry}({', '.join(listed[:parameters])}{llir[end:begin]}{label}"
    return llir[:head.start()] + "".join(declared) + define + body


def closing(text, begin):
    """The place of the bracket that ends a list which begins there."""
    depth = 0
    for place in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth < 0:
            return place
    raise ValueError("the kernel's list of parameters has no end")


def split(listed):
    """At commas outside of brackets."""
    parts, depth = [""], 0
    for each in listed:
        depth += {"(": 1, ")": -1}.get(each, 0)
        if each == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += each
    return [part.strip() for part in parts if part.strip()]


def declaration(name, variable):
    """It is zero when the module is loaded, unless it has words."""
    type_, value = f"[{variable.bytes} x i8]", "zeroinitializer"
    if variable.words:
        type_ = f"[{len(variable.words)} x i32]"
        value = f"[{', '.join(f'i32 {word}' for word in variable.words)}]"
    return f"{name} = internal addrspace(1) global {type_} {value}, align {ALIGNMENT}\n"
