// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "messages/file.h"
#include "messages/row.h"
#include "storage/collector_lock.h"
#include "storage/database.h"
#include "storage/file_guard.h"
#include "storage/migrations.h"
#include "storage/output_file.h"
#include "storage/point_rows.h"
#include "storage/run_digests.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

/// Ids of the target begin behind those that it has. A run that is there already is taken from where it came further.
std::string copy_statements() {
  return fmt::format(R"sql(
DELETE FROM main.runs WHERE uid IN (SELECT r.uid FROM source.runs r
  WHERE (SELECT count(*) FROM source.points WHERE run_id = r.id) >
        (SELECT count(*) FROM main.points WHERE run_id = (SELECT id FROM main.runs m WHERE m.uid = r.uid)));
INSERT INTO devices (uuid, simulated, ordinal, {limits})
  SELECT uuid, simulated, ordinal, {limits} FROM source.devices WHERE true
  ON CONFLICT (uuid) DO UPDATE SET ordinal = excluded.ordinal, {assign_limits};
INSERT OR IGNORE INTO environments ({environment}) SELECT {environment} FROM source.environments;
INSERT OR IGNORE INTO metrics (name, unit) SELECT name, unit FROM source.metrics ORDER BY id;
INSERT OR IGNORE INTO statements (digest, algorithm, text) SELECT digest, algorithm, text FROM source.statements;
CREATE TEMP TABLE base AS SELECT (SELECT coalesce(max(id), 0) FROM main.runs) AS run,
                                 (SELECT coalesce(max(id), 0) FROM main.points) AS point,
                                 (SELECT coalesce(max(id), 0) FROM main.kernels) AS kernel;
CREATE TEMP TABLE wanted AS SELECT id FROM source.runs WHERE uid NOT IN (SELECT uid FROM main.runs);
CREATE TEMP TABLE environment_of AS SELECT s.id AS source, e.id AS target FROM source.environments s
  JOIN main.environments e ON ({main_environment}) = ({source_environment});
CREATE TEMP TABLE device_of AS SELECT s.id AS source, d.id AS target FROM source.devices s
  JOIN main.devices d ON d.uuid = s.uuid;
INSERT INTO runs (id, device_id, environment_id, preset, argv, plan_hash, planned_points, options, state, started_at,
                  finished_at, provenance, uid, rounds, name, note, hidden)
  SELECT r.id + base.run, d.target, e.target, r.preset, r.argv, r.plan_hash, r.planned_points, r.options,
         iif(r.state = 'running', 'interrupted', r.state), r.started_at, coalesce(r.finished_at, r.started_at),
         r.provenance, r.uid, r.rounds, r.name, r.note, r.hidden
  FROM base, source.runs r JOIN wanted w ON w.id = r.id JOIN device_of d ON d.source = r.device_id
  JOIN environment_of e ON e.source = r.environment_id;
INSERT INTO run_tags SELECT t.run_id + base.run, t.tag FROM base, source.run_tags t JOIN wanted w ON w.id = t.run_id;
INSERT INTO points (id, run_id, plan_index, device_id, statement_id, {points}, recorded_at, digest)
  SELECT p.id + base.point, p.run_id + base.run, p.plan_index, d.target,
         (SELECT m.id FROM main.statements m JOIN source.statements s ON s.digest = m.digest WHERE s.id = p.statement_id),
         {point_values}, p.recorded_at, p.digest
  FROM base, source.points p JOIN wanted w ON w.id = p.run_id JOIN device_of d ON d.source = p.device_id ORDER BY p.id;
CREATE TEMP TABLE wanted_points AS SELECT p.id FROM source.points p JOIN wanted w ON w.id = p.run_id;
INSERT INTO point_knobs SELECT q.point_id + base.point, q.name, q.value
  FROM base, source.point_knobs q JOIN wanted_points w ON w.id = q.point_id;
INSERT INTO kernels (id, point_id, name, occupancy_limiter, complete)
  SELECT k.id + base.kernel, k.point_id + base.point, k.name, k.occupancy_limiter, k.complete
  FROM base, source.kernels k JOIN wanted_points w ON w.id = k.point_id ORDER BY k.id;
CREATE TEMP TABLE wanted_kernels AS SELECT k.id FROM source.kernels k JOIN wanted_points w ON w.id = k.point_id;
INSERT INTO launches SELECT l.kernel_id + base.kernel, l.launch, l.source_file, l.entry, l.defines, l.digest,
         l.registers, l.local_bytes, l.static_shared_bytes, l.dynamic_shared_bytes, l.threads, l.grid
  FROM base, source.launches l JOIN wanted_kernels w ON w.id = l.kernel_id;
INSERT INTO metric_values SELECT v.kernel_id + base.kernel, m.id, v.round, v.value, v.provenance
  FROM base, source.metric_values v JOIN wanted_kernels w ON w.id = v.kernel_id
  JOIN source.metrics sm ON sm.id = v.metric_id JOIN main.metrics m ON m.name = sm.name AND m.unit = sm.unit;
INSERT INTO timing_samples SELECT t.kernel_id + base.kernel, t.round, t.samples_ns
  FROM base, source.timing_samples t JOIN wanted_kernels w ON w.id = t.kernel_id;
INSERT INTO clocks SELECT c.point_id + base.point, c.round, c.sm_clock_hz, c.memory_clock_hz, c.temperature_c, c.power_w,
         c.throttle_reasons, c.throttled
  FROM base, source.clocks c JOIN wanted_points w ON w.id = c.point_id;
CREATE TEMP TABLE wanted_sets AS SELECT id FROM source.ceiling_sets WHERE uid NOT IN (SELECT uid FROM main.ceiling_sets);
INSERT INTO ceiling_sets (uid, device_id, environment_id, measured_at)
  SELECT s.uid, d.target, e.target, s.measured_at FROM source.ceiling_sets s JOIN wanted_sets w ON w.id = s.id
  JOIN device_of d ON d.source = s.device_id JOIN environment_of e ON e.source = s.environment_id;
INSERT INTO ceilings SELECT m.id, c.name, c.argument, c.value, c.q1, c.q3, c.unit, c.provenance
  FROM source.ceilings c JOIN wanted_sets w ON w.id = c.set_id JOIN source.ceiling_sets s ON s.id = c.set_id
  JOIN main.ceiling_sets m ON m.uid = s.uid;
DROP TABLE wanted_sets;
DROP TABLE wanted_kernels;
DROP TABLE wanted_points;
DROP TABLE device_of;
DROP TABLE environment_of;
DROP TABLE wanted;
DROP TABLE base;
)sql",
                     fmt::arg("limits", limit_columns), fmt::arg("assign_limits", assignments(limit_columns)),
                     fmt::arg("environment", environment_columns), fmt::arg("points", point_columns()),
                     fmt::arg("point_values", point_values(newest_schema())),
                     fmt::arg("main_environment",
                              "e.app_version, e.driver_version, e.cuda_driver_api, e.nvrtc_version, e.cupti_version, "
                              "e.nvml_version, e.operating_system"),
                     fmt::arg("source_environment",
                              "s.app_version, s.driver_version, s.cuda_driver_api, s.nvrtc_version, s.cupti_version, "
                              "s.nvml_version, s.operating_system"));
}

