// SPDX-License-Identifier: GPL-3.0-or-later
// The devices that a collection can run on: this machine's GPUs, asked of the command-line program in the background,
// those of other machines that the user has named, and the simulated ones.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "kernels/model/device_limits.h"
#include "profiler/worker/protocol.h"
#include "ui/process/collector_process.h"

namespace attnscope::ui {

struct ListedDevice {
  QString argument;  ///< for --device: "0", "ssh:gpubox", "simulated:H200"; what the device is known by
  QString name;      ///< for people
  QString gpu;       ///< the GPU's own name, as the driver or the table of limits has it
  QString note;      ///< why counters are missing, when they are; why another machine's cannot be reached
  bool simulated = false;
};

/// Whether --device would lead to another machine.
[[nodiscard]] bool is_remote_device(const QString& argument);

/// What `attnscope collect --dry-run --jsonl --device ARGUMENT` planned for; nothing where a simulation stands for a
/// GPU of this machine that is not there.
[[nodiscard]] std::optional<ListedDevice> listed_device(const PlanEvent& plan, const QString& argument);

/// In place of one device: all GPUs of this machine.
inline constexpr auto all_gpus = "all";

class DeviceList : public QObject {
  Q_OBJECT
 public:
  explicit DeviceList(QObject* parent = nullptr);
  ~DeviceList() override;

  /// Devices on other machines ("ssh:HOST", "ssh:HOST/DEVICE") that the user has named: one list for the program.
  [[nodiscard]] static const QStringList& remote();
  /// "HOST" becomes "ssh:HOST". Every DeviceList probes what is new and drops what is gone.
  static void set_remote(const QStringList& words);
  /// Reads them from the settings, which keep them from then on.
  static void remember_remote();

  /// Lists the simulated devices and asks for the GPUs, then for those elsewhere; each that is found is inserted before
  /// the simulated ones. One elsewhere that is not found is listed with the reason.
  void probe();
  [[nodiscard]] const std::vector<ListedDevice>& devices() const { return devices_; }
  [[nodiscard]] std::size_t gpus_here() const;
  /// Device with that argument (all_gpus: the first); null if there is none.
  [[nodiscard]] const ListedDevice* find(const QString& argument) const;
  /// What a plan for it has to fit: the GPU's limits, those of a usual one where it is not in the table.
  [[nodiscard]] const DeviceLimits& limits_of(const QString& argument) const;

 signals:
  void changed();

 private:
  void list_simulated();
  void add(ListedDevice device);
  void probe_next();
  void take_found();
  void take_not_found(const QString& why);
  void follow_remote();

  std::vector<ListedDevice> devices_;
  CollectorProcess process_;
  QString argument_;      ///< of the device that process_ is asked for
  PlanEvent plan_;        ///< what it said of it
  bool probing_ = false;  ///< probe() was called
  int ordinal_ = 0;       ///< of the GPU here to ask for next; -1: all are known
  QStringList asked_;     ///< those elsewhere that were asked for
};

}  // namespace attnscope::ui
