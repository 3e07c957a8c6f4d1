// SPDX-License-Identifier: GPL-3.0-or-later
// `attnscope edit`, `merge` and `import` as child processes: the window itself writes no file of measurements.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <deque>
#include <memory>

namespace attnscope::ui {

class RunEditor : public QObject {
  Q_OBJECT
 public:
  explicit RunEditor(QObject* parent = nullptr) : QObject(parent) {}
  /// What is under way is waited for: an edit that was asked for is made.
  ~RunEditor() override;

  /// `attnscope edit FILE WORDS`, after those that were asked for before.
  void edit(const QString& file, const QStringList& words);
  /// `attnscope merge FILES -o TARGET`.
  void merge(const QString& target, const QStringList& files);
  /// `attnscope import WORDS -o TARGET`.
  void import(const QString& target, const QStringList& words);
  /// Asks what is under way to end: it fails with nothing written, unless it is done. What waits is dropped, and no
  /// signal says so.
  void stop();
  [[nodiscard]] bool running() const { return process_ != nullptr; }

 signals:
  // Exactly one of these follows each that stop() does not drop, in the order in which they were asked for; never
  // within the call. `changed`: the edit has made words of a run other than they were.
  void done(const QString& file, const QStringList& words, bool changed);
  void failed(const QString& file, const QStringList& words, const QString& why);

 private:
  struct Task {
    QString file;
    QStringList words;
    QStringList arguments;
  };
  void ask(Task task);
  void start();
  void end();

  std::deque<Task> tasks_;  ///< the first is under way
  std::unique_ptr<QProcess> process_;
};

}  // namespace attnscope::ui
