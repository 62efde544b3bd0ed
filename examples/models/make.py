#!/usr/bin/env python3
"""Writes a model of any size with made-up weights, to tune it.

usage: .venv/bin/python examples/models/make.py MODEL --out FILE [options]

  make.py --list                                      the models, their options and defaults
  make.py bert --layers 2 --width 128 --heads 2 --out bert.onnx
  make.py bert --out bert.mlir                        the same, imported as IREE's importer does it
  make.py sdxl_unet --out unet.mlir                   5 GB of weights in a small file: splats

README.md describes each model.
"""
import argparse
import inspect
import pathlib
import sys

sys.dont_write_bytecode = True
try:
    import convolutional
    import diffusion
    import imported
    import many
    import stablehlo
    import transformers
    from builder import ELEMENTS, Graph
except ModuleNotFoundError as error:
    sys.exit(f"make.py: no Python package '{error.name}' in {sys.prefix}; scripts/setup installs it into "
             ".venv: .venv/bin/python examples/models/make.py")

WEIGHTS = ["random", "splat", "parameters"]
# Name: function, form, what differs from element f32 and random weights.
MODELS = {
    "resnet50": (convolutional.resnet50, "onnx", {}),
    "mobilenet_v2": (convolutional.mobilenet_v2, "onnx", {}),
    "resnet50_nhwc": (convolutional.resnet50, "stablehlo", {}),
    "mobilenet_v2_nhwc": (convolutional.mobilenet_v2, "stablehlo", {}),
    "bert": (transformers.bert, "onnx", {}),
    "mobilebert": (transformers.mobilebert, "onnx", {}),
    "llama": (transformers.llama, "onnx", {}),
    "vit": (transformers.vit, "onnx", {}),
    "unet": (diffusion.unet, "onnx", {}),
    "sdxl_unet_block": (diffusion.sdxl_unet_block, "onnx", {}),
    "sdxl_unet": (diffusion.sdxl_unet, "onnx", {"element": "f16", "weights": "splat"}),
    "many": (many.many, "linalg", {}),
}
FORMS = {
    "onnx": "ONNX (NCHW images), or imported from it",
    "stablehlo": "StableHLO, NHWC",
    "linalg": "linalg operations",
}
HELP = {
    "batch": "images or sequences at a time", "image": "rows and columns of an image",
    "patch": "rows and columns of a patch, which is a token",
    "width": "of the hidden states; of a convolutional net, channels at its begin or their multiple",
    "classes": "scores that come out", "layers": "how many", "heads": "of attention",
    "sequence": "tokens at a time", "vocabulary": "tokens that there are; 0: hidden states go in",
    "bottleneck": "width within a layer", "feed_forwards": "in each layer",
    "key_heads": "heads of keys and values", "inner": "width of the feed-forward",
    "past": "tokens in the cache; 0: no cache goes in", "levels": "each halves the image",
    "channels": "at the first level", "depth": "layers of the transformer",
    "depths": "layers of the transformer at each level", "text": "tokens of text",
    "text_width": "of the text's hidden states", "launches": "of kernels",
    "distinct": "kernels that differ", "gigabytes": "of weights", "rows": "of the activations",
}
COMMON = {"onnx": {"element": "f32", "weights": "random", "seed": 0}, "linalg": {},
          "stablehlo": {"element": "f32", "seed": 0}}


def options_of(model):
    """Each option with its default: the model's sizes, then what all of its form have."""
    function, form, defaults = MODELS[model]
    sizes = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()
             if parameter.default is not parameter.empty}
    return sizes, {**COMMON[form], **defaults}


def number(default):
    """Parses what may stand in the place of a default; where that is 0, 0 may."""
    def parse(text):
        value = type(default)(text)
        if value < 0 or (value == 0 and default != 0):
            raise argparse.ArgumentTypeError(f"must be above 0, not {text}")
        return value
    parse.__name__ = "number" if isinstance(default, float) else "whole number"
    return parse


def flag(name):
    return "--" + name.replace("_", "-")


def list_models():
    for model, (function, form, _) in MODELS.items():
        sizes, common = options_of(model)
        print(f"{model}: {inspect.getdoc(function)}\n    {FORMS[form]}\n    "
              + " ".join(f"{flag(name)} {default}" for name, default in {**sizes, **common}.items()))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="the models, their options and defaults")
    commands = parser.add_subparsers(dest="model", metavar="MODEL")
    for model, (function, form, _) in MODELS.items():
        sizes, common = options_of(model)
        command = commands.add_parser(model, help=inspect.getdoc(function), description=inspect.getdoc(function),
                                      formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        command.add_argument("--out", type=pathlib.Path, required=True, help=f"the file: {FORMS[form]}",
                             metavar="FILE.onnx|FILE.mlir" if form == "onnx" else "FILE.mlir")
        for name, default in sizes.items():
            parse = str if isinstance(default, str) else number(default)
            command.add_argument(flag(name), type=parse, default=default, help=HELP[name], metavar="N")
        if "element" in common:
            command.add_argument("--element", choices=ELEMENTS, default=common["element"], help="type of all data")
        if "weights" in common:
            command.add_argument("--weights", choices=WEIGHTS, default=common["weights"],
                                 help="random; one number each (.mlir only); or none, to be given to the "
                                 "compiled program as parameters of scope 'model' (.mlir only)")
        if "seed" in common:
            command.add_argument("--seed", type=number(0), default=0, help="of the random weights", metavar="N")
    options = parser.parse_args()
    if not options.list and not options.model:
        parser.error("which model? --list names them")
    return parser, options


def make(options):
    function, form, _ = MODELS[options.model]
    sizes = {name: getattr(options, name) for name in options_of(options.model)[0]}
    suffix = options.out.suffix
    if form != "onnx" or options.weights != "random":
        if suffix != ".mlir":
            what = f"a model with --weights {options.weights}" if form == "onnx" else "this model"
            raise ValueError(f"{what} is written as MLIR: --out must end in .mlir, not '{options.out}'")
    elif suffix not in (".onnx", ".mlir"):
        raise ValueError(f"--out must end in .onnx, or in .mlir to import it too, not '{options.out}'")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if form == "linalg":
        function(options.out, **sizes)
    elif form == "stablehlo":
        net = stablehlo.StableHlo(options.model, options.element, options.seed)
        function(net, **sizes)
        net.write(options.out)
    else:
        graph = Graph(options.model, options.element, options.seed, options.weights == "random")
        function(graph, **sizes)
        if suffix == ".onnx":
            graph.write(options.out)
        else:
            imported.write(graph, options.out)
            if options.weights == "splat":
                imported.make_splats(graph, options.out)


def main():
    parser, options = parse_arguments()
    if options.list:
        list_models()
        return
    try:
        make(options)
    except (ValueError, RuntimeError, OSError) as error:
        parser.exit(2, f"make.py {options.model}: {error}\n")


if __name__ == "__main__":
    main()
