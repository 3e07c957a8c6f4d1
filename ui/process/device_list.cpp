// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/device_list.h"

#include <QSettings>
#include <algorithm>
#include <utility>

#include "messages/collect_panel.h"
#include "profiler/worker/ssh.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

constexpr auto remote_key = "devices/elsewhere";

struct RemoteDevices {
  QStringList words;
  bool remembered = false;
  std::vector<DeviceList*> lists;
};
RemoteDevices& remote_devices() {
  static RemoteDevices all;
  return all;
}

}  // namespace

bool is_remote_device(const QString& argument) {
  return argument.startsWith(QLatin1String(worker::ssh_prefix.data()));
}

std::optional<ListedDevice> listed_device(const PlanEvent& plan, const QString& argument) {
  const std::string gpu = plan.device_name;
  ListedDevice device{
      .argument = argument, .name = {}, .gpu = to_qstring(gpu), .note = {}, .simulated = plan.simulated};
  if (gpu.empty()) return {};
  if (const auto target = worker::parse_ssh_target(argument.toStdString()); target && is_remote_device(argument)) {
    device.name = plan.simulated ? qtext(msg::collect_panel::simulated_on_host{.gpu = gpu, .host = target->host})
                                 : qtext(msg::collect_panel::gpu_on_host{.gpu = gpu, .host = target->host});
  } else if (plan.simulated) {
    return {};
  } else {
    device.name = qtext(msg::collect_panel::gpu{.gpu = gpu, .number = argument.toInt()});
  }
  if (plan.counters != "available") device.note = to_qstring(plan.counters);
  return device;
}

DeviceList::DeviceList(QObject* parent) : QObject(parent) {
  remote_devices().lists.push_back(this);
  connect(&process_, &CollectorProcess::planned, this, [this](const PlanEvent& plan) { plan_ = plan; });
  connect(&process_, &CollectorProcess::finished, this, [this](const DoneEvent& done) {
    if (plan_.device_name.empty()) return handle_not_found(qtext(done.reason));
    handle_found();
  });
  connect(&process_, &CollectorProcess::failed, this, &DeviceList::handle_not_found);
  connect(&process_, &CollectorProcess::crashed, this, &DeviceList::handle_not_found);
}

DeviceList::~DeviceList() {
  std::erase(remote_devices().lists, this);
  process_.disconnect(this);
  process_.cancel();
  process_.kill_now();
}

const QStringList& DeviceList::remote() {
  return remote_devices().words;
}

void DeviceList::set_remote(const QStringList& words) {
  RemoteDevices& all = remote_devices();
  all.words.clear();
  for (const QString& word : words) {
    all.words << (is_remote_device(word) ? word : QString::fromLatin1(worker::ssh_prefix.data()) + word);
  }
  all.words.removeDuplicates();
  if (all.remembered) QSettings().setValue(QLatin1String(remote_key), all.words);
  for (DeviceList* list : all.lists) list->update_remote();
}

void DeviceList::load_remote() {
  remote_devices().remembered = true;
  set_remote(QSettings().value(QLatin1String(remote_key)).toStringList());
}

void DeviceList::handle_found() {
  std::optional<ListedDevice> device = listed_device(plan_, argument_);
  if (ordinal_ >= 0) ordinal_ = device ? ordinal_ + 1 : -1;
  // The user may have removed the remote device while it was probed.
  if (device && (!is_remote_device(argument_) || remote().contains(argument_))) add(*std::move(device));
  probe_next();
}

void DeviceList::handle_not_found(const QString& why) {
  if (ordinal_ >= 0) {  // no GPU with that ordinal: all local GPUs are known
    if (std::exchange(ordinal_, -1) == 0) {
      local_problem_ = why;
      emit changed();
    }
  } else if (remote().contains(argument_)) {
    const std::string host = argument_.sliced(static_cast<qsizetype>(worker::ssh_prefix.size())).toStdString();
    add({.argument = argument_,
         .name = qtext(msg::collect_panel::host_without_device{.host = host}),
         .gpu = {},
         .note = why});
  }
  probe_next();
}

void DeviceList::probe() {
  devices_.clear();
  asked_.clear();
  local_problem_.clear();
  list_simulated();
  probing_ = true;
  ordinal_ = 0;
  probe_next();
  emit changed();
}

void DeviceList::list_simulated() {
  for (const DeviceLimits& gpu : known_gpus()) {
    const QString name = to_qstring(gpu.name);
    const QString word = QString(name).remove(QStringLiteral("NVIDIA "));
    devices_.push_back({QStringLiteral("simulated:") + word,
                        qtext(msg::collect_panel::simulated_gpu{.gpu = word.toStdString()}),
                        name,
                        {},
                        true});
  }
}

/// Inserts before the simulated devices, which are always last.
void DeviceList::add(ListedDevice device) {
  const auto before = std::ranges::find_if(
      devices_, [](const ListedDevice& listed) { return listed.simulated && !is_remote_device(listed.argument); });
  devices_.insert(before, std::move(device));
  emit changed();
}

/// Probes the next unknown device; one at a time.
void DeviceList::probe_next() {
  if (!probing_ || process_.is_running()) return;
  if (find_collector().isEmpty()) {
    local_problem_ = QStringLiteral("Program “attnscope” not found in this program's folder or in PATH.");
    return;
  }
  if (ordinal_ >= 0) {
    argument_ = QString::number(ordinal_);
  } else {
    const auto next = std::ranges::find_if(remote(), [this](const QString& word) { return !asked_.contains(word); });
    if (next == remote().end()) return;
    asked_ << *next;
    argument_ = *next;
  }
  plan_ = {};
  process_.start_collector({QStringLiteral("collect"), QStringLiteral("--dry-run"), QStringLiteral("--jsonl"),
                            QStringLiteral("--preset"), QStringLiteral("quick"), QStringLiteral("--device"),
                            argument_});
}

void DeviceList::update_remote() {
  const auto is_gone = [](const ListedDevice& device) {
    return is_remote_device(device.argument) && !remote().contains(device.argument);
  };
  if (std::erase_if(devices_, is_gone) > 0) emit changed();
  asked_.removeIf([](const QString& word) { return !remote().contains(word); });
  probe_next();
}

std::size_t DeviceList::local_gpu_count() const {
  const auto is_local = [](const ListedDevice& device) {
    return !device.simulated && !is_remote_device(device.argument);
  };
  return static_cast<std::size_t>(std::ranges::count_if(devices_, is_local));
}

const ListedDevice* DeviceList::find(const QString& argument) const {
  const QString first = argument == QLatin1String(all_gpus) ? QStringLiteral("0") : argument;
  const auto found = std::ranges::find(devices_, first, &ListedDevice::argument);
  return found == devices_.end() ? nullptr : &*found;
}

const DeviceLimits& DeviceList::limits_of(const QString& argument) const {
  const ListedDevice* device = find(argument);
  const DeviceLimits* limits = device == nullptr ? nullptr : find_gpu(device->gpu.toStdString());
  return limits == nullptr ? known_gpus().front() : *limits;
}

}  // namespace attnscope::ui
