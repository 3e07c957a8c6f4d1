// SPDX-License-Identifier: Apache-2.0
// The rows of noise: of each point its values by name.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "storage/bounds.h"
#include "storage/device_sets.h"
#include "storage/rows.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

using analysis::PointNoise;

struct NoiseValue {
  std::string_view name;
  double PointNoise::*member;
};
constexpr std::array<NoiseValue, 4> noise_values{{{"time_ns", &PointNoise::ns},
                                                  {"log_variance", &PointNoise::variance},
                                                  {"log_variance_clock_normalized", &PointNoise::at_one_clock},
                                                  {"degrees_of_freedom", &PointNoise::freedom}}};

bool storable(const PointNoise& point) {
  const auto within = [](double value) { return std::isfinite(value) && value >= 0 && value <= largest_value; };
  return within(point.ns) && point.ns > 0 && within(point.variance) && within(point.at_one_clock) &&
         within(point.freedom);
}

std::map<std::string, PointNoise, std::less<>> noise_points(SQLite::Database& database, std::int64_t set) {
  SQLite::Statement query(database, "SELECT point, name, value FROM noise WHERE set_id = ?");
  query.bind(1, set);
  std::map<std::string, PointNoise, std::less<>> points;
  while (query.executeStep()) {
    Reader in(query);
    const std::string point = in.text();
    const std::string name = in.text();
    const auto* const value = std::ranges::find(noise_values, name, &NoiseValue::name);
    if (value == noise_values.end()) throw RowError(make_message("noise of {} that no recordings have", point));
    points[point].*value->member = in.real();
  }
  for (const auto& [name, point] : points) {
    if (!storable(point)) throw RowError(make_message("noise of {} that no recordings have", name));
  }
  return points;
}

}  // namespace

std::string RunStore::Impl::insert_noise(const DeviceInfo& device, const Environment& environment,
                                         const analysis::RecordingNoise& noise) {
  require_storable(attnscope::out_of_bounds(device.limits));
  for (const auto& [name, point] : noise.points) {
    require_storable(storable(point) ? Message() : make_message("noise of {} that no recordings have", name));
  }
  const std::int64_t device_row = device_id(device);
  const std::int64_t environment_row = environment_id(environment);
  SQLite::Statement& insert = statement(
      "INSERT INTO noise_sets (uid, device_id, environment_id, measured_at, recordings, rounds, provenance) VALUES "
      "(hex(randomblob(16)), ?, ?, ?, ?, ?, 'measured')");
  Binder(insert) << device_row << environment_row << now_utc() << noise.recordings << noise.rounds;
  insert.exec();
  const std::int64_t set = database->getLastInsertRowid();
  for (const auto& [name, point] : noise.points) {
    for (const NoiseValue& value : noise_values) {
      SQLite::Statement& row = statement("INSERT INTO noise (set_id, point, name, value) VALUES (?, ?, ?, ?)");
      Binder(row) << set << name << std::string(value.name) << point.*value.member;
      row.exec();
    }
  }
  return name_set(*database, noise_sets, set);
}

std::vector<StoredNoise> RunStore::Impl::read_noise() {
  std::vector<StoredNoise> sets;
  read_sets(
      *database, noise_sets,
      [&](SetHeading&& heading, std::int64_t id, Reader& in) {
        StoredNoise set{.uid = std::move(heading.uid),
                        .device_uuid = std::move(heading.device_uuid),
                        .device_name = std::move(heading.device_name),
                        .environment = std::move(heading.environment),
                        .measured_at = std::move(heading.measured_at),
                        .noise = {},
                        .model = nullptr};
        set.noise.recordings = in.count();
        set.noise.rounds = in.count();
        set.noise.points = noise_points(*database, id);
        set.model = std::make_shared<const analysis::NoiseModel>(set.noise);
        sets.push_back(std::move(set));
      },
      [this](std::int64_t id, const Message& why) {
        note({make_message("noise {}", id), why});
      });
  return sets;
}

}  // namespace attnscope
