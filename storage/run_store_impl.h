// SPDX-License-Identifier: Apache-2.0
// A file that is open: what its connection, its writing and its reading share. Opening and what is handed out stand in
// run_store.cpp, rows that are written in run_writer.cpp, rows that are read in run_reader.cpp.
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
#include "storage/new_database.h"
#include "storage/points_reader.h"
#include "storage/run_store.h"

namespace attnscope {

class Reader;

/// In a run's options: RunHeader::simulated_because.
inline constexpr const char* simulated_because_key = "simulated_because";
/// In a run's options: DeviceInfo::l2_from.
inline constexpr const char* l2_from_key = "l2_from";
/// In a run's options: DeviceInfo::rates_from.
inline constexpr const char* rates_from_key = "rates_from";
/// In a run's options: RunHeader::order_seed, of a run of several rounds.
inline constexpr const char* order_seed_key = "order_seed";
/// What somebody stated of a GPU of their own and no column has: an object of keys of gpu_values().
inline constexpr const char* stated_rates_key = "stated_rates";
inline constexpr std::array<std::string_view, 4> stated_rates{"clock_ghz", "l2_bytes_per_clock",
                                                              "tensor_flop_per_clock", "exponentials_per_clock"};

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
  std::int64_t scalar(SQLite::Statement& query);
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

  /// write(), and when it returns the disk has it: also where a reader keeps the log from being written back.
  template <class Change>
  auto write_on_disk(Change&& change) {
    struct Waiting {
      Impl& impl;
      explicit Waiting(Impl& of) : impl(of) { impl.wait_for_disk(true); }
      Waiting(const Waiting&) = delete;
      Waiting& operator=(const Waiting&) = delete;
      ~Waiting() { impl.wait_for_disk(false); }
    } waiting(*this);
    return write(std::forward<Change>(change));
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
  void add_launch(std::int64_t kernel, const LaunchRecord& launch);
  /// Of the row that says the same, which is added where there is none; contents that it lacks are added.
  std::int64_t statement_id(const std::string& digest, const std::string& algorithm, const KernelStatement& statement);
  /// What readers would skip is never written.
  void require_storable(const Message& wrong) const;
  std::int64_t insert_run(const RunHeader& header);
  /// A cancelled point gives way to the one that is measured now; with `any`, so does whatever is at its place.
  void remove_replaced(std::int64_t run, std::size_t index, bool any);
  /// Throws FileError where a run that goes on has points of the kernel by another statement.
  void require_its_statement(std::int64_t run, std::size_t index, const PointRecord& record);
  void add_other_gpus(std::int64_t point, const PointRecord& record);
  std::int64_t insert_point(std::int64_t run, std::size_t index, const PointRecord& given,
                            const DeviceInfo* device = nullptr);
  /// A write() of its own.
  std::int64_t add_point(std::int64_t run, std::size_t index, const PointRecord& record, const DeviceInfo* device);
  /// What one more round found of a point that is there; its id.
  std::int64_t extend_point(std::int64_t run, std::size_t index, int round, const PointRecord& measured);
  void set_state(std::int64_t run, StoredRunState state);
  void set_words(std::int64_t run, const RunWords& words, const std::string& edited_at);
  std::string insert_ceilings(const DeviceInfo& device, const Environment& environment,
                              std::span<const Ceiling> ceilings);

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
  std::vector<StoredCeilings> read_ceilings();
  std::string insert_noise(const DeviceInfo& device, const Environment& environment,
                           const analysis::RecordingNoise& noise);
  std::vector<StoredNoise> read_noise();
  /// Notes that runs are missing.
  void note_missing_runs();
};

}  // namespace attnscope
