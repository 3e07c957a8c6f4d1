// SPDX-License-Identifier: GPL-3.0-or-later
// A short program that is wrong: it runs line by line, and any line can be rewritten to see whether that mends it.
#pragma once

#include <optional>
#include <vector>

#include "profiler/analysis/lesson/faulty_program.h"
#include "ui/lesson/lesson_picture.h"

class QLabel;
class QPushButton;

namespace attnscope::ui {

class FrameText;

class ProgramPicture : public LessonPicture {
  Q_OBJECT
 public:
  ProgramPicture(const PictureOf& of, QWidget* parent);

  [[nodiscard]] Transport* transport() const override { return transport_; }
  /// That line alone is written otherwise; the same again: as it stood.
  void rewrite(std::size_t line);
  [[nodiscard]] const lesson::ProgramRun& run() const { return run_; }
  [[nodiscard]] QString result() const;

 private:
  void run_again();
  void show_moment(int moment);

  const LessonData& data_;
  lesson::ProgramRun run_;
  std::optional<std::size_t> rewritten_;
  Transport* transport_ = nullptr;
  std::vector<QLabel*> lines_;
  std::vector<QLabel*> marks_;
  FrameText* value_ = nullptr;
  QLabel* result_ = nullptr;
};

}  // namespace attnscope::ui
