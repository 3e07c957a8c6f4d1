// SPDX-License-Identifier: GPL-3.0-or-later
// Ceilings of the devices in the open files: measured or from datasheets.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QTableView>
#include <vector>

#include "ui/models/result_model.h"
#include "ui/models/shown_ceilings.h"
#include "ui/pages/page.h"

namespace attnscope::ui {

class CeilingsPage : public Page {
  Q_OBJECT
 public:
  explicit CeilingsPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return table_; }

  void show_progress(const QString& words, bool busy) override;

  /// Chooses the newest set of a device, by its UUID, also before the set is loaded.
  void choose(const QString& uuid);
  [[nodiscard]] QTableView* table() const { return table_; }
  /// Sets to choose from, newest first.
  [[nodiscard]] const std::vector<ShownCeilings>& sets() const { return sets_; }
  /// Note above ceilings that were not measured; empty for measured ones.
  [[nodiscard]] QString note() const { return note_->isVisibleTo(this) ? note_->text() : QString(); }
  /// Progress of the running measurement; empty: none.
  [[nodiscard]] QString progress() const { return progress_->isVisibleTo(this) ? progress_->text() : QString(); }

 protected:
  void show_choices() override { refresh(); }

 private:
  void refresh();
  void show_set();
  void show_ceilings(std::span<const Ceiling> ceilings);

  Workspace& workspace_;
  std::vector<ShownCeilings> sets_;
  QString wanted_;  ///< UUID of the device that the user chose.
  QComboBox* choice_ = nullptr;
  QLabel* progress_ = nullptr;
  QLabel* note_ = nullptr;
  ResultModel* model_ = nullptr;
  QTableView* table_ = nullptr;
};

}  // namespace attnscope::ui
