// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown of a comparison: found of what is chosen, in any thread.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/models/result_model.h"
#include "ui/pages/choice.h"
#include "ui/pages/compare/ratio_views.h"
#include "ui/pages/compare/shown_comparison.h"
#include "ui/pages/error_note.h"
#include "ui/pages/facet_bar.h"
#include "ui/process/live.h"

namespace attnscope::ui {

enum class CompareAs { table, map, curves };

/// All that is chosen.
struct ComparedAsk {
  ComparisonAsk sides;
  std::shared_ptr<const ComparisonSet> known;    ///< these sides, compared; null: that is to be done
  std::shared_ptr<const ShownComparison> table;  ///< that is shown
  Narrowed before;
  QString other;  ///< the one other side that is shown; empty: all
  CompareAs view = CompareAs::table;
  QString rows_key;  ///< of the map's axes; empty: what is best looked at
  QString columns_key;
  QString along_key;  ///< of the curves' axis
  QString sorted_by;
  Qt::SortOrder order = Qt::AscendingOrder;
};

struct ComparedView {
  ComparedAsk asked;
  std::shared_ptr<const ComparisonSet> set;
  Narrowed narrowed;
  std::optional<std::uint32_t> code = {};  ///< of the one other side that is shown
  const OtherSide* mapped = nullptr;       ///< on the map; null: there is none
  std::shared_ptr<const ShownComparison> table = {};
  std::vector<Row> rows = {};  ///< of the table, in their order
  std::vector<std::vector<TextSample>> longest = {};
  bool partners = false;
  std::vector<Option> layouts = {};  ///< that the view can lie over
  int layout = -1;                   ///< the one that it does
  std::optional<analysis::MapLayout> map_layout = {};
  std::optional<analysis::PointAxis> along = {};
  std::optional<HeatmapGrid> grid = {};
  std::optional<RatioCurves> curves = {};
  std::set<SimulatedPart> simulated = {};
  QString answer = {};   ///< empty where nothing is compared
  QString summary = {};  ///< what else is known, a line each
  QString method = {};
};
[[nodiscard]] ComparedView view_of(const ComparedAsk& asked, const Outdated& outdated);

}  // namespace attnscope::ui
