#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the desktop archive: contains all non-system libraries and runs in a Debian 12 without Qt.
source "$(dirname "$0")/common.sh"
require_tool objdump binutils
unpack desktop
mapfile -d '' -t files < <(find "$root"/bin/attnscope-gui "$root"/lib "$root"/plugins -type f -print0)
for name in GLIBC GLIBCXX; do
  documented=$(grep -oiP "attnscope-gui.* $name \K[0-9.]+[0-9]" "$root/README.md")
  expect_same "the $name version of the window in README.md" "$documented" "$(newest $name "${files[@]}")"
done
for plugin in platforms/libq{offscreen,xcb}.so iconengines/libqsvgicon.so; do
  [ -f "$root/plugins/$plugin" ] || fail "$plugin is missing"
done
# The program's RPATH also applies to the libraries; an RPATH or RUNPATH of a library would override it.
expect_same "the set of RPATH and RUNPATH entries" "$(objdump -p "${files[@]}" | awk '/R(UN)?PATH/ {print $1, $2}')" 'RPATH $ORIGIN/../lib'

# Every required library is bundled or listed in README.md.
bundled=$(find "$root/lib" -printf '%f\n')
needed=$(objdump -p "${files[@]}" | awk '$1 == "NEEDED" {print $2}' | sort -u | grep -vxF "$bundled" | paste -sd ' ')
grep -qF ": $needed." "$root/README.md" || fail "README.md does not list the required system libraries: $needed"
list="$root/share/doc/attnscope/LICENSES/libraries-of-attnscope-gui.md"
for source in qt6-base qt6-svg qcustomplot icu; do
  grep -q "^| $source |" "$list" || fail "$source is missing in $list"
done
[ -s "${list%/*}/common-licenses/LGPL-3" ] || fail "the text of the LGPL is missing"

require_tool mmdebstrap mmdebstrap
run_in_clean_root libegl1,libopengl0,libglx0,libx11-xcb1,libfontconfig1,libfreetype6,libharfbuzz0b,libglib2.0-0,libdbus-1-3,\
fonts-dejavu-core,libstdc++6,xvfb,xauth,xdotool desktop-inside.sh "$package"
