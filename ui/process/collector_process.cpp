// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/collector_process.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>
#include <chrono>
#include <string>

#include "messages/collect_panel.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Time to let a launch finish before the next escalation.
constexpr std::chrono::seconds patience{20};
constexpr qsizetype max_error_bytes = qsizetype{64} * 1024;

}  // namespace

QString find_collector() {
  const QString named = qEnvironmentVariable("ATTNSCOPE_COLLECTOR");
  if (!named.isEmpty()) return QFileInfo(named).isExecutable() ? named : QString();
  const QFileInfo beside(QCoreApplication::applicationDirPath() + QStringLiteral("/attnscope"));
  if (beside.isExecutable() && beside.isFile()) return beside.absoluteFilePath();
  return QStandardPaths::findExecutable(QStringLiteral("attnscope"));
}

QStringList CollectRequest::arguments() const {
  QStringList words{QStringLiteral("collect"), QStringLiteral("--jsonl")};
  if (!preset.isEmpty()) words << QStringLiteral("--preset") << preset;
  for (const QString& axis : axes) words << QStringLiteral("-a") << axis;
  if (!algorithms.isEmpty()) words << QStringLiteral("--algorithms") << algorithms.join(QLatin1Char(','));
  if (!device.isEmpty()) words << QStringLiteral("--device") << device;
  words << QStringLiteral("--cache-control") << (warm_cache ? QStringLiteral("none") : QStringLiteral("all"));
  if (rounds > 1) words << QStringLiteral("--rounds") << QString::number(rounds);
  if (resume) words << QStringLiteral("--resume");
  words << QStringLiteral("-o") << database;
  return words;
}

QStringList CeilingsTask::arguments() const {
  return {QStringLiteral("ceilings"), QStringLiteral("--jsonl"),
          QStringLiteral("--device"), device,
          QStringLiteral("-o"),       database};
}

CollectorProcess::CollectorProcess(QObject* parent) : QObject(parent) {
  escalation_timer_.setSingleShot(true);
  connect(&process_, &QProcess::readyReadStandardOutput, this, &CollectorProcess::read_lines);
  connect(&process_, &QProcess::readyReadStandardError, this, [this] {
    errors_ += process_.readAllStandardError();
    if (errors_.size() > max_error_bytes) errors_ = errors_.right(max_error_bytes);
  });
  connect(&process_, &QProcess::finished, this, &CollectorProcess::process_ended);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart || ended_) return;
    ended_ = true;
    emit failed(qtext("Cannot start the collector: {}", process_.errorString().toStdString()));
  });
  connect(&escalation_timer_, &QTimer::timeout, this, [this] {
    if (!is_running()) return;
    if (escalations_++ == 0) {
      process_.terminate();
      escalation_timer_.start(patience);
    } else {
      process_.kill();
    }
  });
}

CollectorProcess::~CollectorProcess() {
  if (!is_running()) return;
  disconnect(&process_, nullptr, this, nullptr);
  // Closing its input asks the collector to stop; committed points are kept.
  process_.closeWriteChannel();
  if (process_.waitForFinished(2000)) return;
  process_.kill();
  process_.waitForFinished(1000);
}

void CollectorProcess::start_collector(const QStringList& arguments) {
  const QString program = find_collector();
  if (program.isEmpty()) {
    // Queued: callers store what they asked for only after this function returns.
    const QString why = QStringLiteral("Program “attnscope” not found in this program's folder or in PATH.");
    QMetaObject::invokeMethod(
        this, [this, why] { emit failed(why); }, Qt::QueuedConnection);
    return;
  }
  start(program, arguments);
}

void CollectorProcess::start(const QString& program, const QStringList& arguments) {
  if (is_running()) return;
  output_.clear();
  errors_.clear();
  cancel_requested_ = false;
  ended_ = false;
  escalations_ = 0;
  done_.reset();
  process_.start(program, arguments);
}

void CollectorProcess::cancel() {
  if (!is_running() || cancel_requested_) return;
  cancel_requested_ = true;
  process_.write("cancel\n");
  process_.closeWriteChannel();
  escalation_timer_.start(patience);
}

void CollectorProcess::kill_now() {
  if (is_running() && cancel_requested_) process_.kill();
}

void CollectorProcess::write_request(std::string_view line) {
  process_.write(line.data(), static_cast<qint64>(line.size()));
  process_.write("\n");
}

void CollectorProcess::read_lines() {
  output_ += process_.readAllStandardOutput();
  qsizetype start = 0;
  for (qsizetype end = output_.indexOf('\n'); end >= 0; end = output_.indexOf('\n', start)) {
    handle_line(output_.mid(start, end - start));
    start = end + 1;
  }
  output_.remove(0, start);
}

void CollectorProcess::handle_line(const QByteArray& line) {
  if (line.trimmed().isEmpty()) return;
  const auto event = parse_event(std::string_view(line.constData(), static_cast<std::size_t>(line.size())));
  if (!event) return;  // ignore events of newer versions
  const auto forward = [&]<class Event>(void (CollectorProcess::*signal)(const Event&)) {
    if (const auto* e = std::get_if<Event>(&*event)) emit(this->*signal)(*e);
  };
  forward(&CollectorProcess::planned);
  forward(&CollectorProcess::kernel_built);
  forward(&CollectorProcess::point_started);
  forward(&CollectorProcess::point_done);
  forward(&CollectorProcess::request_queued);
  forward(&CollectorProcess::request_cancelled);
  forward(&CollectorProcess::request_refused);
  forward(&CollectorProcess::progressed);
  forward(&CollectorProcess::logged);
  if (const auto* done = std::get_if<DoneEvent>(&*event)) done_ = *done;
}

QString CollectorProcess::last_error_line() const {
  const QList<QByteArray> lines = errors_.split('\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->trimmed().isEmpty()) return QString::fromUtf8(line->trimmed());
  }
  return {};
}

void CollectorProcess::process_ended(int exit_code, QProcess::ExitStatus status) {
  if (ended_) return;
  ended_ = true;
  escalation_timer_.stop();
  read_lines();
  errors_ += process_.readAllStandardError();
  QString complaint = last_error_line();

  if (done_ && (done_->state == "complete")) {
    emit finished(*done_);
  } else if (cancel_requested_ || (done_ && done_->state == "cancelled")) {
    // A cancelled collector may have been killed.
    emit cancelled(done_.value_or(DoneEvent{"cancelled", {}, 0, 0, exit_code}));
  } else if (status == QProcess::CrashExit) {
    if (complaint.endsWith(QLatin1Char('.'))) complaint.chop(1);
    const std::string control = qtext(msg::collect_panel::resume_now{}).remove(QLatin1Char('&')).toStdString();
    emit crashed(complaint.isEmpty()
                     ? qtext("The collector crashed. Measured points are stored (press “{}” to continue).", control)
                     : qtext("The collector crashed: {}. Measured points are stored (press “{}” to continue).",
                             complaint.toStdString(), control));
  } else if (done_ && !done_->reason.empty()) {
    emit failed(qtext(done_->reason));
  } else if (!complaint.isEmpty()) {
    emit failed(complaint);
  } else {
    emit failed(qtext("The collector ended with exit code {} and no error message.", exit_code));
  }
}

}  // namespace attnscope::ui
