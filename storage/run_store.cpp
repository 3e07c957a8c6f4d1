// SPDX-License-Identifier: Apache-2.0
#include "storage/run_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "messages/file.h"
#include "storage/bounds.h"
#include "storage/collector_lock.h"
#include "storage/database.h"
#include "storage/digest.h"
#include "storage/file_guard.h"
#include "storage/migrations.h"
#include "storage/output_file.h"
#include "storage/point_rows.h"
#include "storage/points_reader.h"
#include "storage/rows.h"
#include "storage/run_digests.h"

namespace attnscope {
namespace {

using Kind = StorageError::Kind;
using nlohmann::json;

constexpr std::array<std::pair<StoredRunState, std::string_view>, 5> run_states{{
    {StoredRunState::running, "running"},
    {StoredRunState::complete, "complete"},
    {StoredRunState::cancelled, "cancelled"},
    {StoredRunState::interrupted, "interrupted"},
    {StoredRunState::failed, "failed"},
}};

std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

StoredRunState parse_run_state(std::string_view text) {
  for (const auto& [state, name] : run_states) {
    if (name == text) return state;
  }
  throw RowError(say::row::no_run_state{.word = text});
}

/// 128 random bits: no two runs have one.
std::string new_uid() {
  std::array<std::uint64_t, 2> bits{};
  sqlite3_randomness(sizeof bits, bits.data());
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

constexpr const char* simulated_because_key = "simulated_because";

/// Names of files need not be UTF-8; what is not stands as U+FFFD.
std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string utf8(const std::string& text) {
  return json::parse(text_of(text)).get<std::string>();
}

json to_json(const MeasureOptions& options) {
  return {{"counters", options.counters},
          {"verify", options.verify},
          {"extra_metrics", options.extra_metrics},
          {"min_samples", options.min_samples},
          {"max_samples", options.max_samples},
          {"max_noise", options.max_noise},
          {"timeout_ms", options.timeout.count()},
          {"seed", options.seed},
          {"input_kind", to_string(options.input_kind)}};
}

MeasureOptions options_from(const json& text) {
  MeasureOptions options;
  options.counters = text.value("counters", options.counters);
  options.verify = text.value("verify", options.verify);
  options.extra_metrics = text.value("extra_metrics", options.extra_metrics);
  options.min_samples = text.value("min_samples", options.min_samples);
  options.max_samples = text.value("max_samples", options.max_samples);
  options.max_noise = text.value("max_noise", options.max_noise);
  options.timeout = std::chrono::milliseconds(text.value("timeout_ms", options.timeout.count()));
  options.seed = text.value("seed", options.seed);
  options.input_kind = word(parse_input_kind(text.value("input_kind", std::string(to_string(options.input_kind)))));
  return options;
}

Binder& operator<<(Binder& out, const DeviceLimits& limits) {
  return out << limits.name << limits.compute_major << limits.compute_minor << limits.sm_count
             << limits.max_threads_per_block << limits.max_threads_per_sm << limits.max_blocks_per_sm
             << limits.registers_per_sm << limits.shared_bytes_per_block << limits.shared_bytes_per_sm
             << limits.shared_bytes_reserved << limits.l2_bytes << limits.dram_bytes << limits.dram_bytes_per_second
             << limits.l2_bytes_per_second << limits.tensor_flops;
}

DeviceLimits read_limits(Reader& in) {
  DeviceLimits limits;
  limits.name = in.text();
  limits.compute_major = in.small();
  limits.compute_minor = in.small();
  limits.sm_count = in.small();
  limits.max_threads_per_block = in.small();
  limits.max_threads_per_sm = in.small();
  limits.max_blocks_per_sm = in.small();
  limits.registers_per_sm = in.integer();
  limits.shared_bytes_per_block = in.integer();
  limits.shared_bytes_per_sm = in.integer();
  limits.shared_bytes_reserved = in.integer();
  limits.l2_bytes = in.integer();
  limits.dram_bytes = in.integer();
  limits.dram_bytes_per_second = in.real();
  limits.l2_bytes_per_second = in.real();
  limits.tensor_flops = in.real();
  return limits;
}

/// What to SELECT for runs.provenance from a file of schema `version`; `r` and `d` are the run and its device.
std::string run_provenance(int version) {
  return version >= 2 ? "r.provenance" : "iif(d.simulated, 'simulated', 'measured')";
}

/// The same for runs.uid, as step 3 makes it.
std::string run_uid(int version) {
  return version >= 3 ? "r.uid" : "printf('%s-%s-%s-%d', r.plan_hash, r.started_at, d.uuid, r.id)";
}

void bind_environment(Binder& out, const Environment& environment) {
  out << environment.app_version << environment.driver_version << environment.cuda_driver_api
      << environment.nvrtc_version << environment.cupti_version << environment.nvml_version
      << environment.operating_system;
}

Environment read_environment(Reader& in) {
  Environment environment;
  environment.app_version = in.text();
  environment.driver_version = in.text();
  environment.cuda_driver_api = in.text();
  environment.nvrtc_version = in.text();
  environment.cupti_version = in.text();
  environment.nvml_version = in.text();
  environment.operating_system = in.text();
  return environment;
}

RunSummary read_run(Reader& in) {
  RunSummary run;
  run.id = in.integer();
  run.preset = in.text();
  run.started_at = in.text();
  run.finished_at = in.text();
  run.state = parse_run_state(in.text());
  run.planned_points = in.count();
  run.argv = json::parse(in.text()).get<std::vector<std::string>>();
  run.plan_hash = in.text();
  const json options = json::parse(in.text());
  run.options = options_from(options);
  run.simulated_because = options.value(simulated_because_key, "");
  run.points = in.count();
  run.ok_points = in.count();
  run.device_uuid = in.text();
  run.simulated = in.flag();
  run.device_ordinal = in.small();
  run.limits = read_limits(in);
  run.device_name = run.limits.name;
  run.environment = read_environment(in);
  run.provenance = word(parse_provenance(in.text()));
  run.uid = in.text();
  for (const Message& wrong : {out_of_bounds(run.options), out_of_bounds(run.limits)}) {
    if (!wrong.empty()) throw RowError(wrong);
  }
  return run;
}

}  // namespace

std::string_view to_string(StoredRunState wanted) {
  for (const auto& [state, name] : run_states) {
    if (state == wanted) return name;
  }
  return "unknown";
}

struct RunStore::Impl {
  std::filesystem::path file;
  Mode mode = Mode::read_only;
  std::optional<CollectorLock> lock;  // this and the next outlive the connection
  std::optional<LockPatience> patience;
  std::unique_ptr<SQLite::Database> database;
  std::optional<FileGuard> guard;
  bool immutable = false;
  FileStamp stamp;
  std::map<std::string, SQLite::Statement> statements;
  std::map<std::string, BadRow> bad;  ///< by where, in English: what reading skipped
  std::size_t unchecked = 0;
  std::vector<std::string> extras;
  std::unordered_map<std::int64_t, WrittenPoints> written;  ///< by run, while this writes
  bool counts_later = false;                                ///< of many points at once the last writes the sum
  std::unordered_map<std::int64_t, std::pair<std::string, std::string>> run_names;  ///< uid of run and uuid of device

