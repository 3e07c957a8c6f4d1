#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format on everything, clang-tidy on what BUILD (build/test, preset `test`) compiles, an SPDX line in every
# source file.
#   cmake/lint.sh [BUILD [--tidy [FOLDER...]]]   --tidy: clang-tidy on these folders' libraries alone (cmake/tidy.sh)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/test}

mapfile -t sources < <(git ls-files '*.cpp' '*.h' '*.cuh')
[ ${#sources[@]} -gt 0 ] || { echo "lint: git lists no source files here" >&2; exit 1; }
clang-format-14 --dry-run --Werror "${sources[@]}"

# JSON, pictures, databases, printed tables, the sample of a report, the campaign's inputs and the licences' own texts hold no such line.
missing=$(git ls-files -- ':!LICENSES' ':!*.json' ':!*.png' ':!*.attnscope' ':!tests/campaign/corpus' ':!assets/report' ':!assets/samples/*.csv' | xargs grep -L 'SPDX-License-Identifier' || true)
[ -z "$missing" ] || { printf 'lint: no SPDX line in:\n%s\n' "$missing" >&2; exit 1; }

bash cmake/documents.sh

# The command line must link no Qt, and the views no CUDA: the layers are kept by what the programs load.
if ldd "$build/app/attnscope" | grep -qiE 'qt6|libcuda|cupti|nvrtc'; then
  echo "lint: attnscope links Qt or CUDA" >&2; exit 1
fi
if grep -rnE '#include *[<"](cuda|cupti|nvrtc|nvml)' ui app >&2; then echo "lint: ui or app includes CUDA" >&2; exit 1; fi
# forbid ROOM REGEX: no file below ROOM includes a header whose path matches.
forbid() {
  if grep -rnE "#include *\"($2)/" "$1" >&2; then echo "lint: $1 includes what stands above it: $2" >&2; exit 1; fi
}
# A folder of kernels with a geometry is an algorithm's.
names=$(find kernels -mindepth 2 -maxdepth 2 -name '*_shape.h' -not -path 'kernels/device/*' -printf '%h\n' |
  sed 's|kernels/||' | sort -u | paste -sd'|')
# kernels <- profiler <- storage <- ui <- app; within kernels messages <- model <- oracle, algorithms.
forbid kernels 'profiler|storage|ui|app'
forbid profiler 'storage|ui|app'
forbid storage 'ui|app'
forbid ui 'app'
forbid kernels/model "kernels/(oracle|$names)"
# The judges share no code with what they judge.
forbid kernels/oracle "kernels/(device|ceilings|$names)"
if grep -rnE '#include *"kernels/[a-z_]+\.h"' kernels/oracle kernels/model >&2; then
  echo "lint: kernels/oracle or kernels/model includes what stands above it" >&2; exit 1
fi
# Within profiler each folder includes only folders before it in this list; measured points are analyzed without a device.
layers=(units plan files metrics simulator measure worker points stats predict compare tilemap curves roofline lesson report)
for ((i = 0; i + 1 < ${#layers[@]}; ++i)); do
  forbid "profiler/${layers[i]}" "profiler/($(IFS='|'; echo "${layers[*]:i+1}"))"
done
for folder in points stats predict compare tilemap curves roofline lesson report; do forbid "profiler/$folder" 'profiler/(measure|worker)'; done
forbid profiler/units "kernels/(oracle|$names)"
# Within ui text, theme <- process, widgets <- runs <- models <- plots <- panels <- pages <- window; text and theme, and
# process and widgets, do not include each other.
layers=(text theme process widgets runs models plots panels pages window)
for ((i = 0; i + 1 < ${#layers[@]}; ++i)); do
  forbid "ui/${layers[i]}" "ui/($(IFS='|'; echo "${layers[*]:i+1}"))"
done
forbid ui/theme 'ui/text'
forbid ui/widgets 'ui/process'
roomless=$(git ls-files 'ui/*.h' 'ui/*.cpp' | grep -vE '^ui/[a-z]+/' || true)
[ -z "$roomless" ] || { printf 'lint: without a room in ui:\n%s\n' "$roomless" >&2; exit 1; }
# Generic rooms name no algorithm, outside comments: what they need of one, its statement says.
named=$(grep -rnwiE "$names" profiler storage ui app kernels/model kernels/*.h --include='*.h' --include='*.cpp' |
  grep -vE '^[^:]+:[0-9]+:\s*//' | grep -viE '^[^:]+:[0-9]+:.*//.*\<('"$names"')\>' || true)
[ -z "$named" ] || { printf 'lint: a generic room names an algorithm:\n%s\n' "$named" >&2; exit 1; }

# What a room needs of a field, the field says (profiler/plan/fields.h).
if grep -rnE '\b(field|axis|knob)(->|\.)name == "' profiler storage ui app --include='*.cpp' --include='*.h' >&2; then
  echo "lint: a room knows a field by name" >&2; exit 1
fi

# What the window says is in the catalogue, not in Qt's translations.
if grep -rnE '\b(tr|translate)\("' ui app >&2; then echo "lint: a text that the catalogue does not have (CONTRIBUTING.md)" >&2; exit 1; fi
# Every text of the catalogue is said somewhere (that everything said is in it, the compiler sees).
unsaid=$(comm -23 \
  <(sed -n 's/.*catalogue_message("\([a-z_]*\)\.\([a-z0-9_]*\)".*/say::\1::\2/p' "$build"/kernels/messages/generated/messages/*.h | sort -u) \
  <(grep -rhoE 'say::[a-z_]+::[a-z0-9_]+' kernels profiler storage ui app --include='*.cpp' --include='*.h' | sort -u))
[ -z "$unsaid" ] || { printf 'lint: assets/messages/en.json has texts that nobody says:\n%s\n' "$unsaid" >&2; exit 1; }

# An alias or a name from another namespace that its file does not use: in a batch another file's use hides it.
unused=$(git ls-files 'kernels/*.cpp' 'profiler/*.cpp' 'storage/*.cpp' 'ui/*.cpp' 'app/*.cpp' | while read -r file; do
  sed -nE -e '/([A-Za-z_]+)::\1;/d' -e 's/^ *using (::)?([a-z_]+::)+([A-Za-z_]+);.*/\3/p' -e 's/^ *namespace ([A-Za-z_]+) = .*/\1/p' "$file" | sort -u |
    while read -r name; do [ "$(grep -cw "$name" "$file")" -gt 1 ] || echo "$file: $name"; done
done)
[ -z "$unused" ] || { printf 'lint: named by a using or an alias, and not used:\n%s\n' "$unused" >&2; exit 1; }

if [ "${2:-}" != --tidy ] || [ $# -gt 2 ]; then
  bash cmake/tidy.sh "$build" "${@:3}" >&2 || { echo "lint: clang-tidy found something" >&2; exit 1; }
fi
echo "lint: clean"
