// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/json_program.h"

#include <QJsonDocument>
#include <utility>

#include "messages/import_dialog.h"
#include "ui/process/collector_process.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

/// Returns the last line of standard error, without the program name.
QString read_stderr_tail(QProcess& ended) {
  if (!ended.isOpen()) return {};  // the process was not started
  QString line = QString::fromUtf8(ended.readAllStandardError().trimmed());
  line = line.mid(line.lastIndexOf(QLatin1Char('\n')) + 1);
  const QString program = QStringLiteral("error: ");
  if (line.startsWith(program)) line.remove(0, program.size());
  return line;
}

/// Returns why a finished program failed, one line; empty on success.
QString process_failure(QProcess& ended) {
  if (ended.error() == QProcess::FailedToStart)
    return QStringLiteral("Program “attnscope” not found in this program's folder or in PATH.");
  if (ended.exitStatus() == QProcess::NormalExit && ended.exitCode() == 0) return {};
  if (QString line = read_stderr_tail(ended); !line.isEmpty()) return line;
  return ended.exitStatus() == QProcess::CrashExit ? qtext(msg::import_dialog::child_killed{.signal = ended.exitCode()})
                                                   : qtext(msg::import_dialog::child_ended{.code = ended.exitCode()});
}

}  // namespace

void JsonProgram::start(const QStringList& words) {
  stop();
  process_ = std::make_unique<QProcess>();
  connect(process_.get(), &QProcess::finished, this, &JsonProgram::end);
  const auto not_started = [this] {
    if (process_ != nullptr && process_->error() == QProcess::FailedToStart) end();
  };
  connect(process_.get(), &QProcess::errorOccurred, this, not_started, Qt::QueuedConnection);
  process_->start(find_collector(), words);
}

void JsonProgram::stop() {
  if (process_ == nullptr) return;
  process_->disconnect(this);
  process_->kill();
  constexpr int patience_ms = 1000;
  if (process_->state() != QProcess::NotRunning && !process_->waitForFinished(patience_ms)) {
    // A process blocked in the driver cannot be killed; delete it when it ends.
    QProcess* const left = process_.release();
    connect(left, &QProcess::finished, left, &QObject::deleteLater);
  }
  process_.reset();
}

void JsonProgram::finish() {
  constexpr int patience_ms = 60'000;
  if (process_ != nullptr) process_->waitForFinished(patience_ms);
}

void JsonProgram::end() {
  if (process_ == nullptr) return;
  QProcess* const finished_process = process_.release();  // the process is emitting the signal
  finished_process->disconnect(this);
  finished_process->deleteLater();
  const QByteArray output = finished_process->isOpen() ? finished_process->readAllStandardOutput() : QByteArray();
  emit ended(QJsonDocument::fromJson(output).object(), process_failure(*finished_process));
}

RunEditor::RunEditor(QObject* parent) : QObject(parent) {
  connect(&program_, &JsonProgram::ended, this, &RunEditor::end);
}

RunEditor::~RunEditor() {
  blockSignals(true);  // receivers may be gone
  while (program_.is_running()) program_.finish();
}

void RunEditor::edit(const QString& file, const QStringList& words) {
  edits_.push_back({file, words});
  if (edits_.size() == 1) start();
}

void RunEditor::start() {
  const Edit& edit = edits_.front();
  program_.start(QStringList{QStringLiteral("edit"), QStringLiteral("--json")} + edit.words + QStringList{edit.file});
}

void RunEditor::end(const QJsonObject& said, const QString& why) {
  const Edit edit = std::move(edits_.front());
  edits_.pop_front();
  // Start the next edit before emitting, because receivers may request more edits.
  if (!edits_.empty()) start();
  // The edit was made even if damaged rows were found; readers of the file report them.
  if (why.isEmpty() || said.contains(QLatin1String("rows"))) {
    emit done(edit.file, edit.words);
  } else {
    emit failed(edit.file, why);
  }
}

}  // namespace attnscope::ui
