#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Validates the counters on a machine with a GPU:
#   tests/gpu/settled.sh PROGRAMS [FOLDER]
# PROGRAMS contains attnscope and gpu_device_test (or symbolic links). Runs the GPU tests, prints the cost of counters in
# the preset `quick`, and compares odd shapes with Nsight Compute. Logs and runs go to FOLDER (default: a temporary one).
# Exit status 1 if anything failed. Takes about five minutes on an H200.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
programs=$(realpath "${1:?usage: tests/gpu/settled.sh PROGRAMS [FOLDER]}")
# shellcheck source=tests/gpu/steps.sh
source "$here/steps.sh"

# Prints the duration of a command in seconds.
seconds() {
  local begin end
  begin=$(date +%s.%N)
  "$@" >>collect.log 2>&1 || { echo "failed: $*" >&2; failed=1; }
  end=$(date +%s.%N)
  python3 -c "print($end - $begin)"
}

# Collects into NAME.attnscope; called through seconds().
# shellcheck disable=SC2317
collect() {
  local name=$1
  shift
  rm -f "$name.attnscope"
  "$programs/attnscope" collect --device gpu --quiet -o "$name.attnscope" "$@"
}

lines=45 step settled-and-order "$programs/gpu_device_test" --gtest_filter='SettledBytes*:SettledPoint*:TileOrder*' --gtest_brief=1

# The first run compiles. A single point shows the start-up cost with and without counters.
seconds collect warm-up --preset quick --no-verify >/dev/null
plain=$(seconds collect plain --preset quick --no-verify --no-counters)
counted=$(seconds collect counted --preset quick --no-verify)
one=(--algorithms fa2 -a N=1024 -a tile=64x64 --no-verify)
seconds collect one-warm-up "${one[@]}" >/dev/null
one_plain=$(seconds collect one-plain "${one[@]}" --no-counters)
one_counted=$(seconds collect one-counted "${one[@]}")
points=$("$programs/attnscope" export counted.attnscope --format csv | python3 -c '
import csv, sys
rows = [row for row in csv.DictReader(sys.stdin) if row["kernel"] == "all" and row["l2_to_sm_bytes"]]
print(len(rows))')
python3 -c "
points, plain, counted, one_plain, one_counted = $points, $plain, $counted, $one_plain, $one_counted
print(f'quick: {points} counted points in {counted:.2f} s, {plain:.2f} s without counters; one point {one_counted:.2f} s and {one_plain:.2f} s')
print(f'counters: {1e3 * (counted - plain) / points:.1f} ms per point, {1e3 * (counted - plain - one_counted + one_plain) / max(1, points - 1):.1f} ms without start-up')" | tee cost.log || failed=1

# Shapes that no tile divides, with more than 64 MiB in every direction for some point; three runs, for medians.
odd=(-a d=80 --no-verify --min-samples 3)
databases=()
for round in 1 2 3; do
  seconds collect "odd-$round" --algorithms naive,fa1,fa2,fa3 -a n_q=3001 -a n_k=5003 -a heads=192 -a 'mask=[causal,window:1000:0]' \
    "${odd[@]}" >/dev/null
  seconds collect "odd-backward-$round" --algorithms fa2 -a n_q=3001 -a n_k=5003 -a heads=192 -a pass=bwd -a mask=causal "${odd[@]}" >/dev/null
  seconds collect "odd-decode-$round" --algorithms splitkv -a batch=4 -a heads_q=64 -a heads_kv=16 -a n_q=3 -a n_k=50003 "${odd[@]}" >/dev/null
  databases+=("odd-$round.attnscope" "odd-backward-$round.attnscope" "odd-decode-$round.attnscope")
done
lines=90 step ncu-judge python3 -B "$here/judge/ncu_judge.py" "$programs/attnscope" "${databases[@]}" \
  --per-algorithm 3 --csv judge.csv

lines=30 step gpu-tests "$programs/gpu_device_test" --gtest_filter='GpuDeviceTest*' --gtest_brief=1
exit $failed
