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
#include "ui/pages/problem_page.h"
#include "ui/plots/heatmap_view.h"

namespace attnscope::ui {

class TileHeatmapPage : public ProblemPage {
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

  [[nodiscard]] HeatmapView* heatmap() const { return view_; }
  [[nodiscard]] const ErrorNote& error_note() const { return *note_; }
  /// False when no tile sweep is shown and the page holds words only.
  [[nodiscard]] bool has_grid() const { return !view_->grid().empty(); }
  /// By key of the metrics table.
  void set_metric(std::string_view key);

 protected:
  void show_problem() override { refresh(); }

 private:
  void refresh();
  void show_words();

  QComboBox* metric_ = nullptr;
  QCheckBox* log_ = nullptr;
  HeatmapView* view_ = nullptr;
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  QStackedLayout* stack_ = nullptr;
};

}  // namespace attnscope::ui
