#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The archive of the command line: it runs where it is unpacked, with glibc 2.34.
source "$(dirname "$0")/common.sh"
needs objdump binutils
unpack command-line
newest=$(newest GLIBC "$root/bin/attnscope")
expect_same "the glibc that it needs, by README.md" \
  "$(grep -oP 'bin/attnscope`.*needs glibc \K[0-9.]+[0-9]' "$root/README.md")" "$newest"
case $(getconf GNU_LIBC_VERSION) in
  "glibc 2.3"[0-6]) expect_same "the later of 2.34 and the glibc that it needs" \
                      "$(printf '2.34\n%s\n' "$newest" | sort -V | tail -n 1)" 2.34 ;;
  *) skip "built with $(getconf GNU_LIBC_VERSION): programs for other machines are built on Debian 12, with 2.36" ;;
esac
expect_same "programs" "$(ls "$root/bin")" attnscope

attnscope() { env -i HOME="$work" "$root/bin/attnscope" "$@"; }
attnscope --version
attnscope lesson export -o "$work/lesson" 2>"$work/said"
grep -qF "$root/share/attnscope/samples/h200-law.attnscope" "$work/said" || fail "the lesson is of $(cat "$work/said")"

# The list of what is inside: what a header or archive of each was compiled of, and no more than that.
list="$root/share/doc/attnscope/LICENSES/libraries-of-attnscope.md"
for package in sqlite3 sqlitecpp fmtlib spdlog cli11 nlohmann-json3 eigen3 boost1.74 xxhash cmark gcc-12; do
  grep -q "^| $package |" "$list" || fail "$package is not listed as inside"
  test -s "${list%/*}/$package.txt"
done
! grep -q "qt6" "$list" || fail "Qt is listed as inside the command line"
