// SPDX-License-Identifier: GPL-3.0-or-later
// Form for a collection: device, sweep and file, with validation.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QJsonObject>
#include <QLineEdit>
#include <QSpinBox>
#include <QWidget>
#include <vector>

#include "profiler/plan/sweep.h"
#include "ui/process/collector_process.h"
#include "ui/process/device_list.h"

class QFormLayout;

namespace attnscope::ui {

class DatabaseField;

class CollectForm : public QWidget {
  Q_OBJECT
 public:
  explicit CollectForm(QWidget* parent = nullptr);

  [[nodiscard]] CollectRequest request() const;
  /// The reason why a collection cannot start, or a summary of the plan: "62 points on Simulated H200."
  struct Verdict {
    QString problem;
    QString plan;
  };
  [[nodiscard]] Verdict check() const;
  [[nodiscard]] const DeviceList& devices() const { return devices_; }
  void set_preset(const QString& name);
  void set_axes(const QString& text);
  /// Returns all fields; restore() ignores missing and invalid values.
  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state);

 signals:
  void changed();

 private:
  void add_device_and_preset(QFormLayout& form);
  void add_axes_and_algorithms(QFormLayout& form);
  void add_cache(QFormLayout& form);
  void add_file(QFormLayout& form);
  void connect_fields();
  void choose_device();
  void add_remote_device();
  void show_devices();
  void select_preset_algorithms();
  void update_user_kernels();

  DeviceList devices_;
  QString last_device_;     ///< argument of the selected device
  QString pending_device_;  ///< device to select when it is found: just added, or from a previous session
  bool device_chosen_ = false;
  QComboBox* device_ = nullptr;
  QComboBox* preset_ = nullptr;
  QLineEdit* axes_ = nullptr;
  std::vector<QCheckBox*> algorithms_;
  QComboBox* cache_ = nullptr;
  QSpinBox* rounds_ = nullptr;
  QCheckBox* resume_ = nullptr;
  DatabaseField* database_ = nullptr;
  QLineEdit* file_ = nullptr;
};

}  // namespace attnscope::ui
