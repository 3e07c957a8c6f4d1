#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Walks through the window on a display of its own, and leaves a picture of each step.
#   tests/ui/walk.sh UI_WALK FOLDER [SIZE THEME]      one size and theme; without them all that are looked at
set -euo pipefail
walk=$1 folder=$2
command -v xvfb-run >/dev/null || { echo "there is no xvfb-run (xvfb), which makes a display"; exit 77; }
if [ $# -ge 4 ]; then
  sizes=("$3") themes=("$4")
else
  sizes=(1024x600 1280x800 2560x1440) themes=(light dark)
fi
for size in "${sizes[@]}"; do
  for theme in "${themes[@]}"; do
    mkdir -p "$folder/$size-$theme"
    QT_QPA_PLATFORM=xcb xvfb-run -a -s "-screen 0 ${size}x24" "$walk" "$size" "$theme" "$folder/$size-$theme"
  done
done
