// SPDX-License-Identifier: GPL-3.0-or-later
// Files that other programs write: open measurements, and manifests and sources of user-defined kernels.
#include <QApplication>
#include <QFileInfo>
#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/user/known_kernels.h"
#include "kernels/user/user_kernel.h"
#include "messages/window.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {
namespace {

constexpr std::chrono::milliseconds write_delay{300};  ///< collectors, copies and editors write in several steps

QString journal_of(const QString& file) {
  return file + QStringLiteral("-wal");
}

}  // namespace

void MainWindow::build_watchers() {
  for (QTimer* timer : {&files_timer_, &kernels_timer_}) {
    timer->setSingleShot(true);
    timer->setInterval(write_delay);
  }
  // A running timer goes on: a collector may write more often than its interval.
  const auto start_timer = [this] {
    if (!files_timer_.isActive()) files_timer_.start();
  };
  connect(&file_watcher_, &QFileSystemWatcher::fileChanged, this, start_timer);
  connect(&file_watcher_, &QFileSystemWatcher::directoryChanged, this, start_timer);
  connect(&files_timer_, &QTimer::timeout, this, &MainWindow::check_files);
  connect(&workspace_, &Workspace::runs_changed, this, &MainWindow::watch_files);
  for (const user::KernelFiles& kernel : user::loaded_kernel_files()) {
    kernel_watcher_.addPath(QString::fromStdString(user::defining_file(kernel).string()));
    for (const auto& source : kernel.sources) kernel_watcher_.addPath(QString::fromStdString(source.string()));
  }
  connect(&kernel_watcher_, &QFileSystemWatcher::fileChanged, this, [this](const QString& path) {
    written_kernel_files_.insert(path);
    kernels_timer_.start();
  });
  connect(&kernels_timer_, &QTimer::timeout, this, &MainWindow::check_kernel_files);
}

void MainWindow::watch_files() {
  std::erase_if(known_files_, [this](const auto& known) { return !workspace_.files().contains(known.first); });
  QStringList paths;
  for (const QString& file : workspace_.files()) {
    const QString journal = journal_of(file);
    known_files_.try_emplace(file, file_stamp(file.toStdString()), file_stamp(journal.toStdString()));
    paths << QFileInfo(file).path() << file << journal;
  }
  paths.removeDuplicates();
  const QStringList watched = file_watcher_.files() + file_watcher_.directories();
  paths.removeIf([&](const QString& path) { return watched.contains(path) || !QFileInfo::exists(path); });
  if (!paths.isEmpty()) file_watcher_.addPaths(paths);
}

void MainWindow::check_files() {
  watch_files();  // watches files that appeared
  for (auto& [file, stamps] : known_files_) {
    const std::pair now{file_stamp(file.toStdString()), file_stamp(journal_of(file).toStdString())};
    const auto before = std::exchange(stamps, now);
    if (now == before) continue;
    const bool exists = now.first.size >= 0;
    if (!exists || before.first.size < 0) banner_->remove_messages(file);
    if (exists) {
      workspace_.refresh(file);
    } else {
      banner_->add(Banner::Topic::replaced,
                   qtext("{} was removed. Its points stay loaded until you close it.", one_line(file).toStdString()),
                   file);
    }
  }
}

void MainWindow::check_kernel_files() {
  QStringList files;
  for (const QString& path : std::as_const(written_kernel_files_)) {
    if (QFileInfo::exists(path)) files << path;
  }
  for (const QString& path : files) {
    written_kernel_files_.remove(path);
    kernel_watcher_.addPath(path);  // watches the file that replaced the old one
  }
  if (!written_kernel_files_.isEmpty()) kernels_timer_.start();
  if (!files.isEmpty()) handle_saved_kernels(files);
}

void MainWindow::open_kernel(const QString& manifest) {
  banner_->clear(Banner::Topic::choice);
  if (is_measuring()) {
    return banner_->add(Banner::Topic::choice,
                        QStringLiteral("Cannot open a kernel while a measurement runs (stop it or wait)"));
  }
  if (const auto kernel = user::read_kernel(manifest.toStdString()); !kernel) {
    return banner_->add(Banner::Topic::choice, qtext(kernel.error()), manifest);
  }
  kernel_to_open_ = manifest;
  was_active_ = isActiveWindow();
  close();
}

void MainWindow::handle_saved_kernels(const QStringList& files) {
  const bool in_dialog = QApplication::activeModalWidget() != nullptr;
  for (const user::KernelFiles& kernel : user::loaded_kernel_files()) {
    const QString manifest = QString::fromStdString(kernel.manifest.string());
    const auto source = std::ranges::find_if(
        kernel.sources, [&](const auto& file) { return files.contains(QString::fromStdString(file.string())); });
    const bool as_loaded = user::is_unchanged(kernel);
    const bool stated = files.contains(QString::fromStdString(user::defining_file(kernel).string())) && !as_loaded;
    if (as_loaded)
      banner_->remove_messages(Banner::Topic::choice, manifest);  // clears messages about the changed manifest
    if (!stated && source == kernel.sources.end()) continue;
    if (is_measuring() || (stated && in_dialog)) {
      const std::string file = stated ? manifest.toStdString() : source->string();
      banner_->remove_messages(Banner::Topic::choice, manifest);
      banner_->offer(Banner::Topic::choice, qtext(msg::window::kernel_changed{.file = file}), manifest,
                     qtext(msg::window::reload{}), [this, manifest] { open_kernel(manifest); });
    } else if (stated) {
      open_kernel(manifest);
    } else {
      explorer_->handle_sources_saved();
    }
  }
}

}  // namespace attnscope::ui
