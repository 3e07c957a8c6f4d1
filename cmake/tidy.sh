#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy on the libraries and programs of a unity build (ATTNSCOPE_UNITY), not on tests. Concatenates the
# sources of each library into one file: headers are parsed once, and duplicate names in anonymous namespaces are found
# for any batching. The sources are copied, not included, because some checks only inspect the main file; locations in
# the output are mapped back to the sources.
#   cmake/tidy.sh BUILD [FOLDER...]   FOLDER contains a library or the programs, e.g. profiler/plan (default: all)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
shift
mapfile -t all < <(find kernels profiler storage ui app -name CMakeLists.txt -printf '%h\n')
folders=("$@")
[ $# -gt 0 ] || folders=("${all[@]}")
batches=$build/tidy
rm -rf "$batches"
mkdir -p "$batches"

# concatenate NAME BATCH...: writes NAME.cpp, and NAME.map with the first line of each source in it.
concatenate() {
  local name=$1 source line=1
  shift
  : >"$batches/$name.cpp"
  : >"$batches/$name.map"
  while read -r source; do
    printf '%s\t%s\n' "$line" "$source" >>"$batches/$name.map"
    cat "$source" >>"$batches/$name.cpp"
    line=$((line + $(wc -l <"$source")))
  done < <(sed -n "s|^#include \"$PWD/\(.*\)\"\$|\1|p" "$@" | grep -v "^$build/")
}

# Prints the unity sources of the build, in order.
unity_sources() { sed -n 's|^ *"file": "\(.*/unity_[^/]*_cxx\.cxx\)",\?$|\1|p' "$build/compile_commands.json" | sort -V; }

# The compile command of the first batch is used for the whole library; unity groups (kernels/CMakeLists.txt) stay
# separate.
renames=()
while read -r unity; do
  name=$(sed 's|.*/CMakeFiles/\(.*\)\.dir/Unity/unity_\(.*\)_cxx\.cxx$|\1_\2|' <<<"$unity")
  mapfile -t parts < <(case $unity in
    */unity_0_cxx.cxx) unity_sources | grep -F "${unity%0_cxx.cxx}" ;;
    *) echo "$unity" ;;
  esac)
  concatenate "$name" "${parts[@]}"
  renames+=(-e "s|$unity|$PWD/$batches/$name.cpp|g")
done < <(for folder in "${folders[@]}"; do
  unity_sources | grep -E "^$PWD/$build/$folder/CMakeFiles/" | grep -vE 'unity_[1-9][0-9]*_cxx' || true
done)
[ ${#renames[@]} -gt 0 ] || { echo "tidy: $build is not a unity build (configure it with ATTNSCOPE_UNITY=ON)" >&2; exit 1; }
sed "${renames[@]}" "$build/compile_commands.json" >"$batches/compile_commands.json"

# Sources outside unity batches are checked one by one.
comm -23 <(for folder in "${folders[@]}"; do
    mapfile -t inner < <(printf '%s\n' "${all[@]}" | grep "^$folder/" | sed 's/^/:!/')
    git ls-files -- "$folder/*.cpp" "${inner[@]}"
  done | sort) <(cut -f2 "$batches"/*.map | sort) >"$batches/single"

# tidy_one FILE: prints the findings in one piece, so that parallel output does not interleave.
tidy_one() {
  local options=(--extra-arg=-Wno-unknown-warning-option --extra-arg=-Qunused-arguments) output status=0
  # On CLI11's templates this check takes as long as all others together.
  case $1 in app/*|*/attnscope_0.cpp|*/attnscope-gui_0.cpp) options+=(--checks=-performance-unnecessary-value-param) ;; esac
  # -Wshadow reports names of other sources of the same batch.
  case $1 in "$batches"/*) options+=(--extra-arg=-Wno-shadow) ;; esac
  # GCC warnings are disabled here; the build reports them.
  output=$(clang-tidy-14 --quiet -p "$batches" "${options[@]}" "$1" 2>&1) || status=1
  [ $status -eq 0 ] && ! grep -qE ': (warning|error): ' <<<"$output" && return 0
  local map=${1%.cpp}.map
  [ -f "$map" ] || map=/dev/null
  awk -F'\t' -v batch="$PWD/$1:" -v root="$PWD/" '
    FILENAME != "-" { first[++n] = $1; source[n] = $2; next }
    / warnings? generated\.$/ { next }
    index($0, batch) == 1 {
      rest = substr($0, length(batch) + 1); line = rest + 0; sub(/^[0-9]+/, "", rest)
      for (i = n; i > 1 && first[i] > line;) --i
      $0 = source[i] ":" (line - first[i] + 1) rest
    }
    { if (index($0, root) == 1) $0 = substr($0, length(root) + 1); print }' "$map" - <<<"$output"
  return 1
}
export -f tidy_one
export batches

# Largest files first, for load balance.
{ ls -S "$batches"/*.cpp; cat "$batches/single"; } |
  xargs -P "$(nproc)" -n 1 bash -c 'tidy_one "$1"' tidy || exit 1
