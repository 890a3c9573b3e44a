#!/usr/bin/env python3
"""Writes models/small_matmul.onnx, the model that docs/architecture.md walks through: relu(x·w + b).

    pip install numpy==2.4.6 onnx==1.23.2
    python models/make_small_matmul.py models
"""
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

w = np.array([[1, 0, -1, 2], [0, 1, 1, -2], [2, -1, 0, 1]], np.float32)
b = np.array([0.5, -1, 0, 1], np.float32)
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["xw"], "product"),
    helper.make_node("Add", ["xw", "b"], ["sum"], "bias"),
    helper.make_node("Relu", ["sum"], ["y"], "relu"),
]
graph = helper.make_graph(
    nodes, "small",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])],
    [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="smalti models/make_small_matmul.py")
onnx.checker.check_model(model)
onnx.save(model, f"{sys.argv[1]}/small_matmul.onnx")
