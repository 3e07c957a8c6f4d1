// SPDX-License-Identifier: Apache-2.0
// Writes the rows of devices, runs and points.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "kernels/model/gpu_values.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/rounds.h"
#include "storage/checksum.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

using Kind = FileError::Kind;
using nlohmann::json;

/// Returns 128 random bits in hexadecimal.
std::string new_uid() {
  std::array<std::uint64_t, 2> bits{};
  sqlite3_randomness(sizeof bits, bits.data());
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

/// Serializes; replaces invalid UTF-8, which file names may have, by U+FFFD.
std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string utf8(const std::string& text) {
  return json::parse(text_of(text)).get<std::string>();
}

FileError conflicting_manifest(const std::filesystem::path& file, std::int64_t run, const std::string& algorithm,
                               std::size_t index) {
  return {
      Kind::other,
      make_message("{}: run {} has points of another version of {} than at plan index {} (measure without --resume)",
                   file.string(), run, algorithm, index)};
}

}  // namespace

std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

PointRecord make_storable(PointRecord measured) {
  Message wrong = bounds_error(stored_form(measured));
  if (wrong.empty() && measured.manifest) wrong = bounds_error(*measured.manifest);
  if (wrong.empty()) return measured;
  PointRecord refused;
  refused.spec = std::move(measured.spec);
  refused.disposition = Disposition::crashed;
  refused.reason = make_reason("point.no_measurement", "The device returned an invalid measurement: {}.", wrong);
  refused.provenance = measured.provenance == Provenance::simulated ? Provenance::simulated : Provenance::measured;
  refused.kernels.emplace_back();
  return refused;
}

std::int64_t RunStore::Impl::device_id(const DeviceInfo& device) {
  return *find(fmt::format("INSERT INTO devices (uuid, simulated, ordinal, {0}) VALUES ({1}) ON CONFLICT DO UPDATE SET "
                           "ordinal = excluded.ordinal RETURNING id",
                           limit_columns(), placeholders(19)),
               device.uuid, device.simulated, device.ordinal, device.limits);
}

std::int64_t RunStore::Impl::environment_id(const Environment& environment) {
  return *find(fmt::format("INSERT INTO environments ({0}) VALUES ({1}) ON CONFLICT ({0}) DO UPDATE SET app_version = "
                           "excluded.app_version RETURNING id",
                           environment_columns(), placeholders(7)),
               environment);
}

std::int64_t RunStore::Impl::metric_id(const MetricValue& metric) {
  const auto known = find("SELECT id FROM metrics WHERE name = ? AND unit = ?", metric.name, metric.unit);
  return known ? *known : insert("INSERT INTO metrics (name, unit) VALUES (?, ?)", metric.name, metric.unit);
}

std::int64_t RunStore::Impl::add_kernel(std::int64_t point, const KernelRecord& kernel) {
  const std::int64_t id =
      insert("INSERT INTO kernels (point_id, name, occupancy_limiter, complete) VALUES (?, ?, ?, ?)", point,
             kernel.kernel, kernel.occupancy_limiter, kernel.complete);
  if (kernel.launch) {
    const LaunchRecord& launch = *kernel.launch;
    execute(fmt::format("INSERT INTO launches VALUES ({})", placeholders(12)), id, launch.kernel, launch.source_file,
            launch.entry, json(launch.defines).dump(), launch.digest, launch.registers, launch.local_bytes,
            launch.static_shared_bytes, launch.dynamic_shared_bytes, launch.threads, json(launch.grid).dump());
  }
  return id;
}

void RunStore::Impl::add_values(std::int64_t kernel, int round, const KernelRecord& values) {
  for (const MetricValue& metric : values.metrics) {
    execute("INSERT INTO metric_values (kernel_id, metric_id, round, value, provenance) VALUES (?, ?, ?, ?, ?)", kernel,
            metric_id(metric), round, metric.value, to_string(metric.provenance));
  }
  if (values.samples_ns.empty()) return;
  execute("INSERT INTO timing_samples (kernel_id, round, samples_ns) VALUES (?, ?, ?)", kernel, round,
          json(values.samples_ns).dump());
}

