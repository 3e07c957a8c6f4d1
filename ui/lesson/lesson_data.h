// SPDX-License-Identifier: GPL-3.0-or-later
// What every part of the lesson's window reads: texts of one language, and the points that they stand on.
#pragma once

#include <QString>
#include <memory>
#include <string_view>
#include <vector>

#include "profiler/analysis/lesson/claims.h"
#include "profiler/analysis/lesson/texts.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

namespace lesson = analysis::lesson;

class LessonData {
 public:
  /// `ceilings` are of any GPU; those of the lesson's own are taken.
  LessonData(std::shared_ptr<const PointSet> points, const std::vector<StoredCeilings>& ceilings,
             lesson::LessonTexts texts);
  LessonData(const LessonData&) = delete;
  LessonData& operator=(const LessonData&) = delete;

  [[nodiscard]] const lesson::LessonTexts& texts() const { return texts_; }
  [[nodiscard]] const lesson::Evidence& evidence() const { return evidence_; }
  /// A word of the lesson's, in its language.
  [[nodiscard]] QString word(std::string_view key) const;

 private:
  std::shared_ptr<const PointSet> points_;
  lesson::LessonTexts texts_;
  lesson::Evidence evidence_;
};

}  // namespace attnscope::ui
