#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test: set up, then build and test the whole, then again without CUDA and Qt and, the libraries, under sanitizers;
# lint.
#   ./test.sh         all of it, several sources in a compilation (ATTNSCOPE_UNITY)
#   ./test.sh quick   the whole build's tests only, in build/release, where every file is compiled by itself
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source cmake/setup.sh
install_packages "${build_packages[@]}" "${gui_packages[@]}" "${test_packages[@]}"

export QT_QPA_PLATFORM=offscreen
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$PWD/build/cache}
mkdir -p build
rm -f build/*.test.log

# build PRESET: configure, build.
build() {
  echo "== $1: configure and build"
  cmake --preset "$1" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log" >&2; return 1; }
  cmake --build --preset "$1" -- --quiet
}

# check PRESET: configure, build, test. A folder with no test in it is an error (presets: noTestsAction).
check() {
  local preset=$1 start=$SECONDS
  build "$preset"
  echo "== $preset: test (built in $((SECONDS - start)) s)"
  ctest --preset "$preset" >"build/$preset.test.log" 2>&1 || { tail -n 200 "build/$preset.test.log" >&2; return 1; }
  grep 'tests passed' "build/$preset.test.log"
  # Why tests were skipped, each reason once: the line after the place in the source.
  grep -A1 -h ': Skipped$' "build/$preset/Testing/Temporary/LastTest.log" | grep -v -e ': Skipped$' -e '^--$' |
    sort | uniq -c | sed 's/^ *\([0-9]*\) /skipped \1: /' || true
  grep -q '^ATTNSCOPE_CUDA:BOOL=ON' "build/$preset/CMakeCache.txt" && [ ! -d "build/$preset/tests/gpu" ] &&
    echo "skipped: tests/gpu is not built, no CUDA 13 headers with CUPTI here"
  return 0
}

if [ "${1:-}" = quick ]; then
  check release
else
  check whole
  check no-cuda  # nor Qt: with CUDA and without Qt is what asan builds
  check asan  # the libraries: the programs would take half as long again, most of it in CLI11's templates
  echo "== lint"
  bash cmake/lint.sh build/whole
fi

passed=$(cat build/*.test.log | grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' || true)
skipped=$(cat build/*.test.log | grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped ' || true)
[ "$passed" -gt 0 ] || { echo "test.sh: no test ran" >&2; exit 1; }
echo "$passed passed, 0 failed, $skipped skipped"
