// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/device_probe.h"

#include "ui/text/qtext.h"

namespace attnscope::ui {

DeviceProbe::DeviceProbe(QObject* parent) : QObject(parent) {
  connect(&process_, &CollectorProcess::planned, this, [this](const PlanEvent& plan) { plan_ = plan; });
  connect(&process_, &CollectorProcess::finished, this, [this](const DoneEvent& done) {
    if (plan_.device_name.empty()) {
      emit not_found(qtext(done.reason));
    } else {
      emit found(plan_);
    }
  });
  connect(&process_, &CollectorProcess::cancelled, this, [this] { emit not_found({}); });
  connect(&process_, &CollectorProcess::failed, this, &DeviceProbe::not_found);
  connect(&process_, &CollectorProcess::crashed, this, &DeviceProbe::not_found);
}

DeviceProbe::~DeviceProbe() {
  process_.disconnect(this);
  process_.cancel();
  process_.end_now();
}

bool DeviceProbe::ask_for(const QString& argument) {
  if (find_collector().isEmpty() || running()) return false;
  argument_ = argument;
  plan_ = {};
  process_.start_collector({QStringLiteral("collect"), QStringLiteral("--dry-run"), QStringLiteral("--jsonl"),
                            QStringLiteral("--preset"), QStringLiteral("quick"), QStringLiteral("--device"), argument});
  return true;
}

}  // namespace attnscope::ui
