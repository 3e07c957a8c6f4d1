// SPDX-License-Identifier: GPL-3.0-or-later
// Names a device of another machine: tries it through the user's ssh, says what stands in the way, and copies this
// program there where it is missing.
#pragma once

#include <QDialog>
#include <QProcess>

#include "kernels/model/message.h"
#include "profiler/measure/events.h"
#include "ui/process/device_probe.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace attnscope::ui {

class RemoteDeviceDialog : public QDialog {
  Q_OBJECT
 public:
  explicit RemoteDeviceDialog(QWidget* parent = nullptr);
  ~RemoteDeviceDialog() override;

 private:
  [[nodiscard]] QString word() const;
  void add_fields();
  void try_it();
  void copy_program();
  void show_found(const PlanEvent& plan);
  void show_not_found(const Message& why);
  void show_copied(int exit_code);
  void show_list();
  void check();

  QLineEdit* host_ = nullptr;
  QLineEdit* device_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* connect_ = nullptr;
  QPushButton* copy_ = nullptr;
  QPushButton* remove_ = nullptr;
  QListWidget* list_ = nullptr;
  DeviceProbe probe_;
  QProcess copier_;
};

}  // namespace attnscope::ui
