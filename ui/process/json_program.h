// SPDX-License-Identifier: GPL-3.0-or-later
// Runs commands of `attnscope` as child processes.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <deque>
#include <memory>

namespace attnscope::ui {

/// Runs one command at a time and reads its JSON output.
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

 signals:
  /// Ends every start(), unless another start() or stop() comes first. Never emitted within start(). `said`: the JSON
  /// output, which may exist even on failure. `why`: why it failed, one line; empty on success.
  void ended(const QJsonObject& said, const QString& why);

 private:
  void end();

  std::unique_ptr<QProcess> process_;
};

/// Runs `attnscope edit` as child processes, one after the other. The window itself never writes measurement files.
class RunEditor : public QObject {
  Q_OBJECT
 public:
  explicit RunEditor(QObject* parent = nullptr);
  /// Waits until all requested edits are done.
  ~RunEditor() override;

  void edit(const QString& file, const QStringList& words);
  [[nodiscard]] bool is_running() const { return program_.is_running(); }

 signals:
  // Each edit ends with exactly one of these, in order; never within edit().
  void done(const QString& file, const QStringList& words);
  void failed(const QString& file, const QString& why);

 private:
  struct Edit {
    QString file;
    QStringList words;
  };
  void start();
  void end(const QJsonObject& said, const QString& why);

  std::deque<Edit> edits_;  ///< the first one is running
  JsonProgram program_;
};

}  // namespace attnscope::ui
