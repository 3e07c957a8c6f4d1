#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds all packages.
source "$(dirname "$0")/common.sh"
rm -rf "$packages"
require_tool dpkg-shlibdeps dpkg-dev
require_tool patchelf patchelf
cmake --build "$build" --target packages
ls -l "$packages"
