// SPDX-License-Identifier: GPL-3.0-or-later
// The layouts of maps as they are offered and saved: by the keys of their axes, rows first.
#pragma once

#include <QString>
#include <algorithm>
#include <string>

#include "profiler/points/facets.h"
#include "profiler/tilemap/tile_map.h"
#include "ui/pages/option.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

// The axes that pictures of points are laid out by, as the window offers them.

[[nodiscard]] inline QString label_of(const analysis::PointAxis& axis) {
  return qtext(axis.facet->label);
}

/// Whether they speak for a field in common: both cannot be axes of one picture.
[[nodiscard]] inline bool share_names(const analysis::PointAxis& a, const analysis::PointAxis& b) {
  return a.key() == b.key() ||
         std::ranges::any_of(a.names, [&](const std::string& name) { return b.speaks_for(name); });
}

[[nodiscard]] inline QString key_of(const analysis::PointAxis& axis) {
  return QString::fromStdString(axis.key());
}

[[nodiscard]] inline QString layout_id(const QString& rows, const QString& columns) {
  return rows + QLatin1Char('|') + columns;
}
[[nodiscard]] inline QString layout_id(const analysis::MapLayout& layout) {
  return layout_id(key_of(layout.y), key_of(layout.x));
}
[[nodiscard]] inline QString rows_of_layout(const QString& id) {
  return id.section(QLatin1Char('|'), 0, 0);
}
[[nodiscard]] inline QString columns_of_layout(const QString& id) {
  return id.section(QLatin1Char('|'), 1);
}

[[nodiscard]] inline Option layout_option(const analysis::MapLayout& layout) {
  return {.text = QStringLiteral("%1 × %2").arg(label_of(layout.y), label_of(layout.x)),
          .id = layout_id(layout),
          .group = label_of(layout.y) + QStringLiteral(" ×")};
}

}  // namespace attnscope::ui
