// SPDX-License-Identifier: GPL-3.0-or-later
// `attnscope edit` as child processes, one after the other: the window itself writes no file of measurements.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <deque>

#include "ui/process/json_program.h"

namespace attnscope::ui {

class RunEditor : public QObject {
  Q_OBJECT
 public:
  explicit RunEditor(QObject* parent = nullptr);
  /// Waits: every edit that was asked for is made.
  ~RunEditor() override;

  /// `attnscope edit FILE WORDS`, after those that were asked for before.
  void edit(const QString& file, const QStringList& words);
  [[nodiscard]] bool running() const { return program_.running(); }

 signals:
  // Exactly one of these follows each edit, in order; never within the call.
  void done(const QString& file, const QStringList& words);
  void failed(const QString& file, const QString& why);

 private:
  struct Edit {
    QString file;
    QStringList words;
  };
  void start();
  void end(const QJsonObject& said, const QString& why);

  std::deque<Edit> edits_;  ///< the first is under way
  JsonProgram program_;
};

}  // namespace attnscope::ui
