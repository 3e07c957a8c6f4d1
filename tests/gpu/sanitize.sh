#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every kernel under compute-sanitizer's memcheck and racecheck, with small ragged shapes and every kind of mask:
#   tests/gpu/sanitize.sh ATTNSCOPE [FOLDER]
# Prints a line per run. Exit status 1 if a run reports an error or a point did not run. Logs and runs go to FOLDER
# (default: a temporary one). Only attention kernels are instrumented. Takes two minutes on an H200.
set -uo pipefail
attnscope=$(realpath "${1:?usage: tests/gpu/sanitize.sh ATTNSCOPE [FOLDER]}")
folder=${2:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder" || exit 2
command -v compute-sanitizer >/dev/null || { echo "sanitize: compute-sanitizer not found on PATH" >&2; exit 2; }

# check NAME TOOL ALGORITHM [axes]
check() {
  local name=$1-$2 tool=$2 algorithm=$3
  shift 3
  rm -f "$name.attnscope"
  timeout 600 compute-sanitizer --target-processes all --print-limit 5 --tool "$tool" --kernel-name "kns=attn_$algorithm" "$attnscope" collect \
    --device gpu --no-counters --no-verify --min-samples 1 --cache-control none --quiet -o "$name.attnscope" \
    --algorithms "$algorithm" "$@" >"$name.log" 2>&1
  local code=$? summary rows
  summary=$(grep SUMMARY "$name.log" | tail -1 | sed 's/^=* *//')
  rows=$("$attnscope" export "$name.attnscope" --format csv 2>/dev/null | python3 -c '
import collections, csv, sys
rows = [row["disposition"] for row in csv.DictReader(sys.stdin) if row["kernel"] == "all"]
print(", ".join(f"{count} {word}" for word, count in collections.Counter(rows).items()))')
  echo "$name: ${summary:-no summary} (exit code $code); points: $rows"
  [[ $code -eq 0 && $summary =~ [\ \(]0\ errors && $rows =~ ^[0-9]+\ ok$ ]] || touch failed
}

rm -f failed
masks='mask=[full,causal,window:33:17,lengths:ramp,causal+lengths:ramp,blocks:64:butterfly]'
heads=(-a batch=2 -a heads_q=4 -a heads_kv=2 -a 'd=[64,128]')
passes='pass=[fwd,bwd]'
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1)
for tool in memcheck racecheck; do
  for algorithm in naive fa1 fa2; do
    check "$algorithm" $tool "$algorithm" "${heads[@]}" -a N=200 -a "$passes" -a "$masks" &
  done
  check fa2-small-tile $tool fa2 "${heads[@]}" -a N=200 -a "$passes" -a "$masks" -a tile=32x64 &
  check fa2-deterministic $tool fa2 "${heads[@]}" -a N=200 -a pass=bwd -a 'mask=[full,causal,window:33:17]' -a deterministic=yes &
  wait
  # fa3 needs compute capability 9.0; dropout and block masks are forward only.
  if [[ $capability == 9.0 ]]; then
    check fa3 $tool fa3 "${heads[@]}" -a N=200 -a pass=fwd -a "$masks" &
    check fa3-fp8 $tool fa3 "${heads[@]}" -a N=200 -a pass=fwd -a dtype=fp8 -a "${masks/:64:/:128:}" &
    check fa3-dropout $tool fa3 "${heads[@]}" -a N=200 -a dropout=0.1 &
    check fa3-backward $tool fa3 "${heads[@]}" -a N=200 -a pass=bwd -a "${masks/,blocks:64:butterfly/}" &
    check fa3-deterministic $tool fa3 "${heads[@]}" -a N=200 -a pass=bwd -a 'mask=[full,causal,window:33:17]' -a deterministic=yes &
    wait
  fi
  for algorithm in naive fa1 fa2; do
    check "$algorithm-dropout" $tool "$algorithm" "${heads[@]}" -a N=200 -a "$passes" -a dropout=0.1 &
    check "$algorithm-decode" $tool "$algorithm" "${heads[@]}" -a 'n_q=[1,5]' -a n_k=1000 -a 'mask=[full,window:64:0]' &
  done
  check splitkv $tool splitkv "${heads[@]}" -a 'n_q=[1,5]' -a 'n_k=[1000,4099]' -a 'mask=[full,causal,lengths:ramp]' \
    -a 'page=[0,64]' &
  [[ ${capability/./} -lt 89 ]] || check splitkv-fp8 $tool splitkv "${heads[@]}" -a dtype=fp8 -a 'n_q=[1,5]' -a n_k=4099 \
    -a 'mask=[full,causal,lengths:ramp]' -a 'page=[0,64]' &
  wait
done
[ ! -e failed ] || { echo "sanitize: errors or missing points; see the logs in $folder" >&2; exit 1; }
