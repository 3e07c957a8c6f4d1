// SPDX-License-Identifier: GPL-3.0-or-later
// What a compiler says of the kernels of one point: `attnscope kernels build --json` as a child process. It needs no
// GPU.
#pragma once

#include <QDir>
#include <QObject>
#include <QString>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/plan/point_spec.h"
#include "ui/process/json_program.h"

namespace attnscope::ui {

/// One message of a compiler, without the lines of source that it shows.
struct CompilerMessage {
  QString place;  ///< "my-kernel.cu:45"; empty: it is about no line
  QString text;   ///< "error: identifier "x" is undefined"
};
/// Those of a compiler's log. Files in `folder` are named from there.
[[nodiscard]] std::vector<CompilerMessage> compiler_messages(const QString& log, const QDir& folder);

class KernelBuild : public QObject {
  Q_OBJECT
 public:
  explicit KernelBuild(QObject* parent = nullptr);

  /// In place of one that is under way. `gpu`: whose limits hold; empty: one of `arch`.
  void start(const PointSpec& spec, const QString& arch, const QString& gpu);
  void stop() { program_.stop(); }
  /// Waits for it.
  void finish() { program_.finish(); }

 signals:
  // Exactly one of these ends every start(), unless another one or stop() comes before it; never within start().
  void built(const std::vector<attnscope::BuildReport>& kernels);
  void failed(const QString& why);

 private:
  void read(const QJsonObject& said, const QString& why);

  JsonProgram program_;
};

}  // namespace attnscope::ui