  void connect(DatabaseAccess access) {
    database = open_database(file, access);
    if (patience) patience->attach(*database);
  }

  void open_for_reading() {
    statements.clear();
    database.reset();
    stamp = stamp_of(file);
    // Only a file that no one writes, nor left half written, may be opened without locks and without a -shm file.
    immutable = (lock || !CollectorLock::held(file)) && !has_journal(file);
    try {
      connect(immutable ? DatabaseAccess::immutable : DatabaseAccess::read_only);
      extras = require_ours(*database, file);
    } catch (const SQLite::Exception& error) {
      if ((error.getErrorCode() & 0xFF) == SQLITE_CANTOPEN && has_journal(file) && ::access(file.c_str(), R_OK) == 0) {
        throw StorageError(Kind::other, say::file::log_needs_folder{.file = file.string()});
      }
      throw as_storage_error(error, file);
    }
  }

  void open_for_collecting() {
    const FileStamp before = stamp_of(file);
    if (before.size >= 0 && ::access(file.c_str(), W_OK) != 0) {
      throw StorageError(Kind::not_writable, say::file::read_only{.file = file.string()});
    }
    lock = CollectorLock::acquire(file);
    if (before.size > 0) lock->hold_content(file);
    settle_logs(file);
    if (stamp_of(file).size <= 0) {
      create_database(file, {});
      lock->hold_content(file);
    } else if (!is_blank(file)) {
      // Who the file belongs to is asked without write access: nothing of a foreign or damaged file may change.
      open_for_reading();
    }
    with_storage_errors(file, [&] {
      connect(DatabaseAccess::read_write);
      immutable = false;
      use_log(*database);
      // A commit outlives this process with no wait for the disk; finish_run() waits for it once.
      database->exec("PRAGMA synchronous = NORMAL");
      migrate(*database);
      // The lock is ours: whoever left a run `running` is gone.
      end_abandoned_runs();
    });
    guard.emplace(file);
    stamp = stamp_of(file);
  }

