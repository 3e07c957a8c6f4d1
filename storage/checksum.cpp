// SPDX-License-Identifier: Apache-2.0
#include "storage/checksum.h"

#include <fmt/format.h>
#include <sqlite3.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <unordered_map>

#include "storage/rows.h"

namespace attnscope {
namespace {

Digest digest_of_bytes(const void* bytes, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return {.high = hash.high64, .low = hash.low64};
}

void append(std::string& bytes, std::uint64_t word) {
  const auto raw = std::bit_cast<std::array<char, sizeof word>>(word);
  bytes.append(raw.data(), raw.size());
}

void append(std::string& bytes, std::string_view text) {
  append(bytes, std::uint64_t{text.size()});
  bytes += text;
}

}  // namespace

Digest& Digest::operator+=(const Digest& other) {
  high += other.high;
  low += other.low;
  return *this;
}

std::string to_string(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

Digest combined(std::initializer_list<std::uint64_t> words) {
  return digest_of_bytes(std::data(words), words.size() * sizeof(std::uint64_t));
}

void RowHasher::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

RowHasher::RowHasher(SQLite::Database& database, const std::string& sql, std::int64_t id) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(database.getHandle(), sql.c_str(), -1, &statement, nullptr);
  statement_.reset(statement);
  if (prepared != SQLITE_OK) throw SQLite::Exception(database.getHandle(), prepared);
  sqlite3_bind_int64(statement, 1, id);
}

bool RowHasher::next() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) throw SQLite::Exception(database_.getHandle(), result);
  return result == SQLITE_ROW;
}

std::int64_t RowHasher::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

Digest RowHasher::digest(std::string_view kind, int first) {
  sqlite3_stmt* const row = statement_.get();
  bytes_.clear();
  append(bytes_, kind);
  for (int i = first; i < sqlite3_column_count(row); ++i) {
    const int type = sqlite3_column_type(row, i);
    bytes_ += static_cast<char>(type);
    switch (type) {
      case SQLITE_NULL:
        break;
      case SQLITE_INTEGER:
        append(bytes_, std::bit_cast<std::uint64_t>(std::int64_t{sqlite3_column_int64(row, i)}));
        break;
      case SQLITE_FLOAT:
        append(bytes_, std::bit_cast<std::uint64_t>(sqlite3_column_double(row, i)));
        break;
      default: {
        const auto* const data = static_cast<const char*>(sqlite3_column_blob(row, i));
        append(bytes_, std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(row, i))));
      }
    }
  }
  return digest_of_bytes(bytes_.data(), bytes_.size());
}

namespace {

std::string device_columns() {
  return "d.uuid, d.simulated, d.ordinal, " + qualified("d", limit_columns());
}

/// Adds up the digests of the rows of one run's points.
class PointHasher {
 public:
  PointHasher(SQLite::Database& database, std::int64_t run) : database_(database), run_(run) {}

  /// Returns the digest of all points. Each point's sum is hashed once more; otherwise a row could move to another
  /// point without changing the total.
  Digest total() {
    read_points();
    add("knob", "point_knobs q ON q.point_id = p.id", "q.name, q.value");
    add("clocks", "clocks q ON q.point_id = p.id", "q.round, " + qualified("q", clock_columns));
    add("device", "point_devices q ON q.point_id = p.id LEFT JOIN devices d ON d.id = q.device_id",
        "q.rank, " + device_columns());
    read_kernels();
    read_metrics();
    add_kernel_table("samples", "timing_samples", "q.round, q.samples_ns");
    add_kernel_table("launch", "launches", qualified("q", launch_columns));
    Digest total;
    for (const auto& [id, sum] : points_) total += combined({sum.high, sum.low});
    return total;
  }

 private:
  struct Kernel {
    std::int64_t point = 0;
    std::uint64_t name = 0;
  };

  RowHasher rows(const std::string& sql) { return {database_, sql, run_}; }

  void read_points() {
    RowHasher row =
        rows("SELECT p.id, p.plan_index, " + point_columns("p.") + ", p.recorded_at, u.digest, " + device_columns() +
             " FROM points p LEFT JOIN devices d ON d.id = p.device_id LEFT JOIN user_kernels u "
             "ON u.id = p.user_kernel_id WHERE p.run_id = ?");
    while (row.next()) points_[row.integer(0)] += row.digest("point", 1);
  }

