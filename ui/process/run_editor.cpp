// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/run_editor.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <utility>

#include "ui/process/collector_process.h"
#include "ui/process/json_program.h"

namespace attnscope::ui {

RunEditor::~RunEditor() {
  constexpr int patience_ms = 10'000;
  if (process_ == nullptr) return;
  process_->disconnect(this);
  process_->waitForFinished(patience_ms);
}

void RunEditor::edit(const QString& file, const QStringList& words) {
  ask({file, words, QStringList{QStringLiteral("edit"), QStringLiteral("--json")} + words + QStringList{file}});
}

void RunEditor::merge(const QString& target, const QStringList& files) {
  ask({target, {}, QStringList{QStringLiteral("merge"), QStringLiteral("-o"), target} + files});
}

void RunEditor::import(const QString& target, const QStringList& words) {
  ask({target, {}, QStringList{QStringLiteral("import"), QStringLiteral("-o"), target} + words});
}

void RunEditor::stop() {
  if (process_ == nullptr) return;
  tasks_.resize(1);
  process_->terminate();
}

void RunEditor::ask(Task task) {
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) start();
}

void RunEditor::start() {
  process_ = std::make_unique<QProcess>();
  connect(process_.get(), &QProcess::finished, this, &RunEditor::end);
  const auto not_started = [this] {
    if (process_ != nullptr && process_->error() == QProcess::FailedToStart) end();
  };
  connect(process_.get(), &QProcess::errorOccurred, this, not_started, Qt::QueuedConnection);
  process_->start(find_collector(), tasks_.front().arguments);
}

void RunEditor::end() {
  QProcess* const ended = process_.release();  // which is telling it
  ended->disconnect(this);
  ended->deleteLater();
  const Task task = std::move(tasks_.front());
  tasks_.pop_front();
  // The next one first: whoever hears of this one may ask for more.
  if (!tasks_.empty()) start();
  // Rows that were left out are said by whoever reads the file.
  constexpr int partial = 5;
  const bool exited = ended->error() != QProcess::FailedToStart && ended->exitStatus() == QProcess::NormalExit;
  if (exited && (ended->exitCode() == 0 || (ended->exitCode() == partial && !task.words.isEmpty()))) {
    const QJsonObject said = QJsonDocument::fromJson(ended->readAllStandardOutput()).object();
    emit done(task.file, task.words, !said[QStringLiteral("rows")].toArray().isEmpty());
    return;
  }
  emit failed(task.file, task.words, failure_of(*ended));
}

}  // namespace attnscope::ui
