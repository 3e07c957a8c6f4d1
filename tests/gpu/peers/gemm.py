#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares fa3's forward pass with a library GEMM: throughput, energy and clock, measured interleaved.

usage: gemm.py ATTNSCOPE [--d 128] [--n 8192,16384] [--seconds 1] [--rounds 5]

Each attention row has 16,384 tokens in 2048 / d heads, fp16, no mask, normal inputs, the default tile. The GEMM is
torch.matmul of 8192 x 8192 normal values. FLOPs: 4 N^2 d per head and 2 N^3; energy is the board's counter (NVML).
Needs a GPU of compute capability 9.0, PyTorch and nvcc.
"""
import argparse
import csv
import ctypes
import io
import math
import os
import random
import statistics
import subprocess
import tempfile
import time

import torch

cuda = ctypes.CDLL("libcuda.so.1")
nvml = ctypes.CDLL("libnvidia-ml.so.1")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def check(code, call):
    if code:
        raise SystemExit(f"gemm.py: {call} failed with {code}")


def tensor_map(tensor, box):
    """Encodes a tensor map with boxes of `box` rows x 64 columns, as fa3.cpp does."""
    b, h, n, d = tensor.shape
    memory = (ctypes.c_uint64 * 24)()
    map_ = (ctypes.c_uint64 * 16).from_buffer(memory, -ctypes.addressof(memory) % 64)
    check(cuda.cuTensorMapEncodeTiled(map_, 6, 3, ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * 3)(d, n, b * h),
                                     (ctypes.c_uint64 * 2)(2 * d, 2 * d * n), (ctypes.c_uint32 * 3)(64, box, 1), (ctypes.c_uint32 * 3)(1, 1, 1),
                                     0, 3, 2, 0), "cuTensorMapEncodeTiled")
    return map_


def attention(attnscope, folder, d, n):
    """Returns (a function that launches fa3 once, FLOPs per launch)."""
    b, h = 16384 // n, 2048 // d
    axes = ["algorithm=fa3", f"d={d}", f"N={n}", f"batch={b}", f"heads={h}", "tile=auto"]
    text = subprocess.run([attnscope, "model", "--csv", *(word for axis in axes for word in ("-a", axis))], check=True, capture_output=True, text=True)
    row = next(csv.DictReader(io.StringIO(text.stdout)))
    cubin = os.path.join(folder, f"{n}.cubin")
    subprocess.run(["nvcc", "-cubin", "-arch=sm_90a", "-std=c++20", "--expt-relaxed-constexpr", "-x", "cu", f"-I{ROOT}/kernels", "-o", cubin,
                    "-DATTN_BF16=0", "-DATTN_DROPOUT=0", "-DATTN_HEADS_FASTEST=0", "-DATTN_MASK=0", f"-DATTN_D={d}", f"-DATTN_BR={row['br']}",
                    f"-DATTN_BC={row['bc']}",
                    *([f"-DATTN_STAGES={row['stages']}"] if int(row["stages"] or 0) else []), f"{ROOT}/kernels/fa3/fa3_forward.cuh"], check=True, capture_output=True)
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoad(ctypes.byref(module), cubin.encode()), "cuModuleLoad")
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"attn_fa3_forward"), "cuModuleGetFunction")
    shared = int(row["shared_bytes"])
    blocks = min(int(row["grid"]), torch.cuda.get_device_properties(0).multi_processor_count)  # persistent blocks
    check(cuda.cuFuncSetAttribute(kernel, 8, shared), "cuFuncSetAttribute")
    q, k, v = (torch.randn(b, h, n, d, device="cuda", dtype=torch.float16) for _ in range(3))
    o, lse, taken = torch.empty_like(q), torch.empty(b, h, n, device="cuda"), torch.zeros(64, device="cuda", dtype=torch.int32)
    address = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
    none, far = ctypes.c_void_p(0), 1 << 30
    arguments = [tensor_map(q, 64), tensor_map(k, int(row["bc"])), tensor_map(v, int(row["bc"])), tensor_map(o, 64), none, none, none, address(lse),
                 address(taken), *map(ctypes.c_int, (b * h, 1, n, n)), ctypes.c_float(1 / math.sqrt(d)), *map(ctypes.c_int, (h, far, far)), none,
                 none, ctypes.c_int(1), ctypes.c_int(256), ctypes.c_uint(0)]
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch(keep=(arguments, q, k, v, o, lse, taken)):
        check(cuda.cuLaunchKernel(kernel, blocks, 1, 1, int(row["block"]), 1, 1, shared, stream, pointers, None), "cuLaunchKernel")

    launch()
    reference = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    if not torch.allclose(o.float(), reference.float(), atol=2e-3, rtol=1e-2):
        raise SystemExit(f"gemm.py: fa3 and PyTorch differ at N {n}")
    return launch, 4 * n * n * d * b * h


def energy(device):
    millijoules = ctypes.c_ulonglong()
    check(nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(millijoules)), "nvmlDeviceGetTotalEnergyConsumption")
    return millijoules.value / 1000


def sustain(device, launch, seconds):
    """Launches for the given time; returns (seconds per launch, joules per launch, median clock in MHz)."""
    launches, clock, clocks, begin = 0, ctypes.c_uint(), [], time.monotonic()
    joules = energy(device)
    while time.monotonic() - begin < seconds:
        for _ in range(20):
            launch()
        launches += 20
        check(nvml.nvmlDeviceGetClockInfo(device, 1, ctypes.byref(clock)), "nvmlDeviceGetClockInfo")
        clocks.append(clock.value)
        torch.cuda.synchronize()
    return (time.monotonic() - begin) / launches, (energy(device) - joules) / launches, statistics.median(clocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("--d", type=int, default=128)
    parser.add_argument("--n", default="8192,16384")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.zeros(1, device="cuda")
    device = ctypes.c_void_p()
    check(nvml.nvmlInit_v2(), "nvmlInit")
    gpu_uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}"
    check(nvml.nvmlDeviceGetHandleByUUID(gpu_uuid.encode(), ctypes.byref(device)), "nvmlDeviceGetHandleByUUID")
    left, right = (torch.randn(8192, 8192, device="cuda", dtype=torch.float16) for _ in range(2))
    product = torch.empty_like(left)
    workloads = {"GEMM": (lambda: torch.matmul(left, right, out=product), 2 * 8192**3)}
    with tempfile.TemporaryDirectory() as folder:
        for n in map(int, args.n.split(",")):
            workloads[f"fa3 N {n}"] = attention(args.attnscope, folder, args.d, n)
        found = {name: [] for name in workloads}
        for _ in range(args.rounds + 1):
            for name in random.sample(list(workloads), len(workloads)):
                found[name].append(sustain(device, workloads[name][0], args.seconds))
    print(torch.cuda.get_device_name(0), f"d {args.d}")
    print("workload       TFLOP/s  of GEMM [min, max]      J/TFLOP   MHz")
    for name, rows in found.items():
        rows, flops = rows[1:], workloads[name][1]  # the first round warms up
        ratios = [flops / row[0] / (workloads["GEMM"][1] / gemm[0]) for row, gemm in zip(rows, found["GEMM"][1:])]
        median = lambda values: statistics.median(values)
        print(f"{name:14} {flops / median([row[0] for row in rows]) / 1e12:7.0f}  {median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
              f"   {median([row[1] for row in rows]) / flops * 1e12:7.3f}  {median([row[2] for row in rows]):5.0f}")


if __name__ == "__main__":
    main()
