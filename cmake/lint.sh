#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format on everything, clang-tidy on what the release build compiles, an SPDX line in every source file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t sources < <(git ls-files '*.cpp' '*.h' '*.cuh')
[ ${#sources[@]} -gt 0 ] || { echo "lint: git lists no source files here" >&2; exit 1; }
clang-format-14 --dry-run --Werror "${sources[@]}"

# JSON, pictures, databases, the campaign's inputs and the licences' own texts hold no such line.
missing=$(git ls-files -- ':!LICENSES' ':!*.json' ':!*.png' ':!*.attnscope' ':!tests/campaign/corpus' | xargs grep -L 'SPDX-License-Identifier' || true)
[ -z "$missing" ] || { printf 'lint: no SPDX line in:\n%s\n' "$missing" >&2; exit 1; }

# The command line must link no Qt, and the views no CUDA: the layers are kept by what the programs load.
if ldd build/release/app/attnscope | grep -qiE 'qt6|libcuda|cupti|nvrtc'; then
  echo "lint: attnscope links Qt or CUDA" >&2; exit 1
fi
if grep -rnE '#include *[<"](cuda|cupti|nvrtc|nvml)' ui app >&2; then echo "lint: ui or app includes CUDA" >&2; exit 1; fi
# forbid ROOM REGEX: no file below ROOM includes a header whose path matches.
forbid() {
  if grep -rnE "#include *\"($2)/" "$1" >&2; then echo "lint: $1 includes what stands above it: $2" >&2; exit 1; fi
}
# kernels <- profiler <- storage <- ui <- app; within kernels model <- oracle, algorithms; within profiler plan, metrics
# <- simulator <- measure, analysis, of which the last two do not know each other.
forbid kernels 'profiler|storage|ui|app'
forbid profiler 'storage|ui|app'
forbid storage 'ui|app'
forbid ui 'app'
forbid kernels/model 'kernels/(oracle|naive|fa1|fa2|fa3|splitkv)'
forbid kernels/oracle 'kernels/(naive|fa1|fa2|fa3|splitkv)'
forbid profiler/plan 'profiler/(metrics|simulator|measure|analysis)'
forbid profiler/metrics 'profiler/(simulator|measure|analysis)'
forbid profiler/simulator 'profiler/(measure|analysis)'
forbid profiler/measure 'profiler/analysis'
forbid profiler/analysis 'profiler/measure'
# Generic rooms name no algorithm, outside comments: what they need of one, its statement says. Frozen migrations write
# down what once was.
names=$(find kernels -mindepth 2 -maxdepth 2 -name '*_shape.h' -not -path 'kernels/device/*' -printf '%h\n' |
  sed 's|kernels/||' | sort -u | paste -sd'|')
named=$(grep -rnwiE "$names" profiler storage ui app kernels/model kernels/*.h --include='*.h' --include='*.cpp' |
  grep -vE '^storage/schema/(step_[0-9]+|migrations)\.cpp:' | grep -vE '^[^:]+:[0-9]+:\s*//' | grep -viE '^[^:]+:[0-9]+:.*//.*\<('"$names"')\>' || true)
[ -z "$named" ] || { printf 'lint: a generic room names an algorithm:\n%s\n' "$named" >&2; exit 1; }

# What the window says is in the catalogue, not in Qt's translations.
if grep -rnE '\b(tr|translate)\("' ui app >&2; then echo "lint: a text that the catalogue does not have (CONTRIBUTING.md)" >&2; exit 1; fi
# Every text of the catalogue is said somewhere (that everything said is in it, the compiler sees).
unsaid=$(comm -23 \
  <(sed -n 's/.*make_message("\([a-z_]*\)\.\([a-z0-9_]*\)".*/say::\1::\2/p' build/release/kernels/model/generated/messages/*.h | sort -u) \
  <(grep -rhoE 'say::[a-z_]+::[a-z0-9_]+' kernels profiler storage ui app --include='*.cpp' --include='*.h' | sort -u))
[ -z "$unsaid" ] || { printf 'lint: assets/messages/en.json has texts that nobody says:\n%s\n' "$unsaid" >&2; exit 1; }

# gcc's own warnings are off here: clang-tidy is asked for its checks, the compiler has already had its say.
tidy() {
  xargs -P "$(nproc)" -n 3 clang-tidy-14 --quiet -p build/release --extra-arg=-Wno-unknown-warning-option "$@" \
    2>build/clang-tidy.err || { grep -v ' warnings generated\.$' build/clang-tidy.err >&2; exit 1; }
}
git ls-files 'kernels/*.cpp' 'profiler/*.cpp' 'storage/*.cpp' 'ui/*.cpp' | tidy
# In CLI11's templates this check alone takes as long as all the others.
git ls-files 'app/*.cpp' | tidy --checks=-performance-unnecessary-value-param
echo "lint: clean"
