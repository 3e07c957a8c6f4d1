# SPDX-License-Identifier: Apache-2.0
"""Arguments for the command line, functions that cannot be imported, and measure()."""
import io
import json
import os
import pickle
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

import support
import attnscope
from attnscope import _collect, _load
from attnscope._kernel import Kernel
from support import torch

DEFINED = "import attnscope\n@attnscope.kernel(knobs={'BLOCK_M': [64, 128], 'W': [4]}, tile=('BLOCK_M', 32))\n" \
          "def flash(q, k, v, BLOCK_M, W):\n    return q\n"


def importable(q, k, v, width):
    return v + width


class FakePickler(pickle.Pickler):
    """As cloudpickle's, which has a reducer_override of its own."""

    def reducer_override(self, value):
        return NotImplemented


class Arguments(unittest.TestCase):
    def words(self, kernels, process="worker", **options):
        with tempfile.TemporaryDirectory() as folder:
            selection = _collect._Selection(kernels, process, folder)
            axes = options.pop("axes", {})
            return [word.replace(folder + os.sep, "") for word in
                    _collect.collect_arguments(selection, axes, "out", **options)]

    def test_function_in_a_file(self):
        with support.folder_with(defined=DEFINED) as folder:
            flash = _load.import_file(os.path.join(folder, "defined.py")).flash
            axes = {"N": [64, 128], "d": 64, "dtype": torch.bfloat16, "mask": ("full", "window:8:0"),
                    "tile": [(64, 32), "auto"], "BLOCK_M": range(64, 129, 64), "W": [4], "deterministic": True}
            words = self.words([flash, "fa2"], axes=axes, rounds=3, metrics=["a", "b"], counters=False, verify=False,
                               timeout=2.5)
            self.assertEqual(words, [
                "--kernel", os.path.join(folder, "defined.py:flash"), "-a", "algorithm=[flash,fa2]", "-a", "N=[64,128]",
                "-a", "d=64", "-a", "dtype=bf16", "-a", "mask=[full,window:8:0]", "-a", "tile=[64x32,auto]",
                "-a", "br=[64,128]", "-a", "w=[4]", "-a", "deterministic=yes", "--rounds", "3", "-o", "out",
                "--metrics", "a,b", "--timeout", "2.5", "--no-counters", "--no-verify"])

    def test_manifest(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "my.json")
            with open(file, "w", encoding="utf-8") as stream:
                json.dump({"name": "mine"}, stream)
            self.assertEqual(self.words([file])[:4], ["--kernel", file, "-a", "algorithm=[mine]"])

    def test_function_for_here(self):
        def inner(q, k, v):
            return q

        with tempfile.TemporaryDirectory() as folder:
            selection = _collect._Selection([inner], "here", folder)
            file = os.path.join(folder, "inner.py")
            self.assertEqual((selection.options, list(selection.python)), ([file + ":inner"], [(file, "inner")]))
            with open(file, encoding="utf-8") as stream:
                self.assertEqual(stream.read(), "def inner(q, k, v):\n    return q\n")

    def test_pickle(self):
        kernel = attnscope.kernel(layout="bnhd", knobs={"width": [4]})(importable)
        fake = types.SimpleNamespace(Pickler=FakePickler, __spec__=mock.Mock())
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, cloudpickle=fake):
            selection = _collect._Selection([kernel], "worker", folder)
            file = os.path.join(folder, "importable.pkl")
            self.assertEqual(selection.options, [file + ":importable"])
            read = _load.load_kernel(file, "importable")
        self.assertEqual(read.manifest("f", "e"), kernel.manifest("f", "e"))
        self.assertEqual(read(1, 2, 3, width=4), 7)
        fake.Pickler = type("Failing", (FakePickler,), {"dump": mock.Mock(side_effect=TypeError("cannot pickle a lock"))})
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, cloudpickle=fake):
            with self.assertRaisesRegex(attnscope.Error, "^importable cannot be sent to the worker: cannot pickle"):
                _collect._Selection([kernel], "worker", folder)

    def test_pickle_of_renamed_type(self):
        """As PyTorch's SDPBackend: importable, but not by its qualified name."""
        renamed = type("_Renamed", (), {"__module__": "renamed_types"})
        renamed.__name__ = "Renamed"
        module = types.ModuleType("renamed_types")
        module.Renamed = renamed
        fake = types.SimpleNamespace(Pickler=FakePickler)
        with mock.patch.dict(sys.modules, cloudpickle=fake, renamed_types=module):
            with self.assertRaises(pickle.PicklingError):
                pickle.dumps(renamed)
            stream = io.BytesIO()
            _collect._pickler()(stream).dump(renamed)
            self.assertIs(pickle.loads(stream.getvalue()), renamed)

    def test_errors(self):
        with mock.patch.dict(sys.modules, cloudpickle=None):
            with self.assertRaises(ValueError) as caught:
                self.words([lambda q, k, v: q])
        self.assertIsInstance(caught.exception, attnscope.Error)
        self.assertEqual(str(caught.exception),
                         "<lambda> cannot be imported by the worker; install cloudpickle, define it in a file before the "
                         'first collect(), or pass process="here" (a GPU fault then ends this process)')
        for kernels, text in (([], "no kernel given"), (["fa2", "fa2"], "two kernels are named 'fa2'"),
                              (["none.json"], "none.json: No such file or directory"), ([3], "3 is not a function")):
            with self.subTest(text), self.assertRaisesRegex(attnscope.Error, text):
                self.words(kernels)
        for axes, text in (({"N": []}, "axis N has no values"), ({"tile": 64}, r"tile 64 is not \(Br, Bc\)"),
                           ({"tile": [64, 32, 16]}, r"tile 64 is not"),
                           ({"causal": True}, '^causal is not an axis; use mask="causal"')):
            with self.subTest(text), self.assertRaisesRegex(attnscope.Error, text):
                self.words(["fa2"], axes=axes)
        with self.assertRaisesRegex(attnscope.Error, 'process must be "worker" or "here"'):
            attnscope.collect("fa2", process="thread")


