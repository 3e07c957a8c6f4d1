// SPDX-License-Identifier: Apache-2.0
// The rows of ceilings.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "storage/bounds.h"
#include "storage/device_sets.h"
#include "storage/rows.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

CeilingSource parse_source(const std::string& text) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (text == to_string(source)) return source;
  }
  throw RowError(make_message("'{}' is no source of a ceiling", text));
}

Message out_of_bounds(const Ceiling& ceiling) {
  const auto storable = [](double value) { return std::isfinite(value) && std::abs(value) <= largest_value; };
  const bool fits = !ceiling.name.empty() && ceiling.name.size() <= longest_name && storable(ceiling.argument) &&
                    storable(ceiling.value) && storable(ceiling.q1.value_or(0)) && storable(ceiling.q3.value_or(0));
  return fits ? Message() : make_message("ceiling '{}' is beyond what a device can have", ceiling.name);
}

std::vector<Ceiling> read_rows(SQLite::Database& database, std::int64_t set) {
  SQLite::Statement query(
      database,
      "SELECT name, argument, value, q1, q3, unit, provenance FROM ceilings WHERE set_id = ? ORDER BY name, argument");
  query.bind(1, set);
  std::vector<Ceiling> ceilings;
  while (query.executeStep()) {
    Reader in(query);
    Ceiling& ceiling = ceilings.emplace_back();
    ceiling.name = in.text();
    ceiling.argument = in.real();
    ceiling.value = in.real();
    ceiling.q1 = in.optional_real();
    ceiling.q3 = in.optional_real();
    ceiling.unit = in.text();
    ceiling.source = parse_source(in.text());
    if (const Message wrong = out_of_bounds(ceiling); !wrong.empty()) throw RowError(wrong);
  }
  return ceilings;
}

}  // namespace

std::string RunStore::Impl::insert_ceilings(const DeviceInfo& device, const Environment& environment,
                                            std::span<const Ceiling> ceilings) {
  require_storable(attnscope::out_of_bounds(device.limits));
  for (const Ceiling& ceiling : ceilings) require_storable(out_of_bounds(ceiling));
  const std::int64_t device_row = device_id(device);
  const std::int64_t environment_row = environment_id(environment);
  SQLite::Statement& insert = statement(
      "INSERT INTO ceiling_sets (uid, device_id, environment_id, measured_at) VALUES (hex(randomblob(16)), ?, ?, ?)");
  Binder(insert) << device_row << environment_row << now_utc();
  insert.exec();
  const std::int64_t set = database->getLastInsertRowid();
  for (const Ceiling& ceiling : ceilings) {
    SQLite::Statement& row = statement(
        "INSERT INTO ceilings (set_id, name, argument, value, q1, q3, unit, provenance) VALUES (?1, ?2, ?3, ?4, ?5, "
        "?6, "
        "?7, ?8)");
    Binder out(row);
    out << set << ceiling.name << ceiling.argument << ceiling.value;
    ceiling.q1 ? row.bind(5, *ceiling.q1) : row.bind(5);
    ceiling.q3 ? row.bind(6, *ceiling.q3) : row.bind(6);
    row.bind(7, ceiling.unit);
    row.bind(8, std::string(to_string(ceiling.source)));
    row.exec();
  }
  return name_set(*database, ceiling_sets, set);
}

std::vector<StoredCeilings> RunStore::Impl::read_ceilings() {
  std::vector<StoredCeilings> sets;
  read_sets(
      *database, ceiling_sets,
      [&](SetHeading&& heading, std::int64_t id, Reader&) {
        sets.push_back({.uid = std::move(heading.uid),
                        .device_uuid = std::move(heading.device_uuid),
                        .device_name = std::move(heading.device_name),
                        .environment = std::move(heading.environment),
                        .measured_at = std::move(heading.measured_at),
                        .ceilings = read_rows(*database, id)});
      },
      [this](std::int64_t id, const Message& why) {
        note({make_message("ceilings {}", id), why});
      });
  return sets;
}

}  // namespace attnscope
