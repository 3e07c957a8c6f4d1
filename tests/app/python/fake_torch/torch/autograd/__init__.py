# SPDX-License-Identifier: Apache-2.0
import torch

from . import graph


def grad(output, inputs, grad_output, retain_graph=False):
    if output.backward is None:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if getattr(output, "freed", False):
        raise RuntimeError("Trying to backward through the graph a second time")
    output.freed = not retain_graph
    sums = {}

    def visit(tensor, gradient):
        key = id(tensor)
        sums[key] = sums[key] + gradient if key in sums else gradient
        if tensor.backward is not None:
            for each, part in zip(tensor.inputs, tensor.backward(gradient)):
                visit(each, part)

    with torch.no_grad():
        visit(output, grad_output)
    return tuple(sums[id(each)] for each in inputs)
