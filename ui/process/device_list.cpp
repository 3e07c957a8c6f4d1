// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/device_list.h"

#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "messages/collect_panel.h"
#include "profiler/worker/ssh.h"
#include "ui/process/remote_device_list.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

/// Not where it was forgotten while it was asked for.
bool is_named(const QString& argument) {
  return !is_remote_device(argument) || RemoteDeviceList::instance().words().contains(argument);
}

}  // namespace

std::optional<ListedDevice> listed_device(const PlanEvent& plan, const QString& argument) {
  const std::string gpu = plan.device_name;
  ListedDevice device{
      .argument = argument, .name = {}, .gpu = to_qstring(gpu), .note = {}, .simulated = plan.simulated};
  if (gpu.empty()) return {};
  if (const auto target = worker::parse_ssh_target(argument.toStdString()); target && is_remote_device(argument)) {
    device.name = plan.simulated ? qtext(say::collect_panel::simulated_on_host{.gpu = gpu, .host = target->host})
                                 : qtext(say::collect_panel::gpu_on_host{.gpu = gpu, .host = target->host});
  } else if (plan.simulated) {
    return {};
  } else {
    device.name = qtext(say::collect_panel::gpu{.gpu = gpu, .number = argument.toInt()});
  }
  if (plan.counters != "available") device.note = to_qstring(plan.counters);
  return device;
}

DeviceList::DeviceList(QObject* parent) : QObject(parent) {
  connect(&probe_, &DeviceProbe::found, this, [this](const PlanEvent& plan) {
    std::optional<ListedDevice> device = listed_device(plan, probe_.argument());
    if (ordinal_ >= 0) ordinal_ = device ? ordinal_ + 1 : -1;
    if (device && is_named(probe_.argument())) add(*std::move(device));
    ask_on();
  });
  connect(&probe_, &DeviceProbe::not_found, this, [this](const QString& why) {
    if (ordinal_ >= 0) {  // no GPU of that number: all that are here are known
      ordinal_ = -1;
    } else if (const auto target = worker::parse_ssh_target(probe_.argument().toStdString());
               target && is_named(probe_.argument())) {
      add({.argument = probe_.argument(),
           .name = qtext(say::collect_panel::host_without_device{.host = target->host}),
           .gpu = {},
           .note = why});
    }
    ask_on();
  });
  connect(&RemoteDeviceList::instance(), &RemoteDeviceList::changed, this, &DeviceList::follow_remote_devices);
}

void DeviceList::probe() {
  devices_.clear();
  asked_.clear();
  list_simulated();
  emit changed();
  probing_ = true;
  ordinal_ = 0;
  ask_on();
}

void DeviceList::list_simulated() {
  for (const DeviceLimits& gpu : known_gpus()) {
    const QString name = to_qstring(gpu.name);
    const QString word = QString(name).remove(QStringLiteral("NVIDIA "));
    devices_.push_back({QStringLiteral("simulated:") + word,
                        qtext(say::collect_panel::simulated_gpu{.gpu = word.toStdString()}),
                        name,
                        {},
                        true});
  }
}

/// Before the simulated ones, which need nobody to be found.
void DeviceList::add(ListedDevice device) {
  const auto before = std::ranges::find_if(
      devices_, [](const ListedDevice& listed) { return listed.simulated && !is_remote_device(listed.argument); });
  devices_.insert(before, std::move(device));
  emit changed();
}

/// Asks for the next device that is not known, one at a time.
void DeviceList::ask_on() {
  if (!probing_ || probe_.running()) return;
  if (ordinal_ >= 0) {
    probe_.ask_for(QString::number(ordinal_));
    return;
  }
  for (const QString& word : RemoteDeviceList::instance().words()) {
    if (asked_.contains(word)) continue;
    asked_ << word;
    probe_.ask_for(word);
    return;
  }
}

void DeviceList::follow_remote_devices() {
  const QStringList& words = RemoteDeviceList::instance().words();
  const auto is_gone = [&](const ListedDevice& device) {
    return is_remote_device(device.argument) && !words.contains(device.argument);
  };
  if (std::erase_if(devices_, is_gone) > 0) emit changed();
  asked_.removeIf([&](const QString& word) { return !words.contains(word); });
  ask_on();
}

std::optional<std::size_t> DeviceList::several(const QString& argument) const {
  static const QRegularExpression part(
      QStringLiteral("^(\\d+|gpu|ssh:[^,*]+|simulated[^,*]*(\\*(?<count>[1-9]\\d?))?)$"));
  if (std::ranges::find(devices_, argument, &ListedDevice::argument) != devices_.end()) return std::nullopt;
  if (argument == QLatin1String(all_gpus)) {
    const auto is_here = [](const ListedDevice& device) {
      return !device.simulated && !is_remote_device(device.argument);
    };
    return static_cast<std::size_t>(std::ranges::count_if(devices_, is_here));
  }
  std::size_t count = 0;
  for (const QString& word : argument.split(QLatin1Char(','))) {
    const QRegularExpressionMatch match = part.match(word);
    if (!match.hasMatch()) return std::nullopt;
    count += match.hasCaptured(QStringLiteral("count")) ? match.captured(QStringLiteral("count")).toUInt() : 1;
  }
  return count > 1 ? std::optional(count) : std::nullopt;
}

const ListedDevice* DeviceList::find(const QString& argument) const {
  const auto found = std::ranges::find(devices_, argument, &ListedDevice::argument);
  if (found != devices_.end()) return &*found;
  if (!several(argument)) return nullptr;
  const QString first = argument.section(QLatin1Char(','), 0, 0).section(QLatin1Char('*'), 0, 0);
  return find(argument == QLatin1String(all_gpus) ? QStringLiteral("0") : first);
}

const DeviceLimits& DeviceList::limits_of(const QString& argument) const {
  const ListedDevice* device = find(argument);
  const DeviceLimits* limits = device == nullptr ? nullptr : find_gpu(device->gpu.toStdString());
  return limits == nullptr ? known_gpus().front() : *limits;
}

}  // namespace attnscope::ui
