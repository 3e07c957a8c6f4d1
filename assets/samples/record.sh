#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records all samples of the local GPU into FOLDER; takes eleven minutes on an H200, including PyTorch.
#   assets/samples/record.sh ATTNSCOPE FOLDER NAME
# NAME is h200, the GPU that the model is fitted to, or another GPU (h100), for which only the sample is recorded.
# Afterwards copy the .attnscope files here and run derive.sh on any machine.
set -euo pipefail
program=$(realpath "${1:?usage: record.sh ATTNSCOPE FOLDER NAME}")
mkdir -p "${2:?usage: record.sh ATTNSCOPE FOLDER NAME}"
folder=$(realpath "$2")
name=${3:?usage: record.sh ATTNSCOPE FOLDER NAME}
script_folder=$(dirname "${BASH_SOURCE[0]}")
peers=()
python3 -c 'import torch' || { echo "record.sh: PyTorch not found (the sample contains its times)" >&2; exit 1; }
# ratios NAME OPTIONS...: records PyTorch's times into FOLDER/NAME.csv.
ratios() {
  python3 "$script_folder/../../tests/gpu/peers/torch_ratios.py" "$program" "${@:2}" --csv "$folder/$1.csv"
  peers+=("$folder/$1.csv")
}
ratios wall --ours none --batch 2 --heads 132 --passes fwd --masks full
ratios backward --ours none --batch 1 --heads 32 --passes bwd --masks full --n 1024,2048,4096,8192,16384
ratios decode --decode --n 4096,8192,16384,32768,65536,131072
"$script_folder/collect.sh" "$program" "$folder/$name.attnscope" "${peers[@]}"
if [ "$name" = h200 ]; then
  "$script_folder/maps.sh" "$program" "$folder/$name-tiles.attnscope"
  for each in judge law race; do "$script_folder/$each.sh" "$program" "$folder/$name-$each.attnscope"; done
fi
