// SPDX-License-Identifier: GPL-3.0-or-later
// The GPUs that the user made up, as the window has them: read once, written at each change, the same for all who ask.
#pragma once

#include <QObject>
#include <QString>
#include <string_view>
#include <vector>

#include "storage/own_gpus.h"

namespace attnscope::ui {

class OwnGpuList : public QObject {
  Q_OBJECT
 public:
  static OwnGpuList& instance();

  [[nodiscard]] const std::vector<OwnGpu>& gpus() const { return gpus_; }
  /// nullptr where there is none of that name.
  [[nodiscard]] const OwnGpu* find(std::string_view name) const { return find_own_gpu(gpus_, name); }
  /// What is wrong with the file, one line; empty where nothing is. Then nothing is written over it either.
  [[nodiscard]] const QString& error() const { return error_; }
  [[nodiscard]] QString file() const;

  /// Reads the file again.
  void reload();
  /// Adds it, or puts it in the place of `before`. The error is one line, empty when it is in the file.
  [[nodiscard]] QString save(const OwnGpu& gpu, const QString& before);
  [[nodiscard]] QString remove(const QString& name);

 signals:
  void changed();

 private:
  OwnGpuList();
  [[nodiscard]] QString write(std::vector<OwnGpu> gpus);

  std::vector<OwnGpu> gpus_;
  QString error_;
};

/// Of a public GPU or one of the user's own, by its name; nullptr for none. Stays until the list changes.
[[nodiscard]] const DeviceLimits* limits_of_gpu(std::string_view name);

}  // namespace attnscope::ui