  void note(const BadRow& row) { bad.try_emplace(english_text(row.where), row); }

  void end_abandoned_runs() {
    std::vector<std::int64_t> abandoned;
    {
      SQLite::Statement query(*database, "SELECT id FROM runs WHERE state = 'running'");
      while (query.executeStep()) abandoned.push_back(query.getColumn(0).getInt64());
    }
    if (abandoned.empty()) return;
    SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
    for (const std::int64_t run : abandoned) {
      change_run(run, [&] {
        SQLite::Statement& update = statement(
            "UPDATE runs SET state = 'interrupted', finished_at = coalesce((SELECT max(recorded_at) FROM points WHERE "
            "run_id = runs.id), started_at) WHERE id = ?");
        update.bind(1, run);
        return update.exec();
      });
    }
    transaction.commit();
  }

  /// The row's digest follows, unless there is none or the row was not what it said: damage stays visible.
  template <class Change>
  int change_run(std::int64_t run, Change&& change) {
    const bool signs = run_digest(*database, run) == DigestState::equal;
    const int changed = change();
    if (signs) sign_run(*database, run);
    return changed;
  }

  SQLite::Statement& statement(const std::string& sql) {
    auto found = statements.find(sql);
    if (found == statements.end()) found = statements.emplace(sql, SQLite::Statement(*database, sql)).first;
    found->second.tryReset();  // reset() throws again what the last use of it threw
    found->second.clearBindings();
    return found->second;
  }

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
        if (untouched()) throw as_storage_error(error, file);
      }
    }
  }

  template <class Change>
  auto write(Change&& change) {
    return with_storage_errors(file, [&] {
      SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
      try {
        auto answer = change();
        transaction.commit();
        if (guard) guard->require_in_place(*database);
        return answer;
      } catch (...) {  // what was counted is not there
        written.clear();
        counts_later = false;
        throw;
      }
    });
  }

  std::int64_t scalar(SQLite::Statement& query) {
    query.executeStep();
    const std::int64_t value = query.getColumn(0).getInt64();
    query.reset();
    return value;
  }

  std::int64_t device_id(const DeviceInfo& device) {
    SQLite::Statement& insert = statement(
        fmt::format("INSERT INTO devices (uuid, simulated, ordinal, {0}) VALUES ({1}) ON CONFLICT (uuid) DO UPDATE SET "
                    "ordinal = excluded.ordinal, {2} RETURNING id",
                    limit_columns, placeholders(19), assignments(limit_columns)));
    Binder(insert) << device.uuid << device.simulated << device.ordinal << device.limits;
    const std::int64_t id = scalar(insert);
    sign_device(*database, id);
    return id;
  }

  std::int64_t environment_id(const Environment& environment) {
    SQLite::Statement& insert =
        statement(fmt::format("INSERT INTO environments ({0}) VALUES ({1}) ON CONFLICT ({0}) DO UPDATE SET app_version "
                              "= excluded.app_version RETURNING id",
                              environment_columns, placeholders(7)));
    Binder out(insert);
    bind_environment(out, environment);
    return scalar(insert);
  }

  std::int64_t metric_id(const MetricValue& metric) {
    SQLite::Statement& find = statement("SELECT id FROM metrics WHERE name = ? AND unit = ?");
    Binder(find) << metric.name << metric.unit;
    if (find.executeStep()) {
      const std::int64_t id = find.getColumn(0).getInt64();
      find.reset();
      return id;
    }
    SQLite::Statement& insert = statement("INSERT INTO metrics (name, unit) VALUES (?, ?)");
    Binder(insert) << metric.name << metric.unit;
    insert.exec();
    return database->getLastInsertRowid();
  }

  void add_kernel(std::int64_t point, const KernelRecord& kernel) {
    SQLite::Statement& insert =
        statement("INSERT INTO kernels (point_id, name, occupancy_limiter, complete) VALUES (?, ?, ?, ?)");
    Binder out(insert);
    out << point << kernel.kernel << kernel.occupancy_limiter;
    if (kernel.complete) {
      out << *kernel.complete;
    } else {
      insert.bind(4);
    }
    insert.exec();
    const std::int64_t id = database->getLastInsertRowid();
    for (const MetricValue& metric : kernel.metrics) {
      const std::int64_t name = metric_id(metric);
      SQLite::Statement& value =
          statement("INSERT INTO metric_values (kernel_id, metric_id, value, provenance) VALUES (?, ?, ?, ?)");
      Binder(value) << id << name << metric.value << to_string(metric.provenance);
      value.exec();
    }
    if (!kernel.samples_ns.empty()) {
      SQLite::Statement& samples = statement("INSERT INTO timing_samples (kernel_id, samples_ns) VALUES (?, ?)");
      Binder(samples) << id << json(kernel.samples_ns).dump();
      samples.exec();
    }
    if (kernel.launch) add_launch(id, *kernel.launch);
  }

  void add_launch(std::int64_t kernel, const LaunchRecord& launch) {
    SQLite::Statement& insert = statement(fmt::format("INSERT INTO launches VALUES ({})", placeholders(12)));
    Binder(insert) << kernel << launch.kernel << launch.source_file << launch.entry << json(launch.defines).dump()
                   << launch.digest << launch.registers << launch.local_bytes << launch.static_shared_bytes
                   << launch.dynamic_shared_bytes << launch.threads << json(launch.grid).dump();
    insert.exec();
  }

  /// What readers would skip is never written.
  void require_storable(const Message& wrong) const {
    if (!wrong.empty()) throw StorageError(Kind::other, say::file::no_such_row{.file = file.string(), .error = wrong});
  }

  std::int64_t insert_run(const RunHeader& header) {
    require_storable(out_of_bounds(header.options));
    require_storable(out_of_bounds(header.device.limits));
    const std::int64_t device = device_id(header.device);
    const std::int64_t environment = environment_id(header.environment);
    const Provenance provenance = header.imported           ? Provenance::imported
                                  : header.device.simulated ? Provenance::simulated
                                                            : Provenance::measured;
    json options = to_json(header.options);
    if (!header.simulated_because.empty()) options[simulated_because_key] = header.simulated_because;
    SQLite::Statement& insert = statement(
        "INSERT INTO runs (device_id, environment_id, preset, argv, plan_hash, planned_points, options, state, "
        "started_at, provenance, uid) VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)");
    Binder(insert) << device << environment << utf8(header.preset) << text_of(header.argv) << header.plan_hash
                   << header.planned_points << text_of(options) << now_utc() << to_string(provenance) << new_uid();
    insert.exec();
    const std::int64_t run = database->getLastInsertRowid();
    database->exec("UPDATE totals SET runs = runs + 1");
    sign_run(*database, run);
    return run;
  }

  /// What a point of this run has beside its record; the texts live as long as this and `recorded_at`.
  PointIdentity identity_of(std::int64_t run, std::size_t index, const std::string& recorded_at) {
    auto found = run_names.find(run);
    if (found == run_names.end()) {
      SQLite::Statement& query =
          statement("SELECT r.uid, d.uuid FROM runs r JOIN devices d ON d.id = r.device_id WHERE r.id = ?");
      query.bind(1, run);
      if (!query.executeStep()) throw StorageError(Kind::other, say::file::no_run{.file = file.string(), .run = run});
      found = run_names.emplace(run, std::pair(query.getColumn(0).getString(), query.getColumn(1).getString())).first;
      query.reset();
    }
    return {.run_uid = found->second.first,
            .device_uuid = found->second.second,
            .index = index,
            .recorded_at = recorded_at};
  }

  /// One more, or with -1 one less of the run's points.
  void count_point(std::int64_t run, int one, const Digest& digest) {
    auto found = written.find(run);
    if (found == written.end()) {
      const std::optional<WrittenPoints> before = written_points(*database, run);
      if (!before) return;  // damage, which stays visible
      found = written.emplace(run, *before).first;
    }
    WrittenPoints& points = found->second;
    points.count += one;
    if (one > 0) {
      points.sum += digest;
    } else {
      points.sum -= digest;
    }
    if (!counts_later) set_written_points(*database, run, points);
  }

  /// A cancelled point gives way to the one that is measured now.
  void remove_cancelled(std::int64_t run, std::size_t index) {
    SQLite::Statement& remove = statement(
        "DELETE FROM points WHERE run_id = ? AND plan_index = ? AND disposition = 'cancelled' RETURNING digest");
    Binder(remove) << run << index;
    std::vector<Digest> removed;
    while (remove.executeStep()) {
      const SQLite::Column digest = remove.getColumn(0);
      removed.push_back(digest.isNull() ? Digest() : parse_digest(digest.getString()).value_or(Digest()));
    }
    for (const Digest& digest : removed) count_point(run, -1, digest);
  }

  std::int64_t insert_point(std::int64_t run, std::size_t index, const PointRecord& given) {
    const PointRecord record = as_stored(given);
    require_storable(out_of_bounds(record));
    SQLite::Statement& insert = statement(fmt::format(
        "INSERT INTO points (run_id, plan_index, device_id, {}, recorded_at, digest) SELECT ?, ?, device_id, {} FROM "
        "runs WHERE id = ?",
        point_columns(), placeholders(point_column_count() + 2)));
    const std::string recorded_at = now_utc();
    PointIdentity identity = identity_of(run, index, recorded_at);
    identity.reason = stored_reason(record);
    const Digest digest = digest_of_whole(identity, record);
    Binder out(insert);
    out << run << index;
    bind_point(out, record);
    out << recorded_at << to_string(digest) << run;
    if (insert.exec() != 1) throw StorageError(Kind::other, say::file::no_run{.file = file.string(), .run = run});
    const std::int64_t point = database->getLastInsertRowid();
    count_point(run, 1, digest);
    for (const auto& [name, value] : record.spec.knobs) {
      SQLite::Statement& knob = statement("INSERT INTO point_knobs (point_id, name, value) VALUES (?, ?, ?)");
      Binder knob_out(knob);
      knob_out << point << name;
      std::visit([&](const auto& held) { knob_out << held; }, value);
      knob.exec();
    }
    for (const KernelRecord& kernel : record.kernels) add_kernel(point, kernel);
    if (record.clocks) {
      SQLite::Statement& clocks = statement("INSERT INTO clocks VALUES (?, 0, ?, ?, ?, ?, ?, ?)");
      Binder(clocks) << point << record.clocks->sm_clock_hz << record.clocks->memory_clock_hz
                     << record.clocks->temperature_c << record.clocks->power_w << record.clocks->throttle_reasons
                     << record.clocks->throttled;
      clocks.exec();
    }
    return point;
  }

  /// Of runs: a run on a device that is not what was written is not either.
  std::unordered_map<std::int64_t, DigestState> trusted_rows() {
    std::unordered_map<std::int64_t, DigestState> runs = run_digests(*database);
    const std::unordered_map<std::int64_t, DigestState> devices = device_digests(*database);
    SQLite::Statement& query = statement("SELECT id, device_id FROM runs");
    while (query.executeStep()) {
      const auto device = devices.find(query.getColumn(1).getInt64());
      if (device == devices.end() || device->second != DigestState::differs) continue;
      runs[query.getColumn(0).getInt64()] = DigestState::differs;
      note({say::row::device{.device = device->first}, say::row::other_digest{}});
    }
    query.reset();
    return runs;
  }

  /// The runs that are as they should be; the others are noted. `known`: which are which, and no counts.
  std::vector<RunSummary> read_runs(KnownRuns* known) {
    const bool collecting = mode == Mode::collect || CollectorLock::held(file);
    const int version = schema_of(*database);
    // Left joins: a run whose device is gone is named, not lost.
    SQLite::Statement& query = statement(fmt::format(
        "SELECT r.id, r.preset, r.started_at, coalesce(r.finished_at, ''), r.state, r.planned_points, r.argv, "
        "r.plan_hash, r.options, {}, d.uuid, d.simulated, d.ordinal, {}, {}, {}, {} FROM runs r LEFT JOIN devices d ON "
        "d.id = r.device_id LEFT JOIN environments e ON e.id = r.environment_id {} ORDER BY r.id",
        known == nullptr ? "coalesce(c.points, 0), coalesce(c.ok_points, 0)" : "0, 0", qualified("d", limit_columns),
        qualified("e", environment_columns), run_provenance(version), run_uid(version),
        known == nullptr ? "LEFT JOIN (SELECT run_id, count(*) AS points, sum(disposition = 'ok') AS ok_points FROM "
                           "points GROUP BY run_id) c ON c.run_id = r.id"
                         : ""));
    std::unordered_map<std::int64_t, DigestState> digests;
    if (version >= digests_since) digests = trusted_rows();
    std::vector<RunSummary> summaries;
    while (query.executeStep()) {
      const std::int64_t id = query.getColumn(0).getInt64();
      Message why;
      try {
        Reader in(query);
        RunSummary run = read_run(in);
        if (run.state == StoredRunState::running && !collecting) run.state = StoredRunState::interrupted;
        summaries.push_back(std::move(run));
      } catch (const RowError& error) {
        why = error.message();
      } catch (const json::exception&) {
        why = say::row::no_json{};
      }
      const auto stored = digests.find(id);
      if (why.empty() && stored != digests.end() && stored->second == DigestState::differs) {
        why = say::row::other_digest{};
        summaries.pop_back();
      }
      if (!why.empty()) note({say::row::run{.run = id}, why, 0, id});
      if (known == nullptr) continue;
      if (!why.empty()) {
        known->bad.insert(id);
      } else {
        known->good[id] = {.uid = summaries.back().uid, .written = {}};
      }
    }
    if (version >= digests_since) note_digests_of_the_file(known);
    constexpr int rounds_since = 3;
    if (known != nullptr && version >= rounds_since) {
      known->rounds = scalar(statement("SELECT coalesce(max(rounds), 1) > 1 FROM runs")) != 0;
    }
    return summaries;
  }

  /// A run that is gone is noted.
  void note_digests_of_the_file(KnownRuns* known) {
    SQLite::Statement& totals = statement("SELECT (SELECT count(*) FROM runs), (SELECT runs FROM totals)");
    if (totals.executeStep()) {
      const std::int64_t there = totals.getColumn(0).getInt64();
      const SQLite::Column counted = totals.getColumn(1);
      if (!counted.isInteger() || counted.getInt64() != there) {
        const MessageValue as_written =
            counted.isInteger() ? MessageValue(counted.getInt64()) : MessageValue(say::row::unknown_number{});
        note({say::row::runs{}, say::row::runs_missing{.there = there, .written = as_written}});
      }
      totals.reset();
    }
    if (known == nullptr) return;
    for (auto& [id, run] : known->good) run.written = written_points(*database, id);
  }

  /// Into the file itself, so that a copy of it alone is whole; a reader in the way only delays that.
  void checkpoint() { database->tryExec("PRAGMA wal_checkpoint(TRUNCATE)"); }

  void set_state(std::int64_t run, StoredRunState state) {
    const int changed = change_run(run, [&] {
      SQLite::Statement& update = statement("UPDATE runs SET state = ?, finished_at = ? WHERE id = ?");
      Binder out(update);
      out << to_string(state);
      if (state == StoredRunState::running) {
        update.bind(2);
      } else {
        update.bind(2, now_utc());
      }
      update.bind(3, run);
      return update.exec();
    });
    if (changed != 1) throw StorageError(Kind::other, say::file::no_run{.file = file.string(), .run = run});
  }
};

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