void RunStore::Impl::add_clocks(std::int64_t point, int round, const ClockReading& clocks) {
  execute("INSERT INTO clocks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", point, round, clock_values(clocks));
}

std::int64_t RunStore::Impl::manifest_id(const std::string& digest, const std::string& algorithm,
                                         const StoredManifest& stated) {
  const bool is_new =
      execute(
          "INSERT INTO user_kernels (digest, algorithm, text, host_code) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
          digest, algorithm, stated.text, stated.host_code) == 1;
  const std::int64_t id = *find("SELECT id FROM user_kernels WHERE digest = ?", digest);
  for (const ManifestSource& source : stated.sources) {
    if (!is_new && !source.content) continue;
    SQLite::Statement& add = prepare_bound(
        "INSERT INTO user_kernel_sources (user_kernel_id, name, digest, content) VALUES (?1, ?2, ?3, ?4) ON CONFLICT "
        "DO UPDATE SET content = excluded.content WHERE content IS NULL",
        id, source.name, source.digest);
    if (source.content) add.bindNoCopy(4, source.content->data(), static_cast<int>(source.content->size()));
    add.exec();
  }
  return id;
}

void RunStore::Impl::require_storable(const Message& wrong) const {
  if (!wrong.empty()) throw FileError(Kind::other, "{}: cannot store row: {}", file.string(), wrong);
}

std::int64_t RunStore::Impl::insert_run(const RunHeader& header) {
  require_storable(bounds_error(header.options));
  require_storable(bounds_error(header.device.limits));
  require_storable(round_count_error(header.rounds));
  const std::int64_t device = device_id(header.device);
  const std::int64_t environment = environment_id(header.environment);
  const Provenance provenance = header.imported           ? Provenance::imported
                                : header.device.simulated ? Provenance::simulated
                                                          : Provenance::measured;
  json options{{"timeout_ms", header.options.timeout.count()}, {"input_kind", to_string(header.options.input_kind)}};
  for_each_option(header.options, [&](const char* key, const auto& value) { options[key] = value; });
  if (!header.simulation_reason.empty()) options[simulated_because_key] = header.simulation_reason;
  if (!header.device.l2_source.empty()) options[l2_from_key] = header.device.l2_source;
  if (!header.device.rates_source.empty()) options[rates_from_key] = header.device.rates_source;
  if (header.rounds > 1) options[order_seed_key] = header.order_seed;
  if (const DeviceLimits& limits = header.device.limits; limits.custom_rates.tensor_flops > 0) {
    json stated = json::object();
    for (const std::string_view key : given_rates) stated[std::string(key)] = find_gpu_value(key)->get(limits);
    options[given_rates_key] = std::move(stated);
  }
  const std::int64_t run = insert(
      "INSERT INTO runs (device_id, environment_id, preset, argv, plan_hash, planned_points, options, state, "
      "started_at, provenance, uid, rounds) VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)",
      device, environment, utf8(header.preset), text_of(header.argv), header.plan_hash, header.planned_points,
      text_of(options), now_utc(), to_string(provenance), header.uid.empty() ? new_uid() : header.uid, header.rounds);
  if (!header.shard.whole()) {
    execute("INSERT INTO run_shards (run_id, shard, shards) VALUES (?, ?, ?)", run, header.shard.number,
            header.shard.count);
  }
  database->exec("UPDATE totals SET runs = runs + 1");
  return run;
}

void RunStore::Impl::add_other_gpus(std::int64_t point, const PointRecord& record) {
  for (std::size_t i = 0; i < record.others.size(); ++i) {
    // Same limits as the point's first GPU; the ordinal is unknown.
    const std::int64_t device = *find(
        fmt::format("INSERT INTO devices (uuid, simulated, ordinal, {0}) SELECT ?, simulated, 0, {0} FROM devices "
                    "WHERE id = (SELECT device_id FROM points WHERE id = ?) ON CONFLICT DO UPDATE SET ordinal = "
                    "excluded.ordinal RETURNING id",
                    limit_columns()),
        record.others[i], point);
    execute("INSERT INTO point_devices (point_id, rank, device_id) VALUES (?, ?, ?)", point, i + 1, device);
  }
}

