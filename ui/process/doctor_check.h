// SPDX-License-Identifier: GPL-3.0-or-later
// What of GPU, driver, compiler and counters is here: `attnscope doctor --json` as a child process.
#pragma once

#include <QObject>
#include <QString>
#include <vector>

#include "ui/process/json_program.h"

namespace attnscope::ui {

/// A row of what doctor says, in the window's language.
struct Finding {
  QString item;    ///< "driver", in every language
  QString title;   ///< the same for people
  QString status;  ///< "ok", "warning", "missing", "skipped"
  QString detail;
  QString fix;      ///< empty: nothing is wrong, or nothing helps
  QString command;  ///< of the fix; empty: it is none
  QString still_works;
};

class DoctorCheck : public QObject {
  Q_OBJECT
 public:
  explicit DoctorCheck(QObject* parent = nullptr);

  /// In place of a look that is under way. `gpu`: its number.
  void look(const QString& gpu);
  void stop() { program_.stop(); }
  /// Waits for it.
  void finish() { program_.finish(); }
  [[nodiscard]] bool running() const { return program_.running(); }

 signals:
  // Exactly one of these ends every look(), unless another one or stop() comes before it; never within look().
  void found(const std::vector<attnscope::ui::Finding>& findings);
  void failed(const QString& why);

 private:
  void read(const QJsonObject& said, const QString& why);

  JsonProgram program_;
};

}  // namespace attnscope::ui
