#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts below a prefix is whole, and works when it is moved.
source "$(dirname "$0")/common.sh"
source_root=$(realpath "$here/../..")
cmake --install "$build" --prefix "$work/prefix" >/dev/null
mv "$work/prefix" "$work/moved"
cd "$work/moved"
for file in bin/attnscope bin/attnscope-gui include/attnscope_kernel.h share/applications/org.attnscope.Attnscope.desktop \
    share/metainfo/org.attnscope.Attnscope.metainfo.xml share/mime/packages/org.attnscope.Attnscope.xml \
    share/icons/hicolor/scalable/apps/org.attnscope.Attnscope.svg share/doc/attnscope/{CHANGELOG.md,copyright}; do
  [ -s "$file" ] || fail "$file is not installed"
done
expect_same samples "$(ls share/attnscope/samples)" "$(cd "$source_root/assets/samples" && ls ./*.attnscope | sed 's#./##')"
expect_same documents "$(cd share/doc/attnscope && ls ./*.md | grep -v CHANGELOG)" "$(cd "$source_root/assets/docs" && ls ./*.md)"
expect_same licences "$(cd share/doc/attnscope/LICENSES && ls | grep -xF "$(ls "$source_root/LICENSES")")" "$(ls "$source_root/LICENSES")"
! objdump -p bin/attnscope-gui | grep -E 'R(UN)?PATH' || fail "the installed window looks for libraries beside itself"
env -i HOME="$work" bin/attnscope info >info.txt 2>said
grep -qF "$work/moved/share/attnscope/samples/h200.attnscope" said || fail "of no file, info is of $(cat said)"
