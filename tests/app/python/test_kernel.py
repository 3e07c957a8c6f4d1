# SPDX-License-Identifier: Apache-2.0
"""Decorator, manifest, arguments of calls, and finding functions in files."""
import functools
import os
import sys
import types
import unittest
from unittest import mock

import support  # noqa: F401
import attnscope
from attnscope import _c, _load
from attnscope._kernel import Kernel, as_kernel

SUPPORTS = {"dtype": ["fp16", "bf16", "fp32"], "d": [16, 32, 64, 96, 128, 192, 256], "pass": ["fwd", "bwd"],
            "mask": ["full"], "gqa": True}


def plain(q, k, v):
    return q


def masked(q, k, v, is_causal=False, window_size=(-1, -1), sm_scale=1.0):
    return q


def tuned(q, k, v, causal, BLOCK_M=64, BLOCK_N=64, num_warps=4):
    return q


KNOBS = {"BLOCK_M": [64, 128], "BLOCK_N": [32], "num_warps": [4, 8]}


def problem(window=(-1, -1), knobs=(), br=0, bc=0):
    made = _c.Problem(window_left=window[0], window_right=window[1], scale=0.25, br=br, bc=bc)
    made.knobs = (_c.Knob * len(knobs))(*[_c.Knob(name, value) for name, value in knobs])
    made.knob_count = len(knobs)
    return made


class Manifests(unittest.TestCase):
    def test_undecorated_function(self):
        self.assertEqual(as_kernel(plain).manifest("/x/a.py", "plain"), {
            "attnscope_kernel": 1, "name": "plain", "title": "plain", "source": "a.py", "supports": SUPPORTS,
            "launches": [{"entry": "plain", "pass": "fwd"}, {"entry": "plain", "pass": "bwd"}]})

    def test_bare_decorator(self):
        made = attnscope.kernel(masked)
        self.assertEqual(made(1, 2, 3), 1)
        self.assertEqual((made.__name__, made.__wrapped__), ("masked", masked))
        self.assertEqual(made.manifest("a.py", "masked")["supports"]["mask"], ["full", "causal", "window"])

    def test_properties(self):
        made = attnscope.kernel(like="fa2", tile=(128, 64), name="my-kernel", dtypes="float16", d=64, passes="fwd",
                                masks=["causal"], gqa=False, layout="bnhd", lse=True)(plain)
        text = made.manifest("a.py", "plain")
        self.assertEqual(text["supports"],
                         {"dtype": ["fp16"], "d": [64], "pass": ["fwd"], "mask": ["causal"], "gqa": False})
        self.assertEqual((text["name"], text["title"], text["layout"]), ("my-kernel", "plain", "bnhd"))
        self.assertEqual((text["tile"], text["law"]), ({"br": [128], "bc": [64]}, {"like": "fa2"}))
        self.assertEqual(text["computes"], {"lse": "e"})

    def test_tiles(self):
        def text(**options):
            return Kernel(tuned, like="fa2", knobs=KNOBS, **options).manifest("a.py", "tuned")

        knobs = text(tile=("BLOCK_M", "BLOCK_N"))
        self.assertEqual(knobs["tile"], {"br": [64, 128], "bc": [32]})
        self.assertEqual(knobs["knobs"], {"num_warps": {"values": [4, 8], "means": "num_warps"}})
        law = text(tile=("BLOCK_M", "d <= 64 ? 128 : 64"))
        self.assertNotIn("tile", law)
        self.assertEqual(law["law"], {"like": "fa2", "br": "block_m", "bc": "d <= 64 ? 128 : 64"})
        self.assertEqual(law["knobs"]["block_m"], {"values": [64, 128], "means": "BLOCK_M"})
        self.assertEqual(text(tile="tuned")["tile"], "tuned")
        self.assertEqual(text(tile="tuned", lse="stored")["law"], {"like": "fa2", "lse": True})

    def test_names(self):
        names = {"Flash_v2": "flash_v2", "<lambda>": "lambda", "_private": "private", "__": "function"}
        for name, expected in names.items():
            function = functools.wraps(plain)(lambda q, k, v: q)
            function.__name__ = name
            self.assertEqual(as_kernel(function).name, expected)

    def test_errors(self):
        cases = [
            (lambda: Kernel(plain, layout="nhd"), "kernel plain: layout: 'nhd' is not one of bhnd, bnhd"),
            (lambda: Kernel(plain, dtypes="fp8"), "kernel plain: dtypes: 'fp8' is not one of fp16, bf16, fp32"),
            (lambda: Kernel(plain, like="fa2"), "kernel plain: like='fa2' needs a tile: set tile=(Br, Bc), or "
                                                'tile="tuned" for a Triton autotuner'),
            (lambda: Kernel(plain, tile="big"), "kernel plain: tile must be (Br, Bc) or \"tuned\", not 'big'"),
            (lambda: Kernel(plain, tile=("d", 64)), "kernel plain: tile ('d', 64) has an expression, which is for the "
                                                    "law only (set like=)"),
            (lambda: Kernel(plain, tile=64), "kernel plain: tile must be (Br, Bc) or \"tuned\", not 64"),
            (lambda: Kernel(tuned, knobs={"num_warps": []}), "kernel tuned: knob 'num_warps' has no values"),
            (lambda: Kernel(lambda q, k, v, M, m: q, knobs={"M": [1], "m": [2]}),
             "kernel <lambda>: two knobs differ only in upper and lower case"),
            (lambda: Kernel(plain, knobs={"x": [1]}), "kernel plain: knob 'x' is not a parameter of the function"),
            (lambda: Kernel(tuned, knobs={"num_warps": [0]}),
             "kernel tuned: knob 'num_warps': 0 is not an integer from 1 to 1048576"),
            (lambda: Kernel(lambda q, k: q), "kernel <lambda>: the first three parameters must be q, k and v"),
            (lambda: as_kernel(lambda q, k, v, seed: q).manifest("a.py", "f"),
             "kernel <lambda>: parameter 'seed' needs a default (only q, k, v, causal, window, scale and knobs are passed)"),
            (lambda: as_kernel(3), "3 is not a function"),
            (lambda: Kernel(plain, tile=128), 'kernel plain: tile must be (Br, Bc) or "tuned", not 128'),
            (lambda: attnscope.kernel(lik="fa2")(plain),
             "unknown property 'lik'; available: like, tile, name, dtypes, d, passes, masks, gqa, layout, knobs, lse"),
        ]
        for work, text in cases:
            with self.subTest(text), self.assertRaises(attnscope.Error) as caught:
                work()
            self.assertEqual(str(caught.exception), text)


