// SPDX-License-Identifier: Apache-2.0
#include "storage/points_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "profiler/metrics/rounds.h"
#include "storage/bounds.h"
#include "storage/migrations.h"
#include "storage/point_rows.h"

namespace attnscope {
namespace {

using nlohmann::json;

constexpr int groups_since = 5;  // schema: points of several GPUs
constexpr int rounds_since = 3;  // schema: rounds, knobs and launches have tables

/// An array in JSON.
template <class T>
T parsed(const std::string& text) {
  try {
    return json::parse(text).get<T>();
  } catch (const json::exception&) {
    throw RowError("a list in it is none");
  }
}

}  // namespace

template <class Places, class ReadRow>
void PointsReader::each_row(SQLite::Statement& query, const Places& places, ReadRow&& read_row) {
  const auto point_of_place = [](const auto& place) {
    if constexpr (requires { place.point; }) {
      return place.point;
    } else {
      return place;
    }
  };
  while (query.executeStep()) {
    Reader in(query);
    // What belongs to no point that was read belongs to one that failed, or to none; the checks of the whole file name
    // it.
    const auto place = places.find(query.getColumn(0).getInt64());
    if (place == places.end()) continue;
    try {
      (void)in.integer();
      read_row(place->second, in);
    } catch (const RowError& error) {
      fail(point_of_place(place->second), error.message());
    }
  }
}

std::vector<StoredPoint> PointsReader::read() {
  points_.clear();
  signatures_.clear();
  ids_.clear();
  place_of_point_.clear();
  place_of_kernel_.clear();
  later_rounds_.clear();
  failed_.clear();
  if (metrics_.empty()) read_metric_names();
  if (!statements_) read_file_statements();
  read_points();
  if (version_ >= rounds_since) read_knobs();
  if (version_ >= groups_since) read_other_gpus();
  read_kernels();
  read_metrics();
  read_samples();
  if (version_ >= rounds_since) read_launches();
  read_clocks();
  put_rounds_together();
  leave_out_bad_points();
  return std::move(points_);
}

std::vector<BadRow> incomplete_runs(const KnownRuns& known, std::span<const std::int64_t> runs,
                                    const std::unordered_map<std::int64_t, WrittenPoints>& found) {
  std::vector<BadRow> incomplete;
  for (const auto& [id, run] : known.good) {
    const bool asked_for = runs.empty() || std::ranges::find(runs, id) != runs.end();
    if (!asked_for) continue;
    const auto of_run = found.find(id);
    const WrittenPoints there = of_run == found.end() ? WrittenPoints() : of_run->second;
    Message why;
    if (!run.written) {
      why = "what it says of its points is no count and digest";
    } else if (there.count != run.written->count) {
      why = make_message("{} of its points are there, and {} were written", there.count, run.written->count);
    } else if (there.sum != run.written->sum) {
      why = "its points are not those that were written";
    }
    if (!why.empty()) incomplete.push_back({make_message("points of run {}", id), why});
  }
  return incomplete;
}

std::unordered_map<std::int64_t, Digest> PointsReader::digests() const {
  std::unordered_map<std::int64_t, Digest> all;
  for (std::size_t i = 0; i < ids_.size(); ++i) all.emplace(ids_[i], signatures_[i].now);
  return all;
}

void PointsReader::leave_out_bad_points() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    StoredPoint& point = points_[i];
    const auto failed = failed_.find(i);
    Message why = failed != failed_.end() ? failed->second : out_of_bounds(point.record);
    const Signature& signature = signatures_[i];
    const bool differs = signature.stored && parse_digest(*signature.stored) != signature.now;
    if (why.empty() && differs) why = "it is not what was written: its digest is another";
    if (why.empty()) {
      if (!signature.stored) ++unchecked_;
      if (kept != i) points_[kept] = std::move(point);
      ++kept;
    } else if (!runs_.bad.contains(point.run_id)) {
      bad_rows_.push_back(
          {make_message("point {} (run {}, place {})", point.id, point.run_id, point.index), std::move(why), point.id});
    }
  }
  points_.resize(kept);
}

