// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/lesson_answers.h"

#include <QJsonDocument>
#include <QSettings>

namespace attnscope::ui {
namespace {

QString answers_key() {
  return QStringLiteral("lesson/answers");
}

}  // namespace

LessonAnswers::LessonAnswers(bool remember, QObject* parent) : QObject(parent), remember_(remember) {
  if (remember_) answers_ = QJsonDocument::fromJson(QSettings().value(answers_key()).toByteArray()).object();
}

Answer LessonAnswers::answer(const QString& id) const {
  const QJsonObject kept = answers_[id].toObject();
  const QString value = kept[QStringLiteral("value")].toString();
  const bool locked = !value.isEmpty() && kept[QStringLiteral("locked")].toBool();
  return {.value = value, .locked = locked, .revealed = locked && kept[QStringLiteral("revealed")].toBool()};
}

void LessonAnswers::choose(const QString& id, const QString& value) {
  if (!answer(id).locked) put(id, {.value = value});
}

void LessonAnswers::lock(const QString& id) {
  const Answer given = answer(id);
  if (!given.value.isEmpty() && !given.locked) put(id, {.value = given.value, .locked = true});
}

void LessonAnswers::reveal(const QString& id) {
  const Answer given = answer(id);
  if (given.locked && !given.revealed) put(id, {.value = given.value, .locked = true, .revealed = true});
}

void LessonAnswers::forget() {
  answers_ = {};
  if (remember_) QSettings().remove(answers_key());
  emit changed({});
}

void LessonAnswers::put(const QString& id, const Answer& answer) {
  answers_[id] = QJsonObject{{QStringLiteral("value"), answer.value},
                             {QStringLiteral("locked"), answer.locked},
                             {QStringLiteral("revealed"), answer.revealed}};
  if (remember_) QSettings().setValue(answers_key(), QJsonDocument(answers_).toJson(QJsonDocument::Compact));
  emit changed(id);
}

}  // namespace attnscope::ui