class Arguments(unittest.TestCase):
    def test_masks_and_scale(self):
        given = as_kernel(masked).arguments
        self.assertEqual(given(problem()), {"is_causal": False, "window_size": (-1, -1), "sm_scale": 0.25})
        self.assertEqual(given(problem((-1, 0))), {"is_causal": True, "window_size": (-1, 0), "sm_scale": 0.25})
        self.assertEqual(given(problem((8, 4))), {"is_causal": False, "window_size": (8, 4), "sm_scale": 0.25})
        self.assertEqual(as_kernel(plain).arguments(problem((-1, 0))), {})

    def test_module(self):
        class Module:  # as torch.nn.Module
            def __call__(self, *args, **keywords):
                return self.forward(*args, **keywords)

            def forward(self, q, k, v, is_causal=False):
                return q

        made = as_kernel(Module())
        self.assertEqual((made.name, made.masks), ("module", ["full", "causal"]))
        self.assertEqual(made.arguments(problem((-1, 0))), {"is_causal": True})

    def test_any_keywords(self):
        made = as_kernel(lambda q, k, v, **rest: q)
        self.assertEqual(made.masks, ["full", "causal", "window"])
        self.assertEqual(made.arguments(problem()), {})
        self.assertEqual(made.arguments(problem((-1, 0))), {"causal": True})
        self.assertEqual(made.arguments(problem((3, 3))), {"window": (3, 3)})

    def test_knobs_and_tile(self):
        made = Kernel(tuned, knobs=KNOBS, tile=("BLOCK_M", "BLOCK_N"))
        self.assertEqual(made.arguments(problem(knobs=[(b"num_warps", 8)], br=128, bc=32)),
                         {"causal": False, "BLOCK_M": 128, "BLOCK_N": 32, "num_warps": 8})
        made = Kernel(tuned, knobs=KNOBS)
        self.assertEqual(made.arguments(problem(knobs=[(b"block_m", 64), (b"other", 1)])),
                         {"causal": False, "BLOCK_M": 64})


