"""iree-import-onnx, with what it loses: prints the names that a model gives to sizes, as JSON.

Arguments are iree-import-onnx's own, the model first. {"batch": ["input0.0", "input1.0"]}
"""

import json
import sys

import onnx
from iree.compiler.tools.import_onnx.__main__ import main, parse_arguments


def size_names(path):
    graph = onnx.load(path, load_external_data=False).graph
    constants = {each.name for each in graph.initializer}
    inputs = [each for each in graph.input if each.name not in constants]
    names = {}
    for argument, each in enumerate(inputs):
        for extent, dim in enumerate(each.type.tensor_type.shape.dim):
            # Some exporters name unnamed sizes "?".
            if any(letter.isalnum() for letter in dim.dim_param):
                names.setdefault(dim.dim_param, []).append(f"input{argument}.{extent}")
    return names


status = main(parse_arguments(sys.argv[1:]))
print(json.dumps(size_names(sys.argv[1])))
sys.exit(status)