class Commands(unittest.TestCase):
    """Whole calls with a program that records its arguments and prints events."""

    PROGRAM = """#!%s
import json, os, sys
words = sys.argv[1:]
known = os.environ.get("ATTNSCOPE_PYTHON_MANIFESTS")
print("warning: seen twice", file=sys.stderr)
print("output of a function", file=sys.stderr)
if "d=3" in words:
    print(json.dumps({"event": "done", "reason": "d 3 is not supported", "exit_code": 2}))
    print("error: d 3 is not supported", file=sys.stderr)
    sys.exit(2)
if "d=4" in words:
    print("error: it broke", file=sys.stderr)
    sys.exit(1)
file = words[words.index("-o") + 1]
with open(file, "w") as stream:
    json.dump({"words": words, "python": os.environ["ATTNSCOPE_PYTHON"],
               "manifests": json.load(open(known)) if known else None}, stream)
print(json.dumps({"event": "plan", "database": file, "run_id": 7}))
print(json.dumps({"event": "log", "level": "warning", "text": "be careful"}), flush=True)
if any(word.startswith("fd:") for word in words):
    read, write = map(int, [word for word in words if word.startswith("fd:")][0][3:].split(","))
    os.write(write, b"request")
    assert os.read(read, 100) == b"answer"
print(json.dumps({"event": "done", "reason": "", "exit_code": 5}))
sys.exit(5)
""" % sys.executable

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        program = os.path.join(self.folder, "program")
        with open(program, "w", encoding="utf-8") as stream:
            stream.write(self.PROGRAM)
        os.chmod(program, 0o755)
        patched = mock.patch.dict(os.environ, ATTNSCOPE_PROGRAM=program)
        patched.start()
        self.addCleanup(patched.stop)
        self.output = os.path.join(self.folder, "runs.attnscope")

    def recorded(self):
        with open(self.output, encoding="utf-8") as stream:
            return json.load(stream)

    def test_collect(self):
        with support.folder_with(defined=DEFINED) as folder, warnings.catch_warnings(record=True) as warned, \
                mock.patch("sys.stderr") as stderr:
            warnings.simplefilter("always")
            flash = _load.import_file(os.path.join(folder, "defined.py")).flash
            runs = attnscope.collect(flash, N=64, pass_=["fwd", "bwd"], output=self.output, progress=False)
        self.assertEqual((runs.path, runs.run), (self.output, 7))
        self.assertEqual([str(each.message) for each in warned], ["be careful"])
        self.assertEqual([call.args[0] for call in stderr.write.call_args_list], ["output of a function\n"])
        words = self.recorded()["words"]
        self.assertEqual(words[:2], ["collect", "--jsonl"])
        self.assertEqual(words[-2:], ["--device", "gpu"])
        self.assertIn("pass=[fwd,bwd]", words)
        self.assertEqual(self.recorded()["python"], sys.executable)

    def test_errors(self):
        with mock.patch("sys.stderr"):
            with self.assertRaises(attnscope.Error) as caught:
                attnscope.collect("fa2", d=3, output=self.output)
            self.assertEqual(str(caught.exception), "d 3 is not supported")
            with self.assertRaises(attnscope.Error) as caught:
                attnscope.collect("fa2", d=4, output=self.output)
            self.assertEqual(str(caught.exception), "it broke")

    def test_measure(self):
        served = []

        def serve(library, arguments, functions, read, write):
            served.append((arguments, os.environ["ATTNSCOPE_KERNELS"], os.read(read, 100)))
            os.write(write, b"answer")

        def scaled(q, k, v, causal, factor=1.0):
            return q * factor

        q = torch.full((1, 2, 4, 8), 2.0, torch.float16)
        with mock.patch.object(_collect._c, "load_library"), mock.patch.object(_collect._c, "serve", serve), \
                warnings.catch_warnings(record=True) as warned, mock.patch("sys.stderr"):
            warnings.simplefilter("always")
            result = attnscope.measure(scaled, q, q, q, causal=True, factor=2.0, output=self.output,
                                       reference=lambda q, k, v, causal, factor: q + 2.001)
        arguments, kernels, request = served[0]
        self.assertEqual((arguments, request), (["--device", "0"], b"request"))
        self.assertTrue(kernels.endswith("scaled.py:scaled\n"))
        self.assertNotIn("ATTNSCOPE_KERNELS", os.environ)
        self.assertIn("a GPU fault", str(warned[0].message))
        recorded = self.recorded()
        for word in ("mask=causal", "heads_q=2", "n_q=4", "d=8", "dtype=fp16", "--no-verify"):
            self.assertIn(word, recorded["words"])
        manifest = json.loads(recorded["manifests"][kernels.strip()])
        self.assertEqual(manifest["supports"],
                         {"dtype": ["fp16", "bf16", "fp32"], "d": [8, 16, 32, 64, 96, 128, 192, 256], "pass": ["fwd"],
                          "mask": ["full", "causal", "window"], "gqa": True})
        self.assertEqual((result.verdict, round(result.error, 4)), ("pass", 0.0))  # 2.001 is 2 in fp16

    def test_reference_tolerance(self):
        q = torch.full((1, 1, 2, 2), 2.0)
        compare = _collect._compare
        self.assertEqual(compare(torch, q, q + 0.5, (0.1, 0.16)), (0.5, True))
        self.assertEqual(compare(torch, (q, None), q + 0.5, (0.1, 0.1)), (0.5, False))
        self.assertEqual(compare(torch, q, q * float("nan"), (9.0, 9.0))[1], False)
        with self.assertRaisesRegex(attnscope.Error, "needs CUDA tensors q, k and v with four dimensions"):
            attnscope.measure(lambda q, k, v: q, q, q)
        with self.assertRaisesRegex(attnscope.Error, "needs CUDA tensors"):
            attnscope.measure(lambda q, k, v: q, 1, 2, 3)

    def test_mask_and_layout_of_a_call(self):
        def attend(q, k, v, causal=True, window=None):
            return q

        tensors = [torch.full((2, 16, 4, 8), 1.0)] * 3
        for keywords, mask in (({}, "causal"), ({"causal": False}, "full"), ({"window": (3, -1)}, "window:3:0"),
                               ({"window": (3, -1), "causal": False}, "window:3:inf"),
                               ({"window": (-1, 0), "causal": False}, "causal")):
            self.assertEqual(_collect._problem_axes(attend, tensors, keywords, "bhnd")["mask"], mask)
        self.assertEqual(_collect._problem_axes(attend, tensors + [False], {}, "bhnd")["mask"], "full")
        with self.assertRaisesRegex(attnscope.Error, r"window must be \(left, right\), not 3"):
            attnscope.measure(attend, *tensors, window=3)
        expanded = torch.full((2, 16, 4, 8), 1.0)
        expanded.strides = (512, 0, 8, 1)
        with self.assertRaisesRegex(attnscope.Error, "is expanded"):
            attnscope.measure(attend, tensors[0], expanded, expanded)
        for layout, heads in ((None, 4), ("bhnd", 16)):
            with mock.patch.object(_collect, "_run_here", side_effect=ValueError) as run:
                with self.assertRaises(ValueError):
                    attnscope.measure(attnscope.kernel(layout="bnhd")(attend), *tensors, layout=layout)
            self.assertIn("heads_q=%d" % heads, run.call_args.args[1])

    def test_bound_tile(self):
        made = Kernel(lambda q, k, v, M: q, knobs={"M": [64]}, tile=("M", 32), like="fa2")
        axes = {"dtype": "fp16", "d": 8, "mask": "window:1:2", "heads_q": 4, "heads_kv": 2}
        bound = _collect._bound_kernel(made, (), {"M": 128}, axes, None, None, None, "bhnd")
        self.assertEqual((bound.tile, bound.like), ({"br": [128], "bc": [32]}, "fa2"))
        made = Kernel(lambda q, k, v, M=256: q, knobs={"M": [64]}, tile=("M", 32), like="fa2")
        bound = _collect._bound_kernel(made, (1, 2, 3), {}, axes, None, None, None, "bhnd")
        self.assertEqual(bound.tile, {"br": [256], "bc": [32]})


