#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints "gpu" when this machine can collect on one (a driver that answers, and NVRTC and CUPTI headers of a CUDA 13
# toolkit), else "simulated".
toolkit=${CUDA_PATH:-${CUDA_HOME:-/usr/local/cuda}}
if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU ' &&
   { [ -e "$toolkit/include/cupti_range_profiler.h" ] || [ -e "$toolkit/extras/CUPTI/include/cupti_range_profiler.h" ]; }; then
  echo gpu
else
  echo simulated
fi
