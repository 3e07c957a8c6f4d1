// SPDX-License-Identifier: GPL-3.0-or-later
// The online softmax step by step: the scores, (m, l, o) before and after a block, what is rescaled and how often, and
// what goes wrong when something is left out. On the seeds' numbers, or on the learner's own.
#pragma once

#include <QString>
#include <vector>

#include "profiler/analysis/lesson/online_softmax.h"
#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/lesson_picture.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace attnscope::ui {

class FrameText;

/// "1, 2.5 -3": numbers with commas or blanks between, 64 at the most; empty where anything else stands there.
[[nodiscard]] std::vector<double> parse_scores(const QString& text);

/// A row's scores as boxes: those of the block in hand, those that came before, those that the mask hides.
class ScoreStrip : public QWidget {
  Q_OBJECT
 public:
  explicit ScoreStrip(QWidget* parent) : QWidget(parent) {}
  void show_step(const lesson::SoftmaxRows& rows, const lesson::OnlineStep& step);
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<QString> scores_;
  std::vector<bool> hidden_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

class SoftmaxPicture : public LessonPicture {
  Q_OBJECT
 public:
  SoftmaxPicture(const PictureOf& of, QWidget* parent);

  [[nodiscard]] Transport* transport() const override { return transport_; }
  [[nodiscard]] const lesson::OnlineTrace& trace() const { return trace_; }
  /// Plays these scores, each weighing the value of its place, 1, 2, 3, ...
  void play_own(const QString& scores);

 private:
  void add_choices(QWidget* row);
  void choose_example();
  void play_again();
  void show_step(int step);
  [[nodiscard]] QString state_html(const lesson::OnlineStep& step) const;
  [[nodiscard]] QString result_html() const;
  [[nodiscard]] QString merge_html() const;
  [[nodiscard]] QString values_text(const lesson::OnlineStep& step) const;
  /// The fault is one of masks, and nothing is masked.
  [[nodiscard]] bool fault_sleeps() const;

  const LessonData& data_;
  std::vector<lesson::SoftmaxExample> examples_;
  lesson::SoftmaxRows rows_;
  lesson::OnlineTrace trace_;
  QComboBox* pick_ = nullptr;
  QComboBox* block_ = nullptr;
  QComboBox* way_ = nullptr;
  QComboBox* fault_ = nullptr;
  QLineEdit* own_ = nullptr;
  QLabel* own_wrong_ = nullptr;
  Transport* transport_ = nullptr;
  ScoreStrip* strip_ = nullptr;
  FrameText* state_ = nullptr;
  FrameText* result_ = nullptr;
};

}  // namespace attnscope::ui
