#!/usr/bin/env python3
"""Faults planted in the machine code of a matmul, and faults of the device: the emulated device shows each of them.

usage: emulated_faults.py --hip FOLDER

A planted fault is one changed instruction of a Triton kernel for gfx942. It is found if the result is wrong in one of
two launches (the second runs the waves in reversed order) or the launch fails. Exit status: 0 all are found, 1 some are
not, 3 Triton is missing.
"""
import argparse
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import emulated_triton  # noqa: E402

NOP = 0xBF800000


def instructions(image):
    """(text, address, dwords) of each instruction."""
    with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
        file.write(image)
        file.flush()
        text = subprocess.run(["llvm-objdump-19", "-d", "--mcpu=gfx942", file.name], capture_output=True, text=True, check=True)
    for match in re.finditer(r"^\t(\S.*?)\s*// ([0-9A-F]{12}): ((?:[0-9A-F]{8} ?)+)", text.stdout, re.M):
        yield match[1], int(match[2], 16), [int(word, 16) for word in match[3].split()]


def file_offset(image, address):
    offset, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    for at in range(offset, offset + size * count, size):
        kind, _, begin, virtual, _, length = struct.unpack_from("<IIQQQQ", image, at)
        if kind == 1 and virtual <= address < virtual + length:
            return address - virtual + begin
    raise ValueError(hex(address))


def without_barrier(text, words):
    return [NOP] if text == "s_barrier" else None


def without_store(text, words):
    return [NOP] * len(words) if re.match(r"(buffer|global)_store", text) else None


def with_swapped_operands(text, words):
    if not text.startswith("v_mfma"):
        return None
    first, second = words[1] & 511, words[1] >> 9 & 511
    kinds = words[1] >> 27 & 3  # which of them are accumulators
    swapped = (kinds >> 1 | kinds << 1) & 3
    return [words[0], (words[1] & ~(0x3FFFF | 3 << 27)) | second | first << 9 | swapped << 27]


def with_moved_offset(text, words):
    if re.match(r"ds_(read|write)_b(32|64|128)", text):
        return [words[0] ^ 16, *words[1:]]
    if re.match(r"ds_(read|write)2", text):
        return [words[0] ^ 1, *words[1:]]
    if re.match(r"buffer_(load|store)", text):
        return [words[0] ^ 16, *words[1:]]
    return None


def beyond_local_memory(text, words):
    return [words[0] & ~0xFFFF | 0xFFF0, *words[1:]] if re.match(r"ds_(read|write)_b", text) else None


PLANTS = {"a barrier removed": without_barrier, "a store dropped": without_store, "matrix operands swapped": with_swapped_operands,
          "an offset changed": with_moved_offset, "local memory overrun": beyond_local_memory}


def planted(options):
    """Kind of fault -> (found, planted), each in a process of its own, since some of them break the device."""
    import numpy
    import triton_kernels
    random = numpy.random.default_rng(5)
    a, b = (random.integers(-8, 9, (64, 128)).astype(numpy.float16), random.integers(-8, 9, (128, 64)).astype(numpy.float16))
    expected = a.astype(numpy.float32) @ b.astype(numpy.float32)
    constants = {"BM": 64, "BN": 64, "BK": 32, "SPLIT": 1}
    arguments = [a, b, numpy.zeros((64, 64), numpy.float32), 64, 64, 128]
    binary = emulated_triton.compiled(triton_kernels.matmul, arguments, constants, num_warps=4)
    original = binary.asm["hsaco"]

    def outcome(image):
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            code = 1
            try:
                device = emulated_triton.Device(options.hip)
                right = [numpy.array_equal(got, expected) for got in launches(device, image)]
                code = 0 if all(right) else 1
            except RuntimeError:
                code = 2
            os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def launches(device, image):
        pointers = [device.upload(value) if hasattr(value, "dtype") else ctypes.c_int32(value) for value in arguments]
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        device.check(device.hip.hipModuleLoadData(ctypes.byref(module), image))
        device.check(device.hip.hipModuleGetFunction(ctypes.byref(function), module, binary.metadata.name.encode()))
        values = [*pointers, ctypes.c_void_p(), ctypes.c_void_p()]
        addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        for _ in range(2):
            device.check(device.hip.hipMemsetD8(pointers[2], 255, ctypes.c_size_t(64 * 64 * 4)))
            device.check(device.hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, binary.metadata.shared, None, addresses, None))
            device.check(device.hip.hipDeviceSynchronize())
            yield device.download(pointers[2], arguments[2])

    if outcome(original) != 0:
        raise RuntimeError("the kernel is wrong as it is")
    code = list(instructions(original))
    for kind, plant in PLANTS.items():
        found, changed = 0, []
        for text, address, words in code:
            new = plant(text, words)
            if new is None or len(changed) >= options.most:
                continue
            image = bytearray(original)
            struct.pack_into(f"<{len(new)}I", image, file_offset(original, address), *new)
            changed.append(text)
            if outcome(bytes(image)) == 0:
                print(f"  not found: {kind}: {text}")
            else:
                found += 1
        yield kind, found, len(changed)


