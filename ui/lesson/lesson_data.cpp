// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/lesson_data.h"

#include <utility>

#include "kernels/registry.h"
#include "profiler/analysis/lesson/stage.h"
#include "storage/measured_rates.h"

namespace attnscope::ui {

LessonData::LessonData(std::shared_ptr<const PointSet> points, const std::vector<StoredCeilings>& ceilings,
                       lesson::LessonTexts texts)
    : points_(std::move(points)),
      texts_(std::move(texts)),
      evidence_{.points = points_->table(),
                .rows = points_->table().rows(),
                .gpu = lesson::newest_gpu(points_->table()),
                .registry = built_in_algorithms()} {
  if (const StoredCeilings* rates = newest_rates(ceilings, evidence_.gpu)) evidence_.ceilings = rates->ceilings;
}

QString LessonData::word(std::string_view key) const {
  return QString::fromStdString(texts_.word(key));
}

}  // namespace attnscope::ui