void PointsReader::read_metric_names() {
  SQLite::Statement& query = select_("SELECT id, name, unit FROM metrics");
  while (query.executeStep()) {
    Reader in(query);
    try {
      const std::int64_t id = in.integer();
      MetricName metric{.name = in.text(), .unit = in.text(), .digest = {}};
      metric.digest = NameDigest(metric.name, metric.unit);
      metrics_.emplace(id, std::move(metric));
    } catch (const RowError&) {  // its values fail their points
    }
  }
}

void PointsReader::read_file_statements() {
  // A point of a statement that is damaged is what was measured all the same, and stays.
  statements_ = read_statements(select_, version_, false, [this](std::int64_t id, const Message& why) {
    bad_rows_.push_back({make_message("statement {}", id), why});
  });
}

void PointsReader::read_points() {
  const bool of_device = version_ >= rounds_since;
  // A left join: a point whose device is gone is named, not lost.
  SQLite::Statement& query = select_(fmt::format(
      "SELECT p.id, p.run_id, p.plan_index, d.uuid, d.compute_major, d.compute_minor, "
      "d.shared_bytes_per_block, {}, {}{} FROM points p {} LEFT JOIN devices d ON d.id = {}.device_id WHERE "
      "{{}} ORDER BY p.run_id, p.plan_index",
      version_ >= digests_since ? "p.digest, p.recorded_at, p.statement_id" : "NULL, p.recorded_at, NULL",
      point_values(version_), old_knob_values(version_), of_device ? "" : "LEFT JOIN runs r ON r.id = p.run_id",
      of_device ? "p" : "r"));
  while (query.executeStep()) {
    Reader in(query);
    const std::size_t place = points_.size();
    StoredPoint& point = points_.emplace_back();
    signatures_.emplace_back();
    point.id = query.getColumn(0).getInt64();
    point.run_id = query.getColumn(1).getInt64();
    try {
      read_point_row(in, point);
    } catch (const RowError& error) {
      fail(place, error.message());
    } catch (const StorageError& error) {
      fail(place, error.message());
    }
    place_of_point_.emplace(point.id, place);
    ids_.push_back(point.id);
    WrittenPoints& of_run = found_[point.run_id];
    ++of_run.count;
    of_run.sum += parse_digest(signatures_.back().stored.value_or("")).value_or(Digest());
  }
}

void PointsReader::read_point_row(Reader& in, StoredPoint& point) {
  point.id = in.integer();
  point.run_id = in.integer();
  point.index = in.count();
  point.device_uuid = in.text();
  DeviceLimits limits;
  limits.compute_major = in.small();
  limits.compute_minor = in.small();
  limits.shared_bytes_per_block = in.integer();
  Signature& signature = signatures_.back();
  signature.stored = in.optional_text();
  const std::string recorded_at = in.text();
  PointIdentity identity{
      .run_uid = {}, .device_uuid = point.device_uuid, .index = point.index, .recorded_at = recorded_at};
  const StatementRow* statement = nullptr;
  if (const std::optional<std::int64_t> id = in.optional_integer()) {
    const auto found = statements_->find(*id);
    if (found == statements_->end()) throw RowError(make_message("its statement {} is not there", *id));
    statement = &found->second;
    identity.statement = statement->digest;
  }
  const auto run = runs_.good.find(point.run_id);
  if (run == runs_.good.end()) throw RowError(make_message("its run {} is not there", point.run_id));
  identity.run_uid = run->second.uid;
  point.record = read_point(in, identity.reason);
  read_old_point(in, version_, limits, point.record);
  if (statement != nullptr) {
    if (!is_of(*statement, point.record.spec.algorithm)) throw RowError("its statement is of another algorithm");
    point.record.statement = statement->statement;
  }
  signature.now = digest_of_point(identity, point.record);
}

