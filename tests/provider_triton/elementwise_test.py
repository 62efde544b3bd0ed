"""Kernels without a product that Triton makes of dispatches: their numbers in Triton's interpreter, and their PTX for an
H100.

Run by ctest, or by hand: .venv/bin/python tests/provider_triton/elementwise_test.py [-v] [Numbers.test_NAME]
No GPU is needed.
"""
import itertools
import json
import unittest

import numpy

from stated_kernels import (HAS_NUMBERS, MI300X, Compiles, access, constant, f32, interpreted, load, main, numbers,
                            operation, run, view)

import compile_worker
import elementwise

ODD = (1, 7, 31, 33, 127, 257)
SMALL = {"BLOCK_M": 4, "BLOCK_N": 64, "num_warps": 1}


def document(loops, values, stores, views=None):
    """`loops`: [(role, size)]. Without `views` each binding is one."""
    views = views or [view(i) for i in range(1 + max(each["view"] for each in [*values, *stores] if "view" in each))]
    return {"kind": "elementwise", "entry": "main$async_dispatch_0", "bindings": 1 + max(each["binding"] for each in views),
            "constants": 0, "views": views, "loops": [{"size": size, "role": role} for role, size in loops],
            "values": values, "stores": stores}


def reduction(combines, value, type_="f32", start=0.0):
    return operation("reduce", type_, value, combines=combines, start=start)


def broadcasts(m, n):
    """(x + row) * column, where row has a value for each column and the other way round."""
    values = [load(0, "f32", n, 1), load(1, "f32", 0, 1), load(2, "f32", 1, 0), operation("arith.addf", "f32", 0, 1),
              operation("arith.mulf", "f32", 3, 2)]
    return document([("m", m), ("n", n)], values, [access(3, "f32", n, 1, value=4)])


def transpose(m, n, type_="f16"):
    """Rows of the operand are columns of the result."""
    return document([("m", m), ("n", n)], [load(0, type_, 1, m)], [access(1, type_, n, 1, value=0)])


def reduced_rows(m, k, combines="arith.addf", start=0.0, by_columns=False):
    """Of the squares of each row, or of each column of a matrix of k x m."""
    strides = (1, m) if by_columns else (k, 1)
    values = [load(0, "f16", *strides), operation("arith.extf", "f32", 0), operation("arith.mulf", "f32", 1, 1),
              reduction(combines, 2, start=start)]
    return document([("m", m), ("k", k)], values, [access(1, "f32", 1, 0, value=3)])


def softmax(m, k):
    values = [load(0, "f16", k, 1), operation("arith.extf", "f32", 0), reduction("arith.maximumf", 1, start="-inf"),
              operation("arith.subf", "f32", 1, 2), operation("math.exp", "f32", 3), reduction("arith.addf", 4),
              operation("arith.divf", "f32", 4, 5), operation("arith.truncf", "f16", 6)]
    return document([("m", m), ("k", k)], values, [access(1, "f16", k, 1, value=7)])


def normalised(m, k, root_mean_square=False):
    """Layer norm with weights and biases; or by the root of the mean square alone, without a mean. Also stores each
    row's variance."""
    values = [load(0, "f32", k, 1), load(1, "f32", 0, 1), load(2, "f32", 0, 1), constant(float(k)), constant(1e-5),
              reduction("arith.addf", 0), operation("arith.divf", "f32", 5, 3), operation("arith.subf", "f32", 0, 6)]
    centred = 0 if root_mean_square else 7
    values += [operation("arith.mulf", "f32", centred, centred), reduction("arith.addf", 8),
               operation("arith.divf", "f32", 9, 3), operation("arith.addf", "f32", 10, 4), operation("math.rsqrt", "f32", 11),
               operation("arith.mulf", "f32", centred, 12), operation("arith.mulf", "f32", 13, 1),
               operation("arith.addf", "f32", 14, 2)]
    return document([("m", m), ("k", k)], values, [access(3, "f32", k, 1, value=15), access(4, "f32", 1, 0, value=10)])


