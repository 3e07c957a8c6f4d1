// SPDX-License-Identifier: GPL-3.0-or-later
// Families that try the law, as the window names and colours them.
#pragma once

#include <QColor>
#include <QString>
#include <memory>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

using analysis::LawFamily;
using analysis::LawLevel;

/// The families of one problem, and the points that they are of.
struct LawSet {
  std::shared_ptr<const PointSet> points;
  std::vector<LawFamily> families;
  QString problem;  ///< what they have in common
};

/// "FA1"; with device, kind of run and run where the set has several of an algorithm.
[[nodiscard]] QString family_title(const LawSet& set, const LawFamily& family);
/// The algorithm's colour; paler for each further series of it.
[[nodiscard]] QColor family_color(const LawSet& set, const LawFamily& family, bool dark);

}  // namespace attnscope::ui
