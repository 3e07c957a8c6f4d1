// SPDX-License-Identifier: Apache-2.0
// Reads the rows of runs and points; reports invalid rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/model/gpu_values.h"
#include "kernels/user/known_kernels.h"
#include "messages/run_state.h"
#include "profiler/metrics/manifest.h"
#include "storage/checksum.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

using nlohmann::json;

struct RunState {
  StoredRunState state;
  std::string_view word;
  MessageFunction title;
};
constexpr std::array<RunState, 5> run_states{{
    {StoredRunState::running, "running", message_of<msg::run_state::running>},
    {StoredRunState::complete, "complete", message_of<msg::run_state::complete>},
    {StoredRunState::cancelled, "cancelled", message_of<msg::run_state::cancelled>},
    {StoredRunState::interrupted, "interrupted", message_of<msg::run_state::interrupted>},
    {StoredRunState::failed, "failed", message_of<msg::run_state::failed>},
}};
const RunState& row_of(StoredRunState state) {
  return *std::ranges::find(run_states, state, &RunState::state);
}

StoredRunState parse_run_state(std::string_view text) {
  const auto* const found = std::ranges::find(run_states, text, &RunState::word);
  if (found == run_states.end()) throw RowError(make_message("unknown run state \"{}\"", text));
  return found->state;
}

MeasureOptions options_from(const json& text) {
  MeasureOptions options;
  for_each_option(options, [&](const char* key, auto& value) { value = text.value(key, value); });
  options.timeout = std::chrono::milliseconds(text.value("timeout_ms", options.timeout.count()));
  options.input_kind =
      require_keyword(parse_input_kind(text.value("input_kind", std::string(to_string(options.input_kind)))));
  return options;
}

/// Columns for read_annotations(). Flags of a run that was never edited are damage and must not hide it silently.
constexpr std::string_view annotation_columns =
    "iif(r.edited_at IS NULL, 0, r.deleted), iif(r.edited_at IS NULL, 0, r.hidden), r.name, r.note, (SELECT "
    "json_group_array(tag) FROM (SELECT tag FROM run_tags WHERE run_id = "
    "r.id ORDER BY tag))";

/// Column for read_shards().
constexpr std::string_view shards_column =
    "(SELECT json_group_array(shard || '/' || shards) FROM (SELECT shard, shards FROM run_shards WHERE run_id = r.id "
    "ORDER BY shards, shard))";

std::vector<Shard> read_shards(Reader& in) {
  std::vector<Shard> shards;
  for (const std::string& text : json::parse(in.text()).get<std::vector<std::string>>()) {
    const auto shard = parse_shard(text);
    if (!shard) throw RowError(shard.error());
    shards.push_back(*shard);
  }
  return shards;
}

/// Restores the rates of a hypothetical GPU; predictions would use other rates otherwise.
void read_given_rates(const json& options, DeviceLimits& limits) {
  const auto stated = options.find(given_rates_key);
  if (stated == options.end()) return;
  for (const std::string_view key : given_rates) {
    const GpuValue& value = *find_gpu_value(key);
    const double is = stated->at(std::string(key)).get<double>();
    if (!(is >= value.least && is <= value.most)) throw RowError(Message::verbatim(outside(value, is)));
    value.set(limits, is);
  }
}

RunSummary read_run(Reader& in) {
  RunSummary run;
  in >> run.id >> run.preset >> run.started_at >> run.finished_at;
  run.state = parse_run_state(in.text());
  run.planned_points = in.count();
  run.argv = json::parse(in.text()).get<std::vector<std::string>>();
  run.plan_hash = in.text();
  const json options = json::parse(in.text());
  run.options = options_from(options);
  run.simulation_reason = options.value(simulated_because_key, "");
  run.l2_source = options.value(l2_from_key, "");
  run.rates_source = options.value(rates_from_key, "");
  run.order_seed = options.value(order_seed_key, std::uint64_t{0});
  run.points = in.count();
  run.ok_points = in.count();
  in >> run.device_uuid >> run.simulated >> run.device_ordinal >> run.limits;
  read_given_rates(options, run.limits);
  run.device_name = run.limits.name;
  in >> run.environment;
  run.provenance = require_keyword(parse_provenance(in.text()));
  run.uid = in.text();
  const std::int64_t rounds = in.integer();
  require_valid_row(round_count_error(rounds));
  run.rounds = static_cast<int>(rounds);
  require_valid_row(bounds_error(run.options));
  require_valid_row(bounds_error(run.limits));
  return run;
}

}  // namespace

std::string_view to_string(StoredRunState state) {
  return row_of(state).word;
}

Message title(StoredRunState state) {
  return row_of(state).title();
}

