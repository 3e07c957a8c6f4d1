// SPDX-License-Identifier: GPL-3.0-or-later
// The axes that pictures of points are laid out by, as the window offers them.
#pragma once

#include <QString>
#include <algorithm>
#include <string>

#include "profiler/points/facets.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

[[nodiscard]] inline QString label_of(const analysis::PointAxis& axis) {
  return qtext(axis.facet->label);
}

/// Whether they speak for a field in common: both cannot be axes of one picture.
[[nodiscard]] inline bool share_names(const analysis::PointAxis& a, const analysis::PointAxis& b) {
  return a.key() == b.key() ||
         std::ranges::any_of(a.names, [&](const std::string& name) { return b.speaks_for(name); });
}

}  // namespace attnscope::ui
