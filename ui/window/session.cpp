// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/session.h"

#include <QCoreApplication>
#include <QDir>
#include <QEvent>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QStandardPaths>
#include <QUuid>
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <utility>

#include "messages/language.h"
#include "ui/pages/page.h"
#include "ui/panels/collect_panel.h"
#include "ui/process/save_file.h"
#include "ui/runs/samples.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {

namespace {

constexpr int version = 1;

using OnPath = std::function<QString(const QString&)>;

QJsonObject with_file(QJsonObject object, const OnPath& path_of) {
  object[QLatin1String("file")] = path_of(object[QLatin1String("file")].toString());
  return object;
}

void change_paths(QJsonObject& view, const OnPath& path_of) {
  if (view.contains(QLatin1String("files"))) {
    QJsonArray files;
    for (const auto& file : view[QLatin1String("files")].toArray()) files.append(path_of(file.toString()));
    view[QLatin1String("files")] = files;
  }
  for (const char* const key : {"unticked", "ticked"}) {
    if (!view.contains(QLatin1String(key))) continue;
    QJsonArray runs;
    for (const auto& run : view[QLatin1String(key)].toArray()) runs.append(with_file(run.toObject(), path_of));
    view[QLatin1String(key)] = runs;
  }
  if (view.contains(QLatin1String("selection"))) {
    view[QLatin1String("selection")] = with_file(view[QLatin1String("selection")].toObject(), path_of);
  }
}

}  // namespace

ViewDocument read_view(const QString& path) {
  const std::string name = path.toStdString();
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    return {{}, qtext("cannot read {}: {}", name, file.errorString().toStdString())};
  }
  QJsonParseError error;
  QJsonObject view = QJsonDocument::fromJson(file.readAll(), &error).object();
  if (error.error != QJsonParseError::NoError) {
    return {{}, qtext("{} is damaged at byte {} ({})", name, error.offset, error.errorString().toStdString())};
  }
  if (view.value(QLatin1String("version")).toInt() != version) {
    return {{}, qtext("{} was written by another version of this program", name)};
  }
  change_paths(view, from_sample_name);
  return {view, {}};
}

QString write_view(const QString& path, QJsonObject view) {
  change_paths(view, to_sample_name);
  view[QLatin1String("version")] = version;
  return save_file(path, [&](QIODevice& out) { return write_all(out, QJsonDocument(view).toJson()); });
}

QJsonObject remove_file_state(QJsonObject view) {
  for (const char* key : {"files", "filter", "unticked", "ticked", "selection"}) view.remove(QLatin1String(key));
  QJsonObject pages = view.value(QLatin1String("pages")).toObject();
  for (const QString& id : pages.keys()) {
    QJsonObject page = pages[id].toObject();
    page.remove(zoom_key());
    pages[id] = page;
  }
  view[QLatin1String("pages")] = pages;
  return view;
}

namespace {

QFileInfoList sessions_in(const QString& folder) {
  return QDir(folder).entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);  // newest first
}

std::unique_ptr<QLockFile> lock_of(const QString& path) {
  auto lock = std::make_unique<QLockFile>(path + QStringLiteral(".lock"));
  // a lock is stale only if its process has ended; a window may be open for weeks
  lock->setStaleLockTime(0);
  return lock;
}

}  // namespace

SessionFile::SessionFile(SessionStart begin) {
  const QString folder =
      QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/sessions");
  QDir().mkpath(folder);
  if (begin == SessionStart::most_recent) {
    for (const QFileInfo& session : sessions_in(folder)) {
      if (try_lock(session.filePath())) return;
      if (!problem_.isEmpty()) {
        path_ = session.filePath();  // the file can still be read
        return;
      }
    }
  }
  make(folder);
}

bool SessionFile::try_lock(const QString& path) {
  std::unique_ptr<QLockFile> lock = lock_of(path);
  qint64 process = 0;
  QString host;
  QString program;
  // After a power failure, a lock file may remain without an owner.
  if (lock->tryLock() ||
      (lock->error() == QLockFile::LockFailedError && !lock->getLockInfo(&process, &host, &program) &&
       lock->removeStaleLockFile() && lock->tryLock())) {
    lock_ = std::move(lock);
    path_ = path;
    return true;
  }
  if (lock->error() != QLockFile::LockFailedError) {
    problem_ =
        qtext("Cannot save the window's state: cannot write to {}", QFileInfo(path).absolutePath().toStdString());
  }
  return false;
}

