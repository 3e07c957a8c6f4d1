#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Multi-GPU attention and multi-GPU sweeps on one machine:
#   tests/gpu/gpus.sh ATTNSCOPE [FOLDER]
# Verifies each scheme on 2, 4 and 8 GPUs (as available), runs compute-sanitizer, records the preset `gpus`, measures the
# links, compares predictions with both, and records 48 maps on one GPU and on all. With a single GPU, additional contexts
# emulate the others (libraries/one_gpu_as_many.cpp): outputs, counts and single-launch times are valid; links and
# concurrent times are not; the sweep then shows the overhead of distribution.
# Run a subset with PARTS="verify sanitize attention sweep". Logs and runs go to FOLDER (default: a temporary one). Exit
# status 1 if anything failed. Takes ten minutes on one H200.
# shellcheck disable=SC2317 # step() runs the parts
set -uo pipefail
here=$(dirname "$(realpath "$0")")
attnscope=$(realpath "${1:?usage: tests/gpu/gpus.sh ATTNSCOPE [FOLDER]}")
# shellcheck source=tests/gpu/steps.sh
source "$here/steps.sh"

found=$(nvidia-smi -L | wc -l)
[[ $found -gt 0 ]] || { echo "gpus: nvidia-smi lists no GPU" >&2; exit 2; }
command -v compute-sanitizer >/dev/null || { echo "gpus: compute-sanitizer not found on PATH" >&2; exit 2; }
most=$found
if [[ $found -eq 1 ]]; then
  most=8
  cuda=${CUDA_HOME:-/usr/local/cuda}
  g++ -std=c++20 -O1 -shared -fPIC -I"$cuda/include" "$here/libraries/one_gpu_as_many.cpp" -o one_gpu_as_many.so \
    -Wl,--no-as-needed -L"$(dirname "$(ldconfig -p | awk '/libcuda.so.1 / { print $NF; exit }')")" -l:libcuda.so.1 || exit 2
  export ATTNSCOPE_CUDA_LIBRARY=$PWD/one_gpu_as_many.so ATTNSCOPE_GPUS=$most
fi
counts=$(for ((p = 2; p <= most; p *= 2)); do echo "$p"; done | paste -sd,)

# collect NAME OPTIONS...: records NAME.attnscope
collect() {
  local name=$1
  shift
  rm -f "$name.attnscope"
  "$attnscope" collect --quiet -o "$name.attnscope" "$@"
}

# Every point is ok, and measured SM<->L2 bytes equal the closed form; LSE sectors shared by two heads may be merged.
exact() {
  "$attnscope" export "$1.attnscope" --format csv | python3 -c '
import csv, sys
rows = [row for row in csv.DictReader(sys.stdin) if row["disposition"] != "infeasible"]
bad = [row for row in rows if row["disposition"] != "ok"]
least = {"l2_to_sm": 1, "sm_to_l2": 0.999}
apart = [row for row in rows for way in ("l2_to_sm", "sm_to_l2")
         if row[f"{way}_bytes"] and not least[way] <= float(row[f"{way}_bytes"]) / float(row[f"model_{way}_bytes"]) <= 1]
counted = sum(bool(row["l2_to_sm_bytes"]) for row in rows)
for row in (bad + apart)[:10]:
    print(row["algorithm"], row["n_k"], row["gpus"], row["gpu_order"], row["kernel"], row["disposition"], row["reason"],
          row["l2_to_sm_bytes"], row["model_l2_to_sm_bytes"])
print(f"{len(rows)} rows, {counted} counted; {len(bad)} not ok, {len(apart)} differ from the closed form")
sys.exit(bool(bad or apart or not counted))'
}

ways=(--device 0 --algorithms 'ring,allgather,ulysses' -a batch=2 -a heads_q=16 -a heads_kv=8 -a "gpus=[$counts]"
  -a 'mask=[full,causal]' -a 'gpu_order=[contiguous,zigzag,striped]')

verify() {
  "$attnscope" verify --device 0 --algorithms ring,allgather,ulysses &&
    collect small "${ways[@]}" -a 'N=[496,4096]' -a 'd=[64,128]' && exact small
}

sanitize() {
  for tool in memcheck racecheck; do
    rm -f "$tool.attnscope"
    compute-sanitizer --print-limit 5 --tool "$tool" "$attnscope" collect --quiet --no-counters --no-verify --min-samples 1 \
      --cache-control none -o "$tool.attnscope" "${ways[@]}" -a N=496 -a d=128 || return 1
  done | tee sanitize-runs.log
  [[ $(grep -c 'SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' sanitize-runs.log) -eq 2 ]]
}

# Measures links only on real GPUs.
attention() {
  collect attention --device 0 --preset gpus -a "gpus=[1,$counts]" -a "N[pow2]=${NS:-[12:17]}" --timeout 60 || return 1
  exact attention || failed=1
  "$attnscope" gpus attention.attnscope && env -u ATTNSCOPE_CUDA_LIBRARY "$attnscope" ceilings --device 0 -o attention.attnscope &&
    "$attnscope" model --against attention.attnscope --per-launch --csv -o launches.csv --force &&
    "$attnscope" model --against attention.attnscope &&
    collect simulated --device simulated --ceilings attention.attnscope --preset gpus && "$attnscope" gpus simulated.attnscope
}

# shared NAME DEVICES: records NAME.attnscope; prints the seconds from first to last point.
shared() {
  rm -f "$1.attnscope"
  env -u ATTNSCOPE_CUDA_LIBRARY "$attnscope" collect --device "$2" --preset tiles -a 'N=[256,512,768,1024]' -a d=128 \
    -a "heads=${HEADS:-[66,132]}" -a "mask=${MASKS:-[full,causal]}" --jsonl -o "$1.attnscope" < <(tail -f /dev/null --pid=$$) | python3 -c '
import json, sys, time
at = [time.monotonic() for line in sys.stdin if json.loads(line).get("event") == "point"]
print(f"{len(at)} points in {at[-1] - at[0]:.2f} s")'
}

sweep() {
  shared warm-up 0 && shared one 0 | tee one.txt && shared all all | tee all.txt && shared one-again 0 && shared all-again all &&
    "$attnscope" compare one.attnscope all.attnscope --format json >compare.json &&
    "$attnscope" compare one.attnscope one-again.attnscope --format json >compare-same.json || return 1
  python3 - <<'PYTHON'
import collections, json
for name in ("compare-same", "compare"):
    rows = json.load(open(name + ".json"))["rows"]
    print(name, dict(collections.Counter(row["verdict"] for row in rows)))
one, all_ = (float(open(name).read().split()[3]) for name in ("one.txt", "all.txt"))
print(f"speedup of all GPUs over one: {one / all_:.2f}")
PYTHON
}

for part in ${PARTS:-verify sanitize attention sweep}; do lines=60 step "$part" "$part"; done
exit $failed
