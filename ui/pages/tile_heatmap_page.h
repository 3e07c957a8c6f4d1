// SPDX-License-Identifier: GPL-3.0-or-later
// Br x Bc: the controls around a HeatmapView.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QStackedLayout>
#include <memory>
#include <optional>

#include "ui/pages/empty_state.h"
#include "ui/pages/error_note.h"
#include "ui/pages/facet_bar.h"
#include "ui/pages/page.h"
#include "ui/plots/heatmap_view.h"

namespace attnscope::ui {

class TileHeatmapPage : public Page {
  Q_OBJECT
 public:
  explicit TileHeatmapPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QString title() const override;
  [[nodiscard]] QIcon icon() const override { return page_icon(QStringLiteral("tiles")); }
  [[nodiscard]] QWidget* view() override { return view_; }
  [[nodiscard]] bool has_plot() const override { return has_grid(); }
  /// "tiles-fa2-d128-...-time_median_ns"
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] QString save_plot(const QString& path, const QSize& size) override;
  [[nodiscard]] QJsonObject state() const override;
  void restore(const QJsonObject& state) override;
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;
  void pose() override;
  Followed follow(const QString& file, std::int64_t run, bool insist) override;
  [[nodiscard]] QString problem_of(const QString& file, std::int64_t run) const override;

  [[nodiscard]] HeatmapView* heatmap() const { return view_; }
  [[nodiscard]] const ErrorNote& error_note() const { return *note_; }
  /// False when no tile sweep is shown and the page holds words only.
  [[nodiscard]] bool has_grid() const { return !view_->grid().empty(); }
  /// By key of the metrics table.
  void set_metric(std::string_view key);
  /// Choices by a field's label or key ("Algorithm", "n", ...), as IoCurvePage has them.
  [[nodiscard]] QStringList options(const QString& field) const;
  void choose(const QString& field, const QString& id);

 private:
  void refresh();
  void show_words();
  [[nodiscard]] bool is_of_run(Row row, const QString& file, std::int64_t run) const;
  /// The first row of a run among those that swept tiles.
  [[nodiscard]] std::optional<Row> row_of(const QString& file, std::int64_t run) const;

  Workspace& workspace_;
  ProblemFilter filter_;
  std::shared_ptr<const PointSet> points_;  ///< all that are visible; the filter's rows are of the problem shown
  FacetBar* facets_ = nullptr;
  QComboBox* metric_ = nullptr;
  QCheckBox* log_ = nullptr;
  HeatmapView* view_ = nullptr;
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  QStackedLayout* stack_ = nullptr;
};

}  // namespace attnscope::ui
