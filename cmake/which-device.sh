#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints "gpu" if this machine has a GPU with a working driver and CUDA 13 headers with CUPTI, else "simulated".
# Searches the same paths as dependencies.cmake.
cupti_version() {
  local root header
  for root in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /opt/cuda; do
    [ -n "$root" ] || continue
    for header in "$root"/include "$root"/extras/CUPTI/include "$root"/targets/x86_64-linux/include; do
      [ -e "$header/cupti_range_profiler.h" ] || continue
      sed -n 's/^#define CUPTI_API_VERSION *\([0-9]*\).*/\1/p' "$header/cupti_version.h"
      return
    done
  done
}

version=$(cupti_version)
if command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU ' && [ "${version:-0}" -ge 130000 ]; then
  echo gpu
else
  echo simulated
fi
