"""Attention kernels that Triton makes of dispatches: their numbers in Triton's interpreter, and their PTX for an H100.

Run by ctest, or by hand: .venv/bin/python tests/provider_triton/attention_test.py [-v] [Numbers.test_NAME]
No GPU is needed.
"""
import math
import re
import unittest

import numpy

from stated_kernels import (H100, HAS_NUMBERS, ROOT_VALUE, Compiles, access, f32, interpreted, load, main, operation,
                            run, view)

import attention
import compile_worker
from problem import Device

SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "num_warps": 1, "num_stages": 2}
LARGE = {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 8, "num_stages": 2}
ROLES = ("batch", "m", "n", "k1", "k2")
HALF = operation("root", "f16")


def document(loops, query, key, value, values, stores, views=None, constants=0, **more):
    """`loops`: [(role, size)]. Without `views` each binding is one."""
    uses = [query, key, value, *values, *stores, *([more["mask"]] if "mask" in more else [])]
    views = views or [view(i) for i in range(1 + max(each["view"] for each in uses if "view" in each))]
    return {"kind": "attention", "entry": "main$async_dispatch_0",
            "bindings": 1 + max(each["binding"] for each in views), "constants": constants, "views": views,
            "loops": [{"size": size, "role": role} for role, size in loops], "query": query, "key": key,
            "value": value, "scale": 0.125, "values": values, "stores": stores} | more


def heads(batch, m, keys, depth, width=None, type_="f16", **more):
    """Operands and result as IREE's benchmarks have them: batch x rows x elements. The result is the fourth binding."""
    width = width or depth
    sizes = (batch, m, width, depth, keys)
    return document(list(zip(ROLES, sizes)), access(0, type_, m * depth, depth, 0, 1, 0),
                    access(1, type_, keys * depth, 0, 0, 1, depth), access(2, type_, keys * width, 0, 1, 0, width),
                    more.pop("values", [operation("root", type_)]),
                    more.pop("stores", [access(3, type_, m * width, width, 1, 0, 0, value=0)]), **more)


def reals(*shape, seed=0, type_=numpy.float16):
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype(type_)


def operands(batch, m, keys, depth, width=None, type_=numpy.float16):
    return (4 * reals(batch, m, depth, type_=type_), reals(batch, keys, depth, seed=1, type_=type_),
            reals(batch, keys, width or depth, seed=2, type_=type_))


def expected(query, key, value, scale=0.125, mask=0.0):
    """By the definition, in double, of arrays of batch x rows x elements."""
    scores = query.astype(float) @ key.astype(float).swapaxes(-1, -2) * scale + mask
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value.astype(float)