RunStore RunStore::open(const std::filesystem::path& file, Mode mode, std::function<bool(int)> while_locked) {
  std::error_code error;
  auto impl = std::make_unique<Impl>();
  impl->file = behind_links(file);
  impl->mode = mode;
  if (while_locked) impl->patience.emplace(std::move(while_locked));
  if (std::filesystem::is_directory(impl->file, error)) {
    throw StorageError(Kind::not_a_database, say::file::is_folder{.file = file.string()});
  }
  if (mode == Mode::collect) {
    impl->open_for_collecting();
    return RunStore(std::move(impl));
  }
  const FileStamp there = stamp_of(impl->file);
  if (there.size < 0) {
    throw StorageError(Kind::not_found, say::file::missing{.file = file.string()});
  }
  if (there.size == 0 && !has_journal(impl->file)) {
    throw StorageError(Kind::not_a_database, say::file::empty{.file = file.string()});
  }
  impl->open_for_reading();
  return RunStore(std::move(impl));
}

void RunStore::create(const std::filesystem::path& file, const std::function<void(RunStore&)>& fill) {
  auto impl = std::make_unique<Impl>();
  const std::filesystem::path place = impl->file = behind_links(file);
  impl->mode = Mode::collect;
  RunStore store(std::move(impl));
  const CollectorLock lock = CollectorLock::acquire(place);
  settle_logs(place);
  if (stamp_of(place).size > 0) {
    throw StorageError(Kind::not_writable, say::file::there_already{.file = place.string()});
  }
  create_database(place, [&](std::unique_ptr<SQLite::Database>& database) {
    store.impl_->database = std::move(database);
    fill(store);
    store.impl_->statements.clear();
    database = std::move(store.impl_->database);
  });
}

