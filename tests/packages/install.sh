#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests `cmake --install`: all files are installed, and the programs work after the prefix is moved.
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
expect_same licenses "$(cd share/doc/attnscope/LICENSES && ls | grep -xF "$(ls "$source_root/LICENSES")")" "$(ls "$source_root/LICENSES")"
! objdump -p bin/attnscope-gui | grep -E 'R(UN)?PATH' || fail "the installed desktop program has an RPATH or RUNPATH"
env -i HOME="$work" bin/attnscope info >info.txt 2>log
grep -qF "$work/moved/share/attnscope/samples/h200.attnscope" log || fail "without a file, info does not use the installed sample: $(cat log)"
