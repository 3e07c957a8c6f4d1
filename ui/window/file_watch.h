// SPDX-License-Identifier: GPL-3.0-or-later
// Open files that others write to, replace or take away while they are shown.
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

/// What was added is read, another file in the place of one is read anew.
class FileWatch : public QObject {
  Q_OBJECT
 public:
  FileWatch(Workspace& workspace, QObject* parent);

 signals:
  /// What was read of it stays.
  void gone(const QString& path);
  void back(const QString& path);

 private:
  /// The file, and what SQLite keeps beside it while somebody writes.
  using State = std::pair<FileStamp, FileStamp>;
  void watch();
  void look();
  void follow(const QString& file, const State& before, const State& now);

  Workspace& workspace_;
  QFileSystemWatcher watcher_;
  QTimer settling_;
  std::map<QString, State> known_;
};

/// The files of the users' kernels that the process knows, watched.
class KernelWatch : public QObject {
  Q_OBJECT
 public:
  explicit KernelWatch(QObject* parent = nullptr);

 signals:
  /// Statements and sources, once nobody has written to them for a moment: editors save in steps, by way of other
  /// files.
  void saved(const QStringList& files);

 private:
  void tell();

  QFileSystemWatcher watcher_;
  QTimer settling_;
  QSet<QString> written_;
};

}  // namespace attnscope::ui
