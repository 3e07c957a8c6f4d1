// SPDX-License-Identifier: GPL-3.0-or-later
// Something to be predicted: choices, a lock, and only then what is right. Questions of steps, and claims on trial.
#pragma once

#include <QFrame>
#include <QString>
#include <vector>

#include "ui/lesson/lesson_answers.h"
#include "ui/lesson/lesson_data.h"
#include "ui/lesson/lesson_text.h"

class QButtonGroup;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace attnscope::ui {

class AskedCard : public QFrame {
  Q_OBJECT
 public:
  AskedCard(const LessonData& about, LessonAnswers& answers, const QString& id, QWidget* parent);

  [[nodiscard]] const QString& id() const { return id_; }
  /// What the choices are called in answers.
  [[nodiscard]] const std::vector<QString>& values() const { return values_; }
  [[nodiscard]] const QString& right() const { return right_; }

 protected:
  [[nodiscard]] QVBoxLayout& column() const;
  [[nodiscard]] const LessonData& data() const { return data_; }
  /// `because` is rich text that is shown with the answer, where it is the right or the chosen one.
  void add_choice(const QString& value, bool right, const QString& text, const QString& because);
  /// The buttons, and what was answered before. `yes` and `no` are said when it is revealed. `shown_then` too is hidden
  /// until then.
  void finish(const QString& yes, const QString& no, QWidget* shown_then = nullptr);

 private:
  void refresh();

  const LessonData& data_;
  LessonAnswers& answers_;
  QString id_;
  QString right_;
  std::vector<QString> values_;
  std::vector<QLabel*> because_;
  QButtonGroup* group_ = nullptr;
  QPushButton* lock_ = nullptr;
  QPushButton* reveal_ = nullptr;
  QLabel* note_ = nullptr;
  QWidget* shown_then_ = nullptr;
  QString yes_;
  QString no_;
};

class QuestionCard : public AskedCard {
  Q_OBJECT
 public:
  QuestionCard(const LessonData& about, LessonAnswers& answers, const lesson::Setting& setting,
               const lesson::Question& question, QWidget* parent);
};

class ClaimView : public AskedCard {
  Q_OBJECT
 public:
  ClaimView(const LessonData& about, LessonAnswers& answers, const lesson::ClaimCard& card, QWidget* parent);
  [[nodiscard]] const lesson::Verdict& verdict() const { return verdict_; }

 private:
  [[nodiscard]] QString verdict_html() const;
  lesson::Verdict verdict_;
};

/// What a claim's answer is kept under.
[[nodiscard]] QString claim_answer_id(const lesson::ClaimCard& card);

}  // namespace attnscope::ui
