// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/kernel_watch.h"

#include <QFileInfo>
#include <chrono>
#include <utility>

#include "kernels/user/known_kernels.h"

namespace attnscope::ui {
namespace {

constexpr std::chrono::milliseconds quiet_for{300};

}  // namespace

KernelWatch::KernelWatch(QObject* parent) : QObject(parent) {
  settling_.setSingleShot(true);
  settling_.setInterval(quiet_for);
  for (const user::KernelFiles& kernel : user::known_kernel_files()) {
    watcher_.addPath(QString::fromStdString(kernel.statement.string()));
    for (const auto& source : kernel.sources) watcher_.addPath(QString::fromStdString(source.string()));
  }
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, [this](const QString& path) {
    written_.insert(path);
    settling_.start();
  });
  connect(&settling_, &QTimer::timeout, this, &KernelWatch::tell);
}

void KernelWatch::tell() {
  QStringList there;
  for (const QString& path : std::as_const(written_)) {
    if (QFileInfo::exists(path)) there << path;
  }
  for (const QString& path : there) {
    written_.remove(path);
    watcher_.addPath(path);  // another file may have come in its place
  }
  if (!written_.isEmpty()) settling_.start();
  if (!there.isEmpty()) emit saved(there);
}

}  // namespace attnscope::ui
