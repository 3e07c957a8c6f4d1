#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy on what a build with ATTNSCOPE_UNITY compiles (the libraries and programs, no tests): all of a library in one
# file, so that a header is read once, and two names of a library's anonymous namespaces that are the same are found in
# whatever batches the compiler has them. It is the sources' text, for some checks look at no other file than the main
# one; what clang-tidy says is told with the places in the sources.
#   cmake/tidy.sh BUILD [FOLDER...]   FOLDER: has a library or the programs, e.g. profiler/plan; none: all
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

# write_whole NAME BATCH...: NAME.cpp, and NAME.map with the line at which each source begins in it.
write_whole() {
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

# The batches of the build, in order.
compiled() { sed -n 's|^ *"file": "\(.*/unity_[^/]*_cxx\.cxx\)",\?$|\1|p' "$build/compile_commands.json" | sort -V; }

# The build's own command for a library's first batch, for all of the library. Groups (kernels/CMakeLists.txt) stay apart.
renames=()
while read -r unity; do
  name=$(sed 's|.*/CMakeFiles/\(.*\)\.dir/Unity/unity_\(.*\)_cxx\.cxx$|\1_\2|' <<<"$unity")
  mapfile -t parts < <(case $unity in
    */unity_0_cxx.cxx) compiled | grep -F "${unity%0_cxx.cxx}" ;;
    *) echo "$unity" ;;
  esac)
  write_whole "$name" "${parts[@]}"
  renames+=(-e "s|$unity|$PWD/$batches/$name.cpp|g")
done < <(for folder in "${folders[@]}"; do
  compiled | grep -E "^$PWD/$build/$folder/CMakeFiles/" | grep -vE 'unity_[1-9][0-9]*_cxx' || true
done)
[ ${#renames[@]} -gt 0 ] || { echo "tidy: $build has no batches (ATTNSCOPE_UNITY)" >&2; exit 1; }
sed "${renames[@]}" "$build/compile_commands.json" >"$batches/compile_commands.json"

# What is compiled alone, or not at all here, is looked at alone.
comm -23 <(for folder in "${folders[@]}"; do
    mapfile -t inner < <(printf '%s\n' "${all[@]}" | grep "^$folder/" | sed 's/^/:!/')
    git ls-files -- "$folder/*.cpp" "${inner[@]}"
  done | sort) <(cut -f2 "$batches"/*.map | sort) >"$batches/alone"

# tidy_one FILE: what is said goes to standard output at once, not mixed with others'.
tidy_one() {
  local options=(--extra-arg=-Wno-unknown-warning-option --extra-arg=-Qunused-arguments) said status=0
  # In CLI11's templates this check alone takes as long as all the others.
  case $1 in app/*|*/attnscope_0.cpp|*/attnscope-gui_0.cpp) options+=(--checks=-performance-unnecessary-value-param) ;; esac
  # In a batch a name of another source is no shadow.
  case $1 in "$batches"/*) options+=(--extra-arg=-Wno-shadow) ;; esac
  # gcc's own warnings are off here: clang-tidy is asked for its checks, the compiler has already had its say.
  said=$(clang-tidy-14 --quiet -p "$batches" "${options[@]}" "$1" 2>&1) || status=1
  [ $status -eq 0 ] && ! grep -qE ': (warning|error): ' <<<"$said" && return 0
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
    { if (index($0, root) == 1) $0 = substr($0, length(root) + 1); print }' "$map" - <<<"$said"
  return 1
}
export -f tidy_one
export batches

# The longest first, so that no processor waits at the end.
{ ls -S "$batches"/*.cpp; cat "$batches/alone"; } |
  xargs -P "$(nproc)" -n 1 bash -c 'tidy_one "$1"' tidy || exit 1
