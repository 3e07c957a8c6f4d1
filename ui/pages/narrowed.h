// SPDX-License-Identifier: GPL-3.0-or-later
// Points, narrowed to one problem.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "ui/pages/facet_bar.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// Points, those rows of them that a page can show, and what the filter makes of them: made in any thread, then shown.
struct Narrowed {
  std::shared_ptr<const PointSet> points;
  std::shared_ptr<const std::vector<Row>> candidates;
  std::shared_ptr<const FacetBar::Texts> texts;  ///< null: not known of them
  ProblemFilter filter;
  QString query;  ///< which the points fit

  /// Of other points, or by another filter. `points` have to be those of the query, or some of them.
  void narrow(std::shared_ptr<const PointSet> of, std::vector<Row> rows);
};

}  // namespace attnscope::ui
