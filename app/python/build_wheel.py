#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_wheel.py VERSION PACKAGE LICENSES OUTPUT: writes the wheel of the package in the folder PACKAGE (Python files,
libattnscope.so, bin/attnscope) with the license texts in the folder LICENSES. Equal inputs give equal files."""
import base64
import hashlib
import os
import re
import struct
import sys
import zipfile

GLIBC = (2, 34)
TAG = "py3-none-manylinux_2_34_x86_64"

METADATA = """Metadata-Version: 2.1
Name: attnscope
Version: {version}
Summary: Measures the GPU memory traffic and time of attention functions and compares them with theory
License: Apache-2.0
Requires-Python: >=3.9
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
"""

WHEEL = """Wheel-Version: 1.0
Generator: attnscope
Root-Is-Purelib: false
Tag: {tag}
"""

# The command line, which calls Python functions with the interpreter that it is installed for.
SCRIPT = """#!python
import importlib.util
import os
import sys

package = importlib.util.find_spec("attnscope").submodule_search_locations[0]
os.environ.setdefault("ATTNSCOPE_PYTHON", sys.executable)
program = os.path.join(package, "bin", "attnscope")
os.execv(program, [program] + sys.argv[1:])
"""


def check_program(path):
    """Exits if the file does not run on the systems of the tag."""
    with open(path, "rb") as stream:
        content = stream.read()
    machine_x86_64 = 62
    if content[:4] != b"\x7fELF" or struct.unpack_from("<H", content, 18)[0] != machine_x86_64:
        sys.exit("error: %s is not a program for x86_64 (build the wheel on x86_64)" % path)
    needed = [(int(major), int(minor)) for major, minor in re.findall(rb"\0GLIBC_(\d+)\.(\d+)[.\d]*(?=\0)", content)]
    if not needed or max(needed) > GLIBC:
        sys.exit("error: %s needs glibc %s, but wheels need 2.34 or older (build it on Debian 12)" %
                 (path, "%d.%d" % max(needed) if needed else "of unknown version"))


def package_files(folder):
    """Yields (name in the package, path, whether it is executable)."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            yield name, os.path.join(folder, name), False
    for name in ("libattnscope.so", "bin/attnscope"):
        path = os.path.join(folder, name)
        check_program(path)
        yield name, path, True


def license_files(folder):
    for parent, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(parent, name)
            yield os.path.relpath(path, folder), path


class Wheel:
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []

    def add(self, name, content, executable=False):
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        self.archive.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))

    def add_file(self, name, path, executable=False):
        with open(path, "rb") as stream:
            self.add(name, stream.read(), executable)

    def close(self, info):
        name = info + "/RECORD"
        self.add(name, "".join(self.record + [name + ",,\n"]).encode())
        self.archive.close()


def main(version, package, licenses, output):
    files = list(package_files(package))
    partial = output + ".part"
    wheel = Wheel(partial)
    for name, path, executable in files:
        wheel.add_file("attnscope/" + name, path, executable)
    wheel.add("attnscope-%s.data/scripts/attnscope" % version, SCRIPT.encode(), True)
    info = "attnscope-%s.dist-info" % version
    for name, path in license_files(licenses):
        wheel.add_file("%s/licenses/%s" % (info, name), path)
    wheel.add(info + "/METADATA", METADATA.format(version=version).encode())
    wheel.add(info + "/WHEEL", WHEEL.format(tag=TAG).encode())
    wheel.close(info)
    os.replace(partial, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
