#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The documents: short ones stay short, and every relative link leads to a file. assets/docs link to one another alone,
# since programs show them without the tree around them (headings: tests/ui/window/help_test.cpp).
#   cmake/documents.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

# at_most BYTES FILE
at_most() {
  [ "$(wc -c <"$2")" -le "$1" ] || { echo "documents: $2 has more than $1 bytes" >&2; failed=1; }
}
at_most 8192 README.md
at_most 8192 README.zh.md
at_most 12288 CONTRIBUTING.md

for file in *.md assets/docs/*.md assets/lesson/README.md tests/campaign/README.md; do
  while read -r link; do
    case "$link" in http*:*|'#'*|'') continue ;; esac
    target=$(dirname "$file")/${link%%#*}
    [ -e "$target" ] || { echo "documents: $file links to $link, which is not there" >&2; failed=1; }
    case "$file:$link" in assets/docs/*:*/*) echo "documents: $file links out of assets/docs: $link" >&2; failed=1 ;; esac
  done < <(sed '/^ *```/,/^ *```/d; s/`[^`]*`//g' "$file" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//')
done

# Every path that a document names in full is there. "X.h/.cpp" are two; NAME, LANG, <...> and * stand for others.
while IFS=: read -r file path; do
  path=${path//\`/}
  case "$path" in *[\<\*]*|*NAME*|*LANG*|*-ID.*) continue ;; esac
  [ -e "${path%/.cpp}" ] || { echo "documents: $file names $path, which is not there" >&2; failed=1; }
done < <(grep -oE '`(kernels|profiler|storage|ui|app|tests|assets|cmake)/[^` ]+`' ./*.md assets/docs/*.md)

# A picture that no document shows.
for picture in assets/screenshots/*; do
  grep -qF "$picture" README.md || { echo "documents: no document shows $picture" >&2; failed=1; }
done
exit $failed