void PointsReader::read_other_gpus() {
  SQLite::Statement& query = select_(
      "SELECT q.point_id, q.place, d.uuid FROM points p CROSS JOIN point_devices q ON q.point_id = p.id JOIN devices d "
      "ON d.id = q.device_id WHERE {} ORDER BY q.point_id, q.place");
  each_row(query, place_of_point_, [this](std::size_t place, Reader& in) {
    const std::int64_t at = in.integer();
    std::string uuid = in.text();
    count_in(place, digest_of_other_gpu(at, uuid));
    points_[place].record.others.push_back(std::move(uuid));
  });
}

void PointsReader::read_knobs() {
  SQLite::Statement& query = select_(
      "SELECT q.point_id, q.name, q.value FROM points p CROSS JOIN point_knobs q ON q.point_id = p.id WHERE {}");
  each_row(query, place_of_point_, [this](std::size_t place, Reader& in) {
    const std::string name = in.text();
    const KnobValue value = in.knob();
    count_in(place, digest_of_knob(name, value));
    points_[place].record.spec.knobs.set(name, value);
  });
}

void PointsReader::read_kernels() {
  SQLite::Statement& query =
      select_(fmt::format("SELECT k.point_id, k.id, k.name, k.occupancy_limiter, {} FROM points p CROSS JOIN kernels k "
                          "ON k.point_id = p.id "
                          "WHERE {{}} ORDER BY k.id",
                          version_ >= rounds_since ? "k.complete" : "NULL"));
  each_row(query, place_of_point_, [this](std::size_t place, Reader& in) {
    std::vector<KernelRecord>& kernels = points_[place].record.kernels;
    KernelPlace& found = place_of_kernel_[in.integer()];
    found = {.point = place, .kernel = kernels.size(), .name = {}};
    KernelRecord& kernel = kernels.emplace_back();
    kernel.kernel = in.text();
    found.name = NameDigest(kernel.kernel);
    kernel.occupancy_limiter = in.text();
    kernel.complete = in.optional_flag();
    count_in(place, digest_of_kernel(kernel));
  });
}

void PointsReader::read_metrics() {
  SQLite::Statement& query = select_(
      fmt::format("SELECT v.kernel_id, v.metric_id, {}, v.value, v.provenance FROM points p CROSS JOIN kernels k "
                  "ON k.point_id = p.id CROSS JOIN metric_values v ON v.kernel_id = k.id WHERE {{}}",
                  version_ >= rounds_since ? "v.round" : "0"));
  each_row(query, place_of_kernel_, [&](const KernelPlace& place, Reader& in) {
    const std::int64_t id = in.integer();
    const auto metric = metrics_.find(id);
    if (metric == metrics_.end()) throw RowError(make_message("its metric {} is not there", id));
    const std::int64_t round = in.integer();
    const double value = in.real();
    const Provenance provenance = word(parse_provenance(in.text()));
    count_in(place.point, digest_of_metric(place.name, metric->second.digest, round, value, provenance));
    kernel_of_round(place, round).metrics.push_back({metric->second.name, value, metric->second.unit, provenance});
  });
}

void PointsReader::read_samples() {
  SQLite::Statement& query = select_(fmt::format(
      "SELECT t.kernel_id, {}, t.samples_ns FROM points p CROSS JOIN kernels k ON k.point_id = p.id CROSS JOIN "
      "timing_samples t ON t.kernel_id = k.id WHERE {{}}",
      version_ >= rounds_since ? "t.round" : "0"));
  each_row(query, place_of_kernel_, [this](const KernelPlace& place, Reader& in) {
    const std::int64_t round = in.integer();
    const std::string list = in.text();
    if (std::ranges::count(list, ',') >= static_cast<std::ptrdiff_t>(most_samples)) {
      throw RowError(make_message("more than {} timing samples in a row", most_samples));
    }
    auto of_round = parsed<std::vector<double>>(list);
    count_in(place.point, digest_of_samples(place.name, round, of_round));
    kernel_of_round(place, round).samples_ns = std::move(of_round);
  });
}

RoundRecord& PointsReader::later_round(std::size_t point, std::int64_t round) {
  if (Message wrong = round_out_of_bounds(round); !wrong.empty()) throw RowError(wrong);
  const int number = static_cast<int>(round);
  RoundRecord& found = later_rounds_[point][number];
  found.round = number;
  return found;
}

