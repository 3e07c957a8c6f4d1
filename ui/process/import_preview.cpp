// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/import_preview.h"

#include <QJsonDocument>

#include "ui/process/collector_process.h"
#include "ui/process/run_editor.h"

namespace attnscope::ui {

void ImportPreview::start(const QString& file, const QStringList& words) {
  stop();
  process_ = std::make_unique<QProcess>();
  connect(process_.get(), &QProcess::finished, this, &ImportPreview::end);
  const auto not_started = [this] {
    if (process_ != nullptr && process_->error() == QProcess::FailedToStart) end();
  };
  connect(process_.get(), &QProcess::errorOccurred, this, not_started, Qt::QueuedConnection);
  const QStringList command{QStringLiteral("import"), QStringLiteral("--preview"), QStringLiteral("--json")};
  process_->start(find_collector(), command + words + QStringList{file} + words_for_language());
}

void ImportPreview::stop() {
  if (process_ == nullptr) return;
  process_->disconnect(this);
  process_->kill();
  process_->waitForFinished(1000);
  process_.reset();
}

void ImportPreview::end() {
  QProcess* const ended_one = process_.release();  // which is telling it
  ended_one->disconnect(this);
  ended_one->deleteLater();
  const QJsonObject said = QJsonDocument::fromJson(ended_one->readAllStandardOutput()).object();
  emit ended(said, failure_of(*ended_one));
}

}  // namespace attnscope::ui