std::int64_t RunStore::Impl::insert_point(std::int64_t run, std::size_t index, const PointRecord& given,
                                          const DeviceInfo* device) {
  const PointRecord record = stored_form(given);
  require_storable(bounds_error(record));
  if (record.manifest) require_storable(bounds_error(*record.manifest));
  SQLite::Statement& row = prepare(fmt::format(
      "INSERT INTO points (run_id, plan_index, device_id, {}, recorded_at, user_kernel_id) SELECT ?, ?, coalesce(?, "
      "device_id), {} FROM runs WHERE id = ?",
      point_columns(), placeholders(point_column_count() + 2)));
  Binder out(row);
  out << run << index << (device == nullptr ? std::nullopt : std::optional(device_ids.at(device->uuid)));
  bind_point(out, record);
  out << now_utc();
  std::optional<std::int64_t> stated;
  if (record.manifest) {
    stated = manifest_id(digest_of(*record.manifest), record.spec.algorithm, *record.manifest);
  }
  out << stated << run;
  if (row.exec() != 1) throw FileError(Kind::other, "{} has no run {}", file.string(), run);
  const std::int64_t point = database->getLastInsertRowid();
  for (const auto& [name, value] : record.spec.knobs) {
    execute("INSERT INTO point_knobs (point_id, name, value) VALUES (?, ?, ?)", point, name, value);
  }
  add_other_gpus(point, record);
  std::unordered_map<std::string, std::int64_t> kernels;
  for (const KernelRecord& kernel : record.kernels) kernels[kernel.kernel] = add_kernel(point, kernel);
  for_each_round(record, [&](int round, std::span<const KernelRecord> round_kernel, const auto& clocks) {
    for (const KernelRecord& kernel : round_kernel) add_values(kernels.at(kernel.kernel), round, kernel);
    if (clocks) add_clocks(point, round, *clocks);
  });
  return point;
}

std::int64_t RunStore::Impl::extend_point(std::int64_t run, std::size_t index, int round, const PointRecord& given) {
  PointRecord measured = stored_form(given);
  require_storable(bounds_error(measured));
  require_storable(round_index_error(round));
  SQLite::Statement& place = prepare_bound(
      "SELECT p.id, u.digest FROM points p LEFT JOIN user_kernels u ON u.id = p.user_kernel_id WHERE p.run_id = ? AND "
      "p.plan_index = ?",
      run, index);
  std::optional<StoredPoint> before;
  std::optional<std::string> stated;  // digest
  if (place.executeStep()) {
    const std::int64_t id = place.getColumn(0).getInt64();
    if (const SQLite::Column of = place.getColumn(1); !of.isNull()) stated = of.getString();
    place.reset();
    read_points({&id, 1}, [&](StoredPoint&& point) { before = std::move(point); });
  }
  const auto has_round = [&] {
    bool found = false;
    attnscope::for_each_round(before->record, [&](int number, std::span<const KernelRecord> kernels, const auto&) {
      const bool timed = std::ranges::any_of(kernels, [](const KernelRecord& k) { return !k.samples_ns.empty(); });
      found = found || (number == round && timed);
    });
    return found;
  };
  if (!before || has_round()) {
    throw FileError(Kind::other,
                    "{}: cannot add round {} to the point at plan index {} of run {}: duplicate round or damaged point "
                    "(see `attnscope check`)",
                    file.string(), round + 1, index, run);
  }

  // A point without a manifest does not conflict: the manifest may have been unreadable.
  if (stated && measured.manifest && digest_of(*measured.manifest) != *stated) {
    throw conflicting_manifest(file, run, before->record.spec.algorithm, index);
  }

  PointRecord record = before->record;
  const std::size_t kernels_before = record.kernels.size();
  attnscope::add_round(record, round, measured);
  require_storable(bounds_error(record));
  execute("UPDATE points SET disposition = ?, reason = ?, reason_code = nullif(?, ''), wall_seconds = ? WHERE id = ?",
          to_string(record.disposition), english_text(record.reason), record.reason.id, record.wall_seconds,
          before->id);
  for (std::size_t i = kernels_before; i < record.kernels.size(); ++i) add_kernel(before->id, record.kernels[i]);
  const auto added = std::ranges::find(record.rounds, round, &RoundRecord::round);
  if (added == record.rounds.end()) return before->id;  // it has no values
  for (const KernelRecord& kernel : added->kernels) {
    add_values(*find("SELECT id FROM kernels WHERE point_id = ? AND name = ?", before->id, kernel.kernel), round,
               kernel);
  }
  if (added->clocks) add_clocks(before->id, round, *added->clocks);
  return before->id;
}