  /// `table`: with the tables that are joined with its rows q.
  void add(std::string_view kind, std::string_view table, const std::string& columns) {
    RowHasher row = rows(fmt::format("SELECT p.id, {} FROM points p CROSS JOIN {} WHERE p.run_id = ?", columns, table));
    while (row.next()) add_to_point(row.integer(0), row.digest(kind, 1));
  }

  void read_kernels() {
    RowHasher row = rows(
        "SELECT p.id, k.id, k.name, k.occupancy_limiter, k.complete FROM points p CROSS JOIN kernels k ON "
        "k.point_id = p.id WHERE p.run_id = ?");
    while (row.next()) {
      const Digest digest = row.digest("kernel", 2);
      add_to_point(row.integer(0), digest);
      kernels_.emplace(row.integer(1), Kernel{.point = row.integer(0), .name = digest.low});
    }
  }

  /// Metric values are the most frequent rows, so metric names are hashed once.
  void read_metrics() {
    std::unordered_map<std::int64_t, std::uint64_t> names;
    RowHasher metric = rows("SELECT id, name, unit FROM metrics WHERE ?1 = ?1");
    while (metric.next()) names.emplace(metric.integer(0), metric.digest("metric", 1).low);
    RowHasher row = rows(
        "SELECT v.kernel_id, v.metric_id, v.round, v.value, v.provenance FROM points p CROSS JOIN kernels k ON "
        "k.point_id = p.id CROSS JOIN metric_values v ON v.kernel_id = k.id WHERE p.run_id = ?");
    while (row.next()) {
      const auto name = names.find(row.integer(1));
      add_kernel_row(row.integer(0), row.digest("value", 2), name == names.end() ? 0 : name->second);
    }
  }

  void add_kernel_table(std::string_view kind, std::string_view table, std::string_view columns) {
    RowHasher row =
        rows(fmt::format("SELECT k.id, {} FROM points p CROSS JOIN kernels k ON k.point_id = p.id CROSS JOIN "
                         "{} q ON q.kernel_id = k.id WHERE p.run_id = ?",
                         columns, table));
    while (row.next()) add_kernel_row(row.integer(0), row.digest(kind, 1), 0);
  }

  // In a damaged file a row's parent may be missing. The row is skipped, and the checksum differs.
  void add_to_point(std::int64_t id, const Digest& digest) {
    const auto point = points_.find(id);
    if (point != points_.end()) point->second += digest;
  }
  /// Adds a row, hashed with the names of its kernel and metric.
  void add_kernel_row(std::int64_t id, const Digest& row, std::uint64_t metric) {
    const auto kernel = kernels_.find(id);
    if (kernel == kernels_.end()) return;
    add_to_point(kernel->second.point, combined({kernel->second.name, metric, row.high, row.low}));
  }

  SQLite::Database& database_;
  std::int64_t run_;
  std::unordered_map<std::int64_t, Digest> points_;  ///< keyed by point id
  std::unordered_map<std::int64_t, Kernel> kernels_;
};

}  // namespace

Digest checksum_of_run(SQLite::Database& database, std::int64_t run) {
  Digest sum = PointHasher(database, run).total();
  RowHasher row(
      database,
      fmt::format("SELECT r.uid, r.preset, r.argv, r.plan_hash, r.planned_points, r.rounds, r.options, "
                  "r.provenance, r.state, r.started_at, r.finished_at, {}, {} FROM runs r LEFT JOIN devices "
                  "d ON d.id = r.device_id LEFT JOIN environments e ON e.id = r.environment_id WHERE r.id = ?",
                  device_columns(), qualified("e", environment_columns())),
      run);
  while (row.next()) sum += row.digest("run", 0);
  RowHasher shard(database, "SELECT shard, shards FROM run_shards WHERE run_id = ?", run);
  while (shard.next()) sum += shard.digest("shard", 0);
  return sum;
}

void store_checksum(SQLite::Database& database, std::int64_t run) {
  SQLite::Statement update(database, "UPDATE runs SET checksum = ? WHERE id = ?");
  update.bind(1, to_string(checksum_of_run(database, run)));
  update.bind(2, run);
  update.exec();
}

}  // namespace attnscope
