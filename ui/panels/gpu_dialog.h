// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs of one's own: each begins as a public one, every value is free, and says in which unit it is and where it comes
// from.
#pragma once

#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <vector>

#include "kernels/model/device_limits.h"

namespace attnscope::ui {

class GpuDialog : public QDialog {
  Q_OBJECT
 public:
  /// Shows the GPU of that name, where it is the user's own.
  explicit GpuDialog(const QString& shown, QWidget* parent = nullptr);

  /// A new one, unsaved: these values, from that public GPU.
  void begin(const DeviceLimits& values, const QString& from, const QString& name);
  /// As the buttons do.
  void save();
  void remove();
  /// What stands below the values: what went wrong; empty: nothing.
  [[nodiscard]] QString error() const { return error_->text(); }
  /// The GPU whose values stand in the boxes: the saved one's name, empty while it is new.
  [[nodiscard]] const QString& shown() const { return shown_; }

 private:
  struct Row {
    QDoubleSpinBox* value = nullptr;
    QLabel* source = nullptr;
  };
  QWidget* make_list();
  QWidget* make_form();
  void show_list();
  void show_gpu(const QString& name);
  void show_values();
  void show_sources();
  void begin_from_public();
  void edit(std::size_t row, double value);
  [[nodiscard]] const DeviceLimits& base() const;

  QListWidget* list_ = nullptr;
  QLineEdit* name_ = nullptr;
  QComboBox* from_ = nullptr;
  QScrollArea* form_ = nullptr;
  QLabel* peaks_ = nullptr;
  QLabel* error_ = nullptr;
  QPushButton* remove_ = nullptr;
  std::vector<Row> rows_;  ///< in the order of gpu_values()
  DeviceLimits limits_;    ///< as the boxes have them
  QString shown_;
};

}  // namespace attnscope::ui
