// SPDX-License-Identifier: Apache-2.0
#include "storage/points_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "storage/bounds.h"
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
      fail(point_of_place(place->second), error.what());
    }
  }
}

std::vector<StoredPoint> PointsReader::read() {
  read_points();
  if (version_ >= rounds_since) read_knobs();
  read_kernels();
  read_metrics();
  read_samples();
  if (version_ >= rounds_since) read_launches();
  read_clocks();
  leave_out_bad_points();
  return std::move(points_);
}

void PointsReader::leave_out_bad_points() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    StoredPoint& point = points_[i];
    const auto failed = failed_.find(i);
    const std::string why = failed != failed_.end() ? failed->second : out_of_bounds(point.record);
    if (why.empty()) {
      if (kept != i) points_[kept] = std::move(point);
      ++kept;
    } else if (!runs_.bad.contains(point.run_id)) {
      bad_rows_.push_back({fmt::format("point {} (run {}, place {})", point.id, point.run_id, point.index), why});
    }
  }
  points_.resize(kept);
}

void PointsReader::read_points() {
  const bool of_device = version_ >= rounds_since;
  // A left join: a point whose device is gone is named, not lost.
  SQLite::Statement& query = select_(
      fmt::format("SELECT p.id, p.run_id, p.plan_index, d.uuid, d.compute_major, d.compute_minor, "
                  "d.shared_bytes_per_block, {}{} FROM points p {} LEFT JOIN devices d ON d.id = {}.device_id WHERE "
                  "{{}} ORDER BY p.run_id, p.plan_index",
                  point_values(version_), old_knob_values(version_),
                  of_device ? "" : "LEFT JOIN runs r ON r.id = p.run_id", of_device ? "p" : "r"));
  while (query.executeStep()) {
    Reader in(query);
    const std::size_t place = points_.size();
    StoredPoint& point = points_.emplace_back();
    point.id = query.getColumn(0).getInt64();
    point.run_id = query.getColumn(1).getInt64();
    try {
      read_point_row(in, point);
    } catch (const RowError& error) {
      fail(place, error.what());
    } catch (const StorageError& error) {
      fail(place, error.what());
    }
    place_of_point_.emplace(point.id, place);
  }
}

void PointsReader::read_point_row(Reader& in, StoredPoint& point) {
  point.id = in.integer();
  point.run_id = in.integer();
  point.index = in.count();
  if (!runs_.good.contains(point.run_id)) throw RowError(fmt::format("its run {} is not there", point.run_id));
  point.device_uuid = in.text();
  DeviceLimits limits;
  limits.compute_major = in.small();
  limits.compute_minor = in.small();
  limits.shared_bytes_per_block = in.integer();
  point.record = read_point(in);
  read_old_point(in, version_, limits, point.record);
}

void PointsReader::read_knobs() {
  SQLite::Statement& query = select_(
      "SELECT q.point_id, q.name, q.value FROM points p CROSS JOIN point_knobs q ON q.point_id = p.id WHERE {}");
  each_row(query, place_of_point_, [this](std::size_t place, Reader& in) {
    const std::string name = in.text();
    points_[place].record.spec.knobs.set(name, in.knob());
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
    place_of_kernel_.emplace(in.integer(), KernelPlace{place, kernels.size()});
    KernelRecord& kernel = kernels.emplace_back();
    kernel.kernel = in.text();
    kernel.occupancy_limiter = in.text();
    kernel.complete = in.optional_flag();
  });
}

void PointsReader::read_metrics() {
  // A left join: a value whose metric is gone fails its point.
  SQLite::Statement& query = select_(
      "SELECT v.kernel_id, m.name, m.unit, v.value, v.provenance FROM points p CROSS JOIN kernels k ON k.point_id = "
      "p.id "
      "CROSS JOIN metric_values v ON v.kernel_id = k.id LEFT JOIN metrics m ON m.id = v.metric_id WHERE {} "
      "ORDER BY v.kernel_id, v.metric_id, v.value");
  const KernelRecord* kernel = nullptr;
  std::vector<double> rounds;  // of the metric read last
  each_row(query, place_of_kernel_, [&](KernelPlace place, Reader& in) {
    std::vector<MetricValue>& metrics = kernel_at(place).metrics;
    std::string name = in.text();
    std::string unit = in.text();
    const double value = in.real();
    const Provenance provenance = word(parse_provenance(in.text()));
    const bool again =
        &kernel_at(place) == kernel && !metrics.empty() && metrics.back().name == name && metrics.back().unit == unit;
    if (!again) {
      rounds.clear();
      metrics.push_back({std::move(name), value, std::move(unit), provenance});
    }
    rounds.push_back(value);
    metrics.back().value = median_of(rounds);
    kernel = &kernel_at(place);
  });
}

void PointsReader::read_samples() {
  SQLite::Statement& query = select_(
      fmt::format("SELECT t.kernel_id, t.samples_ns FROM points p CROSS JOIN kernels k ON k.point_id = p.id CROSS JOIN "
                  "timing_samples t ON t.kernel_id = k.id WHERE {{}} ORDER BY t.kernel_id{}",
                  version_ >= rounds_since ? ", t.round" : ""));
  each_row(query, place_of_kernel_, [this](KernelPlace place, Reader& in) {
    std::vector<double>& samples = kernel_at(place).samples_ns;
    for (const double ns : parsed<std::vector<double>>(in.text())) samples.push_back(ns);
  });
}

void PointsReader::read_launches() {
  SQLite::Statement& query = select_(
      "SELECT l.kernel_id, l.launch, l.source_file, l.entry, l.defines, l.digest, l.registers, l.local_bytes, "
      "l.static_shared_bytes, l.dynamic_shared_bytes, l.threads, l.grid FROM points p CROSS JOIN kernels k ON "
      "k.point_id = p.id CROSS JOIN launches l ON l.kernel_id = k.id WHERE {}");
  each_row(query, place_of_kernel_, [this](KernelPlace place, Reader& in) {
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
      if (!std::in_range<std::uint32_t>(grid[i])) throw RowError(fmt::format("a grid of {} blocks is none", grid[i]));
      launch.grid[i] = static_cast<std::uint32_t>(grid[i]);
    }
  });
}

void PointsReader::read_clocks() {
  // Of several rounds the last reading stands, throttled if one of them was.
  SQLite::Statement& query =
      select_(fmt::format("SELECT c.point_id, c.sm_clock_hz, c.memory_clock_hz, c.temperature_c, c.power_w, "
                          "c.throttle_reasons, c.throttled "
                          "FROM points p CROSS JOIN clocks c ON c.point_id = p.id WHERE {{}} ORDER BY c.point_id{}",
                          version_ >= rounds_since ? ", c.round" : ""));
  each_row(query, place_of_point_, [this](std::size_t place, Reader& in) {
    PointRecord& record = points_[place].record;
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
  });
}

}  // namespace attnscope