std::string uri_of(const std::filesystem::path& file) {
  const bool written = CollectorLock::held(file) || has_journal(file);
  return database_uri(file, written ? DatabaseAccess::read_only : DatabaseAccess::immutable);
}

/// Copies all runs of the file at `uri`, which is of the newest schema.
void copy_runs(SQLite::Database& database, const std::string& uri) {
  SQLite::Statement attach(database, "ATTACH ? AS source");
  attach.bind(1, uri);
  attach.exec();
  {
    SQLite::Transaction transaction(database);
    database.exec(copy_statements());
    transaction.commit();
  }
  database.exec("DETACH source");
}

/// A copy says of its rows that they are what was written.
void require_whole(const RunStore& store) {
  (void)store.runs();
  (void)store.points();
  const std::vector<BadRow> bad = store.bad_rows();
  const std::vector<Message> damage = store.structural_damage();
  if (bad.empty() && damage.empty()) return;
  throw StorageError(
      StorageError::Kind::damaged,
      say::file::damaged_not_copied{
          .file = store.file().string(),
          .error = bad.empty() ? damage.front() : say::row::at{.where = bad.front().where, .why = bad.front().why}});
}

void copy_source(SQLite::Database& database, const std::filesystem::path& source, const std::filesystem::path& place) {
  const RunStore checked = RunStore::open(source, RunStore::Mode::read_only);
  require_whole(checked);
  if (checked.schema_version() == newest_schema()) return copy_runs(database, uri_of(checked.file()));
  // An older file stays as it is: a copy of it is migrated.
  const TemporaryFile migrated(place);
  {
    SQLite::Database old(uri_of(checked.file()), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    SQLite::Statement copy(old, "VACUUM INTO ?");
    copy.bind(1, migrated.path().string());
    copy.exec();
  }
  migrate(*open_database(migrated.path(), DatabaseAccess::read_write));
  copy_runs(database, database_uri(migrated.path(), DatabaseAccess::immutable));
}

/// The copy at `building`, an empty file beside `place`.
void build_copy(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& building,
                const std::filesystem::path& place) {
  const std::unique_ptr<SQLite::Database> database = open_database(building, DatabaseAccess::read_write);
  // Nobody else sees it yet: what fails is thrown away, and the disk is waited for once, before it gets its name.
  database->exec("PRAGMA journal_mode = MEMORY");
  database->exec("PRAGMA synchronous = OFF");
  migrate(*database);
  for (const std::filesystem::path& source : sources) copy_source(*database, source, place);
  sign_rows(*database);
  database->exec("PRAGMA journal_mode = OFF");  // VACUUM writes the whole file again
  database->exec("VACUUM");
}

void send(const std::filesystem::path& file, OutputFile& out) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20U);
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    out.write({piece.data(), static_cast<std::size_t>(in.gcount())});
  }
}

}  // namespace

void write_compact_copy(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& target,
                        bool over_any) {
  OutputFile out(target, file_kind::measurements,
                 over_any ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind);
  if (out.building().empty()) {
    const TemporaryFile building(std::filesystem::temp_directory_path() / "copy.attnscope");
    with_storage_errors(target, [&] { build_copy(sources, building.path(), building.path()); });
    send(building.path(), out);
    return out.commit();
  }
  const std::filesystem::path place = out.place();
  CollectorLock lock = CollectorLock::acquire(place);
  if (std::filesystem::exists(place)) lock.hold_content(place);
  with_storage_errors(target, [&] { build_copy(sources, out.building(), place); });
  // A log that a killed collector left beside the target would be played into the new file.
  fold_logs(place);
  out.commit();
}

}  // namespace attnscope
