# SPDX-License-Identifier: Apache-2.0
"""python -m attnscope.worker as a process, and PyTorch's libraries."""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
from attnscope import _program, worker

FILE = """
    import attnscope
    print("noise on standard output")

    @attnscope.kernel(knobs={"num_warps": [4]})
    def flash(q, k, v, causal, num_warps):
        return q
"""


def run(*arguments, **environment):
    paths = os.pathsep.join([support.PACKAGE_FOLDER, support.FAKE_TORCH])
    return subprocess.run([sys.executable, "-m", "attnscope.worker", *arguments], input="", encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env={**os.environ, "PYTHONPATH": paths, **environment})


class Describe(unittest.TestCase):
    def test_manifest_only(self):
        with support.folder_with(mine=FILE) as folder:
            file = os.path.join(folder, "mine.py")
            done = run("describe", file, "flash")
            self.assertEqual((done.returncode, done.stderr), (0, "noise on standard output\n"))
            manifest = json.loads(done.stdout)
            self.assertEqual((manifest["source"], manifest["launches"][0]), ("mine.py", {"entry": "flash", "pass": "fwd"}))
            self.assertEqual(manifest["knobs"], {"num_warps": {"values": [4], "means": "num_warps"}})

    def test_errors_are_one_line(self):
        with support.folder_with(mine="def f(q, k, v):\n    return q\nimport nothing_like_it\n",
                                 syntax="def f(q, k, v:\n") as folder:
            mine, syntax = (os.path.join(folder, name) for name in ("mine.py", "syntax.py"))
            missing = "No module named 'nothing_like_it' (mine.py:3 in <module>)"
            cases = [((mine, "f"), "error: ModuleNotFoundError: %s\n" % missing),
                     (("none.py", "f"), "error: none.py does not exist\n")]
            for words, text in cases:
                done = run("describe", *words)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", text))
            done = run("describe", syntax, "f")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"^error: SyntaxError: .*\(syntax.py, line 1\)\n$")

    def test_manifests_of_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            known = os.path.join(folder, "known.json")
            with open(known, "w", encoding="utf-8") as stream:
                json.dump({"/none/here.py:f": "{text}"}, stream)
            done = run("describe", "/none/here.py", "f", ATTNSCOPE_PYTHON_MANIFESTS=known)
            self.assertEqual((done.returncode, done.stdout), (0, "{text}\n"))

    def test_usage(self):
        done = run("describe")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("usage: "))


    def test_exit_handlers_and_threads_do_not_run(self):
        text = """
            import atexit, sys, threading, time
            atexit.register(sys.stderr.write, "late")
            threading.Thread(target=time.sleep, args=(300,)).start()
            def f(q, k, v):
                return q
        """
        with support.folder_with(mine=text) as folder:
            done = run("describe", os.path.join(folder, "mine.py"), "f")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = run("describe", os.path.join(folder, "mine.py"), "g")
            self.assertRegex(done.stderr, "^error: .* has no 'g'; it has: f\n$")


class Worker(unittest.TestCase):
    def test_missing_library_ends_the_protocol(self):
        done = run("worker", "--device", "0", ATTNSCOPE_LIBRARY="/none/libattnscope.so")
        self.assertEqual(done.returncode, 1)
        reason = "/none/libattnscope.so does not exist (install the attnscope package, or set ATTNSCOPE_LIBRARY)"
        self.assertEqual(json.loads(done.stdout), {"event": "done", "state": "failed", "reason": reason, "ok": 0,
                                                   "not_ok": 0, "exit_code": 1})
        self.assertEqual(done.stderr, "error: %s\n" % reason)

    def test_allocator(self):
        import torch.cuda.memory as memory
        library = ctypes.CDLL(None)
        library.attnscope_record_stream = library.free
        with mock.patch.dict(os.environ, ATTNSCOPE_LIBRARY=__file__):
            made = worker.install_allocator(library)
        self.assertIs(made.library, library)
        self.assertEqual(memory.current.names, (__file__, "attnscope_malloc", "attnscope_free"))
        self.assertGreater(memory.current.record_stream, 0)
        error = RuntimeError("already initialized")
        with mock.patch.dict(os.environ, ATTNSCOPE_LIBRARY=__file__), \
                mock.patch.object(memory, "change_current_allocator", side_effect=error), \
                mock.patch.object(worker, "warn") as warned:
            self.assertIsNone(worker.install_allocator(library).library)
        warned.assert_called_once_with("PyTorch keeps its own allocator: already initialized")


class Environment(unittest.TestCase):
    def test_child(self):
        installed = [path for path in sys.path if os.path.basename(path) == "lib-dynload"]
        with mock.patch.object(sys, "path", ["", "/mine", "/mine", sys.prefix + "/src"] + installed), \
                mock.patch.dict(os.environ, ATTNSCOPE_KERNELS="/my.py:f\n"):
            found = _program.child_environment()
        self.assertEqual(found["PYTHONPATH"].split(os.pathsep),
                         [os.path.dirname(_program.PACKAGE), "/mine", sys.prefix + "/src"])
        self.assertEqual(found["ATTNSCOPE_PYTHON"], sys.executable)
        self.assertNotIn("ATTNSCOPE_KERNELS", found)


class Libraries(unittest.TestCase):
    def environment(self, *files, arguments=(), **given):
        """Variables, arguments and warnings for a PyTorch whose folder nvidia has these files."""
        with tempfile.TemporaryDirectory() as folder:
            for file in ("torch/__init__.py",) + files:
                os.makedirs(os.path.join(folder, os.path.dirname(file)), exist_ok=True)
                open(os.path.join(folder, file), "w").close()
            spec = mock.Mock(submodule_search_locations=[os.path.join(folder, "torch")])
            with mock.patch.object(_program.importlib.util, "find_spec", return_value=spec), \
                    mock.patch.object(_program, "warn") as warned:
                words = _program.use_torch_libraries(given, arguments)
            return {name: os.path.relpath(path, folder) for name, path in given.items()}, words, warned.call_count

    CUDA_13 = ("nvidia/cu13/lib/libcupti.so.13", "nvidia/cu13/lib/libnvrtc.so.13")
    CUDA_12 = ("nvidia/cuda_cupti/lib/libcupti.so.12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")

    def test_cuda_13(self):
        self.assertEqual(self.environment(*self.CUDA_13), (
            {"ATTNSCOPE_CUPTI_LIBRARY": self.CUDA_13[0], "ATTNSCOPE_NVRTC_LIBRARY": self.CUDA_13[1]}, [], 0))

    def test_given_variables_are_kept(self):
        found, words, _ = self.environment(*self.CUDA_13, ATTNSCOPE_CUPTI_LIBRARY="/mine")
        self.assertTrue(found["ATTNSCOPE_CUPTI_LIBRARY"].endswith("mine"))
        self.assertEqual(words, [])

    def test_cuda_12(self):
        self.assertEqual(self.environment(*self.CUDA_12),
                         ({"ATTNSCOPE_NVRTC_LIBRARY": self.CUDA_12[1]}, ["--no-counters"], 1))
        self.assertEqual(self.environment(*self.CUDA_12, arguments=["--no-counters"])[1:], ([], 0))

    def test_no_libraries(self):
        self.assertEqual(self.environment(), ({}, [], 0))


if __name__ == "__main__":
    unittest.main()