RunIntegrity RunStore::Impl::integrity_of(std::int64_t run, StoredRunState state,
                                          const std::optional<std::string>& checksum) {
  const bool ended = state != StoredRunState::running && state != StoredRunState::interrupted;
  if (!checksum) return ended ? RunIntegrity::damaged : RunIntegrity::unverified;
  if (content_verified) return RunIntegrity::verified;
  // A run that ended in a file to which another process appends is verified once per process.
  const std::string check = "run " + *checksum;
  if (followed && has_passed(check, file, *checksum)) return RunIntegrity::verified;
  Verified& known = verified[run];
  if (known.checksum != *checksum) {
    known = {.checksum = *checksum, .equal = *checksum == to_string(checksum_of_run(*database, run))};
    if (followed && known.equal) note_passed(check, file, *checksum);
  }
  return known.equal ? RunIntegrity::verified : RunIntegrity::damaged;
}

std::vector<RunSummary> RunStore::Impl::read_runs(RunIds* known, bool include_deleted) {
  const bool collecting = mode == Mode::collect || CollectorLock::held(file);
  // Counts are read in the same statement, so that a finished run has all its points.
  const bool counts = known == nullptr;
  // Left joins: a run without its device row is reported, not lost.
  SQLite::Statement& query = prepare(fmt::format(
      "SELECT r.id, r.preset, r.started_at, coalesce(r.finished_at, ''), r.state, r.planned_points, r.argv, "
      "r.plan_hash, r.options, {}, d.uuid, d.simulated, d.ordinal, {}, {}, r.provenance, r.uid, r.rounds, {}, "
      "r.checksum, {} FROM runs r LEFT JOIN devices d ON d.id = r.device_id LEFT JOIN environments e ON e.id = "
      "r.environment_id {} ORDER BY r.id",
      counts ? "coalesce(c.points, 0), coalesce(c.ok_points, 0)" : "0, 0", qualified("d", limit_columns()),
      qualified("e", environment_columns()), shards_column, annotation_columns,
      counts ? "LEFT JOIN (SELECT run_id, count(*) AS points, sum(disposition = 'ok') AS ok_points FROM "
               "points GROUP BY run_id) c ON c.run_id = r.id"
             : ""));
  std::vector<RunSummary> summaries;
  bool any_damaged = false;
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    if (summaries.size() >= max_table_rows) {
      note({make_message("runs from run {}", id), make_message("skipped (maximum: {} runs)", max_table_rows)});
      query.tryReset();
      break;
    }
    Message why;
    try {
      Reader in(query);
      RunSummary run = read_run(in);
      run.shards = read_shards(in);
      if (run.state == StoredRunState::running && !collecting) run.state = StoredRunState::interrupted;
      run.integrity = integrity_of(id, run.state, in.optional<std::string>());
      run.annotations = read_annotations(in, id);
      summaries.push_back(std::move(run));
    } catch (const RowError& error) {
      why = error.message();
    } catch (const json::exception&) {
      why = "invalid JSON in its command line or options";
    }
    if (!why.empty()) {
      note({make_message("run {} with its points", id), why});
    } else if (summaries.back().integrity == RunIntegrity::damaged) {
      any_damaged = true;
      note({make_message("run {}", id), "its checksum does not match its content; values may be wrong"});
    }
    const bool is_skipped = why.empty() && summaries.back().annotations.deleted && !include_deleted;
    if (known != nullptr) (why.empty() && !is_skipped ? known->good : known->bad).insert(id);
    if (is_skipped) summaries.pop_back();
  }
  note_missing_runs();
  if (immutable && !any_damaged) note_passed("content", file, large_file_version(file, stamp));
  return summaries;
}

std::vector<std::int64_t> RunStore::Impl::point_ids(std::span<const std::int64_t> runs, std::int64_t after_id) {
  // Reads the table itself, because a damaged index may lack rows.
  SQLite::Statement& query =
      prepare(fmt::format("SELECT p.id FROM points p NOT INDEXED WHERE p.id >= ?1{} ORDER BY p.run_id, p.plan_index",
                          runs.empty() ? "" : " AND p.run_id IN (SELECT value FROM json_each(?2))"));
  // Includes ids that damage made negative.
  query.bind(1, after_id == 0 ? std::numeric_limits<std::int64_t>::min() : after_id + 1);
  if (!runs.empty()) query.bind(2, json(std::vector<std::int64_t>(runs.begin(), runs.end())).dump());
  std::vector<std::int64_t> ids;
  while (query.executeStep()) ids.push_back(query.getColumn(0).getInt64());
  return ids;
}

