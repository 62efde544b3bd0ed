"""The models of examples/models: as many weights as published, valid, values near 1, launches as asked for.

Run by ctest, or by hand: .venv/bin/python tests/examples/models_test.py [-v] [Models.test_NAME]
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/models"))
import convolutional
import diffusion
import transformers
from builder import Graph

MAKE = ROOT / "examples/models/make.py"
COMPILE = pathlib.Path(sys.executable).with_name("iree-compile")
SMALL = {
    "resnet50": {"image": 32, "width": 8, "classes": 10},
    "mobilenet_v2": {"image": 32, "width": 0.25, "classes": 10},
    "bert": {"layers": 2, "width": 32, "heads": 2, "sequence": 8, "vocabulary": 50},
    "mobilebert": {"layers": 2, "width": 64, "bottleneck": 32, "sequence": 8},
    "llama": {"layers": 2, "width": 64, "heads": 4, "key_heads": 2, "inner": 96, "sequence": 3, "past": 5},
    "vit": {"layers": 2, "width": 64, "heads": 4, "image": 28},
    "unet": {"levels": 2, "width": 8, "image": 8},
    "sdxl_unet_block": {"channels": 64, "image": 4, "text": 3, "text_width": 16},
    "sdxl_unet": {"channels": 64, "image": 4, "text": 3, "text_width": 16, "depths": "0,1"},
}
FUNCTIONS = {name: function for module in (convolutional, transformers, diffusion)
             for name, function in vars(module).items() if name in SMALL}


def weight_count(name, **sizes):
    graph = Graph(name, has_weights=False)
    FUNCTIONS[name](graph, **sizes)
    return sum(math.prod(dimension.dim_value for dimension in weight.type.tensor_type.shape.dim)
               for weight in graph.weight_inputs)


def make(folder, model, *options):
    path = pathlib.Path(folder) / f"{model}.mlir"
    subprocess.run([sys.executable, "-B", MAKE, model, "--out", path, *options], check=True)
    return path


def compiled(path, stage):
    return subprocess.run([COMPILE, path, f"--compile-to={stage}", "--iree-hal-target-backends=llvm-cpu",
                           "--iree-llvmcpu-target-cpu=generic"],
                          capture_output=True, text=True, check=True).stdout


class Models(unittest.TestCase):
    def test_have_as_many_weights_as_published(self):
        # torchvision's 25 557 032 and 3 504 872, of whose two parameters per channel of each batch norm
        # (26 560 and 17 056 channels) folding leaves one.
        self.assertEqual(weight_count("resnet50"), 25557032 - 26560)
        self.assertEqual(weight_count("mobilenet_v2"), 3504872 - 17056)
        # Twelve layers of 4 x 768 x 769 for attention, 768 x 3073 + 3072 x 769 - and two norms.
        self.assertEqual(weight_count("bert"), 12 * 7087872)
        # Twenty-four such layers of 1024 columns, patches, a class token, positions and the last norm.
        self.assertEqual(weight_count("vit"), 24 * 12596224 + 589 * 1024 + 1024 + 257 * 1024 + 2 * 1024)
        # Llama 3.2 1B has 1 235 814 400 with one embedding, which is used at both ends.
        self.assertEqual(weight_count("llama", layers=16, vocabulary=128256), 1235814400 + 128256 * 2048)
        # stable-diffusion-xl-base-1.0/unet.
        self.assertEqual(weight_count("sdxl_unet"), 2567463684)

    def test_compute_finite_values_near_one(self):
        for name, sizes in SMALL.items():
            with self.subTest(name):
                graph = Graph(name)
                FUNCTIONS[name](graph, **sizes)
                model = graph.model()
                onnx.checker.check_model(model, full_check=True)
                random = numpy.random.default_rng(1)
                inputs = {}
                for value in graph.inputs:
                    shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
                    tokens = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
                    inputs[value.name] = (random.integers(0, 50, shape) if tokens
                                          else random.standard_normal(shape, numpy.float32))
                for output in ReferenceEvaluator(model).run(None, inputs):
                    self.assertTrue(numpy.isfinite(output).all())
                    self.assertGreater(output.std(), 0.1)
                    self.assertLess(output.std(), 10)

    def test_decoding_after_a_prefill_is_a_longer_prefill(self):
        random = numpy.random.default_rng(2)
        hidden = random.standard_normal((1, 6, 64), numpy.float32)

        def run(inputs, **sizes):
            graph = Graph("llama")
            transformers.llama(graph, **{**SMALL["llama"], **sizes})
            results = ReferenceEvaluator(graph.model()).run(None, inputs)
            return dict(zip([output.name for output in graph.outputs], results))

        prefill = run({"hidden": hidden[:, :5]}, sequence=5, past=0)
        cache = {f"past_{name}": value for name, value in prefill.items() if name != "decoded"}
        last = run({"hidden": hidden[:, 5:], **cache}, sequence=1, past=5)
        whole = run({"hidden": hidden}, sequence=6, past=0)
        numpy.testing.assert_allclose(last["decoded"][:, 0], whole["decoded"][:, 5], atol=1e-5)

    def test_matrices_are_splats_that_are_loaded_and_differ(self):
        with tempfile.TemporaryDirectory() as folder:
            path = make(folder, "bert", "--layers=2", "--width=32", "--heads=2", "--sequence=8", "--weights=splat")
            given = re.findall(r'util\.global private @\w+ <.*> = (dense<["\w]+> : .*)', path.read_text())
            self.assertEqual(len(given), 2 * 16)
            self.assertEqual(len(set(given)), len(given))
            # With vectors that are one number too, norms would divide rounding errors by nothing.
            self.assertEqual(len([value for value in given if '"' not in value]), 2 * 6)
            kept = re.findall(r"util\.global private @(?:linear|scale|shift)", compiled(path, "flow"))
            self.assertEqual(len(kept), 2 * 16)

    def test_stablehlo_is_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            for model, width, element in (("resnet50_nhwc", "4", "f16"), ("mobilenet_v2_nhwc", "0.1", "f32")):
                path = make(folder, model, "--image=32", f"--width={width}", f"--element={element}")
                self.assertIn(f"tensor<1x32x32x3x{element}>", compiled(path, "input"))

    def test_products_of_f16_are_added_up_in_f32(self):
        with tempfile.TemporaryDirectory() as folder:
            path = make(folder, "resnet50_nhwc", "--image=32", "--width=4", "--element=f16")
            products = re.findall(r"stablehlo\.(?:convolution|dot_general).*-> tensor<[0-9x]*(f\d+)>", path.read_text())
            self.assertEqual((len(products), set(products)), (54, {"f32"}))

    def test_many_launches_as_many_as_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            path = make(folder, "many", "--launches=10", "--distinct=4", "--gigabytes=0.001", "--rows=8")
            shapes = re.findall(r"util\.global private.*tensor<(\d+)x(\d+)xf32>", path.read_text())
            self.assertAlmostEqual(sum(4 * int(depth) * int(width) for depth, width in shapes), 1e6, delta=1e5)
            program = compiled(path, "flow")
            self.assertEqual(len(re.findall(r"flow\.dispatch @", program)), 10)
            self.assertEqual(len(re.findall(r"flow\.executable private", program)), 4)


if __name__ == "__main__":
    unittest.main()
