"""The structures a GEMM can have: for each, the kernels, in order, and how they are launched.

Knobs: BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M, SPLIT_K, PER_UNIT (programs of a multiprocessor), SPLIT_STORE (a tile is
written in 1 << SPLIT_STORE pieces), SWAP (computes C^T = B^T A^T, so BLOCK_M goes along C's columns), MORE_N (columns
of a second block beside the one of BLOCK_N), num_warps, num_stages, and on AMD waves_per_eu, matrix_instr_nonkdim,
kpack. FIXED: GROUP_M and SPLIT_K are constants of the code instead of arguments, so that one compile no longer serves
all their values.
"""
import blocked
import persistent
import split_k
import stream_k
import stream_k_tma
import tiles_tma
import triton
import wide_tma

from problem import TYPES, Step, cdiv

SCRATCH_ALIGNMENT = 256


def steps_of(gemm, knobs, device):
    """The steps that compute `gemm` with `knobs`. ValueError for what a structure cannot do."""
    structure = knobs.get("STRUCTURE", 0)
    if not 0 <= structure < len(STRUCTURES):
        raise ValueError(f"STRUCTURE = {structure}; there are {len(STRUCTURES)}")
    if knobs.get("MORE_N") and STRUCTURES[structure][1] not in (_wide_tma, _warp_specialized):
        raise ValueError(f"MORE_N is not for the structure {STRUCTURES[structure][0]!r}")
    return STRUCTURES[structure][1](gemm.transpose() if knobs.get("SWAP") else gemm, knobs, device)


class _Parts:
    """What the steps of one candidate have in common."""

    def __init__(self, gemm, knobs, device):
        self.gemm, self.knobs, self.device = gemm, knobs, device
        block = {name: knobs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
        width = block["BLOCK_N"] + knobs.get("MORE_N", 0)
        self.tiles = cdiv(gemm.m, block["BLOCK_M"]) * cdiv(gemm.n, width)
        self.tile_bytes = block["BLOCK_M"] * block["BLOCK_N"] * 4
        self.constants = {
            **block,
            "A_ROWS": gemm.a_rows,
            "B_ROWS": gemm.b_rows,
            "C_ROWS": gemm.c_rows,
            # A part of k ends at a step's end unless it is the last.
            "EVEN_K": gemm.k % block["BLOCK_K"] == 0,
            "HAS_BIAS": bool(gemm.bias),
            "BIAS_OF_ROWS": gemm.transposed,
            "ACCUMULATE": TYPES[gemm.accumulate][1],
            "PRECISION": gemm.precision,
        }
        self.options = {name: knobs[name] for name in _OPTIONS[device.backend] if name in knobs}

    def step(self, kernel, grid, scratch=None, types=None, arguments=None, constants=None, blocks=None):
        """`scratch`: byte offset and element type by parameter, and under "bytes" the size of it all."""
        gemm, scratch = self.gemm, dict(scratch or {})
        scratch_bytes = scratch.pop("bytes", 0)
        values = {"M": gemm.m, "N": gemm.n, "K": gemm.k, "GROUP_M": self.knobs.get("GROUP_M", 1),
                  "SPLIT_K": self.knobs.get("SPLIT_K", 1)}
        passed = {name: {"binding": place} for name, place in gemm.bindings().items()}
        passed |= {name: {"scratch": place} for name, (place, _) in scratch.items()}
        passed |= {name: {"i32": value} for name, value in values.items()}
        passed |= arguments or {}
        named = {name: "*" + TYPES[getattr(gemm, name)][0] for name in gemm.bindings()}
        named |= {name: "*" + TYPES[element][0] for name, (_, element) in scratch.items()}
        named |= {name: "i32" for name in values}
        named |= types or {}
        fixed = dict(self.constants) | (constants or {})
        if not gemm.bias:
            fixed["bias"] = None
        if self.knobs.get("FIXED"):
            fixed |= {name: values[name] for name in ("GROUP_M", "SPLIT_K")}
        names = kernel.arg_names
        fixed = {name: value for name, value in fixed.items() if name in names}
        free = [name for name in names if name not in fixed]
        return Step(kernel, {name: named[name] for name in free}, fixed,
                    {name: passed[name] for name in free}, grid, self.options, scratch_bytes)


_OPTIONS = {
    "cuda": ("num_warps", "num_stages"),
    "hip": ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack"),
}


def _blocked(gemm, knobs, device):
    _refuse_bias_of_rows(gemm)
    parts = _Parts(gemm, knobs, device)
    return [parts.step(blocked.gemm_blocked, (parts.tiles, gemm.batch, 1))]


def _split_k_atomic(gemm, knobs, device):
    _refuse_bias_of_rows(gemm)
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "split-K")
    _refuse_empty_parts(gemm, knobs)
    if gemm.c != gemm.accumulate:
        raise ValueError(f"atomic split-K adds to C, which would have to be {gemm.accumulate}, not {gemm.c}")
    elements = gemm.m * gemm.n
    zero = parts.step(split_k.fill_zero, (cdiv(elements, split_k.ZERO_BLOCK), 1, 1),
                      types={"ELEMENTS": "i32"}, arguments={"ELEMENTS": {"i32": elements}},
                      constants={"BLOCK": split_k.ZERO_BLOCK})
    return [zero, parts.step(split_k.gemm_split_k_atomic, (parts.tiles, knobs["SPLIT_K"], 1))]


