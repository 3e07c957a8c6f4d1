// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/file_watch.h"

#include <QFileInfo>
#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/user/known_kernels.h"

namespace attnscope::ui {

namespace {

constexpr std::chrono::milliseconds write_delay{300};  ///< debounce delay; copies and collectors write in several steps

QString journal_of(const QString& file) {
  return file + QStringLiteral("-wal");
}

}  // namespace

FileWatch::FileWatch(Workspace& workspace, QObject* parent) : QObject(parent), workspace_(workspace) {
  debounce_timer_.setSingleShot(true);
  debounce_timer_.setInterval(write_delay);
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, [this] { debounce_timer_.start(); });
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, [this] { debounce_timer_.start(); });
  connect(&debounce_timer_, &QTimer::timeout, this, &FileWatch::check_files);
  connect(&workspace_, &Workspace::runs_changed, this, &FileWatch::watch);
}

void FileWatch::watch() {
  std::erase_if(known_, [this](const auto& known) { return !workspace_.files().contains(known.first); });
  QStringList paths;
  for (const QString& file : workspace_.files()) {
    const QString journal = journal_of(file);
    known_.try_emplace(file, file_stamp(file.toStdString()), file_stamp(journal.toStdString()));
    paths << QFileInfo(file).path() << file << journal;
  }
  paths.removeDuplicates();
  const QStringList watched = watcher_.files() + watcher_.directories();
  paths.removeIf([&](const QString& path) { return watched.contains(path) || !QFileInfo::exists(path); });
  if (!paths.isEmpty()) watcher_.addPaths(paths);
}

void FileWatch::check_files() {
  watch();  // watches files that appeared
  const std::map<QString, State> before = known_;
  for (const auto& [file, was] : before) {
    const State now{file_stamp(file.toStdString()), file_stamp(journal_of(file).toStdString())};
    if (now == was) continue;
    known_[file] = now;
    follow(file, was, now);
  }
}

void FileWatch::follow(const QString& file, const State& before, const State& now) {
  if (now.first.size < 0) return emit file_removed(file);
  if (before.first.size < 0) emit file_restored(file);
  const auto run = std::ranges::find(workspace_.runs(), file, [](const LoadedRun& each) { return each.info->file; });
  // Appended measurements only grow the file.
  const bool other =
      run != workspace_.runs().end() && (!now.first.same_file(run->info->stamp) || now.first.size < before.first.size);
  if (other) {
    workspace_.reload(RunInfo(*run->info));
  } else {
    workspace_.follow(file);
  }
}

namespace {

constexpr std::chrono::milliseconds save_delay{300};

}  // namespace

KernelWatch::KernelWatch(QObject* parent) : QObject(parent) {
  debounce_timer_.setSingleShot(true);
  debounce_timer_.setInterval(save_delay);
  for (const user::KernelFiles& kernel : user::loaded_kernel_files()) {
    watcher_.addPath(QString::fromStdString(user::defining_file(kernel).string()));
    for (const auto& source : kernel.sources) watcher_.addPath(QString::fromStdString(source.string()));
  }
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, [this](const QString& path) {
    written_.insert(path);
    debounce_timer_.start();
  });
  connect(&debounce_timer_, &QTimer::timeout, this, &KernelWatch::emit_saved);
}

void KernelWatch::emit_saved() {
  QStringList there;
  for (const QString& path : std::as_const(written_)) {
    if (QFileInfo::exists(path)) there << path;
  }
  for (const QString& path : there) {
    written_.remove(path);
    watcher_.addPath(path);  // watches the file that replaced the old one
  }
  if (!written_.isEmpty()) debounce_timer_.start();
  if (!there.isEmpty()) emit saved(there);
}

}  // namespace attnscope::ui
