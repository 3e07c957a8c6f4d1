// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/session.h"

#include <QCoreApplication>
#include <QEvent>
#include <QProcess>
#include <chrono>
#include <utility>

#include "messages/language.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"
#include "ui/window/window_view.h"

namespace attnscope::ui {
namespace {

constexpr std::chrono::milliseconds soon{500};

bool may_choose(QEvent::Type type) {
  switch (type) {
    case QEvent::MouseButtonRelease:
    case QEvent::KeyRelease:
    case QEvent::Wheel:
    case QEvent::Drop:
    case QEvent::Shortcut:
    case QEvent::Resize:
    case QEvent::Move:
      return true;
    default:
      return false;
  }
}

}  // namespace

Session::Session(MainWindow& window, const SessionFile& file) : window_(window), file_(file) {
  due_.setSingleShot(true);
  due_.setInterval(soon);
  connect(&due_, &QTimer::timeout, this, &Session::write);
  const auto is_due = [this] { due_.start(); };
  const Workspace& workspace = window.workspace();
  for (const auto changed :
       {&Workspace::opening_changed, &Workspace::runs_changed, &Workspace::query_changed, &Workspace::points_changed}) {
    connect(&workspace, changed, this, is_due);
  }
  connect(&window, &MainWindow::window_wanted, this, &Session::open_window);
  QCoreApplication::instance()->installEventFilter(this);
  due_.start();
}

Session::~Session() {
  written_ = {};  // what is left last is what the next start takes up, also where it is as it was
  write();
}

bool Session::eventFilter(QObject* watched, QEvent* event) {
  // Not put off by the next: somebody who drags on and on is kept as well.
  if (may_choose(event->type()) && !due_.isActive()) due_.start();
  return QObject::eventFilter(watched, event);
}

void Session::write() {
  due_.stop();
  QJsonObject now = window_.shown_view().session();
  if (now == written_) return;
  const QString problem = file_.write(now);
  written_ = problem.isEmpty() ? std::move(now) : QJsonObject();
  say(problem);
}

void Session::open_window() {
  write();
  QJsonObject copy = window_.shown_view().session();
  QJsonObject place = copy[QStringLiteral("window")].toObject();
  place.remove(QStringLiteral("geometry"));  // it would lie upon this one
  copy[QStringLiteral("window")] = place;
  // Left last and no window's: the one that the next window takes.
  say(SessionFile(SessionFile::Begin::anew).write(copy));
  const QString program = QCoreApplication::applicationFilePath();
  if (QProcess::startDetached(program, {QStringLiteral("--lang"), qtext(say::language::code{})})) return;
  window_.banner().add(Banner::Topic::choice,
                       qtext("Another window cannot be opened: {} did not start", program.toStdString()));
}

void Session::say(const QString& problem) {
  if (problem.isEmpty() || std::exchange(said_, true)) return;
  window_.banner().add(Banner::Topic::collect, problem);
}

}  // namespace attnscope::ui
