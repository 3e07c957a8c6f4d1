#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job in one command: set up, build, collect the quick preset, show it.
#   ./run.sh              a window with the collected runs beside the recorded sample; with no display, plots and a CSV
#   ./run.sh --plots DIR  plots and a CSV into DIR, window or not
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source cmake/setup.sh

plots=""
case "${1:-}" in
  "") ;;
  --plots) plots="${2:?run.sh: --plots needs a folder}" ;;
  -h|--help) sed -n '3,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "run.sh: unknown option '$1'; see ./run.sh --help" >&2; exit 2 ;;
esac
if [ -z "$plots" ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then plots=out/plots; fi

build=build/run
attnscope=$build/app/attnscope
sample=assets/samples/h200.attnscope
mkdir -p out

# Which device it will be is said before the minutes of building: the driver and the toolkit's NVRTC decide it.
device=$(bash cmake/which-device.sh)
if [ "$device" = gpu ]; then
  echo "attnscope: collecting the quick preset on the GPU ($(nvidia-smi --query-gpu=name --format=csv,noheader | head -1))"
else
  echo "attnscope: no usable GPU with a CUDA toolkit here, so the quick preset runs on the simulated device (an H200)"
fi

install_packages "${build_packages[@]}" "${gui_packages[@]}"
# Configured anew when a toolkit came or went since the last time: what is built depends on its headers.
if [ ! -f $build/build.ninja ] || [ "$(cat $build/device 2>/dev/null)" != "$device" ]; then
  mkdir -p build
  cmake --fresh -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release >$build.configure.log 2>&1 || { cat $build.configure.log >&2; exit 1; }
  echo "$device" >$build/device
fi
[ -x "$attnscope" ] || echo "attnscope: building, about 5 minutes on 2 cores the first time"
cmake --build $build -- --quiet

# Kept from run to run: what is complete is shown at once, what was stopped is continued.
data=out/quick-$device.attnscope
status=0
[ ! -e "$data" ] || "$attnscope" info "$data" >/dev/null 2>&1 || status=$?
if [ $status -ne 0 ] && [ $status -ne 5 ]; then  # 5: parts of it are damaged, which info names
  echo "attnscope: $data cannot be read by this version; delete the file to collect it again"
  data=""
elif "$attnscope" info "$data" 2>/dev/null | grep -q '^ *[0-9].* quick .* complete '; then
  echo "attnscope: the quick preset is in $data already; delete the file to collect it again"
else
  status=0
  "$attnscope" collect --preset quick --device "$device" --output "$data" --resume || status=$?
  # 5: some points did not succeed. They are in the file with their reasons, beside those that did.
  [ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
fi

# What is opened last leads.
files=()
[ -f "$sample" ] && files+=("$sample")
[ -n "$data" ] && files+=("$data")
if [ -n "$plots" ]; then
  mkdir -p "$plots"
  if [ -n "$data" ]; then
    "$build/app/attnscope-gui" --plots "$plots" "$data"
    "$attnscope" export "$data" --format csv --output "$plots/quick.csv"
  fi
  [ -f "$sample" ] && "$build/app/attnscope-gui" --plots "$plots/h200-sample" "$sample"
  echo "attnscope: the plots (PNG, SVG) and quick.csv are in $plots, the recorded sample's in $plots/h200-sample"
else
  exec "$build/app/attnscope-gui" "${files[@]}"
fi