std::int64_t RunStore::begin_run(const RunHeader& header) {
  return impl_->write([&] { return impl_->insert_run(header); });
}

std::int64_t RunStore::add_point(std::int64_t run, std::size_t index, const PointRecord& record) {
  return impl_->write([&] {
    impl_->remove_cancelled(run, index);
    return impl_->insert_point(run, index, record);
  });
}

void RunStore::finish_run(std::int64_t run, StoredRunState state) {
  impl_->write([&] {
    impl_->set_state(run, state);
    return run;
  });
  impl_->checkpoint();
}

std::vector<std::int64_t> RunStore::add_complete_runs(std::span<const CompleteRun> runs) {
  std::vector<std::int64_t> ids = impl_->write([&] {
    std::vector<std::int64_t> added;
    for (const CompleteRun& run : runs) {
      const std::int64_t id = added.emplace_back(impl_->insert_run(run.header));
      impl_->counts_later = true;
      for (std::size_t i = 0; i < run.points.size(); ++i) impl_->insert_point(id, i, run.points[i]);
      impl_->counts_later = false;
      if (!run.points.empty()) set_written_points(*impl_->database, id, impl_->written.at(id));
      impl_->set_state(id, StoredRunState::complete);
    }
    return added;
  });
  impl_->checkpoint();
  return ids;
}

