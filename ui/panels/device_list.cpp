// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/device_list.h"

#include <algorithm>

#include "messages/collect_panel.h"
#include "profiler/measure/events.h"
#include "ui/collector_process.h"
#include "ui/format.h"
#include "ui/own_gpu_list.h"
#include "ui/said.h"

namespace attnscope::ui {

std::optional<ListedDevice> parse_device(const QByteArray& plan_line, int ordinal) {
  const QByteArray line = plan_line.left(plan_line.indexOf('\n'));
  const auto event = parse_event({line.constData(), static_cast<std::size_t>(line.size())});
  if (!event) return {};
  const auto* plan = std::get_if<PlanEvent>(&*event);
  if (plan == nullptr || plan->simulated || plan->device_name.empty()) return {};
  const QString gpu = QString::fromStdString(plan->device_name);
  ListedDevice device{
      QString::number(ordinal), said(say::collect_panel::gpu{.gpu = gpu.toStdString(), .number = ordinal}), gpu, {}};
  if (plan->counters != "available") device.note = QString::fromStdString(plan->counters);
  return device;
}

DeviceList::DeviceList(QObject* parent) : QObject(parent) {
  connect(&OwnGpuList::instance(), &OwnGpuList::changed, this, [this] {
    if (devices_.empty()) return;  // not asked for yet
    list_simulated();
    emit changed();
  });
  connect(&process_, &QProcess::finished, this, [this](int exit_code) {
    auto device = exit_code == 0 ? parse_device(process_.readAllStandardOutput(), ordinal_) : std::nullopt;
    if (!device) return;  // no GPU of that number: the list is complete
    devices_.insert(devices_.begin() + ordinal_, std::move(*device));
    emit changed();
    ask_for(ordinal_ + 1);
  });
}

DeviceList::~DeviceList() {
  disconnect(&process_, nullptr, this, nullptr);
  if (process_.state() != QProcess::NotRunning) {
    process_.kill();
    process_.waitForFinished(1000);
  }
}

void DeviceList::probe() {
  devices_.clear();
  list_simulated();
  emit changed();
  ask_for(0);
}

void DeviceList::list_simulated() {
  std::erase_if(devices_, &ListedDevice::simulated);
  const auto add = [this](const std::string& gpu) {
    const QString name = to_qstring(gpu);
    const QString word = QString(name).remove(QStringLiteral("NVIDIA "));
    devices_.push_back({QStringLiteral("simulated:") + word,
                        said(say::collect_panel::simulated_gpu{.gpu = word.toStdString()}),
                        name,
                        {},
                        true});
  };
  for (const DeviceLimits& gpu : known_gpus()) add(gpu.name);
  for (const OwnGpu& gpu : OwnGpuList::instance().gpus()) add(gpu.limits.name);
}

void DeviceList::ask_for(int ordinal) {
  const QString program = find_collector();
  if (program.isEmpty() || process_.state() != QProcess::NotRunning) return;
  ordinal_ = ordinal;
  process_.start(program, {QStringLiteral("collect"), QStringLiteral("--dry-run"), QStringLiteral("--jsonl"),
                           QStringLiteral("--preset"), QStringLiteral("quick"), QStringLiteral("--device"),
                           QString::number(ordinal)});
}

const ListedDevice* DeviceList::find(const QString& argument) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const ListedDevice& device) { return device.argument == argument; });
  return found == devices_.end() ? nullptr : &*found;
}

const DeviceLimits& DeviceList::limits_of(const QString& argument) const {
  const ListedDevice* device = find(argument);
  const DeviceLimits* limits = device == nullptr ? nullptr : find_gpu(device->gpu.toStdString());
  if (device != nullptr && limits == nullptr) limits = limits_of_gpu(device->gpu.toStdString());
  return limits == nullptr ? known_gpus().front() : *limits;
}

}  // namespace attnscope::ui