void RunStore::Impl::set_state(std::int64_t run, StoredRunState state) {
  const bool running = state == StoredRunState::running;
  const int changed = execute("UPDATE runs SET state = ?, finished_at = ?, checksum = NULL WHERE id = ?",
                              to_string(state), running ? std::nullopt : std::optional(now_utc()), run);
  if (changed != 1) throw FileError(Kind::other, "{} has no run {}", file.string(), run);
  if (!running) store_checksum(*database, run);
}

std::int64_t RunStore::begin_run(const RunHeader& header) {
  return impl_->write([&] { return impl_->insert_run(header); });
}

std::int64_t RunStore::add_point(std::int64_t run, std::size_t index, const PointRecord& record,
                                 const DeviceInfo* device) {
  const std::int64_t point = impl_->write([&] {
    if (device != nullptr && !impl_->device_ids.contains(device->uuid))
      impl_->device_ids[device->uuid] = impl_->device_id(*device);
    // A measured point replaces a cancelled one; if a device is given, it replaces any point.
    impl_->execute("DELETE FROM points WHERE run_id = ? AND plan_index = ? AND (disposition = 'cancelled' OR ?)", run,
                   index, device != nullptr);
    const bool has_conflict =
        record.manifest && impl_->find(
                               "SELECT 1 FROM user_kernels u WHERE u.algorithm = ? AND u.digest <> ? AND EXISTS "
                               "(SELECT 1 FROM points WHERE run_id = ? AND user_kernel_id = u.id)",
                               record.spec.algorithm, digest_of(*record.manifest), run);
    if (has_conflict) throw conflicting_manifest(file(), run, record.spec.algorithm, index);
    return impl_->insert_point(run, index, record, device);
  });
  impl_->has_points = true;
  return point;
}

std::int64_t RunStore::add_round(std::int64_t run, std::size_t index, int round, const PointRecord& measured) {
  return impl_->write([&] { return impl_->extend_point(run, index, round, measured); });
}

void RunStore::finish_run(std::int64_t run, StoredRunState state) {
  impl_->write_synced([&] {
    impl_->set_state(run, state);
    return run;
  });
}

void RunStore::reopen_run(std::int64_t run) {
  impl_->write([&] {
    const std::vector<RunSummary> runs = impl_->read_runs(nullptr);
    const auto found = std::ranges::find(runs, run, &RunSummary::id);
    if (found == runs.end() || found->integrity == RunIntegrity::damaged) {
      throw FileError(Kind::damaged, "{}: run {} is damaged and cannot be resumed", file().string(), run);
    }
    impl_->set_state(run, StoredRunState::running);
    return run;
  });
  impl_->has_points = true;
}

std::vector<std::int64_t> RunStore::add_complete_runs(std::span<const CompleteRun> runs,
                                                      const std::function<void()>& cancellation_check) {
  return impl_->write_synced([&] {
    std::vector<std::int64_t> added;
    for (const CompleteRun& run : runs) {
      const std::int64_t id = added.emplace_back(impl_->insert_run(run.header));
      for (std::size_t i = 0; i < run.points.size(); ++i) {
        if (cancellation_check) cancellation_check();
        impl_->insert_point(id, i, run.points[i]);
      }
      impl_->set_state(id, StoredRunState::complete);
    }
    return added;
  });
}

}  // namespace attnscope
