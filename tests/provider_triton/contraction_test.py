"""Kernels that Triton makes of dispatches: their numbers in Triton's interpreter, and their PTX for an H100.

Run by ctest, or by hand: .venv/bin/python tests/provider_triton/contraction_test.py [-v] [Numbers.test_NAME]
No GPU is needed. Triton interprets or compiles by an environment variable that it reads when it is imported, so
numbers are computed by this file run once more.
"""
import math
import pathlib
import re
import unittest

import numpy

from stated_kernels import (FOLDER, H100, HAS_NUMBERS, MI300X, ROOT_VALUE, Compiles, access, constant, f32, interpreted, load,
                            main, numbers, operation, view)
from stated_kernels import run as run_stated

import compile_worker
import contraction
import element_values
from problem import Device

SMALL = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2, "num_warps": 1, "num_stages": 2}
BOXES = {"STRUCTURE": 5, "SWAP": 1, "BLOCK_N": 32}
LARGE = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 3}


def document(loops, lhs, rhs, values, stores, views=None, constants=0, **more):
    """`loops`: [(role, size)]. Without `views` each binding is one."""
    views = views or [view(i) for i in range(1 + max(each["view"] for each in [lhs, rhs, *values, *stores]
                                                     if "view" in each))]
    return {"kind": "contraction", "entry": "main$async_dispatch_0",
            "bindings": 1 + max(each["binding"] for each in views),
            "constants": constants, "views": views,
            "loops": [{"size": size, "role": role} for role, size in loops], "lhs": lhs, "rhs": rhs,
            "accumulator": "f32", "start": 0.0, "values": values, "stores": stores} | more


def matmul(m, n, k, type_="f16", **more):
    """What is stored is the sums, in f32."""
    return document([("m", m), ("n", n), ("k", k)], access(0, type_, k, 0, 1), access(1, type_, 0, 1, n),
                    more.pop("values", [ROOT_VALUE]),
                    more.pop("stores", [access(2, "f32", n, 1, 0, value=0)]), **more)


def biased_gelu(m, n, k):
    """f16: x = A B + bias, 0.5 x (1 + erf(x / sqrt 2)), each step rounded to f16."""
    values = [ROOT_VALUE, load(2, "f16", 0, 1, 0), operation("arith.truncf", "f16", 0),
              operation("arith.addf", "f16", 2, 1), constant(math.sqrt(0.5), "f16"),
              operation("arith.mulf", "f16", 3, 4), operation("math.erf", "f16", 5), constant(1.0, "f16"),
              operation("arith.addf", "f16", 6, 7), constant(0.5, "f16"), operation("arith.mulf", "f16", 3, 9),
              operation("arith.mulf", "f16", 10, 8)]
    return matmul(m, n, k, values=values, stores=[access(3, "f16", n, 1, 0, value=11)])


def convolution(images, height, width, channels, filters, kernel, stride, type_="f16"):
    """NHWC by HWCF, without padding; loops are n, oh, ow, oc, kh, kw, ic."""
    out_h, out_w = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    row = width * channels
    lhs = access(0, type_, height * row, stride * row, stride * channels, 0, row, channels, 1)
    rhs = access(1, type_, 0, 0, 0, 1, kernel * channels * filters, channels * filters, filters)
    loops = [("m", images), ("m", out_h), ("m", out_w), ("n", filters), ("k", kernel), ("k", kernel), ("k", channels)]
    store = access(2, "f32", out_h * out_w * filters, out_w * filters, filters, 1, 0, 0, 0, value=0)
    return document(loops, lhs, rhs, [ROOT_VALUE], [store]), (images, out_h, out_w, filters)


def channels_first(height, width, channels, filters, kernel):
    """NCHW by FCHW, one image; loops are n, oc, oh, ow, ic, kh, kw."""
    out_h, out_w = height - kernel + 1, width - kernel + 1
    lhs = access(0, "f16", 0, 0, width, 1, height * width, width, 1)
    rhs = access(1, "f16", 0, channels * kernel * kernel, 0, 0, kernel * kernel, kernel, 1)
    loops = [("m", 1), ("n", filters), ("m", out_h), ("m", out_w), ("k", channels), ("k", kernel), ("k", kernel)]
    store = access(2, "f32", 0, out_h * out_w, out_w, 1, 0, 0, 0, value=0)
    return document(loops, lhs, rhs, [ROOT_VALUE], [store]), (filters, out_h, out_w)


def products_of_integers(m, n, k):
    return matmul(m, n, k, "i8", accumulator="i32", start=0, values=[operation("root", "i32")],
                  stores=[access(2, "i32", n, 1, 0, value=0)])


def several(m, n, k, batch=1, joined=False):
    """Three products of A with B, B1, B2: each with a result of its own, or, `joined`, A B * A B1 and A B2 - A B."""
    roots = [operation("root", "f32", product=i) for i in range(3)]
    values = [*roots, operation("arith.mulf", "f32", 0, 1), operation("arith.subf", "f32", 2, 0)]
    results = (3, 4) if joined else (2, 0, 1)
    stores = [access(4 + i, "f32", m * n, n, 1, 0, value=value) for i, value in enumerate(results)]
    rights = [access(1 + i, "f16", k * n, 0, 1, n) for i in range(3)]
    return document([("batch", batch), ("m", m), ("n", n), ("k", k)], access(0, "f16", m * k, k, 0, 1), rights[0],
                    values if joined else roots, stores, rhs1=rights[1], rhs2=rights[2],
                    views=[view(i) for i in range(4 + len(results))])


