#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-format on all sources, clang-tidy on the targets of BUILD (default: build/test, preset `test`), and checks
# SPDX lines, documents, layering and messages.
#   cmake/lint.sh [BUILD [--tidy [FOLDER...]]]   --tidy: clang-tidy only on the targets of these folders (cmake/tidy.sh)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/test}

mapfile -t sources < <(git ls-files '*.cpp' '*.h' '*.cuh')
[ ${#sources[@]} -gt 0 ] || { echo "lint: git ls-files lists no source files" >&2; exit 1; }
clang-format-14 --dry-run --Werror "${sources[@]}"

# Exempt from SPDX lines: JSON, images, fonts, databases, CSV tables, the sample report, inputs of tests and license texts.
missing=$(git ls-files -- ':!LICENSES' ':!*.json' ':!*.png' ':!*.woff2' ':!*.attnscope' ':!tests/campaign/corpus' ':!tests/app/cases' ':!assets/report' ':!assets/samples/*.csv' | xargs grep -L 'SPDX-License-Identifier' || true)
[ -z "$missing" ] || { printf 'lint: SPDX line missing in:\n%s\n' "$missing" >&2; exit 1; }

bash cmake/documents.sh

# The command line must not link Qt or CUDA, and ui and app must not include CUDA headers.
if ldd "$build/app/attnscope" | grep -qiE 'qt6|libcuda|cupti|nvrtc'; then
  echo "lint: attnscope links Qt or CUDA" >&2; exit 1
fi
if grep -rnE '#include *[<"](cuda|cupti|nvrtc|nvml)' ui app >&2; then echo "lint: ui or app includes CUDA" >&2; exit 1; fi
# forbid FOLDER REGEX: fails if a file in FOLDER includes a header whose path matches.
forbid() {
  if grep -rnE "#include *\"($2)/" "$1" >&2; then echo "lint: $1 includes a higher layer: $2" >&2; exit 1; fi
}
# A folder of kernels with a NAME_shape.h file is an algorithm.
names=$(find kernels -mindepth 2 -maxdepth 2 -name '*_shape.h' -not -path 'kernels/device/*' -printf '%h\n' |
  sed 's|kernels/||' | sort -u | paste -sd'|')
# Layers: kernels <- profiler <- storage <- ui <- app; within kernels: messages <- model <- oracle, algorithms.
forbid kernels 'profiler|storage|ui|app'
forbid profiler 'storage|ui|app'
forbid storage 'ui|app'
forbid ui 'app'
forbid kernels/model "kernels/(oracle|$names)"
# The reference implementations share no code with the kernels that they verify.
forbid kernels/oracle "kernels/(device|ceilings|$names)"
if grep -rnE '#include *"kernels/[a-z_]+\.h"' kernels/oracle kernels/model >&2; then
  echo "lint: kernels/oracle or kernels/model includes a higher layer" >&2; exit 1
fi
# Within profiler each folder includes only folders earlier in this list. The analysis must not depend on a device.
layers=(units style plan files metrics simulator measure worker points stats predict compare tilemap curves roofline lesson report)
for ((i = 0; i + 1 < ${#layers[@]}; ++i)); do
  forbid "profiler/${layers[i]}" "profiler/($(IFS='|'; echo "${layers[*]:i+1}"))"
done
for folder in points stats predict compare tilemap curves roofline lesson report; do forbid "profiler/$folder" 'profiler/(measure|worker)'; done
forbid profiler/units "kernels/(oracle|$names)"
# Layers of ui: text, theme <- process, widgets <- runs <- models <- plots <- panels <- pages <- window. text and theme
# do not include each other, nor do process and widgets.
layers=(text theme process widgets runs models plots panels pages window)
for ((i = 0; i + 1 < ${#layers[@]}; ++i)); do
  forbid "ui/${layers[i]}" "ui/($(IFS='|'; echo "${layers[*]:i+1}"))"
done
forbid ui/theme 'ui/text'
forbid ui/widgets 'ui/process'
misplaced=$(git ls-files 'ui/*.h' 'ui/*.cpp' | grep -vE '^ui/[a-z]+/' || true)
[ -z "$misplaced" ] || { printf 'lint: move into a subfolder of ui:\n%s\n' "$misplaced" >&2; exit 1; }
# Generic code must not name algorithms, except in comments, examples of help and the choice of the lesson; it uses their declared properties.
named=$(grep -rnwiE "$names" profiler storage ui app kernels/model kernels/*.h --include='*.h' --include='*.cpp' --exclude=attnscope.cpp --exclude=compared_algorithms.h |
  grep -vE '^[^:]+:[0-9]+:\s*//' | grep -viE '^[^:]+:[0-9]+:.*//.*\<('"$names"')\>' || true)
[ -z "$named" ] || { printf 'lint: generic code names an algorithm:\n%s\n' "$named" >&2; exit 1; }

# Generic code must not compare field names; it uses the properties of the field (profiler/plan/fields.h).
if grep -rnE '\b(field|axis|knob)(->|\.)name == "' profiler storage ui app --include='*.cpp' --include='*.h' >&2; then
  echo "lint: code depends on a field name" >&2; exit 1
fi

# Texts of the window are in the message catalog, not in Qt translations.
if grep -rnE '\b(tr|translate)\("' ui app >&2; then echo "lint: text outside the message catalog (see CONTRIBUTING.md)" >&2; exit 1; fi
# Each message of the catalog must be used. (The compiler rejects unknown messages.)
unused=$(comm -23 \
  <(sed -n 's/.*catalog_message("\([a-z_]*\)\.\([a-z0-9_]*\)".*/msg::\1::\2/p' "$build"/kernels/messages/generated/messages/*.h | sort -u) \
  <(grep -rhoE 'msg::[a-z_]+::[a-z0-9_]+' kernels profiler storage ui app --include='*.cpp' --include='*.h' | sort -u))
[ -z "$unused" ] || { printf 'lint: unused messages in assets/messages/en.json:\n%s\n' "$unused" >&2; exit 1; }

# Finds using-declarations and namespace aliases that their file does not use; a unity build hides them.
unused=$(git ls-files 'kernels/*.cpp' 'profiler/*.cpp' 'storage/*.cpp' 'ui/*.cpp' 'app/*.cpp' | while read -r file; do
  sed -nE -e '/([A-Za-z_]+)::\1;/d' -e 's/^ *using (::)?([a-z_]+::)+([A-Za-z_]+);.*/\3/p' -e 's/^ *namespace ([A-Za-z_]+) = .*/\1/p' "$file" | sort -u |
    while read -r name; do [ "$(grep -cw "$name" "$file")" -gt 1 ] || echo "$file: $name"; done
done)
[ -z "$unused" ] || { printf 'lint: unused using-declaration or alias:\n%s\n' "$unused" >&2; exit 1; }

if [ "${2:-}" != --tidy ] || [ $# -gt 2 ]; then
  bash cmake/tidy.sh "$build" "${@:3}" >&2 || { echo "lint: clang-tidy reported problems" >&2; exit 1; }
fi
echo "lint: clean"
