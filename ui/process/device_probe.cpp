// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/device_probe.h"

#include "ui/process/collector_process.h"

namespace attnscope::ui {

DeviceProbe::DeviceProbe(QObject* parent) : QObject(parent) {
  connect(&process_, &QProcess::finished, this, &DeviceProbe::read);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;  // finished() says the rest
    emit not_found(make_message("The collector could not be started: {}", process_.errorString().toStdString()));
  });
}

DeviceProbe::~DeviceProbe() {
  disconnect(&process_, nullptr, this, nullptr);
  if (!running()) return;
  process_.kill();
  process_.waitForFinished(1000);
}

bool DeviceProbe::ask_for(const QString& argument) {
  const QString program = find_collector();
  if (program.isEmpty() || running()) return false;
  argument_ = argument;
  process_.start(program, {QStringLiteral("collect"), QStringLiteral("--dry-run"), QStringLiteral("--jsonl"),
                           QStringLiteral("--preset"), QStringLiteral("quick"), QStringLiteral("--device"), argument});
  return true;
}

void DeviceProbe::read() {
  std::optional<PlanEvent> plan;
  Message why;
  for (const QByteArray& line : process_.readAllStandardOutput().split('\n')) {
    const auto event = parse_event({line.constData(), static_cast<std::size_t>(line.size())});
    if (!event) continue;
    if (const auto* planned = std::get_if<PlanEvent>(&*event)) plan = *planned;
    if (const auto* done = std::get_if<DoneEvent>(&*event)) why = done->reason;
  }
  if (plan && !plan->device_name.empty() && process_.exitCode() == 0) {
    emit found(*plan);
  } else {
    emit not_found(why.empty()
                       ? make_message("The collector ended with exit code {} and no explanation.", process_.exitCode())
                       : why);
  }
}

}  // namespace attnscope::ui
