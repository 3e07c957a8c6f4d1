# SPDX-License-Identifier: Apache-2.0
"""Prepared calls: tensors, capture of both passes, fallbacks, checks, errors."""
import gc
import sys
import types
import unittest
from unittest import mock

from support import Case, torch
from attnscope import _c, _capture
from attnscope._errors import Unsupported
from attnscope._kernel import Kernel


def blend(q, k, v):
    return q * 2.0 + k + v * 3.0


def expected_blend(case):
    return [2 * a + b + 3 * c for a, b, c in zip(case.values("q"), case.values("k"), case.values("v"))]


class Forward(unittest.TestCase):
    def test_tensors_of_each_type_and_layout(self):
        for dtype in ("fp16", "bf16", "fp32"):
            for layout in ("bhnd", "bnhd"):
                with self.subTest(dtype=dtype, layout=layout):
                    seen = []

                    def look(q, k, v):
                        seen.append((q.shape, q.strides, q.dtype, q.data_ptr(), torch.cuda.streams[-1].cuda_stream,
                                     torch.is_grad_enabled(), q.values()))
                        return q + 0.0

                    case = Case(Kernel(look, layout=layout), dtype, layout=layout)
                    case.buffers["q"].write([float(i) for i in range(48)])
                    self.assertEqual(case.prepare(), _c.OK)
                    expected = {"bnhd": ((2, 3, 2, 4), (24, 8, 4, 1)), "bhnd": ((2, 2, 3, 4), (24, 12, 4, 1))}[layout]
                    self.assertEqual(seen[0], (*expected, case.kind, case.buffers["q"].data_ptr(), 77, False,
                                               [float(i) for i in range(48)]))
                    case.run_plan()
                    self.assertEqual(case.values("o"), [float(i) for i in range(48)])

    def test_graphs(self):
        case = Case(Kernel(blend))
        self.assertEqual(case.prepare(), _c.OK)
        plan = case.plan
        self.assertTrue(plan.handle and plan.measured and plan.after and not plan.before)
        self.assertEqual(len(torch.cuda.graphs[plan.measured].works), 4)
        self.assertEqual((plan.memory, case.note(), plan.saved_bytes), (case.library.used[0], "", -1))
        self.assertGreater(plan.host_ns, 0)
        case.buffers["k"].write([5.0] * 48)  # a replay reads the current inputs
        case.run_plan()
        self.assertEqual(case.values("o"), expected_blend(case))
        self.assertEqual(case.library.current, 0)
        case.session.functions.release(plan.handle)
        self.assertEqual((case.library.released, len(case.library.used)), (case.library.used, 2))

    def test_lse(self):
        def with_lse(q, k, v):
            return q + 0.0, torch.full((2, 2, 3, 1), 7.0), "more"

        case = Case(Kernel(with_lse, lse="2"), lse=True)
        self.assertEqual(case.prepare(), _c.OK)
        case.run_plan()
        self.assertEqual(case.values("lse"), [7.0] * 12)
        case = Case(Kernel(blend, lse="e"), lse=True)
        self.assertEqual((case.prepare(), case.error()),
                         (_c.ERROR, "the function returned one tensor, expected (o, lse)"))

    def test_not_capturable(self):
        def synchronizes(q, k, v):
            return q + v.item()

        case = Case(Kernel(synchronizes))
        self.assertEqual(case.prepare(), _c.OK)
        self.assertFalse(case.plan.measured or case.plan.after)
        self.assertEqual(case.note(), "not captured: CUDA error: operation not permitted when stream is capturing; "
                                      "kernels are not attributed")
        self.assertEqual((case.library.current, torch.cuda.capturing), (0, None))
        case.buffers["v"].write([4.0] * 48)
        self.assertEqual(case.run_plan(), [_c.OK, _c.OK])
        self.assertEqual(case.values("o"), [value + 4 for value in case.values("q")])

    def test_old_version_of_pytorch(self):
        with mock.patch.object(torch.cuda, "CUDAGraph", lambda: None):
            case = Case(Kernel(blend))
            self.assertEqual(case.prepare(), _c.OK)
        self.assertEqual(case.note(),
                         "not captured: PyTorch 0.0-fake cannot export CUDA graphs; kernels are not attributed")
        case.run_plan()
        self.assertEqual(case.values("o"), expected_blend(case))

    def test_warm_up_until_compilation_ends(self):
        class Autotuner:
            def __init__(self, runs):
                self.runs, self.cache, self.best_config = runs, {}, None

            def run(self):
                if len(self.cache) < self.runs:
                    self.cache[len(self.cache)] = 1
                self.best_config = types.SimpleNamespace(kwargs={"BLOCK_M": 128, "BLOCK_N": 32, "num_stages": 2})

        for runs, calls in ((0, 3), (1, 3), (5, 6), (50, 10)):
            tuner, count = Autotuner(runs), [0]

            class Function:
                @classmethod
                def apply(cls, q):
                    count[0] += 1
                    tuner.run()
                    return q + 1.0

            apply = Function.apply  # like torch.autograd.Function.apply
            with mock.patch.object(_capture.Call, "_check_memory"), \
                    mock.patch.object(_capture.Call, "_host_time", return_value=1.0):
                case = Case(Kernel(lambda q, k, v: apply(q), tile="tuned"))
                self.assertEqual(case.prepare(), _c.OK)
            self.assertEqual(count[0], calls + 1)  # and the capture
            self.assertEqual((case.plan.br, case.plan.bc), (128, 32))

    def test_unknown_tile(self):
        case = Case(Kernel(blend, tile="tuned"))
        self.assertEqual(case.prepare(), _c.OK)
        self.assertEqual((case.plan.br, case.plan.bc), (0, 0))


