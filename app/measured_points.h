// SPDX-License-Identifier: Apache-2.0
// The measured points of files, each with the run it was measured in: what predictions are compared with.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/command.h"
#include "storage/run_store.h"

namespace attnscope {

class MeasuredPoints {
 public:
  /// Of measured runs, the points that ended well; of a point that several files hold copies of, one. Throws
  /// CommandError where a file holds none. `filter`: only those that fit these words (point_query.h).
  explicit MeasuredPoints(std::span<const std::string> files, const std::string& filter = {});

  struct Point {
    PointRecord record;
    const RunSummary* run = nullptr;  ///< whose uid no other has
    std::string device_uuid;          ///< of what ran it
  };
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  /// Of all files.
  [[nodiscard]] const std::vector<StoredCeilings>& ceilings() const { return ceilings_; }
  /// With what reading skipped, of any of the files.
  [[nodiscard]] ExitCode with_skipped(ExitCode code) const;

 private:
  std::vector<std::unique_ptr<RunStore>> stores_;
  std::vector<std::unique_ptr<const RunSummary>> runs_;
  std::vector<Point> points_;
  std::vector<StoredCeilings> ceilings_;
};

}  // namespace attnscope
