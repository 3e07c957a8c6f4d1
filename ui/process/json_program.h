// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one command at a time as a child process and reads its JSON output.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>

namespace attnscope::ui {

/// Returns why a finished program failed, one line; empty on success.
[[nodiscard]] QString process_failure(QProcess& ended);

class JsonProgram : public QObject {
  Q_OBJECT
 public:
  explicit JsonProgram(QObject* parent = nullptr) : QObject(parent) {}
  ~JsonProgram() override { stop(); }

  /// Stops a running program first.
  void start(const QStringList& words);
  void stop();
  /// Sends SIGTERM, on which the program ends without writing anything, unless it is done.
  void request_end() {
    if (process_ != nullptr) process_->terminate();
  }
  void finish();
  [[nodiscard]] bool is_running() const { return process_ != nullptr; }
  /// Standard output and last line of standard error of the last program. After success that line is a warning.
  [[nodiscard]] QString output() const { return QString::fromUtf8(output_).trimmed(); }
  [[nodiscard]] const QString& stderr_tail() const { return stderr_tail_; }

 signals:
  /// Ends every start(), unless another start() or stop() comes first. Never emitted within start(). `said`: the JSON
  /// output, which may exist even on failure. `why`: see process_failure().
  void ended(const QJsonObject& said, const QString& why);

 private:
  void end();

  std::unique_ptr<QProcess> process_;
  QByteArray output_;
  QString stderr_tail_;
};

}  // namespace attnscope::ui
