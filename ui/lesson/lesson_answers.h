// SPDX-License-Identifier: GPL-3.0-or-later
// What a learner answered: chosen, then locked, then revealed, and never the other way round. Kept from one start of
// the program to the next.
#pragma once

#include <QJsonObject>
#include <QObject>
#include <QString>

namespace attnscope::ui {

struct Answer {
  QString value{};  ///< empty: none was given
  bool locked = false;
  bool revealed = false;
};

class LessonAnswers : public QObject {
  Q_OBJECT
 public:
  /// `remember`: in the settings; else they are forgotten with this object.
  explicit LessonAnswers(bool remember, QObject* parent = nullptr);

  [[nodiscard]] Answer answer(const QString& id) const;
  /// Of one that is locked nothing changes.
  void choose(const QString& id, const QString& value);
  /// One that was not given cannot be locked.
  void lock(const QString& id);
  /// One that is not locked cannot be revealed.
  void reveal(const QString& id);
  /// All of them.
  void forget();

 signals:
  /// Empty: of all.
  void changed(const QString& id);

 private:
  void put(const QString& id, const Answer& answer);

  bool remember_;
  QJsonObject answers_;
};

}  // namespace attnscope::ui
