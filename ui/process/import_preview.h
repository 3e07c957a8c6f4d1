// SPDX-License-Identifier: GPL-3.0-or-later
// `attnscope import --preview --json` as a child process: a file of any size or kind is looked at aside, by the code
// that imports it.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>

namespace attnscope::ui {

class ImportPreview : public QObject {
  Q_OBJECT
 public:
  explicit ImportPreview(QObject* parent = nullptr) : QObject(parent) {}
  ~ImportPreview() override { stop(); }

  /// `words`: options of the command.
  void start(const QString& file, const QStringList& words);
  void stop();

 signals:
  /// Ends every start(), unless stop() comes before it; never within start(). `why`: one line; empty where it went
  /// well.
  void ended(const QJsonObject& said, const QString& why);

 private:
  void end();

  std::unique_ptr<QProcess> process_;
};

}  // namespace attnscope::ui
