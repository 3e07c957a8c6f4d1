// SPDX-License-Identifier: Apache-2.0
#include "storage/checksum.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "storage/point_rows.h"
#include "storage/rows.h"

namespace attnscope {
namespace {

std::string device_columns() {
  return "d.uuid, d.simulated, d.ordinal, " + qualified("d", limit_columns);
}

/// Adds up the rows of one run's points.
class PointSums {
 public:
  PointSums(SQLite::Database& database, std::int64_t run) : database_(database), run_(run) {}

  /// A point's sum is hashed again, or a row could move to another point without a change of the total.
  Digest total() {
    read_points();
    // By what the rows belong to: points or their kernels.
    add("knob", "point_knobs", "q.name, q.value");
    add("clocks", "clocks",
        "q.round, q.sm_clock_hz, q.memory_clock_hz, q.temperature_c, q.power_w, q.throttle_reasons, q.throttled");
    add_other_devices();
    read_kernels();
    read_metrics();
    add_to_kernels("samples", "timing_samples", "q.round, q.samples_ns");
    add_to_kernels("launch", "launches",
                   "q.launch, q.source_file, q.entry, q.defines, q.digest, q.registers, q.local_bytes, "
                   "q.static_shared_bytes, q.dynamic_shared_bytes, q.threads, q.grid");
    Digest total;
    for (const auto& [id, sum] : points_) total += combined({sum.high, sum.low});
    return total;
  }

 private:
  struct Kernel {
    std::int64_t point = 0;  ///< id
    std::uint64_t name = 0;
  };

  HashedRows rows(const std::string& sql) { return {database_, sql, run_}; }

  void read_points() {
    HashedRows row =
        rows("SELECT p.id, p.plan_index, " + point_columns("p.") + ", p.recorded_at, u.digest, " + device_columns() +
             " FROM points p LEFT JOIN devices d ON d.id = p.device_id LEFT JOIN user_kernels u "
             "ON u.id = p.user_kernel_id WHERE p.run_id = ?");
    while (row.next()) points_[row.integer(0)] += row.digest("point", 1);
  }

  void add(std::string_view kind, std::string_view table, std::string_view columns) {
    HashedRows row = rows(fmt::format(
        "SELECT p.id, {} FROM points p CROSS JOIN {} q ON q.point_id = p.id WHERE p.run_id = ?", columns, table));
    while (row.next()) add_to_point(row.integer(0), row.digest(kind, 1));
  }

  void add_other_devices() {
    HashedRows row = rows("SELECT p.id, q.rank, " + device_columns() +
                          " FROM points p CROSS JOIN point_devices q ON q.point_id = p.id LEFT JOIN devices "
                          "d ON d.id = q.device_id WHERE p.run_id = ?");
    while (row.next()) add_to_point(row.integer(0), row.digest("device", 1));
  }

  void read_kernels() {
    HashedRows row = rows(
        "SELECT p.id, k.id, k.name, k.occupancy_limiter, k.complete FROM points p CROSS JOIN kernels k ON "
        "k.point_id = p.id WHERE p.run_id = ?");
    while (row.next()) {
      const Digest digest = row.digest("kernel", 2);
      add_to_point(row.integer(0), digest);
      kernels_.emplace(row.integer(1), Kernel{.point = row.integer(0), .name = digest.low});
    }
  }

  /// The most frequent rows: names are hashed once.
  void read_metrics() {
    std::unordered_map<std::int64_t, std::uint64_t> names;
    HashedRows metric = rows("SELECT id, name, unit FROM metrics WHERE ?1 = ?1");
    while (metric.next()) names.emplace(metric.integer(0), metric.digest("metric", 1).low);
    HashedRows row = rows(
        "SELECT v.kernel_id, v.metric_id, v.round, v.value, v.provenance FROM points p CROSS JOIN kernels k ON "
        "k.point_id = p.id CROSS JOIN metric_values v ON v.kernel_id = k.id WHERE p.run_id = ?");
    while (row.next()) {
      const auto name = names.find(row.integer(1));
      add_of_kernel(row.integer(0), row.digest("value", 2), name == names.end() ? 0 : name->second);
    }
  }

  void add_to_kernels(std::string_view kind, std::string_view table, std::string_view columns) {
    HashedRows row =
        rows(fmt::format("SELECT k.id, {} FROM points p CROSS JOIN kernels k ON k.point_id = p.id CROSS JOIN "
                         "{} q ON q.kernel_id = k.id WHERE p.run_id = ?",
                         columns, table));
    while (row.next()) add_of_kernel(row.integer(0), row.digest(kind, 1), 0);
  }

  // If the file is damaged, a row's parent may be missing: the row does not count, and the checksum differs.
  void add_to_point(std::int64_t id, const Digest& digest) {
    const auto point = points_.find(id);
    if (point != points_.end()) point->second += digest;
  }
  /// A row counts together with the names of its kernel and metric.
  void add_of_kernel(std::int64_t id, const Digest& row, std::uint64_t metric) {
    const auto kernel = kernels_.find(id);
    if (kernel == kernels_.end()) return;
    add_to_point(kernel->second.point, combined({kernel->second.name, metric, row.high, row.low}));
  }

  SQLite::Database& database_;
  std::int64_t run_;
  std::unordered_map<std::int64_t, Digest> points_;  ///< by id
  std::unordered_map<std::int64_t, Kernel> kernels_;
};

}  // namespace

Digest checksum_of_run(SQLite::Database& database, std::int64_t run) {
  Digest sum = PointSums(database, run).total();
  HashedRows row(
      database,
      fmt::format("SELECT r.uid, r.preset, r.argv, r.plan_hash, r.planned_points, r.rounds, r.options, "
                  "r.provenance, r.state, r.started_at, r.finished_at, {}, {} FROM runs r LEFT JOIN devices "
                  "d ON d.id = r.device_id LEFT JOIN environments e ON e.id = r.environment_id WHERE r.id = ?",
                  device_columns(), qualified("e", environment_columns)),
      run);
  while (row.next()) sum += row.digest("run", 0);
  HashedRows shard(database, "SELECT shard, shards FROM run_shards WHERE run_id = ?", run);
  while (shard.next()) sum += shard.digest("shard", 0);
  return sum;
}

void sign_run(SQLite::Database& database, std::int64_t run) {
  SQLite::Statement update(database, "UPDATE runs SET checksum = ? WHERE id = ?");
  update.bind(1, to_string(checksum_of_run(database, run)));
  update.bind(2, run);
  update.exec();
}

}  // namespace attnscope
