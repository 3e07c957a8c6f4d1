// SPDX-License-Identifier: GPL-3.0-or-later
// Runs `attnscope edit` as child processes, one after the other. The window itself never writes measurement files.
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
