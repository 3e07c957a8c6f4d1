// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of the lesson's window: a step, the claims on trial, and what came of it all.
#pragma once

#include <QList>
#include <QScrollArea>
#include <QStringList>
#include <vector>

#include "ui/lesson/asked_card.h"
#include "ui/lesson/lesson_picture.h"

class QLabel;
class QVBoxLayout;

namespace attnscope::ui {

/// What somebody has chosen and come to on a page, kept while the page is made anew.
struct PageState {
  QList<int> boxes{};
  QStringList fields{};
  QList<int> frames{};
  int playing = -1;  ///< which of the transports
};

/// A column of text that is no wider than can be read.
class LessonPage : public QScrollArea {
  Q_OBJECT
 public:
  explicit LessonPage(QWidget* parent);

  /// What the keys move: of the pictures with frames the first that is seen; null where there is none.
  [[nodiscard]] Transport* transport() const;
  [[nodiscard]] PageState state() const;
  /// Of the same page, as far as it still has such boxes and frames.
  void restore(const PageState& state);
  /// Scrolls so that the whole picture of that transport is seen, where it fits.
  void bring(const Transport* transport);

 protected:
  [[nodiscard]] QWidget* content() const { return content_; }
  [[nodiscard]] QVBoxLayout& column() const { return *column_; }
  void add_picture(LessonPicture* picture);
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* content_ = nullptr;
  QVBoxLayout* column_ = nullptr;
  std::vector<LessonPicture*> pictures_;
};

class StepView : public LessonPage {
  Q_OBJECT
 public:
  StepView(const LessonData& about, LessonAnswers& answers, const lesson::Step& step, QWidget* parent);

 signals:
  void explore_wanted(const attnscope::PointSpec& spec, const QString& gpu);

 private:
  void add_explore(const LessonData& about, const lesson::Step& step);
  lesson::Setting setting_;
};

class ClaimsView : public LessonPage {
  Q_OBJECT
 public:
  ClaimsView(const LessonData& about, LessonAnswers& answers, QWidget* parent);
};

/// What somebody answered, and how often they were right.
class ResultsView : public LessonPage {
  Q_OBJECT
 public:
  ResultsView(const LessonData& about, LessonAnswers& answers, QWidget* parent);
  [[nodiscard]] QString text() const;

 private:
  void refresh();
  struct Asked {
    QString id;
    QString title;  ///< rich text
    QString right;  ///< the value that is
    bool claim = false;
  };
  void find_asked();

  const LessonData& data_;
  LessonAnswers& answers_;
  std::vector<Asked> asked_;
  QLabel* table_ = nullptr;
};

}  // namespace attnscope::ui
