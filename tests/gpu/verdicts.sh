#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how often verdicts are correct on a GPU:
#   tests/gpu/verdicts.sh ATTNSCOPE PLANT_CHANGES [FOLDER]
# Plants changes of known size (a timed spin at the end of each sample, see plant_changes.cpp) in about 200 points of ten
# rounds and compares them with the verdicts of `attnscope compare`. Then records one build five times (2,000 points
# each) and counts FASTER and SLOWER verdicts. Prints two tables. Takes about six minutes on an H200, one of them for
# compilation. Run a subset with PARTS=planted or PARTS=same; set the changes with PLANTED="2/1 5/200" (PERCENT/EVERY).
# Exit status 1 if a recording or comparison failed.
set -uo pipefail
attnscope=$(realpath "${1:?usage: tests/gpu/verdicts.sh ATTNSCOPE PLANT_CHANGES [FOLDER]}")
plant_changes=$(realpath "${2:?usage: tests/gpu/verdicts.sh ATTNSCOPE PLANT_CHANGES [FOLDER]}")
folder=${3:-$(mktemp -d)}
device=${DEVICE:-gpu}
mkdir -p "$folder" && cd "$folder" || exit 2
export ATTNSCOPE_CACHE_DIR=${ATTNSCOPE_CACHE_DIR:-$folder/cache}
failed=0

# collect NAME OPTIONS...: records NAME.attnscope with ten samples per point, timing only.
collect() {
  local name=$1
  shift
  rm -f "$name.attnscope"
  "$attnscope" collect --device "$device" --no-verify --no-counters --min-samples 10 --max-noise 10 --quiet -o "$name.attnscope" "$@" \
    >>collect.log 2>&1 || { echo "failed: $name (collect.log)" >&2; failed=1; }
}

# compared NAME BASE...: writes NAME.json
compared() {
  local name=$1
  shift
  "$attnscope" compare "$@" --format json >"$name.json" 2>>compare.log || { echo "failed: $name (compare.log)" >&2; failed=1; }
}

planted_points=(algorithm=fa2 "N=${PLANTED_N:-[1024:2560:32]}" 'd=[64,128]' 'heads=[16,32]' batch=2)
same_points=(--algorithms 'fa2,fa3' -a "N=${SAME_N:-[512:2496:16]}" -a 'd=[64,128]' -a 'heads=[8,16]' -a 'mask=[full,causal]')

planted() {
  local rounds=${ROUNDS:-10} plant
  printf '%-9s %6s %8s %7s %19s %6s %11s %13s %8s %8s %8s\n' planted rows changed found 'of spread to 0.75%' false 'within 1%' \
    'ratio, median' covered unchanged spread
  for plant in ${PLANTED:-2/1 2/10 2/100 5/200 1/10}; do
    local name=planted-${plant/\//-}
    rm -f "$name.attnscope"
    "$plant_changes" "$name.attnscope" "$device" "${plant%/*}" "${plant#*/}" "$rounds" "${planted_points[@]}" >>collect.log 2>&1 ||
      { echo "failed: $name (collect.log)" >&2; failed=1; }
    compared "$name" "$name.attnscope:1" --candidate "$name.attnscope:2"
    python3 - "$plant" "$name.json" <<'PYTHON' || failed=1
import json, statistics, sys

percent, every = float(sys.argv[1].split("/")[0]), int(sys.argv[1].split("/")[1])
rows = json.load(open(sys.argv[2]))["rows"]
if any(row.get("skipped") for row in rows):
    sys.exit(f"{sys.argv[2]}: some points have no partner, so changed points cannot be identified by position")
changed = [row for i, row in enumerate(rows) if i % every == 0]
others = [row for i, row in enumerate(rows) if i % every]
truth = 1 + percent / 100
found = sum(row["verdict"] == "SLOWER" for row in changed)
false = sum(row["verdict"] in ("FASTER", "SLOWER") for row in others) + sum(row["verdict"] == "FASTER" for row in changed)
same = sum(row["verdict"] == "SAME" for row in others)
quiet = [row for row in changed if (row.get("spread") or 0) < 0.0075]
found_quiet = sum(row["verdict"] == "SLOWER" for row in quiet)
# The planted change is only as exact as the spin on the device, so coverage of unchanged rows is listed separately.
def covered(rows, t):
    share = 100 * sum(row["ratio_low"] <= t <= row["ratio_high"] for row in rows) / max(len(rows), 1)
    return f"{share:7.1f}%" if rows else "       -"
print(f"{percent:g}%/{every:<6d} {len(rows):6d} {len(changed):8d} {found:3d}/{len(changed):<3d} {found_quiet:9d}/{len(quiet):<9d} {false:6d} "
      f"{same:5d}/{len(others):<5d} {statistics.median(row['ratio'] for row in changed):13.4f} {covered(changed, truth)} {covered(others, 1)} "
      f"{100 * statistics.median(row.get('spread') or 0 for row in rows):7.2f}%")
PYTHON
  done
}

same() {
  local rounds=${SAME_ROUNDS:-3} recordings=${RECORDINGS:-5} i k
  rm -f same-*.json
  collect warm-up "${same_points[@]}"
  for ((i = 1; i <= recordings; ++i)); do collect "same-$i" "${same_points[@]}" --rounds "$rounds"; done
  for ((i = 1; i <= recordings; ++i)); do
    for ((k = i + 1; k <= recordings; ++k)); do compared "same-$i-$k" "same-$i.attnscope" --candidate "same-$k.attnscope"; done
  done
  if ((recordings == 5)); then
    compared same-2of5 same-1.attnscope same-2.attnscope --candidate same-3.attnscope same-4.attnscope same-5.attnscope
    compared same-odd same-1.attnscope same-3.attnscope same-5.attnscope --candidate same-2.attnscope same-4.attnscope
  fi
  python3 - same-*.json <<'PYTHON' || failed=1
import collections, json, sys

print(f"{'one build':<14} {'rows':>6} {'FASTER':>7} {'SLOWER':>7} {'SAME':>7} {'UNDECIDED':>10}")
total = collections.Counter()
for name in sys.argv[1:]:
    verdicts = collections.Counter(row["verdict"] for row in json.load(open(name))["rows"] if not row.get("skipped"))
    total += verdicts
    words = [verdicts[word] for word in ("FASTER", "SLOWER", "SAME", "UNDECIDED")]
    print(f"{name[:-5]:<14} {sum(words):6d} {words[0]:7d} {words[1]:7d} {words[2]:7d} {words[3]:10d}")
rows = sum(total.values())
print(f"FASTER or SLOWER: {total['FASTER'] + total['SLOWER']} of {rows} rows, "
      f"{100 * (total['FASTER'] + total['SLOWER']) / max(rows, 1):.3f}% (limit: 1%)")
PYTHON
}

for part in ${PARTS:-planted same}; do
  begin=$SECONDS
  case $part in
    planted) planted ;;
    same) same ;;
    *) echo "no such part: $part" >&2; exit 2 ;;
  esac
  echo "== $part: $((SECONDS - begin)) s"
done
exit "$failed"
