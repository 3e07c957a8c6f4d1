// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/recent_files.h"

#include <QAction>
#include <QSettings>

#include "messages/window.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

constexpr int max_recent_files = 8;

QString recent_key() {
  return QStringLiteral("files/recent");
}

}  // namespace

RecentFiles::RecentFiles(bool remember, QWidget* parent)
    : QMenu(qtext(msg::window::open_recent{}), parent), remember_(remember) {
  setToolTipsVisible(true);
  refresh();
}

void RecentFiles::add(const QString& path) {
  if (!remember_ || sample_paths().contains(path) || path == second_sample()) return;
  QSettings settings;
  QStringList files = settings.value(recent_key()).toStringList();
  files.removeAll(path);
  files.prepend(path);
  settings.setValue(recent_key(), QStringList(files.mid(0, max_recent_files)));
  refresh();
}

void RecentFiles::refresh() {
  clear();
  const QStringList files = remember_ ? QSettings().value(recent_key()).toStringList() : QStringList();
  const std::map<QString, QString> names = distinct_file_names(files);
  for (const QString& path : files) {
    // A single & would underline the next character.
    QString name = names.at(path);
    QAction* action =
        addAction(name.replace(QLatin1Char('&'), QStringLiteral("&&")), this, [this, path] { emit chosen(path); });
    action->setToolTip(plain_tooltip(path));
    action->setStatusTip(path);
  }
  setEnabled(!files.isEmpty());
}

}  // namespace attnscope::ui