std::optional<std::int64_t> RunStore::resume_run(const RunHeader& header) {
  return impl_->write([&]() -> std::optional<std::int64_t> {
    // As readers see them: what was added to a run that they skip, nobody would read.
    const std::vector<RunSummary> runs = impl_->read_runs(nullptr);
    const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const RunSummary& run) {
      return run.device_uuid == header.device.uuid && run.plan_hash == header.plan_hash &&
             run.state != StoredRunState::complete;
    });
    if (found == runs.rend()) return std::nullopt;
    impl_->set_state(found->id, StoredRunState::running);
    return found->id;
  });
}

std::vector<std::size_t> RunStore::finished_indices(std::int64_t run) const {
  return impl_->read([&] {
    SQLite::Statement& query = impl_->statement(
        "SELECT plan_index FROM points WHERE run_id = ? AND disposition <> 'cancelled' ORDER BY plan_index");
    query.bind(1, run);
    std::vector<std::size_t> indices;
    while (query.executeStep()) indices.push_back(static_cast<std::size_t>(query.getColumn(0).getInt64()));
    return indices;
  });
}

std::vector<RunSummary> RunStore::runs() const {
  return impl_->read([&] { return impl_->read_runs(nullptr); });
}

std::vector<StoredPoint> RunStore::points(std::span<const std::int64_t> runs, std::int64_t after_id) const {
  return impl_->read([&] {
    // One query a table, over the same range of ids, in one snapshot; put together here.
    SQLite::Transaction snapshot(*impl_->database);
    const std::string wanted = json(std::vector<std::int64_t>(runs.begin(), runs.end())).dump();
    const std::string range =
        fmt::format("p.id > ?1{}", runs.empty() ? "" : " AND p.run_id IN (SELECT value FROM json_each(?2))");
    const auto select = [&](std::string_view what) -> SQLite::Statement& {
      SQLite::Statement& query = impl_->statement(fmt::format(fmt::runtime(what), range));
      if (what.find("{}") == std::string_view::npos) return query;
      query.bind(1, after_id);
      if (!runs.empty()) query.bind(2, wanted);
      return query;
    };

    KnownRuns known;
    (void)impl_->read_runs(&known);
    PointsReader reader(select, schema_of(*impl_->database), known);
    std::vector<StoredPoint> points = reader.read();
    snapshot.commit();
    for (const BadRow& row : reader.bad_rows()) impl_->note(row);
    if (after_id == 0) {
      for (const BadRow& row : reader.incomplete_runs(runs)) impl_->note(row);
    }
    impl_->unchecked = reader.unchecked();
    return points;
  });
}

