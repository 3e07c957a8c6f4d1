// SPDX-License-Identifier: Apache-2.0
#include "storage/device_sets.h"

#include <fmt/format.h>

#include <utility>

#include "storage/rows.h"

namespace attnscope {
namespace {

void remove_set(SQLite::Database& database, const DeviceSets& tables, std::int64_t id) {
  for (const std::string& removal : {fmt::format("DELETE FROM {} WHERE set_id = ?", tables.rows),
                                     fmt::format("DELETE FROM {} WHERE id = ?", tables.sets)}) {
    SQLite::Statement remove(database, removal);
    remove.bind(1, id);
    remove.exec();
  }
}

}  // namespace

Digest digest_of_set(SQLite::Database& database, const DeviceSets& tables, std::int64_t set) {
  Digest sum;
  HashedRows row(
      database,
      fmt::format("SELECT d.uuid, d.name, s.measured_at{}, {} FROM {} s LEFT JOIN devices d ON d.id = s.device_id "
                  "LEFT JOIN environments e ON e.id = s.environment_id WHERE s.id = ?",
                  tables.set_columns, qualified("e", environment_columns), tables.sets),
      set);
  while (row.next()) sum += row.digest(tables.set_kind, 0);
  HashedRows rows(database, fmt::format("SELECT {} FROM {} WHERE set_id = ?", tables.row_columns, tables.rows), set);
  while (rows.next()) sum += rows.digest(tables.row_kind, 0);
  return sum;
}

std::string name_set(SQLite::Database& database, const DeviceSets& tables, std::int64_t set) {
  std::string uid = to_string(digest_of_set(database, tables, set));
  SQLite::Statement same(database, fmt::format("SELECT count(*) FROM {} WHERE uid = ?", tables.sets));
  Binder(same) << uid;
  same.executeStep();
  if (same.getColumn(0).getInt() != 0) {  // all that it says is there already, to the second
    remove_set(database, tables, set);
    return uid;
  }
  SQLite::Statement name(database, fmt::format("UPDATE {} SET uid = ? WHERE id = ?", tables.sets));
  Binder(name) << uid << set;
  name.exec();
  return uid;
}

void read_sets(SQLite::Database& database, const DeviceSets& tables,
               const std::function<void(SetHeading&&, std::int64_t set, Reader&)>& take,
               const std::function<void(std::int64_t set, const Message& why)>& note) {
  SQLite::Statement query(
      database, fmt::format("SELECT s.id, s.uid, d.uuid, d.name, s.measured_at, {}{} FROM {} s LEFT JOIN devices d ON "
                            "d.id = s.device_id LEFT JOIN environments e ON e.id = s.environment_id ORDER BY d.uuid, "
                            "s.measured_at, s.id",
                            qualified("e", environment_columns), tables.set_columns, tables.sets));
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    try {
      Reader in(query);
      (void)in.integer();
      SetHeading heading;
      heading.uid = in.text();
      heading.device_uuid = in.text();
      heading.device_name = in.text();
      heading.measured_at = in.text();
      heading.environment = read_environment(in);
      if (parse_digest(heading.uid) != digest_of_set(database, tables, id)) {
        throw RowError("its checksum does not match its content");
      }
      take(std::move(heading), id, in);
    } catch (const RowError& error) {
      note(id, error.message());
    }
  }
}

}  // namespace attnscope
