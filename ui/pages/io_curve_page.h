// SPDX-License-Identifier: GPL-3.0-or-later
// IO, time or rate against N: the controls around an IoPlot.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QStackedLayout>
#include <QToolButton>
#include <QWidget>
#include <map>
#include <string>

#include "ui/models/curve_series.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/facet_bar.h"
#include "ui/pages/flow_layout.h"
#include "ui/plots/io_plot.h"

namespace attnscope::ui {

class IoCurvePage : public QWidget {
  Q_OBJECT
 public:
  explicit IoCurvePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] IoPlot* plot() const { return plot_; }
  [[nodiscard]] const CurveSet& curves() const { return curves_; }
  /// Puts all of the page's choices on a file name: "io-d128-causal-1x16".
  [[nodiscard]] QString file_stem() const;
  void set_stacks(bool on);
  void set_ordinate(Ordinate ordinate);
  /// Choices by a facet's label ("d", "Pass", "Mask", "n_q", ...); what one offers depends on those before it.
  [[nodiscard]] QStringList facets() const { return filter_.labels(); }
  [[nodiscard]] QStringList options(const QString& facet) const { return filter_.options(facet); }
  void choose(const QString& facet, const QString& id);
  /// Numbers of splits that the shown problem was swept over, as splits_of(); choose_splits() shows one of them.
  [[nodiscard]] const std::vector<int>& splits() const { return splits_; }
  void choose_splits(int splits);
  /// Whether the shown problem has but one N and its tiles make a map: a curve says nothing of it.
  [[nodiscard]] bool only_a_tile_map() const;

 signals:
  void point_selected(const attnscope::ui::ShownPoint& point);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh(bool keep_view);
  void refresh_chips(const std::vector<ShownPoint>& points);
  void refresh_tiles(const std::vector<ShownPoint>& points);
  void add_chip(const std::string& name);
  void color_chips();
  void show_toggles();
  [[nodiscard]] CurveRequest request() const;
  [[nodiscard]] TileSelection tile_selection() const;
  [[nodiscard]] Ordinate ordinate() const;
  QCheckBox* add_toggle(const QString& text, const QString& help, bool on);

  Workspace& workspace_;
  ProblemFilter filter_;
  CurveSet curves_;
  std::vector<ShownPoint> points_;
  FacetBar* facets_ = nullptr;
  QComboBox* ordinate_ = nullptr;
  QComboBox* tile_ = nullptr;
  std::vector<TileShape> tiles_;
  std::vector<int> splits_;
  FlowLayout* toggles_ = nullptr;  ///< the chips stand first
  std::map<std::string, QToolButton*> chip_of_;
  QCheckBox* dram_ = nullptr;
  QCheckBox* sm_l2_ = nullptr;
  QCheckBox* model_ = nullptr;
  QCheckBox* asymptote_ = nullptr;
  QCheckBox* paper_ = nullptr;
  QCheckBox* compulsory_ = nullptr;
  QCheckBox* boundary_ = nullptr;
  QCheckBox* stacks_ = nullptr;
  QCheckBox* per_head_ = nullptr;
  IoPlot* plot_ = nullptr;
  EmptyState* empty_ = nullptr;
  QStackedLayout* stack_ = nullptr;
};

}  // namespace attnscope::ui
