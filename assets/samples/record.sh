#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records on the GPU at hand all that is shipped of its kind, into FOLDER; eleven minutes on an H200, PyTorch included.
#   assets/samples/record.sh ATTNSCOPE FOLDER NAME
# NAME is h200, the GPU that everything is fitted to, or another (h100), of which the sample alone is recorded. Then
# copy its .attnscope files here, and on any machine derive.sh makes anew what stands on them.
set -euo pipefail
program=$(realpath "${1:?usage: record.sh ATTNSCOPE FOLDER NAME}")
mkdir -p "${2:?usage: record.sh ATTNSCOPE FOLDER NAME}"
folder=$(realpath "$2")
name=${3:?usage: record.sh ATTNSCOPE FOLDER NAME}
here=$(dirname "${BASH_SOURCE[0]}")
peers=()
python3 -c 'import torch' || { echo "record.sh: PyTorch's times are part of the sample, and it is not installed" >&2; exit 1; }
# ratios CSV OPTIONS...: PyTorch's times.
ratios() {
  python3 "$here/../../tests/gpu/peers/torch_ratios.py" "$program" "${@:2}" --csv "$folder/$1.csv"
  peers+=("$folder/$1.csv")
}
ratios wall --ours none --batch 2 --heads 132 --passes fwd --masks full
ratios backward --ours none --batch 1 --heads 32 --passes bwd --masks full --n 1024,2048,4096,8192,16384
ratios decode --decode --n 4096,8192,16384,32768,65536,131072
"$here/collect.sh" "$program" "$folder/$name.attnscope" "${peers[@]}"
if [ "$name" = h200 ]; then
  "$here/maps.sh" "$program" "$folder/$name-tiles.attnscope"
  for each in judge law race; do "$here/$each.sh" "$program" "$folder/$name-$each.attnscope"; done
fi
