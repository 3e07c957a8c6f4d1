// SPDX-License-Identifier: GPL-3.0-or-later
// Names a device of another machine: tries it through the user's ssh, and says what stands in the way.
#pragma once

#include <QDialog>

#include "kernels/messages/message.h"
#include "profiler/worker/protocol.h"
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

 private:
  [[nodiscard]] QString word() const;
  void add_fields();
  void try_it();
  void show_found(const PlanEvent& plan);
  void show_not_found(const QString& why);
  void show_list();
  void check();

  QLineEdit* host_ = nullptr;
  QLineEdit* device_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* connect_ = nullptr;
  QPushButton* remove_ = nullptr;
  QListWidget* list_ = nullptr;
  DeviceProbe probe_;
};

}  // namespace attnscope::ui
