// SPDX-License-Identifier: GPL-3.0-or-later
// IO, time or rate against N: the controls around an IoPlot.
#pragma once

#include <QComboBox>
#include <QStackedLayout>
#include <QToolButton>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "ui/models/curve_series.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/error_note.h"
#include "ui/pages/problem_page.h"
#include "ui/pages/toggle_bar.h"
#include "ui/plots/io_plot.h"

namespace attnscope::ui {

class IoCurvePage : public ProblemPage {
  Q_OBJECT
 public:
  explicit IoCurvePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QString title() const override;
  [[nodiscard]] QIcon icon() const override { return page_icon(QStringLiteral("io")); }
  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] bool has_plot() const override { return stack_->currentWidget() == plot_; }
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] QString save_plot(const QString& path, const QSize& size) override;
  [[nodiscard]] QJsonObject state() const override;
  void restore(const QJsonObject& state) override;
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;

  [[nodiscard]] IoPlot* plot() const { return plot_; }
  [[nodiscard]] const ErrorNote& error_note() const { return *note_; }
  [[nodiscard]] const CurveSet& curves() const { return curves_; }
  void set_stacks(bool on);
  void set_ordinate(Ordinate ordinate);
  void set_color(ColorOf color);

 protected:
  void show_problem() override { refresh(false); }
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_choices();
  void add_toggles();
  void add_plot();
  void refresh(bool keep_view);
  /// What stands in place of the plot; nothing when it is the plot.
  [[nodiscard]] std::optional<EmptyWords> words_instead() const;
  void refresh_chips();
  void refresh_tiles();
  void add_chip(const std::string& name);
  void color_chips();
  /// Shows this algorithm alone; where it is alone already, all.
  void isolate(const std::string& name);
  void show_toggles();
  [[nodiscard]] CurveRequest request() const;
  [[nodiscard]] TileSelection tile_selection() const;
  [[nodiscard]] Ordinate ordinate() const;
  [[nodiscard]] ColorOf color() const { return static_cast<ColorOf>(color_->currentData().toInt()); }

  CurveSet curves_;
  QComboBox* ordinate_ = nullptr;
  QComboBox* color_ = nullptr;
  QComboBox* tile_ = nullptr;
  QString wanted_tile_;  ///< the choice of tile, which comes back when the points have it again
  std::vector<Config> tiles_;
  std::vector<analysis::SweptValue> swept_;
  ToggleBar* toggles_ = nullptr;
  std::map<std::string, QToolButton*> chip_of_;
  std::set<std::string> hidden_;  ///< algorithms switched off, also those without a chip so far
  bool compact_ = false;          ///< too low for all controls
  QAction* dram_ = nullptr;
  QAction* sm_l2_ = nullptr;
  QAction* model_ = nullptr;
  QAction* fit_ = nullptr;
  QAction* paper_ = nullptr;
  QAction* compulsory_ = nullptr;
  QAction* boundary_ = nullptr;
  QAction* stacks_ = nullptr;
  QAction* per_head_ = nullptr;
  IoPlot* plot_ = nullptr;
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  QStackedLayout* stack_ = nullptr;
};

}  // namespace attnscope::ui
