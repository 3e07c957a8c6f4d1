// SPDX-License-Identifier: GPL-3.0-or-later
// Ceilings of the devices in the open files: measured or from datasheets.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QTableView>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "ui/models/result_model.h"
#include "ui/pages/page.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// Ceilings of one device: one measured set, or the datasheet values of a device without one.
struct ShownCeilings {
  std::string device_name;
  std::string device_uuid;
  QString title;         ///< "NVIDIA H200 · 2026-11-21 04:12 · h200.attnscope"
  bool measured = true;  ///< false: datasheet values
  std::vector<Ceiling> ceilings;
};
/// Returns the sets of all open files, newest first, without duplicates, then the datasheets of devices that have runs
/// but no set.
[[nodiscard]] std::vector<ShownCeilings> ceilings_of(const Workspace& workspace);

class CeilingsPage : public Page {
  Q_OBJECT
 public:
  explicit CeilingsPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return table_; }

  void show_progress(const QString& words, bool busy) override;

  /// Chooses the newest set of a device, by its UUID, also before the set is loaded.
  void choose(const QString& uuid);
  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] const std::vector<ShownCeilings>& sets() const { return sets_; }
  /// Note above ceilings that were not measured; empty for measured ones.
  [[nodiscard]] QString note() const { return note_->isVisibleTo(this) ? note_->text() : QString(); }
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
