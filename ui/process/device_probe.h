// SPDX-License-Identifier: GPL-3.0-or-later
// Asks the command-line program for one device, in the background: what it is, or why there is none.
#pragma once

#include <QObject>
#include <QString>

#include "profiler/worker/protocol.h"
#include "ui/process/collector_process.h"

namespace attnscope::ui {

class DeviceProbe : public QObject {
  Q_OBJECT
 public:
  explicit DeviceProbe(QObject* parent = nullptr);
  ~DeviceProbe() override;

  /// `argument`: as --device takes it. One at a time: false while another is asked for, or without a program to ask.
  bool ask_for(const QString& argument);
  [[nodiscard]] bool running() const { return process_.running(); }
  [[nodiscard]] const QString& argument() const { return argument_; }

 signals:
  void found(const attnscope::PlanEvent& plan);
  void not_found(const QString& why);

 private:
  CollectorProcess process_;
  PlanEvent plan_;
  QString argument_;
};

}  // namespace attnscope::ui
