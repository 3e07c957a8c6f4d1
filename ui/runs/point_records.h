// SPDX-License-Identifier: GPL-3.0-or-later
// The records of points that somebody looks at, read from their files: the window keeps columns, which have no samples,
// launches and checks.
#pragma once

#include <QString>
#include <QTimer>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

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
  /// Those that were read last are kept. Never throws: a file may have gone or changed since its points were drawn.
  [[nodiscard]] Read read(const ShownPoint& point);

 private:
  [[nodiscard]] Read read_file(const ShownPoint& point);

  struct Known {
    std::string run;  ///< its uid: another file of that name may have come in the place of the first
    FileStamp stamp;  ///< a copy of that run may know its points by other ids
    QString file;
    std::int64_t id = 0;
    std::shared_ptr<const PointRecord> record;
  };
  std::deque<Known> known_;  ///< the last one first
  QString file_;
  std::optional<RunStore> store_;  ///< of file_, open while points of it are looked at
  QTimer idle_;
};

}  // namespace attnscope::ui
