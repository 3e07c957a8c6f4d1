// SPDX-License-Identifier: Apache-2.0
// A file that is open: what its connection (run_store.cpp), its writing (run_writer.cpp, run_edits.cpp,
// device_sets.cpp) and its reading (run_reader.cpp) share.
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
#include "storage/collector_lock.h"
#include "storage/database.h"
#include "storage/points_reader.h"
#include "storage/rows.h"
#include "storage/run_store.h"

namespace attnscope {

struct DeviceSets;

// Keys of a run's options beside those of MeasureOptions, and the members that they hold.
inline constexpr const char* simulated_because_key = "simulated_because";  ///< RunHeader's
inline constexpr const char* l2_from_key = "l2_from";                      ///< DeviceInfo's
inline constexpr const char* rates_from_key = "rates_from";                ///< DeviceInfo's
inline constexpr const char* order_seed_key = "order_seed";                ///< RunHeader's, of a run of several rounds
/// What somebody stated of a GPU of their own and no column has: an object of keys of gpu_values().
inline constexpr const char* stated_rates_key = "stated_rates";
inline constexpr std::array<std::string_view, 4> stated_rates{"clock_ghz", "l2_bytes_per_clock",
                                                              "tensor_flop_per_clock", "exponentials_per_clock"};
/// Calls f(key, member) for each member of MeasureOptions that JSON has a type for.
template <class Options, class F>
void each_option(Options& options, F&& f) {
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
  std::optional<CollectorLock> lock;  // this and the next one outlive the connection
  std::optional<LockPatience> patience;
  std::unique_ptr<SQLite::Database> database;
  bool immutable = false;
  bool followed = false;  ///< another process appends to the file
  FileStamp stamp;
  std::map<std::string, SQLite::Statement> statements;
  std::map<std::string, BadRow> bad;  ///< by where, in English: what reading skipped
  /// By run: whether the checksum that it had is that of its content.
  struct Verified {
    std::string checksum;
    bool equal = false;
  };
  std::unordered_map<std::int64_t, Verified> verified;
  bool content_verified = false;  ///< of all runs, in the same state of the file, earlier in this process
  /// By run, points and how many of them are ok: counted once of a file that nobody writes, for that looks at each.
  struct PointCount {
    std::int64_t points = 0;
    std::int64_t ok = 0;
  };
  std::optional<std::unordered_map<std::int64_t, PointCount>> point_counts;
  std::vector<std::string> extras;
  bool has_points = false;                                      ///< this has written some, or goes on with a run
  std::unordered_map<std::string, std::int64_t> known_devices;  ///< by uuid, that this has written

  // The connection.
  void connect(DatabaseAccess access);
  void open_for_reading();
  void open_for_collecting();
  void end_abandoned_runs();
  SQLite::Statement& statement(const std::string& sql);
  /// The same, with these values in the places of its parameters.
  template <class... Values>
  SQLite::Statement& bound(const std::string& sql, const Values&... values) {
    SQLite::Statement& prepared = statement(sql);
    Binder out(prepared);
    (out << ... << values);
    return prepared;
  }
  /// How many rows it changed.
  template <class... Values>
  int execute(const std::string& sql, const Values&... values) {
    return bound(sql, values...).exec();
  }
  /// The id of the row that it adds.
  template <class... Values>
  std::int64_t insert(const std::string& sql, const Values&... values) {
    execute(sql, values...);
    return database->getLastInsertRowid();
  }
  /// The first column of its first row; nothing where there is no row.
  template <class... Values>
  std::optional<std::int64_t> find(const std::string& sql, const Values&... values) {
    SQLite::Statement& query = bound(sql, values...);
    std::optional<std::int64_t> value;
    if (query.executeStep()) value = query.getColumn(0).getInt64();
    query.reset();
    return value;
  }
  /// Throws FileError if the file was removed or replaced: what was committed is then not in the file at its name.
  void require_in_place() const;
  /// Into the file itself, so that a copy of it alone is whole; a reader in the way only delays that.
  void checkpoint();
  /// Whether commits from here on wait until the disk has them.
  void wait_for_disk(bool waits);

  void note(const BadRow& row) { bad.try_emplace(english_text(row.where), row); }

  /// Runs a read, again on a fresh connection when the file changed under an immutable one.
  template <class Query>
  auto read(Query&& query) {
    const std::map<std::string, BadRow> known_bad = bad;
    for (int attempt = 0;; ++attempt) {
      bad = known_bad;  // what was read while the file changed was no one's content
      if (mode == Mode::read_only) {
        const FileStamp now = stamp_of(file);
        const bool stale =
            immutable ? now != stamp || CollectorLock::held(file) || has_journal(file) : !now.same_file(stamp);
        if (stale) open_for_reading();
      }
      const auto untouched = [&] { return !immutable || attempt >= 3 || stamp_of(file) == stamp; };
      try {
        auto answer = query();
        if (untouched()) return answer;
      } catch (const SQLite::Exception& error) {
        if (untouched()) throw as_file_error(error, file);
      }
    }
  }

  template <class Change>
  auto write(Change&& change) {
    try {
      return write_or_throw(std::forward<Change>(change));
    } catch (const FileError& error) {
      if (error.kind() != FileError::Kind::disk_full || !has_points) throw;
      throw FileError(
          FileError::Kind::disk_full,
          "no space left to write {}; what was collected before is kept: free some space and continue with --resume",
          file.string());
    }
  }

  /// write(), and when it returns the disk has it: also where a reader keeps the log from being written back. Then
  /// checkpoint().
  template <class Change>
  auto write_on_disk(Change&& change) {
    struct Waiting {
      Impl& impl;
      explicit Waiting(Impl& of) : impl(of) { impl.wait_for_disk(true); }
      Waiting(const Waiting&) = delete;
      Waiting& operator=(const Waiting&) = delete;
      ~Waiting() { impl.wait_for_disk(false); }
    };
    auto answer = [&] {
      const Waiting waiting(*this);
      return write(std::forward<Change>(change));
    }();
    checkpoint();
    return answer;
  }

  template <class Change>
  auto write_or_throw(Change&& change) {
    return with_file_errors(file, [&] {
      try {
        SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
        auto answer = change();
        transaction.commit();
        require_in_place();
        return answer;
      } catch (...) {  // what was counted is not there
        known_devices.clear();
        throw;
      }
    });
  }

  // Rows that are written, in write().
  std::int64_t device_id(const DeviceInfo& device);
  std::int64_t environment_id(const Environment& environment);
  std::int64_t metric_id(const MetricValue& metric);
  /// The row, and what was launched; its id.
  std::int64_t add_kernel(std::int64_t point, const KernelRecord& kernel);
  /// What a round found of a kernel.
  void add_values(std::int64_t kernel, int round, const KernelRecord& values);
  void add_clocks(std::int64_t point, int round, const ClockReading& clocks);
  /// Of the row that says the same, which is added where there is none; contents that it lacks are added.
  std::int64_t statement_id(const std::string& digest, const std::string& algorithm, const KernelStatement& statement);
  /// What readers would skip is never written.
  void require_storable(const Message& wrong) const;
  std::int64_t insert_run(const RunHeader& header);
  void add_other_gpus(std::int64_t point, const PointRecord& record);
  std::int64_t insert_point(std::int64_t run, std::size_t index, const PointRecord& given,
                            const DeviceInfo* device = nullptr);
  /// A write() of its own.
  std::int64_t add_point(std::int64_t run, std::size_t index, const PointRecord& record, const DeviceInfo* device);
  /// What one more round found of a point that is there; its id.
  std::int64_t extend_point(std::int64_t run, std::size_t index, int round, const PointRecord& measured);
  void set_state(std::int64_t run, StoredRunState state);
  void set_words(std::int64_t run, const RunWords& words, const std::string& edited_at);
  template <class AddRows, class... More>
  std::string add_set(const DeviceSets& tables, const DeviceInfo& device, const Environment& environment,
                      AddRows&& add_rows, const More&... more);

  // Rows that are read, in read().
  /// Of a run of the file; the content is hashed once per connection and checksum.
  RunIntegrity integrity_of(std::int64_t run, StoredRunState state, const std::optional<std::string>& checksum);
  /// In the order in which points() gives them.
  std::vector<std::int64_t> point_ids(std::span<const std::int64_t> runs, std::int64_t after_id);
  /// The points of these ids, some at a time; what is skipped is noted.
  void read_points(std::span<const std::int64_t> ids, const std::function<void(StoredPoint&&)>& visit,
                   bool deleted_too = false);
  /// Of each run the counts that are in its summary. Pre: immutable.
  [[nodiscard]] std::unordered_map<std::int64_t, PointCount> count_points();
  /// The runs that are as they should be; the others are noted. `known`: which are which, and no counts.
  std::vector<RunSummary> read_runs(KnownRuns* known, bool deleted_too = false);
  /// The columns words_columns() of a run; words that are damaged are noted, and as if there were none.
  RunWords read_words(Reader& in, std::int64_t run);
  template <class Set, class ReadRest>
  std::vector<Set> read_sets(const DeviceSets& tables, ReadRest&& read_rest);
  /// Notes that runs are missing.
  void note_missing_runs();
};

}  // namespace attnscope
