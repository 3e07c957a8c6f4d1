#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs dependencies, builds and tests:
#   ./test.sh             all tests
#   ./test.sh all         CI: also run.sh, a build without CUDA and Qt, benchmarks, configuration of the other presets,
#                         sanitizers on libraries that read external files, and sanitizers and clang-tidy on libraries
#                         that changed in the last 48 hours (or since commit ATTNSCOPE_BASE)
#   ./test.sh sanitizers  all libraries under AddressSanitizer and UndefinedBehaviorSanitizer
#   ./test.sh lint        formatting, clang-tidy and conventions of the whole tree
#   ./test.sh packages    builds the packages, installs and starts them in clean Debian 12 systems
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
job=${1:-test}
case "$job" in
  test|all|sanitizers|lint|packages) ;;
  *) echo "test.sh: unknown argument '$job' (expected: all, sanitizers, lint, packages)" >&2; exit 2 ;;
esac
if [ -n "${ATTNSCOPE_BASE:-}" ] && ! git rev-parse --verify --quiet "$ATTNSCOPE_BASE^{commit}" >/dev/null; then
  echo "test.sh: ATTNSCOPE_BASE '$ATTNSCOPE_BASE' is not a commit" >&2
  exit 2
fi
source cmake/setup.sh
if [ "$job" = packages ]; then test_packages=("${package_packages[@]}"); fi
install_packages "${build_packages[@]}" "${gui_packages[@]}" "${test_packages[@]}"

export QT_QPA_PLATFORM=offscreen
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$PWD/build/cache}
# Contains the temporary files of all tests.
TMPDIR=$(mktemp -d)
export TMPDIR
chmod 1777 "$TMPDIR"  # some tests drop root privileges
trap 'rm -rf "$TMPDIR"' EXIT
mkdir -p build
rm -f build/*.test.log

# part NAME COMMAND...: prints the wall time, or the end of the output on failure. The subshell keeps `set -e` in
# effect.
part() {
  local name=$1 start=$SECONDS log="build/${1// /-}.log"
  shift
  if ! (set -e; "$@") >"$log" 2>&1; then
    tail -n 200 "$log" >&2
    echo "test.sh: $name failed (full output: $log)" >&2
    exit 1
  fi
  echo "$name: $((SECONDS - start)) s"
}

# build PRESET [--target NAME...]
build() {
  cmake --preset "$1" >/dev/null
  cmake --build "build/$1" "${@:2}" -- --quiet
}

# check PRESET [CTEST OPTION...]: fails if no test is found (noTestsAction in the presets).
check() {
  part "$1 test" ctest --preset "$@"
  cp "build/$1/Testing/Temporary/LastTest.log" "build/$1.test.log"
  # Counts each skip reason: the line that follows the source location.
  grep -A1 -h ': Skipped$' "build/$1.test.log" | grep -v -e ': Skipped$' -e '^--$' |
    sort | uniq -c | sed 's/^ *\([0-9]*\) /  skipped \1: /' || true
  grep -q '^ATTNSCOPE_TESTS:BOOL=ON' "build/$1/CMakeCache.txt" &&
    grep -q '^ATTNSCOPE_CUDA:BOOL=ON' "build/$1/CMakeCache.txt" && [ ! -d "build/$1/tests/gpu" ] &&
    echo "  skipped: tests/gpu is not built (CUDA 13 headers with CUPTI not found)"
  return 0
}

without_cuda() {
  build no-cuda
  local attnscope=build/no-cuda/app/attnscope
  "$attnscope" collect --preset quick --device simulated --output "$TMPDIR/no-cuda.attnscope" || [ $? -eq 5 ]  # 5: some points failed
  "$attnscope" export "$TMPDIR/no-cuda.attnscope" --format csv >/dev/null
}

configure() {
  for preset in "$@"; do cmake --preset "$preset" >/dev/null; done
}

# Folders with a CMake target, nested folders first.
folders() { find kernels profiler storage ui app -name CMakeLists.txt -printf '%h\n' | grep -vx profiler | sort -r; }

# Folders whose target has changes.
changed_folders() {
  local all file folder
  mapfile -t all < <(folders)
  {
    if [ -n "${ATTNSCOPE_BASE:-}" ]; then
      git diff --name-only "$ATTNSCOPE_BASE"
    else
      git log --since='48 hours ago' --name-only --format=
      git diff --name-only HEAD
    fi
    git ls-files --others --exclude-standard
  } | sort -u | while read -r file; do
    for folder in "${all[@]}"; do
      case $file in "$folder"/*) echo "$folder"; break ;; esac
    done
  done | sort -u
}

# sanitize FOLDER...: builds the libraries of the folders with sanitizers and runs their tests. All other code is
# compiled as in the preset `test`, so that ccache can reuse its objects.
sanitize() {
  local folder targets=() parsers
  part "asan configuration" cmake --preset asan -DATTNSCOPE_SANITIZED="$(IFS=';'; echo "$*")"
  for folder in "$@"; do
    case $folder in
      ui|app|app/python) ;;
      profiler/points|profiler/stats|profiler/predict|profiler/compare|profiler/tilemap|profiler/curves|profiler/roofline)
        targets+=(profiler_analysis_test) ;;
      profiler/measure/gpu) [ ! -d build/asan/tests/gpu ] || targets+=(gpu_seam_test gpu_toolkit_test) ;;
      kernels/messages) targets+=(kernels_model_test) ;;
      kernels) targets+=(kernels_test kernels_user_test) ;;
      *) targets+=("${folder//\//_}_test") ;;
    esac
  done
  mapfile -t parsers < <(sed -n 's/^attnscope_fuzz(\([a-z_]*\).*/fuzz_\1/p' tests/campaign/fuzz/CMakeLists.txt)
  targets+=("${parsers[@]}")
  part "asan build" cmake --build build/asan --target "${targets[@]}" -- --quiet
  check asan -R "^(campaign_)?($(IFS='|'; echo "${targets[*]}"))(\.[0-9]+)?$"
}

case "$job" in
  packages) part "packages build" build packages; check packages ;;
  sanitizers) mapfile -t all < <(folders); sanitize "${all[@]}" ;;
  lint)
    part "test build" build test --target attnscope attnscope-gui
    part "lint" bash cmake/lint.sh build/test
    echo "lint: clean"
    exit 0
    ;;
  *) part "test build" build test; check test ;;
esac
if [ "$job" = all ]; then
  changed=$(changed_folders)
  echo "changed: ${changed//$'\n'/ }"
  part "run.sh" ./run.sh --plots build/plots
  part "without CUDA" without_cuda
  part "benchmarks" build bench --target bench_model bench_verdicts bench_ui
  part "presets" configure dev tsan fuzz packages
  mapfile -t sanitized < <(printf '%s\n' storage kernels/user profiler/plan profiler/measure profiler/worker $changed | sort -u)
  sanitize "${sanitized[@]}"
  part "lint" bash cmake/lint.sh build/test --tidy $changed
fi

# A GoogleTest program reports how many cases passed; any other test counts as one.
count() { cat build/*.test.log | awk "$1" | awk '{sum += $1} END {print sum + 0}'; }
passed=$(count '/ Test(ing)?: / {name = $NF} /^\[  PASSED  \]/ {print $4} /^Test Passed/ && name !~ /_test\.[0-9]+$/ {print 1}')
skipped=$(count '/^\[  SKIPPED \] [0-9]+ tests?[.,]/ {print $4}')
[ "$passed" -gt 0 ] || { echo "test.sh: no test ran" >&2; exit 1; }
echo "$passed passed, 0 failed, $skipped skipped"