def batched(batch, m, n, k):
    """The second operand is stored column by column."""
    loops = [("batch", batch), ("m", m), ("n", n), ("k", k)]
    return document(loops, access(0, "f16", m * k, k, 0, 1), access(1, "f16", n * k, 0, k, 1), [ROOT_VALUE],
                    [access(2, "f32", m * n, n, 1, 0, value=0)])


def at_run_time(m, n, k):
    """Views of one binding that begin where constants say: one of 32 bits, one of 64, and one that is known."""
    views = [view(0, words=[0]), view(0, words=[1, 2], multiple=16), view(1, offset=128)]
    return matmul(m, n, k, views=views, constants=4)


def run(said, bindings, constants=(), knobs=None):
    run_stated(contraction.Contraction, said, bindings, constants, SMALL | (knobs or {}))


@unittest.skipUnless(HAS_NUMBERS, "of the interpreter or the emulator")
class Numbers(unittest.TestCase):
    def assert_equal(self, got, wanted):
        numpy.testing.assert_array_equal(got, wanted)

    def product(self, m, n, k, **knobs):
        a, b, c = numbers(m, k), numbers(k, n, seed=1), numpy.full((m, n), 77, numpy.float32)
        run(matmul(m, n, k), [a, b, c], knobs=knobs)
        self.assert_equal(c, f32(a) @ f32(b))

    def test_sizes_that_no_block_divides(self):
        self.product(7, 31, 33)

    def test_sizes_that_blocks_divide(self):
        self.product(32, 48, 64)

    def test_one_row_one_column_and_one_k(self):
        self.product(1, 31, 33)
        self.product(31, 1, 33)
        self.product(31, 33, 1)

    def test_every_tile_once_whatever_the_groups(self):
        for group_m in (1, 2, 3, 8):
            self.product(70, 40, 16, GROUP_M=group_m)

    def test_programs_that_share_a_tile(self):
        for parts in (2, 3, 5):
            self.product(40, 33, 150, SPLIT_K=parts)
        self.product(16, 16, 32, SPLIT_K=2)
        a, b, c = numbers(20, 64, type_=numpy.int8), numbers(64, 20, seed=1, type_=numpy.int8), numpy.zeros((20, 20), numpy.int32)
        run(products_of_integers(20, 20, 64), [a, b, c], knobs={"SPLIT_K": 4})
        self.assert_equal(c, a.astype(numpy.int32) @ b.astype(numpy.int32))

    def test_tiles_loaded_by_descriptors(self):
        for structure in (4, 5):
            self.product(40, 88, 72, STRUCTURE=structure)
            self.product(40, 88, 72, STRUCTURE=structure, BLOCK_N=32, MORE_N=16)
        self.product(40, 88, 72, STRUCTURE=5, SPLIT_K=3)

    def several_products(self, m, n, k, batch=1, joined=False, **knobs):
        a, rights = numbers(batch, m, k), [numbers(batch, k, n, seed=1 + i) for i in range(3)]
        results = [numpy.full((batch, m, n), 77, numpy.float32) for _ in range(2 if joined else 3)]
        run(several(m, n, k, batch, joined), [a, *rights, *results], knobs=knobs)
        first, second, third = (f32(a) @ f32(right) for right in rights)
        for got, wanted in zip(results, (first * second, third - first) if joined else (third, first, second)):
            self.assert_equal(got, wanted)

    def test_several_products_with_results_of_their_own(self):
        self.several_products(20, 33, 40)
        self.several_products(32, 32, 32, batch=2)
        self.several_products(40, 33, 150, batch=2, SPLIT_K=3)
        self.several_products(40, 88, 72, STRUCTURE=5)
        self.several_products(40, 88, 72, STRUCTURE=5, BLOCK_N=32, MORE_N=16)
        self.several_products(40, 88, 72, STRUCTURE=5, SPLIT_K=3)

    def test_results_of_several_products(self):
        self.several_products(20, 33, 40, joined=True)
        self.several_products(40, 48, 64, batch=2, joined=True)
        self.several_products(40, 88, 72, joined=True, STRUCTURE=5)

    def test_programs_that_share_a_tile_of_a_batch(self):
        a, b, c = numbers(3, 9, 70), numbers(3, 21, 70, seed=1), numpy.zeros((3, 9, 21), numpy.float32)
        run(batched(3, 9, 21, 70), [a, b, c], knobs={"SPLIT_K": 3})
        self.assert_equal(c, f32(a) @ f32(b).swapaxes(1, 2))

    def test_a_table_of_constants(self):
        a, b, c, bias = numbers(9, 40), numbers(40, 20, seed=1), numpy.zeros((9, 20), numpy.float32), numbers(20, seed=2)
        table = operation("table", "f16") | {"offset": 0, "strides": [0, 1, 0], "words": bias.view(numpy.uint32).tolist()}
        values = [ROOT_VALUE, table, operation("arith.extf", "f32", 1), operation("arith.addf", "f32", 0, 2)]
        for parts in (1, 2):
            run(matmul(9, 20, 40, values=values, stores=[access(2, "f32", 20, 1, 0, value=3)]), [a, b, c],
                knobs={"SPLIT_K": parts})
            self.assert_equal(c, f32(a) @ f32(b) + f32(bias))

    def image(self, images, height, width, channels, filters, kernel, stride, *several, block=BOXES):
        """A convolution under several knobs, whose operands have nothing but NaN behind them."""
        said, (_, out_h, out_w, _) = convolution(images, height, width, channels, filters, kernel, stride)
        image, weights = numbers(images, height, width, channels), numbers(kernel, kernel, channels, filters, seed=1)
        wanted = sum(f32(image[:, y:y + stride * out_h:stride, x:x + stride * out_w:stride][:, :out_h, :out_w]) @
                     f32(weights[y, x]) for y in range(kernel) for x in range(kernel))
        operands = [numpy.concatenate([each.ravel(), numpy.full(999, numpy.nan, numpy.float16)]) for each in (image, weights)]
        for knobs in several or ({}, ):
            result = numpy.full(wanted.size + 500, 77, numpy.float32)
            run(said, [*operands, result], knobs=block | knobs)
            self.assert_equal(result[:-500].reshape(wanted.shape), wanted)
            self.assertTrue((result[-500:] == 77).all())

    def test_an_image_loaded_in_boxes(self):
        # Of 4 x 16 pixels in boxes of 2 x 16, and 1 x 16 behind them.
        self.image(2, 6, 18, 16, 24, 3, 1, {"GROUP_M": 1}, {"MORE_N": 16}, {"SPLIT_K": 5}, {"STRUCTURE": 4})
        # Of 5 x 7, which no box divides.
        self.image(1, 7, 9, 16, 24, 3, 1, {"BLOCK_N": 16})

    def test_a_strided_image_loaded_in_boxes(self):
        self.image(2, 11, 9, 32, 24, 3, 2, {"MORE_N": 16, "BLOCK_K": 32})
        # One pixel wide, whose last step no block divides; a box is of several images.
        self.image(3, 7, 9, 24, 40, 1, 2, {"BLOCK_N": 64})

    def test_an_image_with_a_bias_in_a_view_of_its_own(self):
        said, shape = convolution(1, 6, 6, 16, 24, 3, 1)
        said["views"] = [view(0, words=[0]), view(0, words=[1, 2], multiple=16), view(1), view(2)]
        said |= {"constants": 3, "bindings": 3, "values": [ROOT_VALUE, load(3, "f32", 0, 0, 0, 1, 0, 0, 0),
                                                           operation("arith.addf", "f32", 0, 1)]}
        said["stores"][0]["value"] = 2
        image, weights, bias = numbers(6, 6, 16), numbers(3, 3, 16, 24, seed=1), numbers(24, seed=2, type_=numpy.float32)
        memory = numpy.zeros(8192, numpy.float16)
        memory[512:512 + image.size], memory[2048:2048 + weights.size] = image.ravel(), weights.ravel()
        result = numpy.zeros(shape[1:], numpy.float32)
        run(said, [memory, result, bias], [1024, 4096, 0], BOXES)
        wanted = sum(f32(image[y:y + 4, x:x + 4]) @ f32(weights[y, x]) for y in range(3) for x in range(3)) + bias
        self.assert_equal(result, wanted)

    def test_filters_in_another_order_loaded_by_descriptors(self):
        # Filter by filter, whose taps do not follow one another as the image's do.
        said, shape = convolution(1, 6, 6, 16, 24, 3, 1)
        said["rhs"]["strides"] = [0, 0, 0, 144, 16, 48, 1]
        image, weights = numbers(6, 6, 16), numbers(24, 3, 3, 16, seed=1)  # filters, columns, rows, channels
        result = numpy.zeros(shape[1:], numpy.float32)
        run(said, [image, weights, result], knobs=BOXES)
        self.assert_equal(result, sum(f32(image[y:y + 4, x:x + 4]) @ f32(weights[:, x, y]).T for y in range(3) for x in range(3)))

    def test_a_product_computed_transposed(self):
        for knobs in ({"MORE_N": 16}, {"SPLIT_K": 3}):
            self.product(24, 40, 72, STRUCTURE=5, SWAP=1, BLOCK_N=32, **knobs)

    def test_three_parts_of_8_bits_hold_a_number_and_two_of_11_do_not(self):
        # What PRECISION is allowed to be of products, whose verification sees every digit (docs/measuring.md).
        def rounded(x, bits):
            dropped = numpy.uint32(24 - bits)
            odd = x.view(numpy.uint32) >> dropped & 1
            half = (numpy.uint32(1) << (dropped - 1)) - 1
            return ((x.view(numpy.uint32) + half + odd) >> dropped << dropped).view(numpy.float32)
        x = numpy.random.default_rng(3).uniform(-2, 2, 10000).astype(numpy.float32)
        for bits, count, holds in ((8, 3, True), (11, 2, False)):
            rest = x
            for _ in range(count):
                rest = rest - rounded(rest, bits)
            self.assertEqual((rest == 0).all(), holds)

    def test_nothing_behind_the_end_is_written(self):
        a, b, c = numbers(7, 33), numbers(33, 31, seed=1), numpy.full(7 * 31 + 500, 77, numpy.float32)
        run(matmul(7, 31, 33), [a, b, c])
        self.assert_equal(c[:7 * 31].reshape(7, 31), f32(a) @ f32(b))
        self.assertTrue((c[7 * 31:] == 77).all())

    def test_nan_beyond_an_operand_is_not_read(self):
        a, b = (numpy.full(size + 999, numpy.nan, numpy.float16) for size in (7 * 33, 33 * 31))
        a[:7 * 33], b[:33 * 31] = numbers(7 * 33), numbers(33 * 31, seed=1)
        c = numpy.zeros((7, 31), numpy.float32)
        run(matmul(7, 31, 33), [a, b, c])
        self.assert_equal(c, f32(a[:7 * 33].reshape(7, 33)) @ f32(b[:33 * 31].reshape(33, 31)))

    def test_f32(self):
        a, b = numbers(17, 20, type_=numpy.float32), numbers(20, 33, seed=1, type_=numpy.float32)
        c = numpy.zeros((17, 33), numpy.float32)
        run(matmul(17, 33, 20, "f32", start=2.5), [a, b, c])
        self.assert_equal(c, a @ b + 2.5)

    def test_integers(self):
        a, b = numbers(17, 40, type_=numpy.int8), numbers(40, 33, seed=1, type_=numpy.int8)
        c = numpy.zeros((17, 33), numpy.int32)
        run(products_of_integers(17, 33, 40), [a, b, c], knobs={"BLOCK_K": 32})
        self.assert_equal(c, a.astype(numpy.int32) @ b.astype(numpy.int32))

    def test_a_batch_with_a_transposed_operand(self):
        a, b, c = numbers(3, 9, 20), numbers(3, 21, 20, seed=1), numpy.zeros((3, 9, 21), numpy.float32)
        run(batched(3, 9, 21, 20), [a, b, c])
        self.assert_equal(c, f32(a) @ f32(b).transpose(0, 2, 1))

    def test_batches_that_no_stride_joins(self):
        # Attention: of (2, 5, 3, 8) the second dimension is m, the third a batch.
        strides, column_strides = (5 * 24, 8, 24, 0, 1), (5 * 24, 8, 0, 24, 1)
        loops = [("batch", 2), ("batch", 3), ("m", 5), ("n", 5), ("k", 8)]
        said = document(loops, access(0, "f16", *strides), access(1, "f16", *column_strides), [ROOT_VALUE],
                        [access(2, "f32", 75, 25, 5, 1, 0, value=0)])
        a, b, c = numbers(2, 5, 3, 8), numbers(2, 5, 3, 8, seed=1), numpy.zeros((2, 3, 5, 5), numpy.float32)
        run(said, [a, b, c])
        self.assert_equal(c, numpy.einsum("bmhk,bnhk->bhmn", f32(a), f32(b)))

    def convolved(self, image, weights, stride):
        kernel = weights.shape[0]
        windows = numpy.lib.stride_tricks.sliding_window_view(f32(image), (kernel, kernel), (1, 2))
        return numpy.einsum("nhwcij,ijcf->nhwf", windows[:, ::stride, ::stride], f32(weights))

    def test_convolutions(self):
        for images, height, width, channels, filters, kernel, stride in (
                (1, 5, 5, 8, 16, 3, 1), (2, 7, 9, 3, 5, 3, 2), (1, 6, 5, 20, 17, 1, 1), (3, 9, 9, 18, 10, 2, 3),
                (1, 8, 8, 16, 16, 3, 1)):
            said, shape = convolution(images, height, width, channels, filters, kernel, stride)
            image, weights = numbers(images, height, width, channels), numbers(kernel, kernel, channels, filters)
            result = numpy.zeros(shape, numpy.float32)
            run(said, [image, weights, result])
            self.assert_equal(result, self.convolved(image, weights, stride))

    def test_a_convolution_with_channels_first(self):
        for channels in (4, 20):
            said, shape = channels_first(6, 7, channels, 18, 3)
            image, weights = numbers(1, channels, 6, 7), numbers(18, channels, 3, 3, seed=1)
            result = numpy.zeros(shape, numpy.float32)
            run(said, [image, weights, result])
            wanted = self.convolved(image.transpose(0, 2, 3, 1), weights.transpose(2, 3, 1, 0), 1)
            self.assert_equal(result, wanted[0].transpose(2, 0, 1))

    def test_views_that_begin_where_constants_say(self):
        a, b, c = numbers(7, 33), numbers(33, 31, seed=1), numpy.zeros(64 // 2 + 7 * 31, numpy.float32)
        memory = numpy.zeros(8192, numpy.float16)
        memory[64:64 + a.size], memory[1000:1000 + b.size] = a.ravel(), b.ravel()
        run(at_run_time(7, 31, 33), [memory, c], [128, 2000, 0, 5])
        self.assert_equal(c[32:].reshape(7, 31), f32(a) @ f32(b))
        # What counts is the sum modulo 2^64: from 8192 bytes further, 2^64 - 8192 + 128 leads to the same place. The
        # low word is one without a sign.
        c[:] = 0
        said = at_run_time(7, 31, 33)
        said["views"][0] = view(0, words=[0, 3])
        run(said, [memory[4096:], c], [128 - 8192, 2000 - 8192, -1, -1])
        self.assert_equal(c[32:].reshape(7, 31), f32(a) @ f32(b))

    def test_offsets_of_operands_and_results(self):
        a, b, c = numbers(9, 40), numbers(40, 33, seed=1), numpy.zeros((20, 40), numpy.float32)
        loops = [("m", 7), ("n", 31), ("k", 33)]
        said = document(loops, access(0, "f16", 40, 0, 1, offset=41), access(1, "f16", 0, 1, 33, offset=34),
                        [ROOT_VALUE], [access(2, "f32", 40, 1, 0, offset=83, value=0)])
        run(said, [a, b, c])
        wanted = numpy.zeros_like(c)
        wanted[2:9, 3:34] = f32(a[1:8, 1:34]) @ f32(b[1:34, 1:32])
        self.assert_equal(c, wanted)

    def test_bias_and_gelu_round_as_the_operations_say(self):
        m, n, k = 7, 31, 33
        a, b, bias = numbers(m, k), numbers(k, n, seed=1), numbers(n, seed=2)
        result = numpy.zeros((m, n), numpy.float16)
        run(biased_gelu(m, n, k), [a, b, bias, result])
        half = numpy.float16
        x = (f32(a) @ f32(b)).astype(half) + bias
        erf = f32(x * half(math.sqrt(0.5)))
        erf = numpy.vectorize(math.erf, otypes=[numpy.float32])(erf).astype(half)
        self.assert_equal(result, x * half(0.5) * (erf + half(1)))

    def test_loads_along_rows_along_columns_of_both_and_of_neither(self):
        m, n, k = 7, 31, 33
        values = [ROOT_VALUE, load(2, "f32", 1, 0, 0), load(3, "f32", 0, 1, 0), load(4, "f32", 1, m, 0),
                  load(5, "f32", 0, 0, 0), operation("arith.addf", "f32", 0, 1), operation("arith.mulf", "f32", 5, 2),
                  operation("arith.subf", "f32", 6, 3), operation("arith.addf", "f32", 7, 4)]
        a, b = numbers(m, k), numbers(k, n, seed=1)
        row, column, both, one = (numbers(*shape, seed=3, type_=numpy.float32)
                                  for shape in ((m, ), (n, ), (n, m), (1, )))
        result, other = numpy.zeros((m, n), numpy.float32), numpy.zeros((n, m), numpy.float32)
        stores = [access(6, "f32", n, 1, 0, value=8), access(7, "f32", 1, m, 0, value=2)]
        run(matmul(m, n, k, values=values, stores=stores), [a, b, row, column, both, one, result, other])
        wanted = (f32(a) @ f32(b) + row[:, None]) * column - both.T + one
        self.assert_equal(result, wanted)
        self.assert_equal(other, numpy.broadcast_to(column[:, None], (n, m)))

    def operation_on(self, x, y, types, said, result_type):
        """said: an operation on the values 1 and 2, which are loaded."""
        n = len(x)
        result = numpy.zeros(n, result_type)
        stored = {"float16": "f16", "float32": "f32", "int8": "i8", "int32": "i32"}[str(result.dtype)]
        values = [ROOT_VALUE, load(2, types, 0, 1, 0), load(3, types, 0, 1, 0), said]
        run(matmul(1, n, 16, values=values, stores=[access(4, stored, 0, 1, 0, value=3)]),
            [numbers(1, 16), numbers(16, n), x, y, result])
        return result

    def test_float_operations(self):
        x = numpy.array([-2.5, -1.0, -0.3, -0.0, 0.0, 0.1, 0.5, 1.5, 2.5, 3.25, numpy.nan], numpy.float32)
        y = numpy.array([1.0, -1.0, 0.7, 0.0, -0.0, 0.1, 2.0, -3.0, numpy.nan, 0.25, 1.0], numpy.float32)
        two = {"arith.addf": numpy.add, "arith.subf": numpy.subtract, "arith.mulf": numpy.multiply,
               "arith.divf": numpy.divide, "arith.maximumf": numpy.maximum, "arith.minimumf": numpy.minimum,
               "arith.maxnumf": numpy.fmax, "arith.minnumf": numpy.fmin, "math.powf": numpy.power}
        one = {"arith.negf": numpy.negative, "math.exp": numpy.exp, "math.exp2": numpy.exp2, "math.tanh": numpy.tanh,
               "math.log": numpy.log, "math.log2": numpy.log2, "math.sqrt": numpy.sqrt, "math.absf": numpy.abs,
               "math.floor": numpy.floor, "math.ceil": numpy.ceil, "math.sin": numpy.sin, "math.cos": numpy.cos,
               "math.rsqrt": lambda x: 1 / numpy.sqrt(x), "math.roundeven": numpy.rint, "math.log1p": numpy.log1p,
               "math.trunc": numpy.trunc, "math.expm1": numpy.expm1}
        for type_, of in (("f32", numpy.float32), ("f16", numpy.float16)):
            a, b = x.astype(of), y.astype(of)
            with numpy.errstate(all="ignore"):
                for name, function in (two | one).items():
                    operands = (1, 2) if name in two else (1, )
                    got = self.operation_on(a, b, type_, operation(name, type_, *operands), of)
                    wanted = function(*[f32(a), f32(b)][:len(operands)]).astype(of)
                    if "numf" in name:
                        # Triton 3.6's interpreter passes NaN on here, unlike its compiler (the tests of code).
                        got = numpy.where(numpy.isnan(a) | numpy.isnan(b), wanted, got)
                    numpy.testing.assert_allclose(got, wanted, rtol=2e-7, err_msg=f"{name} of {type_}")
                got = self.operation_on(a, b, type_, operation("math.fma", type_, 1, 2, 1), of)
                wanted = (a.astype(float) * b + a).astype(of)
                numpy.testing.assert_allclose(got, wanted, rtol=2e-7, err_msg=f"fma of {type_}")
                got = self.operation_on(a, b, type_, operation("arith.negf", type_, 1), of)
                self.assert_equal(numpy.signbit(got[:-1]), ~numpy.signbit(a[:-1]))

    def test_comparisons_and_choices(self):
        x = numpy.array([1, 2, 3, numpy.nan, 1, -0.0], numpy.float32)
        y = numpy.array([1, 3, 2, 1, numpy.nan, 0.0], numpy.float32)
        unordered = numpy.isnan(x) | numpy.isnan(y)
        with numpy.errstate(invalid="ignore"):
            plain = {"eq": x == y, "gt": x > y, "ge": x >= y, "lt": x < y, "le": x <= y, "ne": (x < y) | (x > y)}
        wanted = {"o" + name: holds for name, holds in plain.items()}
        wanted |= {"u" + name: holds | unordered for name, holds in plain.items()}
        wanted |= {"ord": ~unordered, "uno": unordered}
        for predicate, holds in wanted.items():
            self.chosen(x, y, "f32", "arith.cmpf", predicate, holds)
        i, j = numpy.array([1, -1, 5, 7], numpy.int32), numpy.array([1, 1, -5, 6], numpy.int32)
        u, v = i.astype(numpy.uint32), j.astype(numpy.uint32)
        for predicate, holds in {"eq": i == j, "ne": i != j, "slt": i < j, "sge": i >= j, "ult": u < v,
                                 "ugt": u > v}.items():
            self.chosen(i, j, "i32", "arith.cmpi", predicate, holds)

    def chosen(self, x, y, type_, compare, predicate, holds):
        values = [ROOT_VALUE, load(2, type_, 0, 1, 0), load(3, type_, 0, 1, 0),
                  operation(compare, "i1", 1, 2, predicate=predicate), constant(4.0), constant(-4.0),
                  operation("arith.select", "f32", 3, 4, 5)]
        result = numpy.zeros(len(x), numpy.float32)
        run(matmul(1, len(x), 16, values=values, stores=[access(4, "f32", 0, 1, 0, value=6)]),
            [numbers(1, 16), numbers(16, len(x)), x, y, result])
        numpy.testing.assert_array_equal(result, numpy.where(holds, 4, -4), err_msg=predicate)

    def test_integer_operations_and_conversions(self):
        x, y = numpy.array([-128, -1, 0, 5, 127], numpy.int8), numpy.array([-1, 3, 7, -5, 127], numpy.int8)
        with numpy.errstate(over="ignore"):
            for name, wanted in {"addi": x + y, "subi": x - y, "muli": x * y, "maxsi": numpy.maximum(x, y),
                                 "minsi": numpy.minimum(x, y), "andi": x & y, "xori": x ^ y}.items():
                self.assert_equal(self.operation_on(x, y, "i8", operation("arith." + name, "i8", 1, 2), numpy.int8),
                                  wanted)
        unsigned = x.astype(numpy.uint8)
        for name, type_, of, wanted in (
                ("sitofp", "f32", numpy.float32, x), ("uitofp", "f32", numpy.float32, unsigned),
                ("uitofp", "f16", numpy.float16, unsigned), ("extsi", "i32", numpy.int32, x),
                ("extui", "i32", numpy.int32, unsigned)):
            got = self.operation_on(x, y, "i8", operation("arith." + name, type_, 1), of)
            self.assert_equal(got, wanted.astype(of))
        z = numpy.array([-2.7, -0.5, 0.5, 100.9, 3.0], numpy.float32)
        self.assert_equal(self.operation_on(z, z, "f32", operation("arith.fptosi", "i32", 1), numpy.int32),
                          [-2, 0, 0, 100, 3])
        w = numpy.array([-129, 256, 511, 3, -1], numpy.int32)
        self.assert_equal(self.operation_on(w, w, "i32", operation("arith.trunci", "i8", 1), numpy.int8),
                          w.astype(numpy.int8))
        for name, wanted in (("extui", [1, 0, 1, 1, 1]), ("extsi", [-1, 0, -1, -1, -1])):
            values = [ROOT_VALUE, load(2, "i32", 0, 1, 0), operation("arith.trunci", "i1", 1),
                      operation("arith." + name, "i32", 2)]
            result = numpy.zeros(5, numpy.int32)
            run(matmul(1, 5, 16, values=values, stores=[access(3, "i32", 0, 1, 0, value=3)]),
                [numbers(1, 16), numbers(16, 5), w, result])
            self.assert_equal(result, wanted)


@unittest.skipIf(HAS_NUMBERS, "of the compiler")
class Code(Compiles):
    kind, knobs = contraction.Contraction, LARGE

    def test_a_product_with_bias_and_gelu(self):
        self.assert_pipelined(self.ptx(biased_gelu(2048, 10240, 1280), ["u64"] * 4))

    def test_a_product_of_odd_sizes(self):
        self.assertTrue("wgmma.mma_async" in self.ptx(matmul(129, 1001, 333), ["u64"] * 3))

    def test_a_batch(self):
        self.assert_pipelined(self.ptx(batched(24, 1024, 1024, 256), ["u64"] * 3))

    def test_a_convolution(self):
        said, _ = convolution(2, 66, 66, 320, 320, 3, 1)
        self.assert_pipelined(self.ptx(said, ["u64"] * 3))

    def test_a_strided_convolution_whose_rows_no_block_divides(self):
        said, _ = convolution(1, 57, 57, 48, 96, 3, 2)
        self.assert_pipelined(self.ptx(said, ["u64"] * 3))

    def test_a_convolution_whose_image_is_loaded_in_boxes(self):
        for size, stride, structure, programs in ((66, 1, 4, 132), (65, 2, 5, 48)):
            said, _ = convolution(2, size, size, 320, 320, 3, stride)
            answer, code = self.compiled(said, {"STRUCTURE": structure, "SWAP": 1})
            text = code.decode()
            # Instructions read both operands from shared memory, where the descriptors put them.
            for instruction in ("cp.async.bulk.tensor.4d", "cp.async.bulk.tensor.2d", "wgmma.mma_async"):
                self.assertIn(instruction, text)
            for instruction in ("ldmatrix", "cp.async.cg", "mma.sync"):
                self.assertNotIn(instruction, text)
            self.assertEqual(len(re.findall(r"\.param \.u64", text)), 3)
            self.assertEqual(answer["launch"]["grid"], [programs, 1, 1])

    def test_constants_that_are_not_read_are_parameters(self):
        self.assert_pipelined(self.ptx(matmul(1024, 1024, 1024, constants=3), ["u64"] * 3 + ["u32"] * 3))

    def test_views_at_run_time_are_read_in_whole_vectors(self):
        self.assert_pipelined(self.ptx(at_run_time(1024, 1024, 1024), ["u64"] * 2 + ["u32"] * 4))

    def test_integers(self):
        knobs = {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4}
        text = self.ptx(products_of_integers(512, 512, 512), ["u64"] * 3, knobs)
        self.assertTrue(re.search(r"mma[\w.]*\.s32\.s8\.s8", text))

    def test_f32_and_bf16(self):
        knobs = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4}
        self.assertTrue("fma.rn.f32" in self.ptx(matmul(256, 256, 256, "f32"), ["u64"] * 3, knobs))
        self.assertIn("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16",
                      self.ptx(matmul(256, 256, 256, "f32"), ["u64"] * 3, knobs | {"PRECISION": 1}))
        self.assert_pipelined(self.ptx(matmul(256, 256, 256, "bf16"), ["u64"] * 3))

    def test_positions_have_64_bits_where_32_are_too_few_and_only_there(self):
        # 70000 x 33000 elements are more than 2^31, 70000 x 64 are not.
        said = matmul(70000, 33000, 64)
        text = contraction.Contraction(said, pathlib.Path(FOLDER.name)).source(LARGE)
        self.assertEqual(set(re.findall(r"(\w+) = .*int64", text)), {"use2_row", "use2_column"})
        self.ptx(said, ["u64"] * 3)

    def test_all_functions_compile(self):
        n = 1024
        values, before = [ROOT_VALUE], 0
        for name in sorted(set(element_values.FUNCTIONS) - {"powf", "atan2", "fma", "divf"}):
            values.append(operation("math." + name, "f32", before))
            before = len(values) - 1
        for name, operands in (("powf", 2), ("atan2", 2), ("fma", 3), ("divf", 2)):
            values.append(operation("math." + name, "f32", *[before] * operands))
            before = len(values) - 1
        for type_ in ("f16", "bf16"):
            for name in ("maximumf", "minnumf", "mulf", "subf", "negf", "divf"):
                values.append(operation("arith.truncf", type_, before))
                operands = [len(values) - 1] * (1 if name == "negf" else 2)
                values.append(operation("arith." + name, type_, *operands))
                values.append(operation("arith.extf", "f32", len(values) - 1))
                before = len(values) - 1
        said = matmul(n, n, n, values=values, stores=[access(2, "f32", n, 1, 0, value=before)])
        self.ptx(said, ["u64"] * 3, {"BLOCK_M": 64, "BLOCK_N": 32, "num_warps": 4})

    def test_of_nan_and_a_number_each_maximum_chooses_its_own(self):
        for name, instruction in (("maximumf", "max.NaN.f32"), ("maxnumf", "max.f32"), ("minimumf", "min.NaN.f32"),
                                  ("minnumf", "min.f32")):
            values = [ROOT_VALUE, load(2, "f32", 0, 1, 0), operation("arith." + name, "f32", 0, 1)]
            said = matmul(64, 64, 64, values=values, stores=[access(3, "f32", 64, 1, 0, value=2)])
            _, code = self.compiled(said, SMALL)
            self.assertEqual(set(re.findall(r"\bm(?:ax|in)\.[\w.]*f32", code.decode())), {instruction})

    def test_each_operation_behind_the_sums_is_rounded(self):
        values = [ROOT_VALUE, load(2, "f32", 0, 1, 0), operation("arith.mulf", "f32", 0, 1),
                  operation("arith.addf", "f32", 2, 1)]
        said = matmul(512, 512, 512, values=values, stores=[access(3, "f32", 512, 1, 0, value=3)])
        self.assertFalse("fma.rn.f32" in self.ptx(said, ["u64"] * 4))

    def test_code_for_gfx942(self):
        said = at_run_time(64, 64, 256)
        answer, code = self.compiled(said, {"SPLIT_K": 2, "waves_per_eu": 2}, device=MI300X)
        self.assertEqual(answer["format"], "rocm-hsaco")
        self.assertEqual((answer["launch"]["block"][0] % 64, answer["launch"]["shared_bytes"]), (0, 0))
        self.assertEqual(code[:4], b"\x7fELF")
        for found in (b"main_async_dispatch_0.kd\0", b"gfx942"):
            self.assertIn(found, code)
        for missing in (b"global_smem", FOLDER.name.encode()):
            self.assertNotIn(missing, code)
        # Two bindings and four constants: metadata lists no more.
        self.assertEqual((code.count(b"global_buffer"), code.count(b"by_value")), (2, 4))

    def test_refusals(self):
        mixed = matmul(64, 64, 64)
        mixed["rhs"]["type"] = "bf16"
        self.assertEqual(self.refusal(mixed), "products of f16 and bf16")
        unknown = matmul(64, 64, 64, values=[ROOT_VALUE, operation("math.cbrt", "f32", 0)])
        self.assertEqual(self.refusal(unknown), "math.cbrt of f32 is not known in an epilogue")
        wide = matmul(64, 64, 64, values=[ROOT_VALUE, operation("arith.extf", "f64", 0)])
        self.assertEqual(self.refusal(wide), "f64 is not known in a kernel for a dispatch")
        self.assertIn("bytes of shared memory", self.refusal(matmul(4096, 4096, 4096), {"BLOCK_K": 128,
                                                                                       "num_stages": 6}))
        self.assertIn("65536 matrices", self.refusal(batched(65536, 16, 16, 16)))
        image, _ = convolution(1, 34, 34, 48, 64, 3, 1)
        self.assertIn("SWAP", self.refusal(image, {"STRUCTURE": 5}))
        self.assertIn("SWAP", self.refusal(image, {"SWAP": 1}))
        # 3 x 48 elements lie side by side in the image, but not in the filter.
        image["rhs"]["strides"] = [0, 0, 0, 1, 64, 192, 576]
        self.assertIn("a step of 64 would go beyond the 48", self.refusal(image, {"STRUCTURE": 5, "SWAP": 1}))
        first, _ = channels_first(34, 34, 48, 64, 3)
        self.assertIn("tensor descriptors are for", self.refusal(first, {"STRUCTURE": 5, "SWAP": 1}))

    def test_a_worker_answers(self):
        worker = compile_worker.Worker()
        flags = ["--target=cuda:90", "--units=132", "--shared=232448"]
        text = compile_worker.json.dumps(matmul(512, 512, 512)).encode()
        worker.prepare({"flags": flags, "assemble_for": ""}, [text])
        answer, [code] = worker.compile({"knobs": SMALL | {"num_warps": 4}}, [])
        self.assertEqual((answer["format"], answer["launch"]["grid"]), ("cuda-ptx", [1024, 1, 1]))
        self.assertEqual(answer["launch"]["block"], [128, 1, 1])
        self.assertEqual(set(answer["stages"]), {"configure", "translate", "serialize"})
        worker.prepare({"flags": flags, "assemble_for": "sm_90"}, [text])
        answer, [code] = worker.compile({}, [])
        self.assertEqual(compile_worker.json.loads(answer["configured"]), contraction.Contraction.default)
        self.assertEqual((answer["format"], code[:4]), ("cuda-cubin", b"\x7fELF"))
        worker.prepare({"flags": flags}, [b'{"m": 64, "n": 64, "k": 64, "a": "f16", "b": "f16", "c": "f32"}'])
        self.assertIsNone(worker.stated)
        for said, words in (('{"why_not": "its root is no product: reduction"}', "its root is no product: reduction"),
                            ('{"kind": "sort"}', "there is no kernel for dispatches of the kind 'sort'")):
            with self.assertRaisesRegex(ValueError, words):
                worker.prepare({"flags": flags}, [said.encode()])


@unittest.skipIf(HAS_NUMBERS, "runs the interpreter")
class Interpreted(unittest.TestCase):
    def test_numbers(self):
        interpreted(self, __file__)


if __name__ == "__main__":
    main()
