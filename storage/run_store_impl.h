// SPDX-License-Identifier: Apache-2.0
// Open file: members shared by connection (run_store.cpp), writing (run_writer.cpp, run_edits.cpp, device_sets.cpp) and
// reading (run_reader.cpp).
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/messages/message.h"
#include "storage/bounds.h"
#include "storage/database.h"
#include "storage/points_reader.h"
#include "storage/rows.h"
#include "storage/run_store.h"

namespace attnscope {

struct SetTables;

// Keys in a run's options besides those of MeasureOptions.
inline constexpr const char* simulated_because_key = "simulated_because";  ///< RunHeader member
inline constexpr const char* l2_from_key = "l2_from";                      ///< DeviceInfo members
inline constexpr const char* rates_from_key = "rates_from";
inline constexpr const char* order_seed_key = "order_seed";  ///< RunHeader member, for runs of several rounds
/// Rates of a hypothetical GPU that have no column: an object with keys of gpu_values().
inline constexpr const char* given_rates_key = "stated_rates";
inline constexpr std::array<std::string_view, 4> given_rates{"clock_ghz", "l2_bytes_per_clock", "tensor_flop_per_clock",
                                                             "exponentials_per_clock"};
/// Calls f(key, member) for each member of MeasureOptions that converts to JSON directly.
template <class Options, class F>
void for_each_option(Options& options, F&& f) {
  f("counters", options.counters);
  f("verify", options.verify);
  f("extra_metrics", options.extra_metrics);
  f("min_samples", options.min_samples);
  f("max_samples", options.max_samples);
  f("max_noise", options.max_noise);
  f("seed", options.seed);
}

/// ISO 8601, UTC.
[[nodiscard]] std::string now_utc();

struct RunStore::Impl {
  std::filesystem::path file;
  Mode mode = Mode::read_only;
  std::optional<CollectorLock> lock;  // must outlive the connection
  std::unique_ptr<SQLite::Database> database;
  bool immutable = false;
  std::string other_log;  ///< foreign_log(), which is not read
  bool followed = false;  ///< another process appends to the file
  FileStamp stamp;
  std::map<std::string, SQLite::Statement> statement_cache;
  std::map<std::string, InvalidRow> bad;  ///< skipped rows, by English location
  /// Result of verifying a run's checksum.
  struct Verified {
    std::string checksum;
    bool equal = false;
  };
  std::unordered_map<std::int64_t, Verified> verified;
  bool content_verified = false;  ///< all runs were verified earlier in this process, and the file has not changed
  bool has_points = false;        ///< points were written, or a run was reopened
  std::unordered_map<std::string, std::int64_t> device_ids;  ///< ids by uuid, for devices written by this object

  // The connection.
  void open_for_reading();
  void open_for_collecting();
  SQLite::Statement& prepare(const std::string& sql);
  /// Same, with these values bound to its parameters.
  template <class... Values>
  SQLite::Statement& prepare_bound(const std::string& sql, const Values&... values) {
    SQLite::Statement& prepared = prepare(sql);
    Binder out(prepared);
    (out << ... << values);
    return prepared;
  }
  /// Returns the number of changed rows.
  template <class... Values>
  int execute(const std::string& sql, const Values&... values) {
    return prepare_bound(sql, values...).exec();
  }
  /// Returns the id of the added row.
  template <class... Values>
  std::int64_t insert(const std::string& sql, const Values&... values) {
    execute(sql, values...);
    return database->getLastInsertRowid();
  }
  /// Returns the first column of the first row, or nullopt.
  template <class... Values>
  std::optional<std::int64_t> find(const std::string& sql, const Values&... values) {
    SQLite::Statement& query = prepare_bound(sql, values...);
    std::optional<std::int64_t> value;
    if (query.executeStep()) value = query.getColumn(0).getInt64();
    query.reset();
    return value;
  }
  /// Throws FileError if the file was removed or replaced; committed data would then be lost.
  void require_same_file() const;
  /// Writes the log back into the file, so that the file alone is complete. A reader can only delay this.
  void checkpoint();
  /// Sets whether commits wait until data is on disk.
  void set_synchronous(bool waits);

  void note(const InvalidRow& row) {
    if (bad.size() < max_invalid_rows) bad.try_emplace(english_text(row.where), row);
  }