@unittest.skipUnless(HAS_NUMBERS, "of the interpreter or the emulator")
class Numbers(unittest.TestCase):
    def run_on(self, said, bindings, constants=(), **knobs):
        run(attention.Attention, said, bindings, constants, SMALL | knobs)

    def assert_close(self, got, wanted):
        # A weight and the result have 11 digits; weights are at most 1, values here at most 4.
        numpy.testing.assert_allclose(f32(got), wanted, rtol=2**-10, atol=4 * 2**-11)

    def attend(self, batch, m, keys, depth, width=None, **knobs):
        given = operands(batch, m, keys, depth, width)
        result = numpy.full((batch, m, width or depth), 77, numpy.float16)
        self.run_on(heads(batch, m, keys, depth, width), [*given, result], **knobs)
        self.assert_close(result, expected(*given))

    def test_blocks_that_divide_all(self):
        self.attend(2, 32, 32, 64)

    def test_programs_that_share_queries(self):
        for parts in (2, 3):
            self.attend(2, 20, 100, 64, SPLIT_K=parts)
        self.attend(1, 1, 150, 40, SPLIT_K=4)

    def test_f32(self):
        # A few roundings of f32, which is what verification allows (docs/measuring.md).
        mask = numpy.where(numpy.arange(20)[:, None] < numpy.arange(37), -numpy.inf, 0).astype(numpy.float32)
        given = operands(2, 20, 37, 24, 40, numpy.float32)
        result = numpy.full((2, 20, 40), 77, numpy.float32)
        self.run_on(heads(2, 20, 37, 24, 40, "f32"), [*given, result])
        numpy.testing.assert_allclose(result, expected(*given), rtol=2e-6, atol=4e-6)
        said = heads(2, 20, 37, 24, 40, "f32", mask=access(4, "f32", 0, 37, 0, 0, 1))
        self.run_on(said, [*given, result, mask], SPLIT_K=2, PRECISION=2)
        numpy.testing.assert_allclose(result, expected(*given, mask=mask), rtol=2e-6, atol=4e-6)

    def test_heads_of_40_and_80_and_128(self):
        for depth in (40, 80, 128):
            self.attend(1, 16, 32, depth, BLOCK_N=32)

    def test_values_wider_and_narrower_than_keys(self):
        self.attend(1, 16, 32, 16, 40)
        self.attend(1, 16, 32, 40, 16)
        self.attend(1, 16, 32, 24, 8)

    def test_the_77_tokens_of_a_text(self):
        for block in (16, 64, 128):
            self.attend(2, 20, 77, 64, BLOCK_N=block)

    def test_one_query(self):
        self.attend(3, 1, 40, 64)

    def test_fewer_keys_and_queries_than_a_block(self):
        self.attend(3, 3, 5, 16)
        self.attend(1, 1, 1, 16)

    def test_nan_beyond_an_operand_is_not_read_and_nothing_behind_the_end_is_written(self):
        batch, m, keys, depth = 2, 5, 21, 24
        given = operands(batch, m, keys, depth)
        padded = [numpy.concatenate([each.ravel(), numpy.full(2000, numpy.nan, numpy.float16)]) for each in given]
        result = numpy.full(batch * m * depth + 500, 77, numpy.float16)
        self.run_on(heads(batch, m, keys, depth), [*padded, result])
        self.assert_close(result[:-500].reshape(batch, m, depth), expected(*given))
        self.assertTrue((result[-500:] == 77).all())

    def test_scores_of_any_size(self):
        # The largest come first, last, and are less than any that exp() of is not zero.
        for sign in (1, -1):
            query, key, value = operands(1, 16, 40, 16)
            query[:] = 8 * sign
            key[:] = numpy.linspace(-4, 4, 40, dtype=numpy.float16)[None, :, None]
            result = numpy.zeros((1, 16, 16), numpy.float16)
            self.run_on(heads(1, 16, 40, 16, scale=1.0), [query, key, value, result])
            self.assert_close(result, expected(query, key, value, 1.0))
            result[:] = 0
            self.run_on(heads(1, 16, 40, 16, scale=-0.25), [query, key, value, result])
            self.assert_close(result, expected(query, key, value, -0.25))

    def test_heads_beside_each_other_in_rows(self):
        # batch x rows x heads x elements, whose batch loops no stride joins; values are stored element by element.
        batch, m, number, depth, keys = 2, 18, 3, 16, 21
        loops = list(zip(("batch", "batch", "m", "n", "k1", "k2"), (batch, number, m, depth, depth, keys)))
        row = number * depth
        said = document(loops, access(0, "f16", m * row, depth, row, 0, 1, 0),
                        access(1, "f16", keys * row, depth, 0, 0, 1, row),
                        access(2, "f16", keys * row, depth * keys, 0, keys, 0, 1), [HALF],
                        [access(3, "f16", m * row, depth, row, 1, 0, 0, value=0)])
        query, key = reals(batch, m, number, depth), reals(batch, keys, number, depth, seed=1)
        value = reals(batch, number, depth, keys, seed=2)
        result = numpy.zeros((batch, m, number, depth), numpy.float16)
        self.run_on(said, [query, key, value, result])
        wanted = expected(query.transpose(0, 2, 1, 3), key.transpose(0, 2, 1, 3), value.transpose(0, 1, 3, 2))
        self.assert_close(result, wanted.transpose(0, 2, 1, 3))

    def test_queries_and_keys_of_two_loops(self):
        # An image's rows and columns, of which the operands have a part; four queries share a head of keys.
        loops = list(zip(("m", "m", "n", "k1", "k2", "k2"), (4, 6, 16, 16, 5, 7)))
        said = document(loops, access(0, "f16", 6 * 16, 16, 0, 1, 0, 0), access(1, "f16", 0, 0, 0, 1, 10 * 16, 16),
                        access(2, "f16", 0, 0, 1, 0, 8 * 16, 16, offset=16), [HALF],
                        [access(3, "f16", 16, 4 * 16, 1, 0, 0, 0, value=0)])
        query, key, value = reals(4, 6, 16), reals(5, 10, 16, seed=1), reals(5, 8, 16, seed=2)
        result = numpy.zeros((6, 4, 16), numpy.float16)
        self.run_on(said, [query, key, value, result])
        wanted = expected(query.reshape(24, 16), key[:, :7].reshape(35, 16), value[:, 1:].reshape(35, 16))
        self.assert_close(result, wanted.reshape(4, 6, 16).transpose(1, 0, 2))

    def test_masks_that_are_added(self):
        batch, m, keys, depth = 2, 20, 21, 16
        given = operands(batch, m, keys, depth)
        shapes = {(batch, m, keys): (m * keys, keys, 0, 0, 1), (batch, keys): (keys, 0, 0, 0, 1),
                  (m, keys): (0, keys, 0, 0, 1)}
        for shape, strides in shapes.items():
            mask = reals(*shape, seed=3)
            # Causal: what comes later has no weight at all.
            if shape == (m, keys):
                mask[numpy.arange(m)[:, None] < numpy.arange(keys)] = -numpy.inf
            result = numpy.zeros((batch, m, depth), numpy.float16)
            wide = mask[:, None, :] if shape == (batch, keys) else mask
            # Of two parts the second is all masked for the first queries.
            for parts in (1, 2):
                self.run_on(heads(batch, m, keys, depth, mask=access(4, "f16", *strides)), [*given, result, mask],
                            SPLIT_K=parts)
                self.assert_close(result, expected(*given, mask=wide.astype(float)))

    def test_a_table_of_constants_behind_it(self):
        given, bias = operands(1, 20, 40, 16), reals(16, seed=3)
        table = operation("table", "f16") | {"offset": 0, "strides": [0, 0, 1, 0, 0],
                                             "words": bias.view(numpy.uint32).tolist()}
        values = [HALF, table, operation("arith.addf", "f16", 0, 1)]
        stores = [access(3, "f16", 20 * 16, 16, 1, 0, 0, value=2)]
        result = numpy.zeros((1, 20, 16), numpy.float16)
        for parts in (1, 2):
            self.run_on(heads(1, 20, 40, 16, values=values, stores=stores), [*given, result], SPLIT_K=parts)
            self.assert_close(result, expected(*given) + f32(bias))

    def test_masks_of_truth_values(self):
        batch, m, keys, depth = 1, 16, 21, 16
        given = operands(batch, m, keys, depth)
        # Of a byte the lowest bit counts.
        mask = numpy.random.default_rng(5).integers(-128, 128, (batch, m, keys), numpy.int8)
        result = numpy.zeros((batch, m, depth), numpy.float16)
        said = heads(batch, m, keys, depth, mask=access(4, "i1", m * keys, keys, 0, 0, 1))
        self.run_on(said, [*given, result, mask])
        self.assert_close(result, expected(*given, mask=numpy.where(mask & 1, 0, -numpy.inf)))
        # A query without any key has no mean, as in the compiler's own kernels.
        mask[0, 3] = 0
        self.run_on(said, [*given, result, mask])
        self.assertTrue(numpy.isnan(result[0, 3]).all())
        self.assertFalse(numpy.isnan(result[0, :3]).any())

    def test_what_goes_behind_it(self):
        # Narrowed, a residual added, stored transposed; and the sums themselves.
        batch, m, keys, depth = 2, 20, 33, 24
        given = operands(batch, m, keys, depth)
        residual = reals(m, batch, depth, seed=4)
        strides = (depth, batch * depth, 1, 0, 0)
        values = [ROOT_VALUE, load(3, "f16", *strides), operation("arith.truncf", "f16", 0),
                  operation("arith.addf", "f16", 2, 1)]
        stores = [access(4, "f16", *strides, value=3), access(5, "f32", m * depth, depth, 1, 0, 0, value=0)]
        result, sums = numpy.zeros((m, batch, depth), numpy.float16), numpy.zeros((batch, m, depth), numpy.float32)
        self.run_on(heads(batch, m, keys, depth, values=values, stores=stores), [*given, residual, result, sums])
        self.assert_close(sums, expected(*given))
        numpy.testing.assert_array_equal(result, sums.transpose(1, 0, 2).astype(numpy.float16) + residual)

    def test_views_that_begin_where_constants_say(self):
        # Of one binding: where 32 bits say, where 64 bits say, and 128 bytes in.
        query, key, value = operands(1, 16, 20, 16)
        memory = numpy.zeros(8192, numpy.float16)
        for begin, each in ((64, value), (1000, query), (2000, key)):
            memory[begin:begin + each.size] = each.ravel()
        views = [view(0, words=[0]), view(0, words=[1, 2], multiple=16), view(0, offset=128), view(1)]
        result = numpy.zeros((1, 16, 16), numpy.float16)
        self.run_on(heads(1, 16, 20, 16, views=views, constants=3), [memory, result], [2000, 4000, 0])
        self.assert_close(result, expected(query, key, value))