def reals(*shape, seed=0):
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape).astype(numpy.float32)


def expected_softmax(x):
    weights = numpy.exp(x.astype(float) - x.astype(float).max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def sizes(count=2):
    """Each odd size beside another one, in every place."""
    return [tuple(ODD[(i + 2 * place) % len(ODD)] for place in range(count)) for i in range(len(ODD))]


@unittest.skipUnless(HAS_NUMBERS, "of the interpreter or the emulator")
class Numbers(unittest.TestCase):
    def run_on(self, said, bindings, **knobs):
        run(elementwise.Elementwise, said, bindings, (), SMALL | knobs)

    def assert_equal(self, got, wanted):
        numpy.testing.assert_array_equal(got, wanted)

    def test_broadcasts_along_rows_and_columns(self):
        for m, n in sizes():
            x, row, column = (numbers(*shape, seed=i, type_=numpy.float32) for i, shape in enumerate([(m, n), (n,), (m,)]))
            result = numpy.full((m, n), 77, numpy.float32)
            self.run_on(broadcasts(m, n), [x, row, column, result])
            self.assert_equal(result, (x + row) * column[:, None])

    def test_transposes(self):
        for m, n in sizes():
            x, result = numbers(n, m), numpy.full((m, n), 77, numpy.float16)
            self.run_on(transpose(m, n), [x, result], BLOCK_M=32, BLOCK_N=32)
            self.assert_equal(result, x.T)

    def test_transposes_of_several_dimensions(self):
        # a x b x c to c x a x b and to b x a x c: neighbours that no stride joins are walked as one.
        a, b, c = 7, 31, 33
        x = numbers(a, b, c)
        said = document([("n", a), ("n", b), ("m", c)], [load(0, "f16", b * c, c, 1)],
                        [access(1, "f16", b, 1, a * b, value=0)])
        result = numpy.zeros((c, a, b), numpy.float16)
        self.run_on(said, [x, result], BLOCK_M=16, BLOCK_N=16)
        self.assert_equal(result, x.transpose(2, 0, 1))
        said = document([("m", a), ("m", b), ("n", c)], [load(0, "f16", b * c, c, 1)],
                        [access(1, "f16", c, a * c, 1, value=0)])
        result = numpy.zeros((b, a, c), numpy.float16)
        self.run_on(said, [x, result])
        self.assert_equal(result, x.transpose(1, 0, 2))

    def test_all_blocks_of_one_result(self):
        for block_m, block_n in itertools.product((1, 8, 64), (16, 512)):
            m, n = 33, 127
            x, row, column = (numbers(*shape, seed=i, type_=numpy.float32) for i, shape in enumerate([(m, n), (n,), (m,)]))
            result = numpy.full((m, n), 77, numpy.float32)
            self.run_on(broadcasts(m, n), [x, row, column, result], BLOCK_M=block_m, BLOCK_N=block_n)
            self.assert_equal(result, (x + row) * column[:, None])

    def test_sums_of_rows_and_of_columns(self):
        for (m, k), by_columns in itertools.product(sizes(), (False, True)):
            x, result = numbers(*((k, m) if by_columns else (m, k))), numpy.full(m, 77, numpy.float32)
            self.run_on(reduced_rows(m, k, by_columns=by_columns), [x, result])
            self.assert_equal(result, (f32(x) ** 2).sum(0 if by_columns else 1))

    def test_reductions_begin_where_they_say(self):
        m, k = 7, 33
        x, result = numbers(m, k), numpy.zeros(m, numpy.float32)
        squares = f32(x) ** 2
        for combines, start, wanted in (("arith.addf", 2.5, 2.5 + squares.sum(1)), ("arith.maximumf", "-inf", squares.max(1)),
                                        ("arith.maximumf", 0.875, numpy.maximum(squares.max(1), 0.875)),
                                        ("arith.minnumf", "inf", squares.min(1))):
            self.run_on(reduced_rows(m, k, combines, start), [x, result])
            self.assert_equal(result, wanted)

    def test_a_reduction_of_everything(self):
        x, result = numbers(7, 31), numpy.zeros(1, numpy.float32)
        values = [load(0, "f16", 31, 1), operation("arith.extf", "f32", 0), reduction("arith.addf", 1)]
        self.run_on(document([("k", 7), ("k", 31)], values, [access(1, "f32", 0, 0, value=2)]), [x, result], BLOCK_M=1)
        self.assert_equal(result, [f32(x).sum()])

    def test_reductions_of_integers_and_truth_values(self):
        x = numbers(7, 33, type_=numpy.int8)
        results = [numpy.zeros(7, numpy.int32), numpy.zeros(7, numpy.int8), numpy.zeros(7, numpy.int8)]
        values = [load(0, "i8", 33, 1), operation("arith.extsi", "i32", 0), reduction("arith.addi", 1, "i32", 0),
                  reduction("arith.maxsi", 0, "i8", -128), constant(126, "i8"),
                  operation("arith.cmpi", "i1", 0, 4, predicate="sgt"), reduction("arith.ori", 5, "i1", 0)]
        stores = [access(1 + i, type_, 1, 0, value=value) for i, (type_, value) in
                  enumerate([("i32", 2), ("i8", 3), ("i1", 6)])]
        self.run_on(document([("m", 7), ("k", 33)], values, stores), [x, *results])
        for got, wanted in zip(results, (x.sum(1, dtype=numpy.int32), x.max(1), (x > 126).any(1))):
            self.assert_equal(got, wanted)

    def test_softmax(self):
        for m, k in sizes():
            x, result = 4 * numbers(m, k), numpy.full((m, k), 77, numpy.float16)
            self.run_on(softmax(m, k), [x, result])
            numpy.testing.assert_allclose(f32(result), expected_softmax(x), rtol=2**-10, atol=2**-24)

    def test_rows_kept_and_walked(self):
        # 257 elements are kept in 512, and walked in 128 and 256.
        for block_n in (512, 128, 256):
            x, result = 4 * numbers(7, 257), numpy.full((7, 257), 77, numpy.float16)
            self.run_on(softmax(7, 257), [x, result], BLOCK_M=2, BLOCK_N=block_n)
            numpy.testing.assert_allclose(f32(result), expected_softmax(x), rtol=2**-10, atol=2**-24)

    def test_norms(self):
        for (m, k), root_mean_square in itertools.product(sizes(), (False, True)):
            x, weights, biases = (reals(*shape, seed=i) for i, shape in enumerate([(m, k), (k,), (k,)]))
            result, variances = numpy.full((m, k), 77, numpy.float32), numpy.full(m, 77, numpy.float32)
            self.run_on(normalised(m, k, root_mean_square), [x, weights, biases, result, variances])
            centred = x.astype(float) - (0 if root_mean_square else x.astype(float).mean(1, keepdims=True))
            variance = (centred ** 2).mean(1)
            numpy.testing.assert_allclose(variances, variance, rtol=1e-5, atol=1e-12)
            wanted = centred / numpy.sqrt(variance + 1e-5)[:, None] * weights + biases
            numpy.testing.assert_allclose(result, wanted, rtol=1e-4, atol=2e-5)

    def test_nan_beyond_an_operand_is_not_read_and_nothing_behind_the_end_is_written(self):
        m, k = 5, 21
        beyond = numpy.full(2000, numpy.nan, numpy.float16)
        x = numbers(m, k)
        padded = numpy.concatenate([x.ravel(), beyond])
        for said, wanted in ((softmax(m, k), expected_softmax(x)), (transpose(m, k), x.reshape(k, m).T)):
            result = numpy.full(m * k + 500, 77, numpy.float16)
            self.run_on(said, [padded, result])
            numpy.testing.assert_allclose(f32(result[:-500].reshape(m, k)), wanted, rtol=2**-10, atol=2**-24)
            self.assertTrue((result[-500:] == 77).all())

    def test_planted_faults_change_results(self):
        # Another axis, a dropped tail, an identity that is none, a broadcast too many.
        m, k = 7, 33
        x = numbers(m, k) + numpy.float16(2)
        right = numpy.full(m, 77, numpy.float32)
        self.run_on(reduced_rows(m, k), [x, right])
        self.assert_equal(right, (f32(x) ** 2).sum(1))

        def planted(fault):
            said, result = reduced_rows(m, k), numpy.full(m, 77, numpy.float32)
            fault(said)
            self.run_on(said, [x, result])
            self.assertTrue((result != right).any())
        planted(lambda said: said["values"][0].update(strides=[1, m]))
        planted(lambda said: said["loops"][1].update(size=k - 1))
        planted(lambda said: said["loops"][0].update(size=m - 1))
        planted(lambda said: said["values"][3].update(start=1.0))
        planted(lambda said: said["values"][3].update(combines="arith.maximumf"))
        planted(lambda said: said["values"][0].update(strides=[0, 1]))


@unittest.skipIf(HAS_NUMBERS, "of the compiler")
class Code(Compiles):
    kind = elementwise.Elementwise
    knobs = {"BLOCK_M": 2, "BLOCK_N": 512, "num_warps": 4}

    def test_broadcasts_are_loaded_in_whole_vectors(self):
        text = self.ptx(broadcasts(512, 1024), ["u64"] * 4)
        self.assertIn("ld.global.v4.b32", text)
        self.assertIn("st.global.v4.b32", text)

    def test_a_transpose_loads_and_stores_whole_vectors(self):
        text = self.ptx(transpose(512, 1024), ["u64"] * 2, {"BLOCK_M": 64, "BLOCK_N": 64})
        self.assertIn("ld.global.v4.b32", text)
        self.assertIn("st.global.v4.b32", text)
        self.assertIn("st.shared", text)

    def test_odd_sizes(self):
        for m, n in ((1, 1), (33, 257)):
            for said, bindings in ((broadcasts(m, n), 4), (transpose(m, n), 2), (softmax(m, n), 2), (normalised(m, n), 5)):
                self.ptx(said, ["u64"] * bindings)

    def test_rows_are_read_once(self):
        answer, code = self.compiled(softmax(512, 1024), {"BLOCK_M": 1, "BLOCK_N": 1024})
        self.assertEqual(answer["launch"]["grid"], [512, 1, 1])
        self.assertEqual(code.decode().count("ld.global"), 1)

    def test_code_for_gfx942(self):
        for said in (broadcasts(7, 257), transpose(33, 127), softmax(7, 257), normalised(7, 257)):
            answer, code = self.compiled(said, device=MI300X)
            self.assertEqual(answer["format"], "rocm-hsaco")
            self.assertEqual(code[:4], b"\x7fELF")

    def test_refusals(self):
        self.assertIn("arith.xori of f32 is not known", self.refusal(reduced_rows(7, 33, "arith.xori")))
        self.assertIn("arith.addi of f32 is not known", self.refusal(reduced_rows(7, 33, "arith.addi")))
        self.assertIn("f64 is not known", self.refusal(transpose(7, 33, "f64")))

    def test_a_worker_answers(self):
        worker = compile_worker.Worker()
        flags = ["--target=cuda:90", "--units=132", "--shared=232448"]

        worker.prepare({"flags": flags}, [json.dumps(softmax(200, 640)).encode()])
        answer, _ = worker.compile({"knobs": {"BLOCK_M": 4, "num_warps": 4}}, [])
        self.assertEqual(answer["launch"]["grid"], [50, 1, 1])
        self.assertEqual(answer["launch"]["block"], [128, 1, 1])


@unittest.skipIf(HAS_NUMBERS, "runs the interpreter")
class Interpreted(unittest.TestCase):
    def test_numbers(self):
        interpreted(self, __file__)


if __name__ == "__main__":
    main()
