// SPDX-License-Identifier: GPL-3.0-or-later
// Where a page's plot is zoomed to, kept with what is chosen on the page.
#pragma once

#include "ui/pages/choice.h"
#include "ui/plots/legend_plot.h"

namespace attnscope::ui {

inline QString zoom_key() {
  return QStringLiteral("zoom");
}

inline void keep_zoom(Choices& choices, LegendPlot& plot) {
  choices.keep(
      [&plot](QJsonObject& state) {
        if (const QJsonObject zoom = plot.zoom(); !zoom.isEmpty()) state[zoom_key()] = zoom;
      },
      [&plot](const QJsonObject& state) { plot.restore_zoom(state[zoom_key()].toObject()); });
}

}  // namespace attnscope::ui