KernelRecord& PointsReader::kernel_of_round(const KernelPlace& place, std::int64_t round) {
  KernelRecord& own = kernel_at(place);
  if (round == 0) return own;
  std::vector<KernelRecord>& kernels = later_round(place.point, round).kernels;
  const auto found = std::ranges::find(kernels, own.kernel, &KernelRecord::kernel);
  if (found != kernels.end()) return *found;
  KernelRecord& added = kernels.emplace_back();
  added.kernel = own.kernel;
  return added;
}

std::optional<ClockReading>& PointsReader::clocks_of_round(std::size_t point, std::int64_t round) {
  return round == 0 ? points_[point].record.clocks : later_round(point, round).clocks;
}

void PointsReader::put_rounds_together() {
  for (auto& [place, later] : later_rounds_) {
    PointRecord& record = points_[place].record;
    RoundRecord first{.round = 0, .kernels = {}, .clocks = record.clocks};
    for (const KernelRecord& kernel : record.kernels) {
      if (kernel.metrics.empty() && kernel.samples_ns.empty()) continue;
      KernelRecord& values = first.kernels.emplace_back();
      values.kernel = kernel.kernel;
      values.metrics = kernel.metrics;
      values.samples_ns = kernel.samples_ns;
    }
    if (!first.kernels.empty() || first.clocks) record.rounds.push_back(std::move(first));
    for (auto& [number, round] : later) record.rounds.push_back(std::move(round));
    // What is out of bounds is named before anything is made of it.
    if (out_of_bounds(record).empty()) sum_up_rounds(record);
  }
}

void PointsReader::read_launches() {
  SQLite::Statement& query = select_(
      "SELECT l.kernel_id, l.launch, l.source_file, l.entry, l.defines, l.digest, l.registers, l.local_bytes, "
      "l.static_shared_bytes, l.dynamic_shared_bytes, l.threads, l.grid FROM points p CROSS JOIN kernels k ON "
      "k.point_id = p.id CROSS JOIN launches l ON l.kernel_id = k.id WHERE {}");
  each_row(query, place_of_kernel_, [this](const KernelPlace& place, Reader& in) {
    LaunchRecord& launch = kernel_at(place).launch.emplace();
    launch.kernel = in.text();
    launch.source_file = in.text();
    launch.entry = in.text();
    launch.defines = parsed<std::vector<std::string>>(in.text());
    launch.digest = in.text();
    launch.registers = in.small();
    launch.local_bytes = in.integer();
    launch.static_shared_bytes = in.integer();
    launch.dynamic_shared_bytes = in.integer();
    launch.threads = in.small();
    const auto grid = parsed<std::array<std::int64_t, 3>>(in.text());
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (!std::in_range<std::uint32_t>(grid[i])) throw RowError(make_message("a grid of {} blocks is none", grid[i]));
      launch.grid[i] = static_cast<std::uint32_t>(grid[i]);
    }
    count_in(place.point, digest_of_launch(place.name, launch));
  });
}

void PointsReader::read_clocks() {
  SQLite::Statement& query =
      select_(fmt::format("SELECT c.point_id, {}, c.sm_clock_hz, c.memory_clock_hz, c.temperature_c, c.power_w, "
                          "c.throttle_reasons, c.throttled "
                          "FROM points p CROSS JOIN clocks c ON c.point_id = p.id WHERE {{}}",
                          version_ >= rounds_since ? "c.round" : "0"));
  each_row(query, place_of_point_, [this](std::size_t place, Reader& in) {
    const std::int64_t round = in.integer();
    ClockReading clocks;
    clocks.sm_clock_hz = in.real();
    clocks.memory_clock_hz = in.real();
    clocks.temperature_c = in.real();
    clocks.power_w = in.real();
    clocks.throttle_reasons = std::bit_cast<std::uint64_t>(in.integer());
    clocks.throttled = in.flag();
    count_in(place, digest_of_clocks(round, clocks));
    clocks_of_round(place, round) = clocks;
  });
}

}  // namespace attnscope
