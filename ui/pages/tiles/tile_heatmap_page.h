// SPDX-License-Identifier: GPL-3.0-or-later
// Any metric over two axes, by default Br x Bc: the controls around a HeatmapView.
#pragma once

#include <map>
#include <vector>

#include "ui/pages/problem_page.h"
#include "ui/plots/heatmap_view.h"
#include "ui/runs/point_record_reader.h"
#include "ui/text/format.h"

namespace attnscope::ui {

class TileHeatmapPage : public ProblemPage {
  Q_OBJECT
 public:
  explicit TileHeatmapPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return heatmap(); }
  [[nodiscard]] bool has_plot() const override { return has_map(); }
  /// Shows the problem of a point, by its id in `file`; resets the axes to the tile if they do not fit. Returns false
  /// if the page cannot show the point or a filter hides it.
  bool show_problem_of_point(const QString& file, std::int64_t point);
  /// "tiles-fa2-d128-...-time_median_ns"
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return has_plot(); }
  [[nodiscard]] ShownValues values() const override;
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;
  void prepare_screenshot() override;

  [[nodiscard]] HeatmapView* heatmap() const { return view_; }
  /// Returns false if the page shows a text instead of a map.
  [[nodiscard]] bool has_map() const { return !heatmap()->map().empty(); }
  [[nodiscard]] const IdChoice& comparison() const { return comparison_choice_; }

 protected:
  void show_problem() override { refresh(); }
  [[nodiscard]] Collection collection() const override;
  void show_choices() override { apply_axes(); }
  bool show_mark(const ShownPoint& point, bool moves) override;
  void fill_menu(QMenu& menu) override;

 private:
  void add_chips();
  void apply_axes();
  [[nodiscard]] bool is_over_tiles() const;
  void offer(IdChoice& choice, std::vector<Option> options, int otherwise);
  void refresh();
  void show_map();
  [[nodiscard]] EmptyStateText no_plot_text();
  void offer_axes();
  void offer_metrics();
  void offer_comparisons();
  [[nodiscard]] analysis::MapRequest request() const;

  analysis::MapLayout layout_;
  std::vector<analysis::PointAxis> varying_;  ///< Axes along which the points vary.
  IdChoice axes_;                             ///< Axis keys, rows first.
  IdChoice metric_;
  IdChoice comparison_choice_;
  Choice<bool> relative_;  ///< Cells show slowdowns instead of times.
  std::map<const IdChoice*, FacetChip*> chip_of_;
  QAction* log_ = nullptr;
  HeatmapView* view_ = nullptr;
  PointRecordReader records_;
};

}  // namespace attnscope::ui