class Files(unittest.TestCase):
    SCRIPT = """
        import attnscope
        from missing_parts import helper

        def flash(q, k, v, causal):
            return helper(q)

        class Box:
            @staticmethod
            def inner(q, k, v):
                return v

        number = 3
        runs = attnscope.collect(flash, N=64)
        raise SystemExit("not reached in a worker")
    """
    PARTS = "def helper(q):\n    return q + 1\n"

    def test_import_ends_at_collect(self):
        with support.folder_with(script=self.SCRIPT, missing_parts=self.PARTS) as folder:
            file = os.path.join(folder, "script.py")
            made = _load.load_kernel(file, "flash")
            self.assertEqual(made(1, 2, 3, True), 2)
            self.assertEqual(_load.locate(made), (file, "flash"))
            self.assertEqual(_load.load_kernel(file, "Box.inner")(1, 2, 3), 3)

    def test_package(self):
        with support.folder_with(x="") as folder:
            package = os.path.join(folder, "some_package")
            os.mkdir(package)
            for name, text in (("__init__", ""), ("parts", "three = 3\n"),
                               ("kernels", "from .parts import three\ndef f(q, k, v):\n    return three\n")):
                with open(os.path.join(package, name + ".py"), "w", encoding="utf-8") as stream:
                    stream.write(text)
            self.assertEqual(_load.load_kernel(os.path.join(package, "kernels.py"), "f")(0, 0, 0), 3)

    def test_located_only_with_its_properties(self):
        text = "import attnscope\ndef f(q, k, v):\n    return q\ng = attnscope.kernel(layout='bnhd')(f)\n"
        with support.folder_with(located=text) as folder:
            file = os.path.join(folder, "located.py")
            module = _load.import_file(file)
            self.assertEqual(_load.locate(module.g), (file, "g"))
            self.assertEqual(_load.locate(as_kernel(module.f)), (file, "f"))
            self.assertIsNone(_load.locate(attnscope.kernel(layout="bnhd")(module.f)))
            self.assertIsNone(_load.locate(as_kernel(lambda q, k, v: q)))

    def test_located_only_as_at_the_first_collect(self):
        text = "def f(q, k, v):\n    return q\ng = f\n"
        with support.folder_with(located_main=text) as folder, mock.patch.object(_load, "_main_objects", None):
            file = os.path.join(folder, "located_main.py")
            module = _load.import_file(file)
            module.f.__module__ = "__main__"
            with mock.patch.dict(sys.modules, __main__=module):
                first, function = as_kernel(module.f), types.FunctionType(module.f.__code__, {}, "f")
                function.__module__ = "__main__"
                _load.stop_import()
                self.assertEqual(_load.locate(first), (file, "f"))
                module.f = module.g = function  # as in a loop over functions
                self.assertIsNone(_load.locate(as_kernel(function)))

    def test_errors(self):
        with support.folder_with(script=self.SCRIPT, missing_parts=self.PARTS) as folder:
            file = os.path.join(folder, "script.py")
            for name, text in (("nothing", "script.py has no 'nothing' before its first collect() or measure(); it has: helper, "
                                "flash, Box"),
                               ("Box.none", "'Box' has no 'none'"), ("number", "'number' is not callable")):
                with self.subTest(name), self.assertRaises(attnscope.Error) as caught:
                    _load.load_kernel(file, name)
                self.assertEqual(str(caught.exception), text)
            with self.assertRaisesRegex(attnscope.Error, "none.py does not exist$"):
                _load.load_kernel(os.path.join(folder, "none.py"), "f")


if __name__ == "__main__":
    unittest.main()
