// SPDX-License-Identifier: GPL-3.0-or-later
// A command of attnscope that says one JSON document, as a child process: one at a time.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>

namespace attnscope::ui {

/// Why a program of ours that has ended did not do what it was asked, in its one line; empty where it did.
[[nodiscard]] QString failure_of(QProcess& ended);

class JsonProgram : public QObject {
  Q_OBJECT
 public:
  explicit JsonProgram(QObject* parent = nullptr) : QObject(parent) {}
  ~JsonProgram() override { stop(); }

  /// In place of one that is under way.
  void start(const QStringList& words);
  void stop();
  /// By SIGTERM: it ends with nothing written, unless it is done, and says so.
  void ask_to_end() {
    if (process_ != nullptr) process_->terminate();
  }
  /// Waits for it.
  void finish();
  [[nodiscard]] bool running() const { return process_ != nullptr; }
  /// Of one that has ended: all that it said, JSON or not, and the last line of its standard error; a warning, where it
  /// did what it was asked.
  [[nodiscard]] QString output() const { return QString::fromUtf8(output_).trimmed(); }
  [[nodiscard]] const QString& last_words() const { return last_words_; }

 signals:
  /// Ends every start(), unless another one or stop() comes before it; never within start(). `why`: failure_of(); what
  /// it said may be there all the same.
  void ended(const QJsonObject& said, const QString& why);

 private:
  void end();

  std::unique_ptr<QProcess> process_;
  QByteArray output_;
  QString last_words_;
};

}  // namespace attnscope::ui