class Backward(unittest.TestCase):
    def gradients(self, case):
        return [case.values(name) for name in ("dq", "dk", "dv")]

    def expected(self, case):
        q, k, dout = (case.values(name) for name in ("q", "k", "dout"))
        return [[a * b for a, b in zip(dout, k)], [a * b for a, b in zip(dout, q)], [2 * a for a in dout]]

    @staticmethod
    def product(q, k, v):
        assert torch.is_grad_enabled()
        return q * k + v * 2.0

    def test_two_graphs(self):
        case = Case(Kernel(self.product), backward=True)
        self.assertEqual(case.prepare(), _c.OK, case.error())
        self.assertTrue(case.plan.before and case.plan.measured and case.plan.after)
        self.assertEqual((case.plan.memory, case.note(), case.plan.saved_bytes), (case.library.used[1], "", 0))
        graphs = torch.cuda.graphs
        self.assertEqual(len(graphs[case.plan.before].works), 3)
        self.assertIs(graphs[case.plan.before].pool(), graphs[case.plan.measured].pool())
        case.buffers["k"].write([3.0] * 48)
        case.run_plan()
        self.assertEqual(self.gradients(case), self.expected(case))

    def test_saved_bytes(self):
        case = Case(Kernel(lambda q, k, v: (q + 1.0) * (k + 1.0) + v), backward=True)
        self.assertEqual(case.prepare(), _c.OK, case.error())
        self.assertEqual(case.plan.saved_bytes, 2 * 48 * 4)

    def test_together(self):
        def fail_apart(call, o, keep):
            if keep and torch.cuda.capturing:
                raise RuntimeError("cannot be captured apart\nmore")
            return torch.autograd.grad(o, call._inputs, call._dout(o), retain_graph=keep)

        with mock.patch.object(_capture.Call, "_gradients", fail_apart), \
                mock.patch.object(_capture.Call, "_host_time", lambda call, run: 1.0 + (run == call._both)):
            case = Case(Kernel(self.product), backward=True)
            self.assertEqual(case.prepare(), _c.OK, case.error())
        self.assertFalse(case.plan.before)
        self.assertEqual((case.note(), case.plan.host_ns), ("forward and backward measured together", 2.0))
        case.run_plan()
        self.assertEqual(self.gradients(case), self.expected(case))

    def test_not_capturable(self):
        case = Case(Kernel(lambda q, k, v: self.product(q, k, v) * v.item()), backward=True)
        case.buffers["v"].write([1.0] * 48)
        self.assertEqual(case.prepare(), _c.OK, case.error())
        self.assertFalse(case.plan.measured or case.plan.before)
        self.assertEqual(case.note(), "not captured: CUDA error: operation not permitted when stream is capturing; "
                                      "kernels are not attributed; forward and backward measured together")
        self.assertEqual(case.run_plan(), [_c.OK, _c.OK])
        self.assertEqual(self.gradients(case), self.expected(case))

    def test_no_backward_pass(self):
        case = Case(Kernel(lambda q, k, v: q.detach() + 1.0), backward=True)
        self.assertEqual((case.prepare(), case.error()),
                         (_c.UNSUPPORTED, "no backward pass: the result does not require grad"))
        with mock.patch.object(torch.autograd, "grad", side_effect=RuntimeError("derivative for f is not implemented")):
            case = Case(Kernel(self.product), backward=True)
            self.assertEqual((case.prepare(), case.error()),
                             (_c.UNSUPPORTED, "no backward pass: derivative for f is not implemented"))


