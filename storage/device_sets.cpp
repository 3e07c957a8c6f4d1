// SPDX-License-Identifier: Apache-2.0
// Sets of ceilings or noise of a device, measured at one time. A set's uid is the digest of its content: equal sets are
// stored once, and damage is detected.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/model/device_rates.h"
#include "storage/checksum.h"
#include "storage/run_store_impl.h"

namespace attnscope {

/// Tables of one kind of set.
struct SetTables {
  const char* sets;         ///< table
  const char* set_kind;     ///< prefix of its digest
  const char* set_columns;  ///< columns besides device, environment and time; "" or with a leading comma each
  const char* rows;         ///< table
  const char* row_kind;
  const char* row_columns;
};

namespace {

using analysis::PointNoise;

constexpr SetTables ceiling_sets{"ceiling_sets", "ceiling_set", "",
                                 "ceilings",     "ceiling",     "name, argument, value, q1, q3, unit, provenance"};
constexpr SetTables noise_sets{"noise_sets", "noise_set", ", s.recordings, s.rounds, s.provenance",
                               "noise",      "noise",     "point, name, value"};

Digest digest_of_set(SQLite::Database& database, const SetTables& tables, std::int64_t set) {
  Digest sum;
  RowHasher row(database,
                fmt::format("SELECT d.uuid, d.name, s.measured_at{}, {} FROM {} s LEFT JOIN devices d ON d.id = "
                            "s.device_id LEFT JOIN environments e ON e.id = s.environment_id WHERE s.id = ?",
                            tables.set_columns, qualified("e", environment_columns()), tables.sets),
                set);
  while (row.next()) sum += row.digest(tables.set_kind, 0);
  RowHasher rows(database, fmt::format("SELECT {} FROM {} WHERE set_id = ?", tables.row_columns, tables.rows), set);
  while (rows.next()) sum += rows.digest(tables.row_kind, 0);
  return sum;
}

CeilingSource parse_source(const std::string& text) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (text == to_string(source)) return source;
  }
  throw RowError(make_message("unknown source of a ceiling: '{}'", text));
}

Message bounds_error(const Ceiling& ceiling) {
  const auto make_storable = [](double value) { return std::isfinite(value) && std::abs(value) <= max_value; };
  const bool fits = !ceiling.name.empty() && ceiling.name.size() <= max_name_length &&
                    make_storable(ceiling.argument) && make_storable(ceiling.value) &&
                    make_storable(ceiling.q1.value_or(0)) && make_storable(ceiling.q3.value_or(0));
  return fits ? Message() : make_message("ceiling '{}' is out of bounds", ceiling.name);
}

struct NoiseValue {
  std::string_view name;
  double PointNoise::*member;
};
constexpr std::array<NoiseValue, 4> noise_values{{{"time_ns", &PointNoise::ns},
                                                  {"log_variance", &PointNoise::variance},
                                                  {"log_variance_clock_normalized", &PointNoise::normalized_variance},
                                                  {"degrees_of_freedom", &PointNoise::dof}}};

Message bounds_error(const std::string& name, const PointNoise& point) {
  const bool fits = point.ns > 0 && std::ranges::all_of(noise_values, [&](const NoiseValue& each) {
                      const double value = point.*each.member;
                      return std::isfinite(value) && value >= 0 && value <= max_value;
                    });
  return fits ? Message() : make_message("invalid noise of {}", name);
}

}  // namespace

/// Reads all sets, ordered by device, oldest first. `read_rest` reads SetTables::set_columns and the rows. Damaged
/// sets are noted.
template <class Set, class ReadRest>
std::vector<Set> RunStore::Impl::read_sets(const SetTables& tables, ReadRest&& read_rest) {
  std::vector<Set> sets;
  SQLite::Statement& query = prepare(fmt::format(
      "SELECT s.id, s.uid, d.uuid, d.name, s.measured_at, {}{} FROM {} s LEFT JOIN devices d ON d.id = s.device_id "
      "LEFT JOIN environments e ON e.id = s.environment_id ORDER BY d.uuid, s.measured_at, s.id",
      qualified("e", environment_columns()), tables.set_columns, tables.sets));
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    try {
      Reader in(query);
      Set set;
      (void)in.integer();
      in >> set.uid >> set.device_uuid >> set.device_name >> set.measured_at >> set.environment;
      if (set.uid != to_string(digest_of_set(*database, tables, id))) {
        throw RowError("its checksum does not match its content");
      }
      read_rest(set, id, in);
      sets.push_back(std::move(set));
    } catch (const RowError& error) {
      note({make_message("{} {}", tables.rows, id), error.message()});
    }
  }
  return sets;
}

