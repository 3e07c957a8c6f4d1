// SPDX-License-Identifier: GPL-3.0-or-later
// The records of points that somebody looks at, read from their files: the window keeps columns, which have no samples,
// launches and checks.
#pragma once

#include <QString>
#include <QTimer>
#include <memory>
#include <optional>

#include "storage/run_store.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

class PointRecords {
 public:
  PointRecords();

  struct Read {
    std::shared_ptr<const PointRecord> record = {};  ///< null where it could not be read
    QString error = {};                              ///< why, one sentence
    bool replaced = false;                           ///< another file has come in the place of the one that was drawn
  };
  /// Never throws: a file may have gone or changed since its points were drawn.
  [[nodiscard]] Read read(const ShownPoint& point);

 private:
  [[nodiscard]] Read read_file(const ShownPoint& point);

  QString file_;
  std::optional<RunStore> store_;  ///< of file_, open while points of it are looked at
  QTimer idle_;
};

}  // namespace attnscope::ui
