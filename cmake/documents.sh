#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the documents: size limits, relative links, file paths and screenshots. assets/docs may only link within
# itself, because the programs show these documents outside the source tree (headings: tests/ui/window/help_test.cpp).
#   cmake/documents.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

# at_most BYTES FILE: fails if FILE is larger than BYTES.
at_most() {
  [ "$(wc -c <"$2")" -le "$1" ] || { echo "documents: $2 is larger than $1 bytes" >&2; failed=1; }
}
at_most 8192 README.md
at_most 8192 README.zh.md
at_most 12288 CONTRIBUTING.md

for file in *.md assets/docs/*.md assets/lesson/README.md tests/campaign/README.md; do
  while read -r link; do
    case "$link" in http*:*|'#'*|'') continue ;; esac
    target=$(dirname "$file")/${link%%#*}
    [ -e "$target" ] || { echo "documents: $file: broken link: $link" >&2; failed=1; }
    case "$file:$link" in assets/docs/*:*/*) echo "documents: $file: link leaves assets/docs: $link" >&2; failed=1 ;; esac
  done < <(sed '/^ *```/,/^ *```/d; s/`[^`]*`//g' "$file" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//')
done

# Full paths in the text must exist. "X.h/.cpp" is two files; NAME, LANG, <...> and * are placeholders.
while IFS=: read -r file path; do
  path=${path//\`/}
  case "$path" in *[\<\*]*|*NAME*|*LANG*|*-ID.*) continue ;; esac
  [ -e "${path%/.cpp}" ] || { echo "documents: $file: no such file: $path" >&2; failed=1; }
done < <(grep -oE '`(kernels|profiler|storage|ui|app|tests|assets|cmake)/[^` ]+`' ./*.md assets/docs/*.md)

# Each screenshot must be used in README.md.
for picture in assets/screenshots/*; do
  grep -qF "$picture" README.md || { echo "documents: README.md does not use $picture" >&2; failed=1; }
done
exit $failed