@unittest.skipIf(HAS_NUMBERS, "of the compiler")
class Code(Compiles):
    kind, knobs = attention.Attention, LARGE

    def test_self_attention(self):
        text = self.ptx(heads(20, 4096, 4096, 64), ["u64"] * 4)
        self.assert_pipelined(text)
        self.assertTrue("ex2.approx" in text)

    def test_values_that_are_stored_element_by_element(self):
        # As IREE leaves them in programs: batch x elements x keys, and the result's heads inside of its rows.
        said = heads(20, 4096, 4096, 64, stores=[access(3, "f16", 64, 1280, 1, 0, 0, value=0)])
        said["value"]["strides"] = [64 * 4096, 0, 4096, 0, 1]
        self.assert_pipelined(self.ptx(said, ["u64"] * 4))

    def test_77_keys_are_read_in_whole_vectors_too(self):
        text = self.ptx(heads(20, 4096, 77, 64), ["u64"] * 4)
        self.assertTrue("wgmma.mma_async" in text)
        self.assertEqual(set(re.findall(r"ld\.global\.(v4|v2|b16|b32)", text)), {"v4"})

    def test_a_head_of_80_in_bf16(self):
        self.assert_pipelined(self.ptx(heads(16, 1024, 1024, 80, type_="bf16"), ["u64"] * 4))

    def test_a_mask_and_constants(self):
        said = heads(12, 512, 512, 128, mask=access(4, "f16", 512 * 512, 512, 0, 0, 1), constants=2)
        self.assertTrue("wgmma.mma_async" in self.ptx(said, ["u64"] * 5 + ["u32"] * 2))

    def test_warps_that_are_no_warpgroup(self):
        text = self.ptx(heads(4, 512, 512, 64), ["u64"] * 4, {"BLOCK_M": 32, "BLOCK_N": 32, "num_warps": 2})
        self.assert_pipelined(text, "mma.sync.aligned")

    def test_positions_have_64_bits_where_32_are_too_few_and_only_there(self):
        # 70000 matrices of 512 x 64 elements are more than 2^31, 512 matrices are not.
        text = attention.Attention(heads(65000, 512, 77, 80), None).source(LARGE)
        self.assertEqual(set(re.findall(r"(use\d+) = .*int64", text)), {"use0", "use3"})
        self.assertFalse("int64" in attention.Attention(heads(512, 512, 77, 64), None).source(LARGE))

    def test_f32_on_matrix_units_and_without(self):
        said = heads(4, 128, 128, 16, type_="f32")
        for precision, instruction in ((0, "fma.rn.f32"), (1, "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16"),
                                       (2, "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32")):
            _, code = self.compiled(said, {"BLOCK_M": 64, "BLOCK_N": 16, "num_warps": 4, "PRECISION": precision})
            self.assertIn(instruction, code.decode())
            self.assertEqual("mma" in code.decode(), precision > 0)

    def test_refusals(self):
        self.assertEqual(self.refusal(heads(1, 64, 64, 64, type_="i8")), "attention of i8")
        self.assertEqual(self.refusal(heads(1, 64, 64, 64), {"PRECISION": 1}), "PRECISION = 1 of products of f16")
        mixed = heads(1, 64, 64, 64)
        mixed["key"]["type"] = "bf16"
        self.assertEqual(self.refusal(mixed), "attention of bf16 and f16")
        masked = heads(1, 64, 64, 64, mask=access(4, "i32", 0, 64, 0, 0, 1))
        self.assertEqual(self.refusal(masked), "a mask of i32")
        self.assertIn("bytes of shared memory", self.refusal(heads(1, 512, 512, 512)))
        self.assertIn("65536 matrices", self.refusal(heads(65536, 64, 64, 64)))

    def test_a_worker_answers(self):
        worker = compile_worker.Worker()
        flags = ["--target=cuda:90", "--units=132", f"--shared={H100.shared_bytes}"]
        worker.prepare({"flags": flags}, [compile_worker.json.dumps(heads(20, 200, 77, 64)).encode()])
        answer, _ = worker.compile({}, [])
        self.assertEqual(compile_worker.json.loads(answer["configured"]), attention.Attention.default)
        self.assertEqual(answer["launch"]["grid"], [math.ceil(200 / 64), 20, 1])


@unittest.skipIf(HAS_NUMBERS, "runs the interpreter")
class Interpreted(unittest.TestCase):
    def test_numbers(self):
        interpreted(self, __file__)


if __name__ == "__main__":
    main()
