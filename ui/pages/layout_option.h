// SPDX-License-Identifier: GPL-3.0-or-later
// The layouts of maps as they are offered and saved: by the keys of their axes, rows first.
#pragma once

#include "profiler/tilemap/tile_map.h"
#include "ui/models/axis_words.h"
#include "ui/pages/option.h"

namespace attnscope::ui {

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
