#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Set up, build, test.
#   ./test.sh      the whole program's tests
#   ./test.sh all  then what CI runs as well: the main job and a plain CMake build, the command line without CUDA and Qt,
#                  the libraries under sanitizers (with a field that came later), every other preset configured, lint
#   ./test.sh packages  the packages alone: made, installed in clean systems of Debian 12, started there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case "${1:-}" in
  ""|all|packages) ;;
  *) echo "test.sh: unknown word '$1'; there are 'all' and 'packages'" >&2; exit 2 ;;
esac
source cmake/setup.sh
if [ "${1:-}" = packages ]; then test_packages=("${package_packages[@]}"); fi
install_packages "${build_packages[@]}" "${gui_packages[@]}" "${test_packages[@]}"

export QT_QPA_PLATFORM=offscreen
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$PWD/build/cache}
# Tests whose files vanish while they are written leave what the program rescues.
TMPDIR=$(mktemp -d)
export TMPDIR
chmod 1777 "$TMPDIR"  # some tests give up root
trap 'rm -rf "$TMPDIR"' EXIT
mkdir -p build
rm -f build/*.test.log

# part NAME COMMAND...: what it takes is printed; what it says, where it fails. (`set -e` holds in the other shell.)
part() {
  local name=$1 start=$SECONDS log="build/${1// /-}.log"
  shift
  if ! (set -e; "$@") >"$log" 2>&1; then
    tail -n 200 "$log" >&2
    echo "test.sh: $name failed; all it said is in $log" >&2
    exit 1
  fi
  echo "$name: $((SECONDS - start)) s"
}

build() {
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" -- --quiet
}

# A folder with no test in it is an error (presets: noTestsAction).
check() {
  part "$1 build" build "$1"
  part "$1 test" ctest --preset "$@"
  cp "build/$1/Testing/Temporary/LastTest.log" "build/$1.test.log"
  # Why tests were skipped, each reason once: the line after the place in the source.
  grep -A1 -h ': Skipped$' "build/$1.test.log" | grep -v -e ': Skipped$' -e '^--$' |
    sort | uniq -c | sed 's/^ *\([0-9]*\) /  skipped \1: /' || true
  grep -q '^ATTNSCOPE_TESTS:BOOL=ON' "build/$1/CMakeCache.txt" &&
    grep -q '^ATTNSCOPE_CUDA:BOOL=ON' "build/$1/CMakeCache.txt" && [ ! -d "build/$1/tests/gpu" ] &&
    echo "  skipped: tests/gpu is not built, no CUDA 13 headers with CUPTI here"
  return 0
}

plain_build() {
  CMAKE_GENERATOR=Ninja cmake -S . -B build/plain -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build build/plain -- --quiet
  build/plain/app/attnscope --version
}

configure() {
  for preset in "$@"; do cmake --preset "$preset" >/dev/null; done
}

if [ "${1:-}" = packages ]; then check packages; else check test; fi
if [ "${1:-}" = all ]; then
  part "run.sh" ./run.sh --plots build/plots
  part "plain build" plain_build
  check no-cuda -R app_test
  check asan
  part "presets" configure dev tsan fuzz bench packages
  part "lint" bash cmake/lint.sh build/test
fi

# A program of gtest's says how many cases passed; every other test is one.
count() { cat build/*.test.log | awk "$1" | awk '{sum += $1} END {print sum + 0}'; }
passed=$(count '/ Test(ing)?: / {name = $NF} /^\[  PASSED  \]/ {print $4} /^Test Passed/ && name !~ /_test\.[0-9]+$/ {print 1}')
skipped=$(count '/^\[  SKIPPED \] [0-9]+ tests?[.,]/ {print $4}')
[ "$passed" -gt 0 ] || { echo "test.sh: no test ran" >&2; exit 1; }
echo "$passed passed, 0 failed, $skipped skipped"
