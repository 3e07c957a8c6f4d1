#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The archive with Qt: its libraries are its own but for the system's, and it runs in a Debian 12 that has no Qt.
source "$(dirname "$0")/common.sh"
needs objdump binutils
unpack desktop
mapfile -d '' -t files < <(find "$root"/bin/attnscope-gui "$root"/lib "$root"/plugins -type f -print0)
for name in GLIBC GLIBCXX; do
  said=$(grep -oiP "attnscope-gui.* $name \K[0-9.]+[0-9]" "$root/README.md")
  expect_same "the $name that the window needs, by README.md" "$said" "$(newest $name "${files[@]}")"
done
for plugin in platforms/libq{offscreen,xcb}.so iconengines/libqsvgicon.so; do
  [ -f "$root/plugins/$plugin" ] || fail "$plugin is not in it"
done
# The program's RPATH holds for all, and one of a library would end that.
expect_same "all that is said of paths" "$(objdump -p "${files[@]}" | awk '/R(UN)?PATH/ {print $1, $2}')" 'RPATH $ORIGIN/../lib'

# Nothing is asked for but what is in it and what README.md names.
own=$(find "$root/lib" -printf '%f\n')
needed=$(objdump -p "${files[@]}" | awk '$1 == "NEEDED" {print $2}' | sort -u | grep -vxF "$own" | paste -sd ' ')
grep -qF ": $needed." "$root/README.md" || fail "README.md does not name what is needed: $needed"
list="$root/share/doc/attnscope/LICENSES/libraries-of-attnscope-gui.md"
for source in qt6-base qt6-svg qcustomplot icu; do
  grep -q "^| $source |" "$list" || fail "$source is not listed"
done
[ -s "${list%/*}/common-licenses/LGPL-3" ] || fail "the text of the LGPL is not in it"

needs mmdebstrap mmdebstrap
clean_root libegl1,libopengl0,libglx0,libx11-xcb1,libfontconfig1,libfreetype6,libharfbuzz0b,libglib2.0-0,libdbus-1-3,\
fonts-dejavu-core,libstdc++6,xvfb,xauth,xdotool desktop-inside.sh "$package"
