// SPDX-License-Identifier: Apache-2.0
// Puts points together from the tables that hold their parts. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/run_store.h"

namespace attnscope {

/// One query a table, over the same points.
class PointsReader {
 public:
  /// Prepares a statement; "{}" in it stands for the condition on the points p.
  using Select = std::function<SQLite::Statement&(std::string_view)>;
  PointsReader(Select select, int version) : select_(std::move(select)), version_(version) {}

  [[nodiscard]] std::vector<StoredPoint> read();

 private:
  struct KernelPlace {
    std::size_t point = 0;
    std::size_t kernel = 0;
  };
  void read_points();
  void read_knobs();
  void read_kernels();
  void read_metrics();
  void read_samples();
  void read_launches();
  void read_clocks();
  [[nodiscard]] KernelRecord& kernel_at(std::int64_t id);
  [[nodiscard]] PointRecord& point_at(std::int64_t id) { return points_[place_of_point_.at(id)].record; }

  Select select_;
  int version_;
  std::vector<StoredPoint> points_;
  std::unordered_map<std::int64_t, std::size_t> place_of_point_;
  std::unordered_map<std::int64_t, KernelPlace> place_of_kernel_;
};

}  // namespace attnscope
