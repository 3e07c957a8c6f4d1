#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs dependencies, builds, collects the quick preset and shows the results:
#   ./run.sh              window with the collected runs and the recorded sample, or plots and CSV without a display
#   ./run.sh --plots DIR  writes plots and a CSV file to DIR
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source cmake/setup.sh

plots=""
case "${1:-}" in
  "") ;;
  --plots) plots="${2:?run.sh: --plots needs a directory}" ;;
  -h|--help) sed -n '3,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "run.sh: unknown option '$1'; see ./run.sh --help" >&2; exit 2 ;;
esac
if [ -z "$plots" ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then plots=out/plots; fi

build=build/run
attnscope=$build/app/attnscope
sample=assets/samples/h200.attnscope
mkdir -p out

# Prints the device before the build, which takes minutes.
device=$(bash cmake/which-device.sh)
if [ "$device" = gpu ]; then
  echo "attnscope: collecting the quick preset on the GPU ($(nvidia-smi --query-gpu=name --format=csv,noheader | head -1))"
else
  echo "attnscope: no GPU with a CUDA 13 toolkit found; collecting the quick preset on the simulated device (H200)"
fi

install_packages "${build_packages[@]}" "${gui_packages[@]}"
# Reconfigures if a toolkit was installed or removed, because the build depends on its headers.
if [ ! -f $build/build.ninja ] || [ "$(cat $build/device 2>/dev/null)" != "$device" ]; then
  mkdir -p build
  cmake --fresh -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release >$build.configure.log 2>&1 || { cat $build.configure.log >&2; exit 1; }
  echo "$device" >$build/device
fi
[ -x "$attnscope" ] || echo "attnscope: building (first build: about 5 minutes on 2 cores)"
cmake --build $build -- --quiet

# The file persists between calls: a complete run is shown, an interrupted one is resumed.
data=out/quick-$device.attnscope
status=0
[ ! -e "$data" ] || "$attnscope" info "$data" >/dev/null 2>&1 || status=$?
if [ $status -ne 0 ] && [ $status -ne 5 ]; then  # 5: partially damaged
  echo "attnscope: cannot read $data (delete it to collect again)"
  data=""
elif "$attnscope" info "$data" 2>/dev/null | grep -q '^ *[0-9].* quick .* complete '; then
  echo "attnscope: $data already contains the quick preset (delete it to collect again)"
else
  status=0
  "$attnscope" collect --preset quick --device "$device" --output "$data" --resume || status=$?
  # 5: some points failed; the file contains their reasons.
  [ $status -eq 0 ] || [ $status -eq 5 ] || exit $status
fi

# The last file opened is the current one.
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
  echo "attnscope: wrote plots (PNG, SVG) and quick.csv to $plots, plots of the recorded sample to $plots/h200-sample"
else
  exec "$build/app/attnscope-gui" "${files[@]}"
fi
