"""131 configurations of the blocked GEMM kernel, as Triton users list them: every tile of 64, 128 and 256 but
the largest, in steps of 32 to 128, that fits into 227 KiB of shared memory."""

GROUP_M = 8
MOST = 131


def configurations(shared_bytes=232448, element_bytes=2):
    listed = []
    for stages in (3, 4, 5, 2):
        for warps in (4, 8):
            for block_k in (32, 64, 128):
                for block_m in (64, 128, 256):
                    for block_n in (64, 128, 256):
                        bytes_ = (block_m + block_n) * block_k * element_bytes * stages
                        if block_m * block_n > 128 * 256 or bytes_ > shared_bytes:
                            continue
                        listed.append({"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k,
                                       "GROUP_M": GROUP_M, "num_warps": warps, "num_stages": stages})
    return listed[:MOST]


def as_hone_knobs(configuration):
    knobs = {"STRUCTURE": 0, **configuration, "SPLIT_K": 1, "PER_UNIT": 1, "SPLIT_STORE": 0,
             "MORE_N": 0, "SWAP": 0}
    return ",".join(f"{name}={value}" for name, value in knobs.items())
