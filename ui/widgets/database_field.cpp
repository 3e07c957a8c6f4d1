// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/database_field.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QStandardPaths>
#include <QToolButton>

#include "messages/collect_panel.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

QString default_database() {
  // Same folder as the command line's default.
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
  return QDir(folder).filePath(QStringLiteral("attnscope/runs/collected.attnscope"));
}

/// Returns true if the file, or the nearest existing folder above it, is writable.
bool can_write(const QString& path) {
  const QFileInfo file(path);
  if (file.exists()) return file.isFile() && file.isWritable();
  QFileInfo folder(file.absolutePath());
  while (!folder.exists() && !folder.isRoot()) folder = QFileInfo(folder.absolutePath());
  return folder.isDir() && folder.isWritable();
}

}  // namespace

DatabaseField::DatabaseField(QWidget* parent) : QWidget(parent) {
  path_ = new QLineEdit(default_database(), this);
  const auto tell = [this] {
    path_->setToolTip(plain_tooltip(path_->text() + QLatin1Char('\n') + qtext(msg::collect_panel::file_help{})));
  };
  tell();
  connect(path_, &QLineEdit::textChanged, this, tell);
  auto* browse = new QToolButton(this);
  browse->setText(QStringLiteral("…"));
  browse->setToolTip(qtext(msg::collect_panel::choose_file{}));
  browse->setAccessibleName(qtext(msg::collect_panel::choose_file{}));
  connect(browse, &QToolButton::clicked, this, &DatabaseField::choose);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(path_);
  row->addWidget(browse);
  setFocusProxy(path_);
}

void DatabaseField::choose() {
  const QString path = QFileDialog::getSaveFileName(this, qtext(msg::collect_panel::collect_into{}), path_->text(),
                                                    qtext(msg::collect_panel::file_filter{}), nullptr,
                                                    QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) path_->setText(path);
}

QString DatabaseField::problem() const {
  if (path_->text().trimmed().isEmpty()) return QStringLiteral("Enter a file to collect into.");
  if (can_write(path_->text())) return {};
  return qtext("Cannot write {}.", path_->text().toStdString());
}

}  // namespace attnscope::ui
