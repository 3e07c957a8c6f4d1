// SPDX-License-Identifier: GPL-3.0-or-later
// Devices for collections: local GPUs, found in the background by the command-line program, devices on remote hosts,
// and simulated ones.
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
  QString argument;  ///< argument of --device, which identifies the device: "0", "ssh:gpubox", "simulated:H200"
  QString name;      ///< display name
  QString gpu;       ///< name reported by the driver or in the table of limits
  QString note;      ///< why counters are unavailable, or why a remote host cannot be reached; empty if fine
  bool simulated = false;
};

[[nodiscard]] bool is_remote_device(const QString& argument);

/// Returns the device of a plan of `attnscope collect --dry-run --jsonl --device ARGUMENT`; nullopt if the plan fell
/// back to simulation.
[[nodiscard]] std::optional<ListedDevice> listed_device(const PlanEvent& plan, const QString& argument);

inline constexpr auto all_gpus = "all";

class DeviceList : public QObject {
  Q_OBJECT
 public:
  explicit DeviceList(QObject* parent = nullptr);
  ~DeviceList() override;

  /// Remote devices ("ssh:HOST", "ssh:HOST/DEVICE") that the user added; one list per process.
  [[nodiscard]] static const QStringList& remote();
  /// Sets the remote devices; "HOST" becomes "ssh:HOST". Every DeviceList probes new ones and drops removed ones.
  static void set_remote(const QStringList& words);
  /// Loads remote devices from the settings and saves later changes.
  static void load_remote();

  /// Lists the simulated devices, then probes local GPUs and remote devices, which are inserted first. Unreachable
  /// remote devices are listed with the reason.
  void probe();
  [[nodiscard]] const std::vector<ListedDevice>& devices() const { return devices_; }
  [[nodiscard]] std::size_t local_gpu_count() const;
  /// Returns why no local GPU can be used; empty if there is one or the probe is not done.
  [[nodiscard]] const QString& local_problem() const { return local_problem_; }
  /// Device with that argument (all_gpus: the first); null if there is none.
  [[nodiscard]] const ListedDevice* find(const QString& argument) const;
  /// Returns the GPU's limits, or those of a default GPU if it is not in the table.
  [[nodiscard]] const DeviceLimits& limits_of(const QString& argument) const;

 signals:
  void changed();

 private:
  void list_simulated();
  void add(ListedDevice device);
  void probe_next();
  void handle_found();
  void handle_not_found(const QString& why);
  void update_remote();

  std::vector<ListedDevice> devices_;
  CollectorProcess process_;
  QString argument_;
  PlanEvent plan_;
  bool probing_ = false;
  QString local_problem_;
  int ordinal_ = 0;  ///< next local GPU to probe; -1: all are known
  QStringList asked_;
};

}  // namespace attnscope::ui
