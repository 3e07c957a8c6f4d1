# SPDX-License-Identifier: Apache-2.0
"""Attnscope measures attention functions written in Python: time, bytes, and their IO law."""
from ._collect import collect, measure
from ._errors import Error, Unsupported
from ._kernel import Kernel, kernel
from ._runs import Comparison, Measurement, Runs

__all__ = ["Comparison", "Error", "Kernel", "Measurement", "Runs", "Unsupported", "collect", "kernel", "measure"]
