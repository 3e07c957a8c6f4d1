#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the command-line archive: runs from where it is unpacked and needs glibc 2.34.
source "$(dirname "$0")/common.sh"
require_tool objdump binutils
unpack command-line
newest=$(newest GLIBC "$root/bin/attnscope")
expect_same "the glibc version in README.md" \
  "$(grep -oP 'bin/attnscope`.*needs glibc \K[0-9.]+[0-9]' "$root/README.md")" "$newest"
case $(getconf GNU_LIBC_VERSION) in
  "glibc 2.3"[0-6]) expect_same "the required glibc version (2.34 or older)" \
                      "$(printf '2.34\n%s\n' "$newest" | sort -V | tail -n 1)" 2.34 ;;
  *) skip "built with $(getconf GNU_LIBC_VERSION); release builds use Debian 12 (glibc 2.36)" ;;
esac
expect_same "programs" "$(ls "$root/bin")" attnscope

attnscope() { env -i HOME="$work" "$root/bin/attnscope" "$@"; }
attnscope --version
attnscope lesson export -o "$work/lesson" 2>"$work/log"
grep -qF "$root/share/attnscope/samples/h200-law.attnscope" "$work/log" || fail "the lesson uses other samples: $(cat "$work/log")"

# The library list contains exactly the packages that are compiled into the program.
list="$root/share/doc/attnscope/LICENSES/libraries-of-attnscope.md"
for package in sqlite3 sqlitecpp fmtlib spdlog cli11 nlohmann-json3 eigen3 boost1.74 xxhash cmark gcc-12; do
  grep -q "^| $package |" "$list" || fail "$package is missing in $list"
  test -s "${list%/*}/$package.txt"
done
! grep -q "qt6" "$list" || fail "Qt is listed in $list"