void RunStore::Impl::read_points(std::span<const std::int64_t> ids, const std::function<void(StoredPoint&&)>& visit,
                                 bool include_deleted) {
  std::size_t batch_size = 256;  // small enough for SQLite's page cache
  RunIds known;
  (void)read_runs(&known, include_deleted);
  std::string wanted;
  // The reader runs one query per table over the same points.
  const auto select = [&](std::string_view what) -> SQLite::Statement& {
    SQLite::Statement& query = prepare(fmt::format(fmt::runtime(what), "p.id IN (SELECT value FROM json_each(?1))"));
    if (what.find("{}") != std::string_view::npos) query.bind(1, wanted);
    return query;
  };
  PointsReader reader(select, known);
  for (std::size_t first = 0; first < ids.size();) {
    const auto some = ids.subspan(first, std::min(batch_size, ids.size() - first));
    wanted = json(std::vector<std::int64_t>(some.begin(), some.end())).dump();
    std::optional<std::vector<StoredPoint>> points = reader.read();
    if (!points) {
      batch_size = some.size() / 2;
      continue;
    }
    for (StoredPoint& point : *points) visit(std::move(point));
    first += some.size();
  }
  for (const InvalidRow& row : reader.invalid_rows()) note(row);
}

void RunStore::Impl::note_missing_runs() {
  SQLite::Statement& totals = prepare("SELECT (SELECT count(*) FROM runs), (SELECT runs FROM totals)");
  if (!totals.executeStep()) return;
  const std::int64_t there = totals.getColumn(0).getInt64();
  const SQLite::Column counted = totals.getColumn(1);
  if (!counted.isInteger() || counted.getInt64() != there) {
    const std::string as_written = counted.isInteger() ? fmt::to_string(counted.getInt64()) : "an unknown number";
    note({"runs", make_message("{} found, but {} were written", there, as_written)});
  }
  totals.reset();
}

std::vector<MeasuredRounds> RunStore::measured_rounds(std::int64_t run) const {
  return impl_->read([&] {
    SQLite::Statement& query = impl_->prepare_bound(
        "SELECT DISTINCT p.plan_index, p.disposition, d.uuid, t.round FROM points p LEFT JOIN devices d ON d.id = "
        "p.device_id LEFT JOIN kernels k ON k.point_id = p.id LEFT JOIN timing_samples t ON t.kernel_id = k.id WHERE "
        "p.run_id = ? AND p.disposition <> 'cancelled' ORDER BY p.plan_index, t.round",
        run);
    std::vector<MeasuredRounds> points;
    while (query.executeStep()) {
      const auto index = static_cast<std::size_t>(query.getColumn(0).getInt64());
      if (points.empty() || points.back().index != index) {
        // An unknown disposition must not cause the point to be measured again.
        const auto disposition = parse_disposition(query.getColumn(1).getString());
        points.push_back({.index = index,
                          .disposition = disposition ? *disposition : Disposition::crashed,
                          .rounds = {},
                          .device_uuid = query.getColumn(2).getString()});
      }
      if (!query.getColumn(3).isNull()) points.back().rounds.push_back(query.getColumn(3).getInt());
    }
    return points;
  });
}

std::vector<RunSummary> RunStore::runs(bool include_deleted) const {
  return impl_->read([&] { return impl_->read_runs(nullptr, include_deleted); });
}

std::vector<StoredPoint> RunStore::points(std::span<const std::int64_t> runs, std::int64_t after_id,
                                          bool include_deleted) const {
  constexpr std::size_t most_samples = 250'000'000;  // 2 GB
  std::vector<StoredPoint> points;
  std::size_t samples = 0;
  const auto begin = [&] {
    points.clear();
    samples = 0;
  };
  const auto keep = [&](StoredPoint&& point) {
    const auto count = [&](const std::vector<KernelRecord>& kernels) {
      for (const KernelRecord& kernel : kernels) samples += kernel.samples_ns.size();
    };
    count(point.record.kernels);
    for (const RoundRecord& round : point.record.rounds) count(round.kernels);
    if (samples > most_samples) {
      throw FileError(FileError::Kind::other, "{}: more than {} timing samples (read fewer runs at once)",
                      impl_->file.string(), most_samples);
    }
    points.push_back(std::move(point));
  };
  visit_points(runs, after_id, begin, keep, include_deleted);
  return points;
}

void RunStore::visit_points(std::span<const std::int64_t> runs, std::int64_t after_id,
                            const std::function<void()>& begin, const std::function<void(StoredPoint&&)>& visit,
                            bool include_deleted) const {
  impl_->read([&] {
    begin();
    SQLite::Transaction snapshot(*impl_->database);
    impl_->read_points(impl_->point_ids(runs, after_id), visit, include_deleted);
    snapshot.commit();
    return true;
  });
}

std::optional<StoredPoint> RunStore::point(std::int64_t id) const {
  return impl_->read([&] {
    std::optional<StoredPoint> found;
    SQLite::Transaction snapshot(*impl_->database);
    impl_->read_points({&id, 1}, [&](StoredPoint&& point) { found = std::move(point); });
    snapshot.commit();
    return found;
  });
}

