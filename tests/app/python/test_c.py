# SPDX-License-Identifier: Apache-2.0
"""The ctypes structures have the layout of the C headers."""
import ctypes
import os
import shutil
import subprocess
import tempfile
import unittest

import support
from attnscope import _c

STRUCTURES = {"attnscope_strides": _c.Strides, "attnscope_knob": _c.Knob, "attnscope_problem": _c.Problem,
              "attnscope_pointers": _c.Pointers, "attnscope_python_plan": _c.Plan, "attnscope_python": _c.Functions}
HEADER = "profiler/measure/gpu/user/python_kernel.h"


class Layout(unittest.TestCase):
    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_structures_and_constants(self):
        lines, expected = [], []
        for name, structure in STRUCTURES.items():
            fields = [field[0] for field in structure._fields_]
            expected += [ctypes.sizeof(structure)] + [getattr(structure, field).offset for field in fields]
            lines.append("(long)sizeof(%s)" % name)
            lines += ["(long)offsetof(%s, %s)" % (name, field) for field in fields]
        constants = {"ATTNSCOPE_OK": _c.OK, "ATTNSCOPE_ERROR": _c.ERROR, "ATTNSCOPE_UNSUPPORTED": _c.UNSUPPORTED,
                     "ATTNSCOPE_OUT_OF_MEMORY": _c.OUT_OF_MEMORY, "ATTNSCOPE_INCORRECT": _c.INCORRECT,
                     "ATTNSCOPE_PYTHON_VERSION": _c.VERSION, "ATTNSCOPE_BF16": _c.DTYPES.index("bf16"),
                     "ATTNSCOPE_FP32": _c.DTYPES.index("fp32"), "ATTNSCOPE_BACKWARD": _c.PASSES.index("bwd")}
        text = '#include <stdio.h>\n#include "%s"\nint main(void) {\n  const long all[] = {%s};\n' % (
            HEADER, ", ".join(lines + list(constants)))
        text += '  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) printf("%ld\\n", all[i]);\n  return 0;\n}\n'
        with tempfile.TemporaryDirectory() as folder:
            source, binary = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(text)
            subprocess.run(["cc", "-I", support.ROOT, source, "-o", binary], check=True)
            printed = subprocess.run([binary], check=True, stdout=subprocess.PIPE).stdout.split()
        self.assertEqual([int(word) for word in printed], expected + list(constants.values()))


if __name__ == "__main__":
    unittest.main()
