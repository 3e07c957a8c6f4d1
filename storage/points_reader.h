// SPDX-License-Identifier: Apache-2.0
// Puts points together from the tables that hold their parts. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "storage/digest.h"
#include "storage/rows.h"
#include "storage/run_digests.h"
#include "storage/run_store.h"
#include "storage/statement_rows.h"

namespace attnscope {

/// The runs of a file, as its points need them.
struct KnownRuns {
  struct Run {
    std::string uid;
    std::optional<WrittenPoints> written;  ///< of files that say it
  };
  std::unordered_map<std::int64_t, Run> good;
  std::unordered_set<std::int64_t> bad;  ///< skipped or deleted, with their points
};

/// Runs among `runs` (empty: all) whose points, all of them having been looked at, are not those that were written.
/// `found`: by run, rows and the sum of their stored digests.
[[nodiscard]] std::vector<BadRow> incomplete_runs(const KnownRuns& known, std::span<const std::int64_t> runs,
                                                  const std::unordered_map<std::int64_t, WrittenPoints>& found);

/// One query a table, over the same points. Points may be read some at a time: of all that were read until then speak
/// bad_rows(), unchecked() and found().
class PointsReader {
 public:
  /// Prepares a statement; "{}" in it, if any, stands for the condition on the points p, which may be another one at
  /// each read().
  using Select = std::function<SQLite::Statement&(std::string_view)>;
  PointsReader(Select select, int version, const KnownRuns& runs)
      : select_(std::move(select)), version_(version), runs_(runs) {}

  /// The points that are as they should be.
  [[nodiscard]] std::vector<StoredPoint> read();
  /// The others.
  [[nodiscard]] const std::vector<BadRow>& bad_rows() const { return bad_rows_; }
  /// Points without a digest, of those that read() gave.
  [[nodiscard]] std::size_t unchecked() const { return unchecked_; }
  /// What of points() was found of each run.
  [[nodiscard]] const std::unordered_map<std::int64_t, WrittenPoints>& found() const { return found_; }
  /// The digest that each point of the last read() has now, whatever its row says: by id.
  [[nodiscard]] std::unordered_map<std::int64_t, Digest> digests() const;

 private:
  struct KernelPlace {
    std::size_t point = 0;
    std::size_t kernel = 0;
    NameDigest name;
  };
  struct MetricName {
    std::string name;
    std::string unit;
    NameDigest digest;
  };
  /// What a point is, and what it is said to be.
  struct Signature {
    std::optional<std::string> stored;
    Digest now;
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
  void count_in(std::size_t point, const Digest& part) { signatures_[point].now += part; }
  [[nodiscard]] KernelRecord& kernel_at(const KernelPlace& place) {
    return points_[place.point].record.kernels[place.kernel];
  }

  Select select_;
  int version_;
  const KnownRuns& runs_;
  std::vector<StoredPoint> points_;
  std::vector<Signature> signatures_;                      ///< by place in points_, before any is left out
  std::vector<std::int64_t> ids_;                          ///< the same
  std::unordered_map<std::int64_t, WrittenPoints> found_;  ///< by run: rows, and the sum of their stored digests
  std::unordered_map<std::int64_t, MetricName> metrics_;
  std::optional<std::unordered_map<std::int64_t, StatementRow>> statements_;
  std::size_t unchecked_ = 0;
  std::unordered_map<std::int64_t, std::size_t> place_of_point_;
  std::unordered_map<std::int64_t, KernelPlace> place_of_kernel_;
  std::unordered_map<std::size_t, std::map<int, RoundRecord>> later_rounds_;  ///< by place in points_
  std::unordered_map<std::size_t, Message> failed_;                           ///< why, by place in points_
  std::vector<BadRow> bad_rows_;
};

}  // namespace attnscope
