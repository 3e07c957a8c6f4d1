// SPDX-License-Identifier: GPL-3.0-or-later
// Occupancy changed alone: with more and more shared memory taken beside a block's own, fewer blocks are on an SM, and
// the bytes stay.
#pragma once

#include <optional>

#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/lesson_picture.h"

namespace attnscope::ui {

class OccupancyPicture : public LessonPicture {
  Q_OBJECT
 public:
  OccupancyPicture(const PictureOf& of, QWidget* parent);

  /// Nothing where the algorithm or its problem is none.
  [[nodiscard]] const std::optional<lesson::PaddedOccupancy>& shown() const { return shown_; }

 private:
  [[nodiscard]] QString table_html(const LessonData& about) const;
  std::optional<lesson::PaddedOccupancy> shown_;
};

}  // namespace attnscope::ui