void SessionFile::make(const QString& folder) {
  const QFileInfoList there = sessions_in(folder);
  for (const QFileInfo& old : there.mid(max_sessions - 1)) {
    const std::unique_ptr<QLockFile> lock = lock_of(old.filePath());
    if (lock->tryLock()) QFile::remove(old.filePath());
  }
  try_lock(QStringLiteral("%1/%2.json").arg(folder, QUuid::createUuid().toString(QUuid::WithoutBraces)));
}

ViewDocument SessionFile::read() {
  if (path_.isEmpty() || !QFileInfo::exists(path_)) return {};
  ViewDocument left = read_view(path_);
  if (!left.view.isEmpty() || lock_ == nullptr) return left;
  const QString aside = path_ + QStringLiteral(".unread");
  QFile::remove(aside);
  if (QFile::rename(path_, aside)) {
    left.problem =
        qtext("The window starts with defaults: {} (kept as {})", left.problem.toStdString(), aside.toStdString());
  }
  return left;
}

QString SessionFile::write(const QJsonObject& view) const {
  return lock_ == nullptr ? problem_ : write_view(path_, view);
}

namespace {

constexpr std::chrono::milliseconds save_interval{500};

bool is_user_input(QEvent::Type type) {
  constexpr std::array inputs{QEvent::MouseButtonRelease, QEvent::KeyRelease, QEvent::Wheel, QEvent::Drop,
                              QEvent::Shortcut,           QEvent::Resize,     QEvent::Move};
  return std::ranges::find(inputs, type) != inputs.end();
}

}  // namespace

Session::Session(MainWindow& window, const SessionFile& file) : window_(window), file_(file) {
  due_.setSingleShot(true);
  due_.setInterval(save_interval);
  connect(&due_, &QTimer::timeout, this, &Session::write);
  const auto is_due = [this] { due_.start(); };
  const Workspace& workspace = window.workspace();
  for (const auto changed :
       {&Workspace::opening_changed, &Workspace::runs_changed, &Workspace::query_changed, &Workspace::points_changed}) {
    connect(&workspace, changed, this, is_due);
  }
  connect(&window, &MainWindow::window_requested, this, &Session::open_window);
  QCoreApplication::instance()->installEventFilter(this);
  due_.start();
}

Session::~Session() {
  written_ = {};  // forces a write, so that this session is the newest at the next start
  write();
}

bool Session::eventFilter(QObject* watched, QEvent* event) {
  // The timer is not restarted by further events, so that long drags are saved, too.
  if (is_user_input(event->type()) && !due_.isActive()) due_.start();
  return QObject::eventFilter(watched, event);
}

void Session::write() {
  due_.stop();
  QJsonObject now = window_.view();
  if (now == written_) return;
  const QString problem = file_.write(now);
  written_ = problem.isEmpty() ? std::move(now) : QJsonObject();
  report_problem(problem);
}

void Session::open_window() {
  write();
  QJsonObject copy = window_.view();
  QJsonObject place = copy[QStringLiteral("window")].toObject();
  place.remove(QStringLiteral("geometry"));  // the new window must not cover this window
  copy[QStringLiteral("window")] = place;
  QJsonObject collect = copy[QStringLiteral("collect")].toObject();
  collect.remove(unfinished_key());  // only this window resumes it
  copy[QStringLiteral("collect")] = collect;
  // The new window takes the newest unlocked session.
  report_problem(SessionFile(SessionFile::SessionStart::fresh).write(copy));
  const QString program = QCoreApplication::applicationFilePath();
  if (QProcess::startDetached(program, {QStringLiteral("--lang"), qtext(msg::language::code{})})) return;
  window_.banner().add(Banner::Topic::choice,
                       qtext("Cannot open another window: {} did not start", program.toStdString()));
}

void Session::report_problem(const QString& problem) {
  if (problem.isEmpty() || std::exchange(said_, true)) return;
  window_.banner().add(Banner::Topic::collect, problem);
}

}  // namespace attnscope::ui
