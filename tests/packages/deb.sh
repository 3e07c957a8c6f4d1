#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The .deb is installed in a clean Debian 12, and both programs start there.
source "$(dirname "$0")/common.sh"
needs mmdebstrap mmdebstrap
made "attnscope_*.deb"
depends=$(dpkg-deb -f "$package" Depends)
for library in libc6 libgcc-s1 libqt6widgets6 libqt6svg6 libqcustomplot2.1-qt6; do
  [[ ", $depends" == *", $library"* ]] || fail "it does not depend on $library, but on $depends"
done
[[ $depends != *-dev* ]] || fail "it depends on what only building needs: $depends"
clean_root ca-certificates deb-inside.sh "$package"
