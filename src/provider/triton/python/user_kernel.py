"""A user's own @triton.jit function, as its manifest describes it (src/provider/triton/user_kernel.h)."""
import hashlib
import importlib.util
import pathlib
import sys

import triton
import triton.language as tl

from expressions import evaluate
from problem import TYPES, Step

MOST_INTEGER = 2**31 - 1
# Knobs that are options of the compiler; those of the other backend are no knobs.
OPTIONS = {
    "cuda": ("num_warps", "num_stages", "maxnreg"),
    "hip": ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack"),
}


class UserKernel:
    """`said`: the object "kernel" of a dispatch; `folder`: where its file may be written."""

    def __init__(self, said, backend, folder):
        self.said = said
        self.options = OPTIONS[backend]
        others = {option for options in OPTIONS.values() for option in options}.difference(self.options)
        self.default = {name: value for name, value in said["default"].items() if name not in others}
        # Writes the file as it was when tuning began; it may have changed since.
        text = said["text"].encode()
        self.file = folder / "user" / hashlib.sha256(text).hexdigest() / pathlib.Path(said["path"]).name
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if not self.file.exists():
            written = self.file.with_suffix(f".{id(self)}")
            written.write_bytes(text)
            written.replace(self.file)
        self.function = None

    def load(self):
        """The function. It is imported by a candidate's job: whatever it does is a candidate's failure."""
        if self.function is None:
            specification = importlib.util.spec_from_file_location("users_" + self.file.parent.name, self.file)
            module = importlib.util.module_from_spec(specification)
            sys.modules[specification.name] = module
            specification.loader.exec_module(module)
            function = getattr(module, self.said["function"])
            # Unwraps @triton.autotune and @triton.heuristics, whose work hone does here.
            while not isinstance(function, triton.JITFunction) and hasattr(function, "fn"):
                function = function.fn
            if not isinstance(function, triton.JITFunction):
                raise ValueError(f"{self.said['function']} of {self.said['path']} is no @triton.jit function")
            self.function = function
        return self.function

    def words(self, text):
        """`text` with the file called as the user knows it."""
        return text.replace(str(self.file), self.said["path"])

    def steps_of(self, gemm, knobs, device):
        kernel = self.load()
        names = _names(gemm, device) | self.said["default"] | knobs
        constants = {name: value for name, value in knobs.items() if name in kernel.arg_names}
        constants |= {name: _constant(said, names, gemm) for name, said in self.said["constants"]}
        types, arguments, general = {}, {}, set()
        for name, said in self.said["arguments"]:
            parameter = kernel.params[kernel.arg_names.index(name)]
            type_, argument = self._argument(name, said, names, gemm)
            if argument is None:
                constants[name] = None
                continue
            # Specialises arguments of 1, as Triton's launcher does.
            if argument.get("i32") == 1 and not parameter.do_not_specialize:
                constants[name] = 1
                continue
            if parameter.annotation_type not in ("", None, type_):
                raise ValueError(f"the kernel wants {name} as {parameter.annotation_type}; hone passes {type_}")
            types[name], arguments[name] = type_, argument
            if parameter.do_not_specialize or parameter.do_not_specialize_on_alignment:
                general.add(name)
        for parameter in kernel.params:
            if parameter.has_default and parameter.name not in types:
                constants.setdefault(parameter.name, parameter.default)
        free = [name for name in kernel.arg_names if name in types]
        grid = [evaluate(each, names) for each in self.said["grid"]]
        if not all(0 < extent <= MOST_INTEGER for extent in grid):
            raise ValueError(f"the grid is {' x '.join(map(str, grid))}")
        scratch = self.said.get("scratch")
        return [Step(kernel, {name: types[name] for name in free}, constants,
                     {name: arguments[name] for name in free}, (*grid, 1, 1)[:3],
                     {name: value for name, value in knobs.items() if name in self.options},
                     evaluate(scratch["bytes"], names) if scratch else 0, frozenset(general))]

    def _argument(self, name, said, names, gemm):
        """(type, what is passed); None for a bias that there is not."""
        if said == "scratch":
            return "*" + TYPES[self.said["scratch"]["type"]][0], {"scratch": 0}
        operand = {"A": "a", "B": "b", "C": "c", "bias": "bias"}.get(said)
        if operand == "bias" and not gemm.bias:
            return "", None
        if operand:
            return "*" + TYPES[getattr(gemm, operand)][0], {"binding": gemm.bindings()[operand]}
        value = int(evaluate(said, names))
        if not -MOST_INTEGER <= value <= MOST_INTEGER:
            raise ValueError(f"{name} is {value}; hone passes whole numbers of 32 bits")
        return "i32", {"i32": value}


def _names(gemm, device):
    """What expressions may speak of, besides knobs."""
    names = {"M": gemm.m, "N": gemm.n, "K": gemm.k, "batch": gemm.batch, "units": device.units,
             "shared_bytes": device.shared_bytes, "bias.stride(0)": 1}
    operands = {"A": (gemm.m, gemm.k, gemm.a_rows), "B": (gemm.k, gemm.n, gemm.b_rows),
                "C": (gemm.m, gemm.n, gemm.c_rows)}
    for name, (rows, columns, by_rows) in operands.items():
        names[f"{name}.stride(0)"] = columns if by_rows else 1
        names[f"{name}.stride(1)"] = 1 if by_rows else rows
        names[f"{name}.stride(batch)"] = rows * columns
    return names


def _constant(said, names, gemm):
    if "value" in said:
        return said["value"]
    if "type" in said:
        operand = {"A.dtype": gemm.a, "B.dtype": gemm.b, "C.dtype": gemm.c}.get(said["type"])
        return TYPES[operand][1] if operand else getattr(tl, said["type"].removeprefix("tl."))
    return evaluate(said["expression"], names)