CHILD = """
import ctypes, sys, time
sys.path.insert(0, {folder!r})
import emulated_triton, numpy, triton_kernels
device = emulated_triton.Device({hip!r})
x = numpy.ones(256, numpy.float32)
binary = emulated_triton.compiled(triton_kernels.add, [x, x, x, 256], {{"BLOCK": 256}})
pointer = device.upload(x)
bad = ctypes.c_void_p(pointer.value + {shift})
module, function, event = (ctypes.c_void_p() for _ in range(3))
hip = device.hip
hip.hipModuleLoadData(ctypes.byref(module), binary.asm["hsaco"])
hip.hipModuleGetFunction(ctypes.byref(function), module, b"add")
values = [bad, pointer, pointer, ctypes.c_int32(256), ctypes.c_void_p(), ctypes.c_void_p()]
addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
print("launch", hip.hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, None, addresses, None))
hip.hipEventCreateWithFlags(ctypes.byref(event), 0)
hip.hipEventRecord(event, None)
print("query", hip.hipEventQuery(event))
count = ctypes.c_int()
print("devices", hip.hipGetDeviceCount(ctypes.byref(count)))
"""


def device_faults(options):
    """(words, found) of faults of the whole device."""
    def child(shift, script="", **environment):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(script)
            file.flush()
            text = CHILD.format(folder=str(pathlib.Path(__file__).resolve().parent), hip=str(options.hip), shift=shift)
            return subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True,
                                  env=dict(os.environ, HONE_FAKE_HIP_TIMES=file.name, **environment))
    fault = "Memory access fault by GPU node-1"
    aborted = child(1 << 30)
    yield "an illegal address aborts as ROCr does", aborted.returncode == -6 and fault in aborted.stderr
    kept = child(1 << 30, HIP_SKIP_ABORT_ON_GPU_ERROR="1")
    yield "an illegal address gives error 700", kept.stdout.split("\n")[:2] == ["launch 0", "query 700"] and fault in kept.stderr
    yield "an endless kernel is not ready", "query 600" in child(0, HONE_FAKE_HIP_INSTRUCTIONS="5").stdout
    yield "a scripted hang is not ready", "query 600" in child(0, "a?d hang\n").stdout
    lost = child(0, "# all kernels\n* lost\n").stdout
    yield "a lost device answers no more", "query 999" in lost and "devices 100" in lost
    yield "without faults all is well", child(0, "add 5\n").stdout == "launch 0\nquery 0\ndevices 0\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hip", required=True)
    parser.add_argument("--most", type=int, default=8, help="of each kind")
    options = parser.parse_args()
    try:
        import triton  # noqa: F401
    except ImportError:
        print("Triton is missing: scripts/setup")
        return 3
    os.environ["HIP_SKIP_ABORT_ON_GPU_ERROR"] = "1"
    missed = 0
    for kind, found, count in planted(options):
        print(f"{kind}: {found} of {count} found")
        missed += found < count or count == 0
    del os.environ["HIP_SKIP_ABORT_ON_GPU_ERROR"]
    for words, found in device_faults(options):
        print(f"{words}: {'yes' if found else 'NO'}")
        missed += not found
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