@unittest.skipUnless(support.program(), "the command line was not built")
class Simulated(unittest.TestCase):
    def test_collect_with_the_real_program(self):
        with mock.patch.dict(os.environ, ATTNSCOPE_PROGRAM=support.program()):
            runs = attnscope.collect("fa1", "fa2", N=[256, 512], d=64, heads=4, device="simulated")
            self.assertEqual([(row["algorithm"], row["n_q"]) for row in runs.rows()],
                             [("fa1", 256), ("fa2", 256), ("fa1", 512), ("fa2", 512)])
            self.addCleanup(_collect.shutil.rmtree, os.path.dirname(runs.path))
            with self.assertRaisesRegex(attnscope.Error, "^axis 'algorithm=.*unknown algorithm 'fa9'"):
                attnscope.collect("fa9", N=256, device="simulated")
            with support.folder_with(misnamed="def f(q, k, v):\n    return q\n") as folder:
                function = attnscope.kernel(like="fa22", tile=(64, 64))(_load.import_file(folder + "/misnamed.py").f)
                with self.assertRaisesRegex(attnscope.Error, "f: 'like' must be one of naive, "), \
                        mock.patch.object(_collect, "locate", lambda kernel: (folder + "/misnamed.py", "f")):
                    attnscope.collect(function, N=256, device="simulated")
            with self.assertRaisesRegex(attnscope.Error, "^axis 'num_warps=4': unknown name 'num_warps'"):
                attnscope.collect("fa2", num_warps=4, device="simulated")


if __name__ == "__main__":
    unittest.main()
