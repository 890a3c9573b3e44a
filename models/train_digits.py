#!/usr/bin/env python3
"""Trains models/digits.onnx, a small convolutional network on scikit-learn's handwritten digits (8x8, UCI).

    pip install numpy==2.4.6 scikit-learn==1.9.1 onnx==1.23.2
    python models/train_digits.py models

Written in NumPy, so that it needs no framework: Conv 3x3 (16) - Relu - MaxPool 2x2 - Conv 3x3 (32) - Relu - MaxPool
2x2 - Gemm (64) - Relu - Gemm (10) - Softmax, Adam, a fixed seed.  Writes digits.onnx, held-out digits and labels
(heldout.npy, labels.npy), ten outputs in f64 arithmetic (first_ten.npy), and single digits such as seven.npy.
"""
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def windows(x, size):
    """[n, c, h, w] -> [n, c, size, size, h, w], zero padded."""
    p = size // 2
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3)).transpose(0, 1, 4, 5, 2, 3)


class Conv:
    def __init__(self, rng, ic, oc):
        self.p = [rng.normal(0, np.sqrt(2 / (ic * 9)), (oc, ic, 3, 3)), np.zeros(oc)]

    def forward(self, x):
        self.cols = windows(x, 3)
        return np.einsum("ncijhw,ocij->nohw", self.cols, self.p[0], optimize=True) + self.p[1][:, None, None]

    def backward(self, g):
        self.g = [np.einsum("ncijhw,nohw->ocij", self.cols, g, optimize=True), g.sum((0, 2, 3))]
        return np.einsum("noijhw,ocij->nchw", windows(g, 3), self.p[0][:, :, ::-1, ::-1], optimize=True)


class Dense:
    def __init__(self, rng, i, o):
        self.p = [rng.normal(0, np.sqrt(2 / i), (i, o)), np.zeros(o)]

    def forward(self, x):
        self.x = x
        return x @ self.p[0] + self.p[1]

    def backward(self, g):
        self.g = [self.x.T @ g, g.sum(0)]
        return g @ self.p[0].T


class Relu:
    p = []

    def forward(self, x):
        self.on = x > 0
        return x * self.on

    def backward(self, g):
        return g * self.on


class Pool:
    p = []

    def forward(self, x):
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = blocks.max((3, 5))
        self.on = blocks == y[:, :, :, None, :, None]
        return y

    def backward(self, g):
        n, c, h, w = g.shape
        return (self.on * g[:, :, :, None, :, None]).reshape(n, c, 2 * h, 2 * w)


class Flat:
    p = []

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, g):
        return g.reshape(self.shape)


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def main():
    out = sys.argv[1]
    digits = load_digits()
    images = (digits.images / 16.0)[:, None].astype(np.float64)
    train_x, test_x, train_y, test_y = train_test_split(images, digits.target, test_size=0.25, random_state=7, stratify=digits.target)
    rng = np.random.default_rng(7)
    conv1, conv2, dense1, dense2 = Conv(rng, 1, 16), Conv(rng, 16, 32), Dense(rng, 128, 64), Dense(rng, 64, 10)
    layers = [conv1, Relu(), Pool(), conv2, Relu(), Pool(), Flat(), dense1, Relu(), dense2]
    params = [(layer, i) for layer in layers for i in range(len(layer.p))]
    moments = [[np.zeros_like(l.p[i]), np.zeros_like(l.p[i])] for l, i in params]
    step = 0
    for epoch in range(40):
        order = rng.permutation(len(train_x))
        for at in range(0, len(order), 64):
            batch = order[at:at + 64]
            x, y = train_x[batch], train_y[batch]
            # A little noise, so that the net does not learn pixels by heart.
            x = x + rng.normal(0, 0.05, x.shape)
            for layer in layers:
                x = layer.forward(x)
            g = softmax(x)
            g[np.arange(len(y)), y] -= 1
            g /= len(y)
            for layer in reversed(layers):
                g = layer.backward(g)
            step += 1
            rate = 2e-3 * (1 - epoch / 40)
            for (l, i), m in zip(params, moments):
                m[0] = 0.9 * m[0] + 0.1 * l.g[i]
                m[1] = 0.999 * m[1] + 0.001 * l.g[i] ** 2
                l.p[i] -= rate * (m[0] / (1 - 0.9 ** step)) / (np.sqrt(m[1] / (1 - 0.999 ** step)) + 1e-8)
    for l, i in params:
        l.p[i] = l.p[i].astype(np.float32).astype(np.float64)
    test32 = test_x.astype(np.float32)
    x = test32.astype(np.float64)
    for layer in layers:
        x = layer.forward(x)
    probabilities = softmax(x)
    accuracy = (probabilities.argmax(1) == test_y).mean()
    print(f"held-out accuracy {accuracy:.4f} on {len(test_y)} digits")
    assert accuracy > 0.97

    tensors = {"conv1.weight": conv1.p[0], "conv1.bias": conv1.p[1], "conv2.weight": conv2.p[0], "conv2.bias": conv2.p[1],
               "dense1.weight": dense1.p[0], "dense1.bias": dense1.p[1], "dense2.weight": dense2.p[0], "dense2.bias": dense2.p[1]}
    conv = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    pool = dict(kernel_shape=[2, 2], strides=[2, 2])
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], "conv1", **conv),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", **pool),
        helper.make_node("Conv", ["p1", "conv2.weight", "conv2.bias"], ["c2"], "conv2", **conv),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["p2"], "pool2", **pool),
        helper.make_node("Flatten", ["p2"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "dense1.weight", "dense1.bias"], ["d1"], "dense1"),
        helper.make_node("Relu", ["d1"], ["r3"], "relu3"),
        helper.make_node("Gemm", ["r3", "dense2.weight", "dense2.bias"], ["logits"], "dense2"),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(v, np.float32), k) for k, v in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="smalti models/train_digits.py")
    onnx.checker.check_model(model)
    onnx.save(model, f"{out}/digits.onnx")
    np.save(f"{out}/heldout.npy", test32)
    np.save(f"{out}/labels.npy", test_y.astype(np.int64))
    np.save(f"{out}/first_ten.npy", probabilities[:10])
    for digit in (3, 7):
        at = int(np.flatnonzero((test_y == digit) & (probabilities.argmax(1) == digit))[0])
        np.save(f"{out}/{NAMES[digit]}.npy", test32[at:at + 1])


if __name__ == "__main__":
    main()
