// SPDX-License-Identifier: GPL-3.0-or-later
// Detects when open files are written, replaced or removed by other programs.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QSet>
#include <QStringList>
#include <QTimer>
#include <map>
#include <utility>

#include "profiler/files/file_system.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// Follows appended files and rereads replaced files.
class FileWatch : public QObject {
  Q_OBJECT
 public:
  FileWatch(Workspace& workspace, QObject* parent);

 signals:
  /// The file was removed; its contents stay in memory.
  void file_removed(const QString& path);
  void file_restored(const QString& path);

 private:
  /// Stamps of the file and of its write-ahead log.
  using State = std::pair<FileStamp, FileStamp>;
  void watch();
  void check_files();
  void follow(const QString& file, const State& before, const State& now);

  Workspace& workspace_;
  QFileSystemWatcher watcher_;
  QTimer debounce_timer_;
  std::map<QString, State> known_;
};

/// Watches the files of known user-defined kernels.
class KernelWatch : public QObject {
  Q_OBJECT
 public:
  explicit KernelWatch(QObject* parent = nullptr);

 signals:
  /// Manifests and sources were saved. Emitted after a delay, because editors save in several steps.
  void saved(const QStringList& files);

 private:
  void emit_saved();

  QFileSystemWatcher watcher_;
  QTimer debounce_timer_;
  QSet<QString> written_;
};

}  // namespace attnscope::ui