/// Adds a set with the current time. `more`: values of set_columns; add_rows(id) adds its rows. Removes it if an equal
/// set exists. Returns the uid.
template <class AddRows, class... More>
std::string RunStore::Impl::add_set(const SetTables& tables, const DeviceInfo& device, const Environment& environment,
                                    AddRows&& add_rows, const More&... more) {
  require_storable(attnscope::bounds_error(device.limits));
  const std::int64_t device_row = device_id(device);
  const std::int64_t environment_row = environment_id(environment);
  std::string columns = tables.set_columns;  // ", s.recordings, ..."
  for (std::size_t prefix = 0; (prefix = columns.find("s.")) != std::string::npos;) columns.erase(prefix, 2);
  const std::int64_t set = insert(
      fmt::format("INSERT INTO {} (uid, device_id, environment_id, measured_at{}) VALUES (hex(randomblob(16)), {})",
                  tables.sets, columns, placeholders(3 + static_cast<int>(sizeof...(more)))),
      device_row, environment_row, now_utc(), more...);
  add_rows(set);
  std::string uid = to_string(digest_of_set(*database, tables, set));
  if (*find(fmt::format("SELECT count(*) FROM {} WHERE uid = ?", tables.sets), uid) != 0) {
    execute(fmt::format("DELETE FROM {} WHERE set_id = ?", tables.rows), set);
    execute(fmt::format("DELETE FROM {} WHERE id = ?", tables.sets), set);
  } else {
    execute(fmt::format("UPDATE {} SET uid = ? WHERE id = ?", tables.sets), uid, set);
  }
  return uid;
}

std::string RunStore::add_ceilings(const DeviceInfo& device, const Environment& environment,
                                   std::span<const Ceiling> ceilings) {
  return impl_->write_synced([&] {
    for (const Ceiling& ceiling : ceilings) impl_->require_storable(bounds_error(ceiling));
    return impl_->add_set(ceiling_sets, device, environment, [&](std::int64_t set) {
      for (const Ceiling& each : ceilings) {
        impl_->execute(
            "INSERT INTO ceilings (set_id, name, argument, value, q1, q3, unit, provenance) VALUES (?, ?, ?, ?, ?, ?, "
            "?, ?)",
            set, each.name, each.argument, each.value, each.q1, each.q3, each.unit, to_string(each.source));
      }
    });
  });
}

std::vector<StoredCeilings> RunStore::ceilings() const {
  return impl_->read([&] {
    return impl_->read_sets<StoredCeilings>(ceiling_sets, [&](StoredCeilings& set, std::int64_t id, Reader&) {
      SQLite::Statement& query = impl_->prepare_bound(
          "SELECT name, argument, value, q1, q3, unit, provenance FROM ceilings WHERE set_id = ? ORDER BY name, "
          "argument",
          id);
      while (query.executeStep()) {
        Reader in(query);
        if (set.ceilings.size() >= max_table_rows) throw RowError("it has too many rows");
        Ceiling& ceiling = set.ceilings.emplace_back();
        in >> ceiling.name >> ceiling.argument >> ceiling.value >> ceiling.q1 >> ceiling.q3 >> ceiling.unit;
        ceiling.source = parse_source(in.text());
        require_valid_row(bounds_error(ceiling));
      }
    });
  });
}

std::string RunStore::add_noise(const DeviceInfo& device, const Environment& environment,
                                const analysis::RecordingNoise& noise) {
  return impl_->write_synced([&] {
    for (const auto& [name, point] : noise.points) impl_->require_storable(bounds_error(name, point));
    const auto add_rows = [&](std::int64_t set) {
      for (const auto& [name, point] : noise.points) {
        for (const NoiseValue& value : noise_values) {
          impl_->execute("INSERT INTO noise (set_id, point, name, value) VALUES (?, ?, ?, ?)", set, name, value.name,
                         point.*value.member);
        }
      }
    };
    return impl_->add_set(noise_sets, device, environment, add_rows, noise.recordings, noise.rounds,
                          to_string(Provenance::measured));
  });
}

std::vector<StoredNoise> RunStore::noise() const {
  return impl_->read([&] {
    return impl_->read_sets<StoredNoise>(noise_sets, [&](StoredNoise& set, std::int64_t id, Reader& heading) {
      set.noise.recordings = heading.count();
      set.noise.rounds = heading.count();
      SQLite::Statement& query = impl_->prepare_bound("SELECT point, name, value FROM noise WHERE set_id = ?", id);
      while (query.executeStep()) {
        Reader in(query);
        if (set.noise.points.size() >= max_table_rows) throw RowError("it has too many rows");
        const std::string point = in.text();
        const std::string name = in.text();
        const auto* const value = std::ranges::find(noise_values, name, &NoiseValue::name);
        if (value == noise_values.end()) throw RowError(make_message("invalid noise of {}", point));
        set.noise.points[point].*value->member = in.real();
      }
      for (const auto& [name, point] : set.noise.points) require_valid_row(bounds_error(name, point));
      set.model = std::make_shared<const analysis::NoiseModel>(set.noise);
    });
  });
}

const StoredCeilings* newest_rates(std::span<const StoredCeilings> sets, const DeviceLimits& limits,
                                   std::string_view uuid) {
  const StoredCeilings* found = nullptr;
  for (const StoredCeilings& set : sets) {
    if (uuid.empty() ? !same_gpu(set.device_name, limits.name) : set.device_uuid != uuid) continue;
    const DeviceRates rates = device_rates(limits, set.ceilings);
    if (!rates.dram_measured && !rates.l2_measured) continue;
    if (found == nullptr || set.measured_at > found->measured_at) found = &set;
  }
  return found;
}

}  // namespace attnscope
