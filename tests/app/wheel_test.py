# SPDX-License-Identifier: Apache-2.0
"""wheel_test.py WHEEL VERSION PACKAGE LICENSES: installs the wheel in a new environment and uses it without PyTorch.
PACKAGE and LICENSES are the inputs of build_wheel.py."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD_WHEEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../app/python/build_wheel.py")

FUNCTION = """import attnscope

@attnscope.kernel(like="fa2", tile=(128, 64))
def flash(q, k, v, causal):
    return q
"""


def build_wheel(*arguments):
    return subprocess.run([sys.executable, BUILD_WHEEL] + list(arguments), stderr=subprocess.PIPE, text=True,
                          check=False)


class Built(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_equal_inputs_give_equal_files(self):
        self.assertEqual(build_wheel(VERSION, PACKAGE, LICENSES, self.path("again.whl")).returncode, 0)
        with open(WHEEL, "rb") as first, open(self.path("again.whl"), "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_programs_for_newer_systems_are_refused(self):
        header = b"\x7fELF\2\1\1" + bytes(9) + b"\3\0\x3e\0"
        for name, content, reason in (("libattnscope.so", header + b"\0GLIBC_2.4\0GLIBC_2.38\0", "needs glibc 2.38"),
                                      ("libattnscope.so", b"text", "not a program for x86_64")):
            with open(self.path(name), "wb") as stream:
                stream.write(content)
            refused = build_wheel(VERSION, self.folder.name, LICENSES, self.path("new.whl"))
            self.assertEqual(refused.returncode, 1)
            self.assertIn(reason, refused.stderr)
            self.assertFalse(os.path.exists(self.path("new.whl")))


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.has_pip = importlib.util.find_spec("ensurepip") is not None
        venv = os.path.join(cls.folder.name, "venv")
        subprocess.run([sys.executable, "-m", "venv", venv] + ([] if cls.has_pip else ["--without-pip"]), check=True)
        cls.bin = os.path.join(venv, "bin")
        cls.python = os.path.join(cls.bin, "python")
        cls.environment = {"PATH": "/usr/bin:/bin", "HOME": cls.folder.name}
        if cls.has_pip:
            cls.output_of([cls.python, "-m", "pip", "install", "--quiet", "--no-index", WHEEL])
        else:
            site = cls.output_of([cls.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]).strip()
            with zipfile.ZipFile(WHEEL) as archive:
                archive.extractall(site)
        with open(os.path.join(cls.folder.name, "my.py"), "w", encoding="utf-8") as stream:
            stream.write(FUNCTION)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def output_of(cls, words):
        done = subprocess.run(words, cwd=cls.folder.name, env=cls.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError("%s: exit code %d: %s" % (" ".join(words), done.returncode, done.stderr))
        return done.stdout

    def test_library_loads(self):
        script = ("import ctypes, os, attnscope\n"
                  "library = ctypes.CDLL(os.path.join(os.path.dirname(attnscope.__file__), 'libattnscope.so'))\n"
                  "library.attnscope_version.restype = ctypes.c_char_p\n"
                  "print(library.attnscope_version().decode())")
        self.assertEqual(self.output_of([self.python, "-c", script]).strip(), VERSION)

    def test_function_is_described(self):
        manifest = json.loads(self.output_of([self.python, "-m", "attnscope.worker", "describe", "my.py", "flash"]))
        self.assertEqual(manifest["name"], "flash")
        self.assertEqual(manifest["law"]["like"], "fa2")

    def test_command_line_uses_this_python(self):
        if not self.has_pip:
            self.skipTest("no ensurepip, which installs scripts (Debian package python3-venv)")
        program = os.path.join(self.bin, "attnscope")
        self.assertEqual(self.output_of([program, "--version"]).strip(), "attnscope " + VERSION)
        plan = self.output_of([program, "collect", "--kernel", "my.py:flash", "--algorithms", "flash", "-a", "N=1024", "-a",
                         "d=64", "--device", "simulated", "--dry-run"])
        self.assertIn("flash      fp16", plan)


if __name__ == "__main__":
    WHEEL, VERSION, PACKAGE, LICENSES = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1])
