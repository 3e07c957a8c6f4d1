// SPDX-License-Identifier: Apache-2.0
// Puts points together from the tables that hold their parts, and reads users' statements. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "storage/rows.h"
#include "storage/run_store.h"

namespace attnscope {

/// What a user's kernel was stated by.
struct StatementRow {
  std::string digest;                                ///< as the row says it: points are known by it
  std::string algorithm;                             ///< of the points
  std::shared_ptr<const KernelStatement> statement;  ///< null where it is not what was written
};

/// By id. `select` prepares a query. `contents`: of sources that were kept, too; else
/// nobody looks whether these are what was written. `note` is told what is wrong with one.
[[nodiscard]] std::unordered_map<std::int64_t, StatementRow> read_statements(
    const std::function<SQLite::Statement&(std::string_view)>& select, bool contents,
    const std::function<void(std::int64_t id, const Message& why)>& note);

/// The runs of a file, by id.
struct KnownRuns {
  std::unordered_set<std::int64_t> good;
  std::unordered_set<std::int64_t> bad;  ///< skipped or deleted, with their points
};

/// One query a table, over the same points. Points may be read some at a time: bad_rows() is of all that were read.
class PointsReader {
 public:
  /// Prepares a statement; "{}" in it, if any, stands for the condition on the points p, which may be another one at
  /// each read().
  using Select = std::function<SQLite::Statement&(std::string_view)>;
  PointsReader(Select select, const KnownRuns& runs) : select_(std::move(select)), runs_(runs) {}

  /// The points that are as they should be.
  [[nodiscard]] std::vector<StoredPoint> read();
  /// The others.
  [[nodiscard]] const std::vector<BadRow>& bad_rows() const { return bad_rows_; }

 private:
  struct KernelPlace {
    std::size_t point = 0;
    std::size_t kernel = 0;
  };
  struct MetricName {
    std::string name;
    std::string unit;
  };
  void read_metric_names();
  void read_file_statements();
  void read_points();
  void read_point_row(Reader& in, StoredPoint& point);
  void read_knobs();
  void read_other_gpus();
  void read_kernels();
  void read_metrics();
  void read_samples();
  void read_launches();
  void read_clocks();
  /// Where a value of that round goes: the first round's are the point's own until all are read.
  [[nodiscard]] KernelRecord& kernel_of_round(const KernelPlace& place, std::int64_t round);
  [[nodiscard]] std::optional<ClockReading>& clocks_of_round(std::size_t point, std::int64_t round);
  [[nodiscard]] RoundRecord& later_round(std::size_t point, std::int64_t round);
  void put_rounds_together();
  void leave_out_bad_points();
  /// Calls read_row(place, in) for each row: of points_, by the id in the first column, or of place_of_kernel_.
  template <class Places, class ReadRow>
  void each_row(SQLite::Statement& query, const Places& places, ReadRow&& read_row);
  void fail(std::size_t point, const Message& why) { failed_.try_emplace(point, why); }
  [[nodiscard]] KernelRecord& kernel_at(const KernelPlace& place) {
    return points_[place.point].record.kernels[place.kernel];
  }

  Select select_;
  const KnownRuns& runs_;
  std::vector<StoredPoint> points_;
  std::unordered_map<std::int64_t, MetricName> metrics_;
  std::optional<std::unordered_map<std::int64_t, StatementRow>> statements_;
  std::unordered_map<std::int64_t, std::size_t> place_of_point_;
  std::unordered_map<std::int64_t, KernelPlace> place_of_kernel_;
  std::unordered_map<std::size_t, std::map<int, RoundRecord>> later_rounds_;  ///< by place in points_
  std::unordered_map<std::size_t, Message> failed_;                           ///< why, by place in points_
  std::vector<BadRow> bad_rows_;
};

}  // namespace attnscope
