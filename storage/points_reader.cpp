// SPDX-License-Identifier: Apache-2.0
#include "storage/points_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "storage/point_rows.h"

namespace attnscope {
namespace {

using nlohmann::json;

constexpr int rounds_since = 3;  // schema: rounds, knobs and launches have tables

/// The median of sorted values.
double median_of(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

std::vector<StoredPoint> PointsReader::read() {
  read_points();
  if (version_ >= rounds_since) read_knobs();
  read_kernels();
  read_metrics();
  read_samples();
  if (version_ >= rounds_since) read_launches();
  read_clocks();
  return std::move(points_);
}

KernelRecord& PointsReader::kernel_at(std::int64_t id) {
  const KernelPlace place = place_of_kernel_.at(id);
  return points_[place.point].record.kernels[place.kernel];
}

void PointsReader::read_points() {
  const bool of_device = version_ >= rounds_since;
  SQLite::Statement& query = select_(
      fmt::format("SELECT p.id, p.run_id, p.plan_index, d.uuid, d.compute_major, d.compute_minor, "
                  "d.shared_bytes_per_block, {}{} FROM points p {} JOIN devices d ON d.id = {}.device_id WHERE {{}} "
                  "ORDER BY p.run_id, p.plan_index",
                  point_values(version_), old_knob_values(version_), of_device ? "" : "JOIN runs r ON r.id = p.run_id",
                  of_device ? "p" : "r"));
  while (query.executeStep()) {
    Reader in(query);
    StoredPoint& point = points_.emplace_back();
    point.id = in.integer();
    point.run_id = in.integer();
    point.index = static_cast<std::size_t>(in.integer());
    point.device_uuid = in.text();
    DeviceLimits limits;
    limits.compute_major = in.small();
    limits.compute_minor = in.small();
    limits.shared_bytes_per_block = in.integer();
    point.record = read_point(in);
    read_old_point(in, version_, limits, point.record);
    place_of_point_.emplace(point.id, points_.size() - 1);
  }
}

void PointsReader::read_knobs() {
  SQLite::Statement& query = select_(
      "SELECT q.point_id, q.name, q.value FROM points p CROSS JOIN point_knobs q ON q.point_id = p.id WHERE {}");
  while (query.executeStep()) {
    PointSpec& spec = point_at(query.getColumn(0).getInt64()).spec;
    const SQLite::Column value = query.getColumn(2);
    const std::string name = query.getColumn(1).getString();
    if (value.isInteger()) {
      spec.knobs.set(name, value.getInt64());
    } else {
      spec.knobs.set(name, value.getString());
    }
  }
}

void PointsReader::read_kernels() {
  SQLite::Statement& query =
      select_(fmt::format("SELECT k.id, k.point_id, k.name, k.occupancy_limiter, {} FROM points p CROSS JOIN kernels k "
                          "ON k.point_id = p.id "
                          "WHERE {{}} ORDER BY k.id",
                          version_ >= rounds_since ? "k.complete" : "NULL"));
  while (query.executeStep()) {
    Reader in(query);
    const std::int64_t id = in.integer();
    const std::size_t place = place_of_point_.at(in.integer());
    std::vector<KernelRecord>& kernels = points_[place].record.kernels;
    place_of_kernel_.emplace(id, KernelPlace{place, kernels.size()});
    KernelRecord& kernel = kernels.emplace_back();
    kernel.kernel = in.text();
    kernel.occupancy_limiter = in.text();
    if (const SQLite::Column complete = query.getColumn(4); !complete.isNull())
      kernel.complete = complete.getInt() != 0;
  }
}

void PointsReader::read_metrics() {
  SQLite::Statement& query = select_(
      "SELECT v.kernel_id, m.name, m.unit, v.value, v.provenance FROM points p CROSS JOIN kernels k ON k.point_id = "
      "p.id "
      "CROSS JOIN metric_values v ON v.kernel_id = k.id JOIN metrics m ON m.id = v.metric_id WHERE {} "
      "ORDER BY v.kernel_id, v.metric_id, v.value");
  std::int64_t kernel = 0;
  std::vector<double> rounds;  // of the metric read last
  while (query.executeStep()) {
    Reader in(query);
    const std::int64_t id = in.integer();
    std::vector<MetricValue>& metrics = kernel_at(id).metrics;
    std::string name = in.text();
    std::string unit = in.text();
    const double value = in.real();
    const bool again = id == kernel && !metrics.empty() && metrics.back().name == name && metrics.back().unit == unit;
    if (!again) {
      rounds.clear();
      metrics.push_back({std::move(name), value, std::move(unit), word(parse_provenance(in.text()))});
    }
    rounds.push_back(value);
    metrics.back().value = median_of(rounds);
    kernel = id;
  }
}

void PointsReader::read_samples() {
  SQLite::Statement& query = select_(
      fmt::format("SELECT t.kernel_id, t.samples_ns FROM points p CROSS JOIN kernels k ON k.point_id = p.id CROSS JOIN "
                  "timing_samples t ON t.kernel_id = k.id WHERE {{}} ORDER BY t.kernel_id{}",
                  version_ >= rounds_since ? ", t.round" : ""));
  while (query.executeStep()) {
    Reader in(query);
    KernelRecord& kernel = kernel_at(in.integer());
    for (const double ns : json::parse(in.text()).get<std::vector<double>>()) kernel.samples_ns.push_back(ns);
  }
}

void PointsReader::read_launches() {
  SQLite::Statement& query = select_(
      "SELECT l.kernel_id, l.launch, l.source_file, l.entry, l.defines, l.digest, l.registers, l.local_bytes, "
      "l.static_shared_bytes, l.dynamic_shared_bytes, l.threads, l.grid FROM points p CROSS JOIN kernels k ON "
      "k.point_id = p.id CROSS JOIN launches l ON l.kernel_id = k.id WHERE {}");
  while (query.executeStep()) {
    Reader in(query);
    LaunchRecord& launch = kernel_at(in.integer()).launch.emplace();
    launch.kernel = in.text();
    launch.source_file = in.text();
    launch.entry = in.text();
    launch.defines = json::parse(in.text()).get<std::vector<std::string>>();
    launch.digest = in.text();
    launch.registers = in.small();
    launch.local_bytes = in.integer();
    launch.static_shared_bytes = in.integer();
    launch.dynamic_shared_bytes = in.integer();
    launch.threads = in.small();
    launch.grid = json::parse(in.text()).get<std::array<std::uint32_t, 3>>();
  }
}

void PointsReader::read_clocks() {
  // Of several rounds the last reading stands, throttled if one of them was.
  SQLite::Statement& query =
      select_(fmt::format("SELECT c.point_id, c.sm_clock_hz, c.memory_clock_hz, c.temperature_c, c.power_w, "
                          "c.throttle_reasons, c.throttled "
                          "FROM points p CROSS JOIN clocks c ON c.point_id = p.id WHERE {{}} ORDER BY c.point_id{}",
                          version_ >= rounds_since ? ", c.round" : ""));
  while (query.executeStep()) {
    Reader in(query);
    PointRecord& record = point_at(in.integer());
    const std::optional<ClockReading> before = record.clocks;
    ClockReading& clocks = record.clocks.emplace();
    clocks.sm_clock_hz = in.real();
    clocks.memory_clock_hz = in.real();
    clocks.temperature_c = in.real();
    clocks.power_w = in.real();
    clocks.throttle_reasons = std::bit_cast<std::uint64_t>(in.integer());
    clocks.throttled = in.flag();
    if (before) {
      clocks.throttle_reasons |= before->throttle_reasons;
      clocks.throttled = clocks.throttled || before->throttled;
    }
  }
}

}  // namespace attnscope