std::vector<BadRow> RunStore::bad_rows() const {
  std::vector<BadRow> rows;
  rows.reserve(impl_->bad.size());
  for (const auto& [where, row] : impl_->bad) rows.push_back(row);
  return rows;
}

std::size_t RunStore::unchecked_points() const {
  return impl_->unchecked;
}

std::vector<std::string> RunStore::extras() const {
  return impl_->extras;
}

std::vector<Message> RunStore::structural_damage() const {
  return impl_->read([&] {
    std::vector<Message> found;
    constexpr std::size_t enough = 100;
    SQLite::Statement integrity(*impl_->database, fmt::format("PRAGMA integrity_check({})", enough));
    while (integrity.executeStep()) {
      std::string words = integrity.getColumn(0).getString();
      if (words != "ok") found.push_back(Message::verbatim(std::move(words)));
    }
    SQLite::Statement references(*impl_->database, "PRAGMA foreign_key_check");
    while (found.size() < 2 * enough && references.executeStep()) {
      found.push_back(say::row::orphan{.row = references.getColumn(1).getString(),
                                       .table = references.getColumn(0).getString(),
                                       .other = references.getColumn(2).getString()});
    }
    return found;
  });
}

int RunStore::schema_version() const {
  return impl_->read([&] { return impl_->database->execAndGet("PRAGMA user_version").getInt(); });
}

const std::filesystem::path& RunStore::file() const {
  return impl_->file;
}

}  // namespace attnscope
