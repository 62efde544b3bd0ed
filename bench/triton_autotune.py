"""What @triton.autotune makes of hone's blocked GEMM kernel and the configurations of triton_configurations.py, from
a cold cache: wall time from the first call to its result, and the fastest configuration.

usage: triton_autotune.py M N K   (f16, A by rows, B by columns)   -> one JSON document
Needs a GPU, torch and Triton.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src/provider/triton/kernels")]


def main():
    m, n, k = (int(each) for each in sys.argv[1:4])
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-cold-")
    begin = time.monotonic()
    import torch
    import triton
    import triton.language as tl
    from blocked import gemm_blocked
    from triton_configurations import configurations
    imported = time.monotonic()
    configs = [triton.Config({name: value for name, value in each.items() if name.isupper()},
                             num_warps=each["num_warps"], num_stages=each["num_stages"]) for each in configurations()]
    kernel = triton.autotune(configs, key=["M", "N", "K"])(gemm_blocked)
    torch.manual_seed(1)
    a = torch.empty(m, k, device="cuda", dtype=torch.float16).uniform_(-1, 1)
    b = torch.empty(n, k, device="cuda", dtype=torch.float16).uniform_(-1, 1)
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    torch.cuda.synchronize()
    ready = time.monotonic()

    def grid(meta):
        return triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]), 1

    kernel[grid](a, b, None, c, m, n, k, A_ROWS=True, B_ROWS=False, C_ROWS=True, EVEN_K=k % 128 == 0, HAS_BIAS=False,
                 ACCUMULATE=tl.float32, PRECISION="ieee")
    torch.cuda.synchronize()
    tuned = time.monotonic()
    best = kernel.best_config
    wrong = (c.float() - a.float() @ b.float().T).abs().max().item()
    print(json.dumps({
        "triton": triton.__version__, "configurations": len(configs), "import_s": imported - begin,
        "autotune_s": tuned - ready, "best_ms": min(kernel.configs_timings.values())[0]
        if isinstance(min(kernel.configs_timings.values()), (list, tuple)) else min(kernel.configs_timings.values()),
        "best": {**best.kwargs, "num_warps": best.num_warps, "num_stages": best.num_stages},
        "largest_difference": wrong}))


if __name__ == "__main__":
    main()
