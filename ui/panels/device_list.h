// SPDX-License-Identifier: GPL-3.0-or-later
// The devices that a collection can run on: this machine's GPUs, asked of the command-line program in the background,
// and the simulated ones.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <optional>
#include <vector>

#include "kernels/model/device_limits.h"

namespace attnscope::ui {

struct ListedDevice {
  QString argument;  ///< for --device: "0", "simulated:H200"; what the device is known by
  QString name;      ///< for people
  QString gpu;       ///< the GPU's own name, as the driver or the table of limits has it
  QString note;      ///< why counters are missing, when they are
  bool simulated = false;
};

/// The GPU that `attnscope collect --dry-run --jsonl --device ORDINAL` planned for; nothing when it planned for none.
[[nodiscard]] std::optional<ListedDevice> parse_device(const QByteArray& plan_line, int ordinal);

class DeviceList : public QObject {
  Q_OBJECT
 public:
  explicit DeviceList(QObject* parent = nullptr);
  ~DeviceList() override;

  /// Lists the simulated devices and asks for the GPUs; each that is found stands before the simulated ones.
  void probe();
  [[nodiscard]] const std::vector<ListedDevice>& devices() const { return devices_; }
  /// By its argument; null when there is none.
  [[nodiscard]] const ListedDevice* find(const QString& argument) const;
  /// What a plan for it has to fit: the GPU's limits, those of a usual one where it is not in the table.
  [[nodiscard]] const DeviceLimits& limits_of(const QString& argument) const;

 signals:
  void changed();

 private:
  /// After the GPUs: the public ones, then the user's own.
  void list_simulated();
  void ask_for(int ordinal);

  std::vector<ListedDevice> devices_;
  QProcess process_;
  int ordinal_ = 0;
};

}  // namespace attnscope::ui