std::vector<std::shared_ptr<const StoredManifest>> RunStore::statements(bool contents) const {
  return impl_->read([&] {
    std::vector<std::shared_ptr<const StoredManifest>> all;
    const auto select = [&](std::string_view sql) -> SQLite::Statement& { return impl_->prepare(std::string(sql)); };
    const auto note = [&](std::int64_t id, const Message& why) {
      impl_->note({make_message("kernel manifest {}", id), why});
    };
    for (auto& [id, row] : read_manifests(select, contents, note)) {
      if (row.manifest) all.push_back(std::move(row.manifest));
    }
    std::ranges::sort(all, {}, [](const auto& each) { return std::tie(each->text, each->host_code); });
    return all;
  });
}

std::map<std::string, std::vector<std::string>> RunStore::algorithms_by_manifest() const {
  return impl_->read([&] {
    std::map<std::string, std::vector<std::string>> all;
    SQLite::Statement& query = impl_->prepare(
        "SELECT DISTINCT u.digest, p.algorithm FROM points p JOIN user_kernels u ON u.id = p.user_kernel_id ORDER BY "
        "p.algorithm");
    while (query.executeStep()) all[query.getColumn(0).getString()].push_back(query.getColumn(1).getString());
    return all;
  });
}

std::vector<InvalidRow> RunStore::invalid_rows() const {
  std::vector<InvalidRow> rows;
  rows.reserve(impl_->bad.size());
  for (const auto& [where, row] : impl_->bad) rows.push_back(row);
  return rows;
}

std::vector<Message> RunStore::warnings() const {
  const std::string name = file().string();
  std::vector<Message> all;
  if (!impl_->other_log.empty()) {
    all.push_back(
        make_message("{} is read without {}, the log of another file (rename the log, or remove it if that file is not "
                     "needed)",
                     name, impl_->other_log));
  }
  return all;
}

bool RunStore::reads_log() const {
  return !impl_->immutable;
}

std::vector<Message> RunStore::check_structure() const {
  return impl_->read([&] {
    std::vector<Message> found;
    constexpr std::size_t enough = 100;
    SQLite::Statement integrity(*impl_->database, fmt::format("PRAGMA integrity_check({})", enough));
    while (integrity.executeStep()) {
      std::string words = strip_heading(integrity.getColumn(0).getString());
      if (words != "ok") found.push_back(Message::verbatim(std::move(words)));
    }
    SQLite::Statement references(*impl_->database, "PRAGMA foreign_key_check");
    std::map<std::pair<std::string, std::string>, std::int64_t> orphans;  // keyed by referring and referenced table
    while (references.executeStep()) {
      ++orphans[{references.getColumn(0).getString(), references.getColumn(2).getString()}];
    }
    for (const auto& [tables, rows] : orphans) {
      const auto& [table, other] = tables;
      found.push_back(make_message("rows of {} without their row of {}: {}", table, other, rows));
    }
    return found;
  });
}

std::optional<std::string> RunStore::run_uid(std::int64_t run) const {
  return impl_->read([&]() -> std::optional<std::string> {
    SQLite::Statement& query = impl_->prepare_bound("SELECT uid FROM runs WHERE id = ?", run);
    std::optional<std::string> uid;
    while (query.executeStep()) uid = query.getColumn(0).getString();
    return uid;
  });
}

FileCheck check_file(const std::filesystem::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  FileCheck check;
  const std::vector<RunSummary> runs = store.runs(true);
  check.runs = runs.size();
  for (const RunSummary& run : runs) {
    check.deleted += run.annotations.deleted ? 1 : 0;
    check.hidden += run.annotations.hidden && !run.annotations.deleted ? 1 : 0;
  }
  check.unverified =
      static_cast<std::size_t>(std::ranges::count(runs, RunIntegrity::unverified, &RunSummary::integrity));
  store.visit_points(
      {}, 0, [&] { check.points = 0; }, [&](StoredPoint&&) { ++check.points; }, true);
  (void)store.statements(true);
  (void)store.ceilings();
  (void)store.noise();
  check.invalid_rows = store.invalid_rows();
  check.damage = store.check_structure();
  check.warnings = store.warnings();
  return check;
}

std::vector<Message> register_manifests(const RunStore& store) {
  const auto statements = store.statements();
  std::vector<std::string_view> texts;
  texts.reserve(statements.size());
  for (const auto& each : statements) texts.emplace_back(each->text);
  std::optional<std::map<std::string, std::vector<std::string>>> algorithms;  // reads all points, so only if needed
  return user::add_manifests_from_file(texts, store.file(), [&](std::size_t i) {
    if (!algorithms) algorithms = store.algorithms_by_manifest();
    return (*algorithms)[digest_of(*statements[i])];
  });
}

}  // namespace attnscope
