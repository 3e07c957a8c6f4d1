// SPDX-License-Identifier: GPL-3.0-or-later
// The files of the users' kernels that the process knows, watched.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QSet>
#include <QStringList>
#include <QTimer>

namespace attnscope::ui {

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
