// SPDX-License-Identifier: Apache-2.0
#include "storage/ceiling_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "messages/row.h"
#include "storage/bounds.h"
#include "storage/rows.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

CeilingSource parse_source(const std::string& text) {
  for (const CeilingSource source : {CeilingSource::measured, CeilingSource::derived, CeilingSource::datasheet}) {
    if (text == to_string(source)) return source;
  }
  throw RowError(say::row::no_ceiling_source{.word = text});
}

Message out_of_bounds(const Ceiling& ceiling) {
  const auto storable = [](double value) { return std::isfinite(value) && std::abs(value) <= largest_value; };
  const bool fits = !ceiling.name.empty() && ceiling.name.size() <= longest_name && storable(ceiling.argument) &&
                    storable(ceiling.value) && storable(ceiling.q1.value_or(0)) && storable(ceiling.q3.value_or(0));
  return fits ? Message() : Message(say::row::no_ceiling{.name = ceiling.name});
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

void remove_set(SQLite::Database& database, std::int64_t id) {
  for (const char* removal : {"DELETE FROM ceilings WHERE set_id = ?", "DELETE FROM ceiling_sets WHERE id = ?"}) {
    SQLite::Statement remove(database, removal);
    remove.bind(1, id);
    remove.exec();
  }
}

}  // namespace

Digest digest_of_ceilings(SQLite::Database& database, std::int64_t set) {
  Digest sum;
  {
    SQLite::Statement row(
        database, fmt::format("SELECT d.uuid AS device, s.measured_at, {} FROM ceiling_sets s LEFT JOIN devices d ON "
                              "d.id = s.device_id LEFT JOIN environments e ON e.id = s.environment_id WHERE s.id = ?",
                              qualified("e", environment_columns)));
    row.bind(1, set);
    while (row.executeStep()) sum += digest_of_row("ceiling_set", row, 0);
  }
  SQLite::Statement rows(database,
                         "SELECT name, argument, value, q1, q3, unit, provenance FROM ceilings WHERE set_id = ?");
  rows.bind(1, set);
  while (rows.executeStep()) sum += digest_of_row("ceiling", rows, 0);
  return sum;
}

std::vector<std::int64_t> remove_changed_ceilings(SQLite::Database& database) {
  std::vector<std::int64_t> changed;
  {
    SQLite::Statement sets(database, "SELECT id, uid FROM ceiling_sets ORDER BY id");
    while (sets.executeStep()) {
      const std::int64_t id = sets.getColumn(0).getInt64();
      if (parse_digest(sets.getColumn(1).getString()) != digest_of_ceilings(database, id)) changed.push_back(id);
    }
  }
  for (const std::int64_t id : changed) remove_set(database, id);
  return changed;
}

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
  std::string uid = to_string(digest_of_ceilings(*database, set));
  SQLite::Statement& same = statement("SELECT count(*) FROM ceiling_sets WHERE uid = ?");
  Binder(same) << uid;
  same.executeStep();
  if (same.getColumn(0).getInt() != 0) {  // all that it says is there already, to the second
    remove_set(*database, set);
    return uid;
  }
  SQLite::Statement& name = statement("UPDATE ceiling_sets SET uid = ? WHERE id = ?");
  Binder(name) << uid << set;
  name.exec();
  return uid;
}

std::vector<StoredCeilings> RunStore::Impl::read_ceilings() {
  if (schema_of(*database) < ceilings_since) return {};
  SQLite::Statement& query = statement(fmt::format(
      "SELECT s.id, s.uid, d.uuid, d.name, s.measured_at, {} FROM ceiling_sets s LEFT JOIN devices d ON d.id "
      "= s.device_id LEFT JOIN environments e ON e.id = s.environment_id ORDER BY d.uuid, s.measured_at, "
      "s.id",
      qualified("e", environment_columns)));
  std::vector<StoredCeilings> sets;
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    Message why;
    try {
      Reader in(query);
      (void)in.integer();
      StoredCeilings set;
      set.uid = in.text();
      set.device_uuid = in.text();
      set.device_name = in.text();
      set.measured_at = in.text();
      set.environment = read_environment(in);
      set.ceilings = read_rows(*database, id);
      if (parse_digest(set.uid) != digest_of_ceilings(*database, id)) throw RowError(say::row::other_digest{});
      sets.push_back(std::move(set));
    } catch (const RowError& error) {
      note({say::row::ceilings{.set = id}, error.message()});
    }
  }
  return sets;
}

}  // namespace attnscope
