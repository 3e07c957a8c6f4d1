// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/json_program.h"

#include <QJsonDocument>

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

QString process_failure(const QProcess& ended, const QString& stderr_tail) {
  if (ended.error() == QProcess::FailedToStart)
    return QStringLiteral("Program “attnscope” not found in this program's folder or in PATH.");
  if (ended.exitStatus() == QProcess::NormalExit && ended.exitCode() == 0) return {};
  if (!stderr_tail.isEmpty()) return stderr_tail;
  return ended.exitStatus() == QProcess::CrashExit ? qtext(msg::import_dialog::child_killed{.signal = ended.exitCode()})
                                                   : qtext(msg::import_dialog::child_ended{.code = ended.exitCode()});
}

}  // namespace

QString process_failure(QProcess& ended) {
  const QString stderr_tail = read_stderr_tail(ended);
  return process_failure(ended, stderr_tail);
}

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
  output_ = finished_process->isOpen() ? finished_process->readAllStandardOutput() : QByteArray();
  stderr_tail_ = read_stderr_tail(*finished_process);
  emit ended(QJsonDocument::fromJson(output_).object(), process_failure(*finished_process, stderr_tail_));
}

}  // namespace attnscope::ui