def _split_k_two_pass(gemm, knobs, device):
    _refuse_bias_of_rows(gemm)
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "split-K")
    _refuse_empty_parts(gemm, knobs)
    scratch = {"workspace": (0, gemm.accumulate), "bytes": knobs["SPLIT_K"] * parts.tiles * parts.tile_bytes}
    return [parts.step(split_k.gemm_split_k_parts, (parts.tiles, knobs["SPLIT_K"], 1), scratch),
            parts.step(split_k.sum_parts, (parts.tiles, 1, 1), scratch)]


def _stream_k(gemm, knobs, device):
    _refuse_bias_of_rows(gemm)
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "stream-K")
    steps = parts.tiles * cdiv(gemm.k, knobs["BLOCK_K"])
    programs = min(device.units * knobs.get("PER_UNIT", 1), steps)
    counters = cdiv(2 * programs * parts.tile_bytes, SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT
    scratch = {"workspace": (0, gemm.accumulate), "counters": (counters, "i32"),
               "bytes": counters + 4 * parts.tiles}
    return [parts.step(stream_k.gemm_stream_k, (programs, 1, 1), scratch)]


def _persistent(gemm, knobs, device):
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "the persistent kernel")
    programs = min(device.units * knobs.get("PER_UNIT", 1), parts.tiles)
    return [parts.step(persistent.gemm_persistent, (programs, 1, 1), **_descriptors(gemm, knobs, device))]


def _tiles_tma(gemm, knobs, device):
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "the kernel with tensor descriptors")
    _refuse_empty_parts(gemm, knobs)
    split = knobs.get("SPLIT_K", 1)
    counters = cdiv(split * parts.tiles * parts.tile_bytes, SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT
    scratch = {"workspace": (0, gemm.accumulate), "counters": (counters, "i32"),
               "bytes": counters + 4 * parts.tiles} if split > 1 else None
    passed = _descriptors(gemm, knobs, device)
    passed["constants"] |= {"PARTS": split > 1} | ({} if scratch else {"workspace": None, "counters": None})
    return [parts.step(tiles_tma.gemm_tiles_tma, (parts.tiles, split, 1), scratch, **passed)]


def _stream_k_tma(gemm, knobs, device):
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "stream-K")
    programs = min(device.units * knobs.get("PER_UNIT", 1), parts.tiles * cdiv(gemm.k, knobs["BLOCK_K"]))
    counters = cdiv(2 * programs * parts.tile_bytes, SCRATCH_ALIGNMENT) * SCRATCH_ALIGNMENT
    scratch = {"workspace": (0, gemm.accumulate), "counters": (counters, "i32"),
               "bytes": counters + 4 * parts.tiles}
    passed = _descriptors(gemm, knobs, device)
    passed["types"]["WHOLE"] = "i32"
    passed["arguments"]["WHOLE"] = {"i32": parts.tiles // programs}
    return [parts.step(stream_k_tma.gemm_stream_k_tma, (programs, 1, 1), scratch, **passed)]


def _wide_tma(gemm, knobs, device):
    if not knobs.get("MORE_N"):
        raise ValueError("wide tiles need MORE_N, the width of the second block")
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "the kernel of wide tiles")
    return [parts.step(wide_tma.gemm_wide_tma, (parts.tiles, 1, 1), **_descriptors(gemm, knobs, device))]