  /// Runs a read; retries with a new connection if the file changed under an immutable one.
  template <class Query>
  auto read(Query&& query) {
    const std::map<std::string, InvalidRow> earlier_invalid = bad;
    for (int attempt = 0;; ++attempt) {
      bad = earlier_invalid;  // discard findings of an attempt during which the file changed
      if (mode == Mode::read_only) {
        const FileStamp now = file_stamp(file);
        const bool stale = immutable
                               ? now != stamp || CollectorLock::held(file) || (other_log.empty() && has_journal(file))
                               : !now.same_file(stamp);
        if (stale) open_for_reading();
      }
      const auto untouched = [&] { return !immutable || attempt >= 3 || file_stamp(file) == stamp; };
      try {
        auto answer = query();
        if (untouched()) return answer;
      } catch (const SQLite::Exception& error) {
        if (untouched()) throw to_file_error(error, file);
      }
    }
  }

  template <class Change>
  auto write(Change&& change) {
    try {
      SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
      auto answer = change();
      transaction.commit();
      require_same_file();
      return answer;
    } catch (const SQLite::Exception& sqlite_error) {
      device_ids.clear();  // they were rolled back
      FileError error = to_file_error(sqlite_error, file);
      if (error.kind() != FileError::Kind::disk_full || !has_points) throw error;
      throw FileError(
          FileError::Kind::disk_full,
          "no space left to write {}; stored points are kept (free some space, then continue with --resume)",
          file.string());
    } catch (...) {
      device_ids.clear();
      throw;
    }
  }

  /// Like write(), but returns only when data is on disk, even if a reader prevents a checkpoint. Then calls
  /// checkpoint().
  template <class Change>
  auto write_synced(Change&& change) {
    struct SyncGuard {
      Impl& impl;
      ~SyncGuard() { impl.set_synchronous(false); }
    };
    set_synchronous(true);
    auto answer = [&] {
      const SyncGuard guard{*this};
      return write(std::forward<Change>(change));
    }();
    checkpoint();
    return answer;
  }

  // Writing rows; call within write().
  std::int64_t device_id(const DeviceInfo& device);
  std::int64_t environment_id(const Environment& environment);
  std::int64_t metric_id(const MetricValue& metric);
  std::int64_t add_kernel(std::int64_t point, const KernelRecord& kernel);
  void add_values(std::int64_t kernel, int round, const KernelRecord& values);
  void add_clocks(std::int64_t point, int round, const ClockReading& clocks);
  /// Returns the id of the row with this digest; adds it, or missing source contents, if needed.
  std::int64_t manifest_id(const std::string& digest, const std::string& algorithm, const StoredManifest& manifest);
  /// Throws if `wrong` is not empty. Rows that readers would skip are never written.
  void require_storable(const Message& wrong) const;
  std::int64_t insert_run(const RunHeader& header);
  void add_other_gpus(std::int64_t point, const PointRecord& record);
  std::int64_t insert_point(std::int64_t run, std::size_t index, const PointRecord& given,
                            const DeviceInfo* device = nullptr);
  std::int64_t extend_point(std::int64_t run, std::size_t index, int round, const PointRecord& measured);
  void set_state(std::int64_t run, StoredRunState state);
  void apply_edit(std::int64_t run, const RunEdit& edit, const std::string& edited_at);
  template <class AddRows, class... More>
  std::string add_set(const SetTables& tables, const DeviceInfo& device, const Environment& environment,
                      AddRows&& add_rows, const More&... more);

  // Reading rows; call within read().
  /// Verifies the checksum; content is hashed once per connection and checksum.
  RunIntegrity integrity_of(std::int64_t run, StoredRunState state, const std::optional<std::string>& checksum);
  std::vector<std::int64_t> point_ids(std::span<const std::int64_t> runs, std::int64_t after_id);
  /// Reads these points in batches; skipped rows are noted.
  void read_points(std::span<const std::int64_t> ids, const std::function<void(StoredPoint&&)>& visit,
                   bool include_deleted = false);
  /// Returns the valid runs; others are noted. `known`: receives the ids of valid and skipped runs; counts are not read
  /// then.
  std::vector<RunSummary> read_runs(RunIds* known, bool include_deleted = false);
  /// Reads annotation_columns of a run; damaged values are noted and replaced by defaults.
  RunAnnotations read_annotations(Reader& in, std::int64_t run);
  template <class Set, class ReadRest>
  std::vector<Set> read_sets(const SetTables& tables, ReadRest&& read_rest);
  /// Notes if the number of runs differs from the stored total.
  void note_missing_runs();
};

}  // namespace attnscope
