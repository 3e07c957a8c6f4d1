// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/session_file.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QUuid>
#include <utility>

#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

QFileInfoList sessions_in(const QString& folder) {
  return QDir(folder).entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);  // the newest first
}

std::unique_ptr<QLockFile> lock_of(const QString& path) {
  auto lock = std::make_unique<QLockFile>(path + QStringLiteral(".lock"));
  lock->setStaleLockTime(0);  // a window may be open for weeks: only that its process is gone frees it
  return lock;
}

}  // namespace

SessionFile::SessionFile(Begin begin) {
  const QString folder =
      QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/sessions");
  QDir().mkpath(folder);
  if (begin == Begin::last_left) {
    for (const QFileInfo& session : sessions_in(folder)) {
      if (take(session.filePath())) return;
      if (!problem_.isEmpty()) {
        path_ = session.filePath();  // it can be read all the same
        return;
      }
    }
  }
  make(folder);
}

bool SessionFile::take(const QString& path) {
  std::unique_ptr<QLockFile> lock = lock_of(path);
  qint64 process = 0;
  QString host;
  QString program;
  // A lock that names nobody is what a power cut left of one.
  if (lock->tryLock() ||
      (lock->error() == QLockFile::LockFailedError && !lock->getLockInfo(&process, &host, &program) &&
       lock->removeStaleLockFile() && lock->tryLock())) {
    lock_ = std::move(lock);
    path_ = path;
    return true;
  }
  if (lock->error() != QLockFile::LockFailedError) {
    problem_ = qtext("What this window shows will not be there at the next start: {} cannot be written to",
                     QFileInfo(path).absolutePath().toStdString());
  }
  return false;
}

void SessionFile::make(const QString& folder) {
  const QFileInfoList there = sessions_in(folder);
  for (const QFileInfo& old : there.mid(most_kept - 1)) {
    const std::unique_ptr<QLockFile> lock = lock_of(old.filePath());
    if (lock->tryLock()) QFile::remove(old.filePath());
  }
  take(QStringLiteral("%1/%2.json").arg(folder, QUuid::createUuid().toString(QUuid::WithoutBraces)));
}

ViewDocument SessionFile::read() {
  if (path_.isEmpty() || !QFileInfo::exists(path_)) return {};
  ViewDocument left = read_view(path_);
  if (!left.view.isEmpty() || lock_ == nullptr) return left;
  const QString aside = path_ + QStringLiteral(".unread");
  QFile::remove(aside);
  if (QFile::rename(path_, aside)) {
    left.problem =
        qtext("The window begins anew: {}. It is kept as {}", left.problem.toStdString(), aside.toStdString());
  }
  return left;
}

QString SessionFile::write(const QJsonObject& view) const {
  return lock_ == nullptr ? problem_ : write_view(path_, view);
}

}  // namespace attnscope::ui
