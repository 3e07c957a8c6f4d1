// SPDX-License-Identifier: GPL-3.0-or-later
// What to collect, on which device, into which file: fields, and whether they make a sweep.
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
  /// Either what stands in the way, or the plan in words: "62 points on Simulated H200."
  struct Verdict {
    QString problem;
    QString plan;
  };
  [[nodiscard]] Verdict check() const;
  /// One of the list.
  void set_device(const QString& argument);
  void set_preset(const QString& name);
  void set_axes(const QString& text);
  void set_rounds(int rounds);
  void set_database(const QString& path);
  void set_resume(bool on);
  /// All that is filled in; restore() leaves fields as they are that it does not have, or has otherwise.
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
  void choose_remote();
  void show_devices();
  void take_algorithms_of_preset();
  /// No other device than a GPU of this machine runs one.
  void offer_own_kernels();
  [[nodiscard]] SweepRequest sweep_request(QString* error) const;

  DeviceList devices_;
  QString last_device_;    ///< the one that is chosen, by its argument
  QString wanted_device_;  ///< just named, or of a window before, and not found yet
  bool device_chosen_ = false;
  QComboBox* device_ = nullptr;
  QComboBox* preset_ = nullptr;
  QLineEdit* axes_ = nullptr;
  std::vector<QCheckBox*> algorithms_;
  QComboBox* cache_ = nullptr;
  QSpinBox* rounds_ = nullptr;
  QCheckBox* resume_ = nullptr;
  DatabaseField* database_ = nullptr;
  QLineEdit* file_ = nullptr;  ///< its
};

}  // namespace attnscope::ui
