// SPDX-License-Identifier: GPL-3.0-or-later
// Reads full records of points (samples, launches, checks) from their files; the window keeps only columns in memory.
#pragma once

#include <QString>
#include <QTimer>
#include <memory>
#include <optional>

#include "storage/run_store.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

class PointRecordReader {
 public:
  PointRecordReader();

  struct ReadResult {
    std::shared_ptr<const PointRecord> record = {};  ///< null on error
    QString error = {};                              ///< one sentence
  };
  /// Never throws; a file may have been removed or changed.
  [[nodiscard]] ReadResult read(const ShownPoint& point);

 private:
  [[nodiscard]] ReadResult read_file(const ShownPoint& point);

  QString file_;
  std::optional<RunStore> store_;  ///< store of file_, open while its points are viewed
  QTimer idle_;
};

}  // namespace attnscope::ui
