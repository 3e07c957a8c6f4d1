#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Regenerates the files derived from the recordings: prediction errors, the sample report and README's screenshots.
#   assets/samples/derive.sh BUILD     BUILD: build folder with the desktop program; rebuilt by this script
# Fit the constants of the kernels first (explanation.md, "Predictions"). Needs chromium for the lesson's screenshot.
set -euo pipefail
build=$(realpath "${1:?usage: derive.sh BUILD}")
cd "$(dirname "${BASH_SOURCE[0]}")"
export QT_QPA_PLATFORM=offscreen
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target attnscope attnscope-gui
for gpu in h200 h100; do
  "$build/app/attnscope" model --against $gpu.attnscope --csv >"$work/errors.csv"
  cp "$work/errors.csv" $gpu-errors.csv
done
cmake --build "$build" --target attnscope attnscope-gui
"$build/app/attnscope" report h200.attnscope -o ../report/h200.md --force
# screenshot NAME PAGE THEME FILES...
screenshot() {
  "$build/app/attnscope-gui" "${@:4}" --screenshot "../screenshots/$1.png" --page "$2" --theme "$3" --size 1280x800 --force
}
screenshot io-light io light h200.attnscope h200-ceilings.attnscope
screenshot explorer-dark explorer dark h200.attnscope h200-ceilings.attnscope
screenshot compare-light compare light h200.attnscope h100.attnscope
"$build/app/attnscope" lesson export -o "$work/lesson" h200.attnscope h200-law.attnscope h200-tiles.attnscope h200-race.attnscope
# With reduced motion the race shows its final state at once.
chromium --headless --no-sandbox --hide-scrollbars --force-prefers-reduced-motion --window-size=1280,800 \
  --virtual-time-budget=5000 --screenshot="$work/race.png" "file://$work/lesson/index.html#race" 2>/dev/null
cp "$work/race.png" ../screenshots/lesson-race-light.png