def _warp_specialized(gemm, knobs, device):
    if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 6):
        raise ValueError(f"the warp-specialised kernel needs Triton 3.6 or later, not {triton.__version__}")
    import warp_specialized
    from triton.experimental.gluon.language import NVMMASharedLayout
    parts = _Parts(gemm, knobs, device)
    _refuse_batch(gemm, "the warp-specialised kernel")
    if (TYPES[gemm.a][2], TYPES[gemm.b][2], gemm.accumulate) != (16, 16, "f32"):
        raise ValueError("the warp-specialised kernel is for A and B of 16 bits and sums in f32")
    passed = _descriptors(gemm, knobs, device)
    for name, type_ in passed["types"].items():
        element = TYPES[getattr(gemm, name[0])][1]
        layout = NVMMASharedLayout.get_default_for(passed["blocks"][name], element)
        passed["types"][name] = f"{type_[:-1]},{layout!r}>"
    passed["constants"] |= {"STAGES": knobs["num_stages"], "MORE_N": knobs.get("MORE_N", 0)}
    if not knobs.get("MORE_N"):
        passed["constants"] |= {"b_more": None, "c_more": None}
    programs = min(device.units * knobs.get("PER_UNIT", 1), parts.tiles)
    del parts.options["num_stages"]
    return [parts.step(warp_specialized.gemm_warp_specialized, (programs, 1, 1), **passed)]


def _descriptors(gemm, knobs, device):
    """What a kernel with tensor descriptors is passed, as arguments of _Parts.step. ValueError where there can be
    none."""
    if device.backend != "cuda" or int(device.arch) < 90:
        raise ValueError("tensor descriptors need NVIDIA sm_90 or later")
    m, n, k = (knobs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
    piece = n >> knobs.get("SPLIT_STORE", 0)
    blocks = {
        "a": ([gemm.m, gemm.k], [m, k]) if gemm.a_rows else ([gemm.k, gemm.m], [k, m]),
        "b": ([gemm.k, gemm.n], [k, n]) if gemm.b_rows else ([gemm.n, gemm.k], [n, k]),
        "c": ([gemm.m, gemm.n], [m, piece]) if gemm.c_rows else ([gemm.n, gemm.m], [piece, m]),
    }
    more = knobs.get("MORE_N")
    if more:
        blocks["b_more"] = (blocks["b"][0], [k, more] if gemm.b_rows else [more, k])
        blocks["c_more"] = (blocks["c"][0], [m, more] if gemm.c_rows else [more, m])
    types, arguments = {}, {}
    for parameter, (shape, block) in blocks.items():
        name = parameter[0]
        element, _, bits = TYPES[getattr(gemm, name)]
        if shape[1] * bits % 128:
            raise ValueError(f"rows of {name.upper()} of {shape[1]} x {bits} bits are not whole multiples of 16 bytes")
        types[parameter] = f"tensordesc<{element}[{block[0]},{block[1]}]>"
        arguments[parameter] = {"tensor_map": {"binding": gemm.bindings()[name], "shape": shape,
                                               "strides": [shape[1], 1], "bytes": bits // 8}}
    constants = {"MORE_N": more, "SPLIT_STORE": knobs.get("SPLIT_STORE", 0), "STORE": TYPES[gemm.c][1]}
    return {"types": types, "arguments": arguments, "constants": constants,
            "blocks": {parameter: block for parameter, (_, block) in blocks.items()}}


def _refuse_bias_of_rows(gemm):
    if gemm.bias and gemm.transposed:
        raise ValueError("SWAP with a bias needs a structure with tensor descriptors")


def _refuse_empty_parts(gemm, knobs):
    steps = cdiv(gemm.k, knobs["BLOCK_K"])
    if knobs.get("SPLIT_K", 1) > steps:
        raise ValueError(f"SPLIT_K = {knobs['SPLIT_K']}; K has only {steps} steps of {knobs['BLOCK_K']}")


def default_knobs(gemm, device):
    """What candidates are compared with: the blocked kernel as Triton's tutorial has it, which runs everywhere."""
    wide = TYPES[gemm.a][2] > 16
    return {"STRUCTURE": 0, "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32 if wide else 64, "GROUP_M": 8, "SPLIT_K": 1,
            "num_warps": 8, "num_stages": 3 if device.backend == "cuda" else 2}


def _refuse_batch(gemm, what):
    if gemm.batch != 1:
        raise ValueError(f"{what} is not for a batch")


# Kernels by the value of the knob STRUCTURE.
STRUCTURES = (
    ("blocked", _blocked),
    ("split-K, atomic", _split_k_atomic),
    ("split-K, two passes", _split_k_two_pass),
    ("stream-K", _stream_k),
    ("persistent", _persistent),
    ("tiles and split-K, descriptors", _tiles_tma),
    ("stream-K, descriptors", _stream_k_tma),
    ("wide tiles, descriptors", _wide_tma),
    ("warp-specialised", _warp_specialized),
)