class Checks(unittest.TestCase):
    def test_leak(self):
        kept = []

        def leaks(q, k, v):
            result = q + 1.0
            kept.append(result)
            return result

        case = Case(Kernel(leaks))
        self.assertEqual((case.prepare(), case.error()), (_c.INCORRECT, "leaks 192 bytes per call"))
        self.assertFalse(case.plan.handle)

    def test_honest_functions_are_checked_once(self):
        calls, cache = [], []

        def caches(q, k, v):
            calls.append(1)
            if len(cache) < 20:  # a workspace that stops growing
                cache.append(q + 1.0)
            cycle = [q + 2.0]
            cycle.append(cycle)  # freed by the garbage collector only
            return q + 3.0

        gc.disable()  # else the number of calls depends on its schedule
        self.addCleanup(gc.enable)
        case = Case(Kernel(caches))
        self.assertEqual(case.prepare(), _c.OK, case.error())
        self.assertEqual(len(calls), 3 + 2 * 100 + 5 + 1)
        self.assertEqual(case.prepare(), _c.OK)
        self.assertEqual(len(calls), 2 * 209 - 2 * 100)

    def test_wrong_results(self):
        half = torch.full((2, 2, 3, 4), 1.0, torch.float16)
        elsewhere = torch.full((2, 2, 3, 4), 1.0)
        elsewhere.device = torch.device(1)
        cases = [(lambda q, k, v: torch.full((2, 2, 3), 1.0), _c.ERROR,
                  "returned shape (2, 2, 3) for o, expected (2, 2, 3, 4)"),
                 (lambda q, k, v: None, _c.ERROR, "o is a NoneType, expected a tensor"),
                 (lambda q, k, v: (), _c.ERROR, "o is a tuple, expected a tensor"),
                 (lambda q, k, v: half, _c.INCORRECT, "o is fp16, expected fp32"),
                 (lambda q, k, v: elsewhere, _c.ERROR, "o is on cuda:1, expected cuda:0")]
        for function, status, reason in cases:
            with self.subTest(reason):
                case = Case(Kernel(function))
                self.assertEqual((case.prepare(), case.error()), (status, reason))

    def test_exceptions(self):
        line = sys._getframe().f_lineno + 3

        def fails(q, k, v):
            raise kind("some text\nand more")

        place = " (test_capture.py:%d in fails)" % line
        for kind, status, reason in (
                (ValueError, _c.ERROR, "ValueError: some text" + place),
                (KeyboardInterrupt, _c.ERROR, "KeyboardInterrupt: some text" + place),
                (SystemExit, _c.ERROR, "SystemExit: some text" + place),
                (NotImplementedError, _c.UNSUPPORTED, "NotImplementedError: some text" + place),
                (Unsupported, _c.UNSUPPORTED, "some text" + place),
                (torch.OutOfMemoryError, _c.OUT_OF_MEMORY, "some text")):
            with self.subTest(kind.__name__):
                case = Case(Kernel(fails))
                self.assertEqual((case.prepare(), case.error()), (status, reason))

    def test_exceptions_that_raise(self):
        class Silent(Exception):
            def __str__(self):
                raise ValueError("no text")

        class Worse(Silent):
            __traceback__ = property(lambda self: 1 / 0, lambda self, value: None)

        for kind, reason in ((Silent, r"Silent \(.*"), (Worse, "Worse")):
            def fails(q, k, v):
                raise kind()

            case = Case(Kernel(fails))
            self.assertEqual(case.prepare(), _c.ERROR)
            self.assertRegex(case.error(), "^%s$" % reason)

    def test_position_is_in_the_users_file(self):
        import textwrap  # raises inside the standard library
        line = sys._getframe().f_lineno + 1
        case = Case(Kernel(lambda q, k, v: textwrap.dedent(3)))
        self.assertEqual(case.prepare(), _c.ERROR)
        self.assertTrue(case.error().endswith(" (test_capture.py:%d in <lambda>)" % line), case.error())

    def test_out_of_memory_in_capture_is_no_fallback(self):
        def grows(q, k, v):
            if torch.cuda.capturing:
                raise torch.OutOfMemoryError("20 GiB")
            return q + 1.0

        case = Case(Kernel(grows))
        self.assertEqual((case.prepare(), case.error()), (_c.OUT_OF_MEMORY, "20 GiB"))
        self.assertEqual(case.library.released, case.library.used)

    def test_unknown_handles_and_files(self):
        case = Case(Kernel(blend))
        table = case.session.functions
        self.assertEqual(table.call(99), _c.ERROR)
        table.release(99)
        self.assertEqual(table.prepare(b"none.py", b"f", case.problem, case.pointers, 77, case.plan), _c.ERROR)
        self.assertEqual(case.error(), "none.py does not exist")


if __name__ == "__main__":
    unittest.main()
