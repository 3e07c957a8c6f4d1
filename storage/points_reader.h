// SPDX-License-Identifier: Apache-2.0
// Assembles points from their tables and reads manifests of user-defined kernels. Internal to storage.
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

#include "storage/bounds.h"
#include "storage/rows.h"
#include "storage/run_store.h"

namespace attnscope {

struct ManifestRow {
  std::string digest;                              ///< digest stored in the row; identifies the kernel
  std::string algorithm;                           ///< algorithm name of the points
  std::shared_ptr<const StoredManifest> manifest;  ///< null if the content does not match the digest
};

/// Returns the rows of user-defined kernels by id. `select` prepares a query. `contents`: also reads and verifies
/// stored source files. `note` is called for each invalid row.
[[nodiscard]] std::unordered_map<std::int64_t, ManifestRow> read_manifests(
    const std::function<SQLite::Statement&(std::string_view)>& select, bool contents,
    const std::function<void(std::int64_t id, const Message& why)>& note);

struct RunIds {
  std::unordered_set<std::int64_t> good;
  std::unordered_set<std::int64_t> bad;  ///< skipped or deleted; their points are skipped, too
};

/// Reads points with one query per table. Points may be read in batches; invalid_rows() accumulates over all.
class PointsReader {
 public:
  /// Prepares a statement. "{}" in it is replaced by the condition on the points p, which may differ between calls of
  /// read().
  using Select = std::function<SQLite::Statement&(std::string_view)>;
  PointsReader(Select select, const RunIds& runs, const ReadLimits& limits = {})
      : select_(std::move(select)), runs_(runs), limits_(limits) {}

  /// Returns nullopt if the points together exceed the limits of one: read fewer at once. A point that exceeds them
  /// alone is invalid and takes no more memory than the limits.
  [[nodiscard]] std::optional<std::vector<StoredPoint>> read();
  [[nodiscard]] const std::vector<InvalidRow>& invalid_rows() const { return invalid_rows_; }

 private:
  struct KernelIndex {
    std::size_t point = 0;
    std::size_t kernel = 0;
  };
  struct MetricName {
    std::string name;
    std::string unit;
  };
  void read_metric_names();
  void read_points();
  void read_children();
  /// Throws TooLarge above the limits of a point.
  void count(std::size_t values, std::size_t samples);
  /// Keeps the points, which have no children then.
  void drop_children();
  void read_point_row(Reader& in, StoredPoint& point);
  void read_kernel_rows();
  /// Returns the kernel record of that round. Round 0 is stored in the point itself until all rows are read.
  [[nodiscard]] KernelRecord& kernel_of_round(const KernelIndex& place, std::int64_t round);
  [[nodiscard]] RoundRecord& round_record(std::size_t point, std::int64_t round);
  void assemble_rounds();
  void remove_invalid_points();
  /// Calls read_row(place, in) for each row. `places` maps the id in the first column to a place.
  template <class PointIndices, class ReadRow>
  void each_row(SQLite::Statement& query, const PointIndices& places, ReadRow&& read_row);
  template <class ReadRow>
  void each_child(std::string_view table, const std::string& columns, std::string_view order, ReadRow&& read_row);
  void fail(std::size_t point, const Message& why) { failed_.try_emplace(point, why); }
  [[nodiscard]] KernelRecord& kernel_at(const KernelIndex& place) {
    return points_[place.point].record.kernels[place.kernel];
  }

  Select select_;
  const RunIds& runs_;
  ReadLimits limits_;
  std::size_t values_ = 0;  ///< weight of the rows of this read
  std::size_t samples_ = 0;

  std::vector<StoredPoint> points_;
  std::unordered_map<std::int64_t, MetricName> metrics_;
  std::optional<std::unordered_map<std::int64_t, ManifestRow>> statements_;
  std::unordered_map<std::int64_t, std::size_t> point_index_;
  std::unordered_map<std::int64_t, KernelIndex> kernel_index_;
  std::unordered_map<std::size_t, std::map<int, RoundRecord>> later_rounds_;  ///< keyed by index in points_
  std::unordered_map<std::size_t, Message> failed_;                           ///< reasons, keyed by index in points_
  std::vector<InvalidRow> invalid_rows_;
};

}  // namespace attnscope
