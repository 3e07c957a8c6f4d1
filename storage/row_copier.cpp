// SPDX-License-Identifier: Apache-2.0
#include "storage/row_copier.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/rows.h"

namespace attnscope {
namespace {

// temp.ids has one row, i: a run's id in source and target, and the offsets added to ids of points and kernels.
constexpr const char* temporary_tables = R"sql(
CREATE TEMP TABLE ids (source INTEGER, target INTEGER, points INTEGER, kernels INTEGER);
CREATE TEMP TABLE skipped (place INTEGER PRIMARY KEY);
CREATE TEMP TABLE device_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE environment_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE metric_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE user_kernel_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE set_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
)sql";

/// SQL expressions by referenced table: each maps the id in column {} of source row q to the target's id.
const std::map<std::string, const char*>& translations() {
  static const std::map<std::string, const char*> all{
      {"runs", "i.target"},
      {"points", "q.{} + i.points"},
      {"kernels", "q.{} + i.kernels"},
      {"devices", "(SELECT target FROM device_of WHERE source = q.{})"},
      {"environments", "(SELECT target FROM environment_of WHERE source = q.{})"},
      {"metrics", "(SELECT target FROM metric_of WHERE source = q.{})"},
      {"user_kernels", "(SELECT target FROM user_kernel_of WHERE source = q.{})"},
      {"ceiling_sets", "(SELECT target FROM set_of WHERE source = q.{})"},
      {"noise_sets", "(SELECT target FROM set_of WHERE source = q.{})"}};
  return all;
}

std::string value_of(const std::string& table, const std::string& column, const std::string& refers_to) {
  const bool is_id = column == "id";
  if (is_id && table != "runs" && table != "points" && table != "kernels") return {};  // assigned by the target
  // No collector writes to the copy of a running run.
  if (table == "runs" && column == "state") return "iif(q.state = 'running', 'interrupted', q.state)";
  if (table == "runs" && column == "finished_at") return "coalesce(q.finished_at, q.started_at)";
  const auto found = translations().find(is_id ? table : refers_to);
  return found == translations().end() ? "q." + column : fmt::format(fmt::runtime(found->second), column);
}

/// Returns an INSERT of the rows q that `from` yields, with all columns of the table.
std::string rows_of(SQLite::Database& database, const std::string& table, std::string_view from,
                    std::string_view insert = "INSERT") {
  std::string columns;
  std::string values;
  SQLite::Statement column(database,
                           "SELECT c.name, coalesce(f.\"table\", '') FROM pragma_table_info(?1) c LEFT JOIN "
                           "pragma_foreign_key_list(?1) f ON f.\"from\" = c.name ORDER BY c.cid");
  column.bind(1, table);
  while (column.executeStep()) {
    const std::string name = column.getColumn(0).getString();
    const std::string value = value_of(table, name, column.getColumn(1).getString());
    if (value.empty()) continue;
    columns += (columns.empty() ? "" : ", ") + name;
    values += (values.empty() ? "" : ", ") + value;
  }
  return fmt::format("{} INTO main.{} ({}) SELECT {} FROM {};\n", insert, table, columns, values, from);
}

/// Returns INSERTs for every table that refers to `parent`, except `left_out`. `from` yields the parent's rows p.
std::string child_rows(SQLite::Database& database, const std::string& parent, std::string_view from,
                       std::string_view left_out = "") {
  std::vector<std::pair<std::string, std::string>> tables;
  {
    SQLite::Statement found(
        database,
        "SELECT t.name, f.\"from\" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE "
        "t.type = 'table' AND f.\"table\" = ? ORDER BY t.name");
    found.bind(1, parent);
    while (found.executeStep()) tables.emplace_back(found.getColumn(0).getString(), found.getColumn(1).getString());
  }
  std::string sql;
  for (const auto& [table, key] : tables) {
    if (table == left_out) continue;
    sql += rows_of(database, table, fmt::format("{} CROSS JOIN source.{} q ON q.{} = p.id", from, table, key));
  }
  return sql;
}

std::string names(SQLite::Database& database) {
  constexpr const char* if_absent = "INSERT OR IGNORE";
  std::string sql;
  for (const char* table : {"devices", "environments", "metrics", "user_kernels"}) {
    sql += rows_of(database, table, fmt::format("source.{} q", table), if_absent);
  }
  sql += fmt::format(R"sql(
INSERT INTO device_of SELECT s.id, m.id FROM source.devices s JOIN main.devices m USING (uuid, simulated, ordinal, {});
INSERT INTO environment_of SELECT s.id, m.id FROM source.environments s JOIN main.environments m USING ({});
INSERT INTO metric_of SELECT s.id, m.id FROM source.metrics s JOIN main.metrics m USING (name, unit);
INSERT INTO user_kernel_of SELECT s.id, m.id FROM source.user_kernels s JOIN main.user_kernels m USING (digest);
INSERT INTO main.user_kernel_sources (user_kernel_id, name, digest, content)
  SELECT s.target, q.name, q.digest, q.content FROM source.user_kernel_sources q
  JOIN user_kernel_of s ON s.source = q.user_kernel_id WHERE true
  ON CONFLICT (user_kernel_id, name) DO UPDATE SET content = coalesce(content, excluded.content);
)sql",
                     limit_columns, environment_columns);
  for (const auto& [sets, rows] : {std::pair("ceiling_sets", "ceilings"), std::pair("noise_sets", "noise")}) {
    sql += rows_of(database, sets, fmt::format("source.{} q", sets), if_absent) +
           fmt::format("INSERT INTO set_of SELECT s.id, m.id FROM source.{0} s JOIN main.{0} m USING (uid);\n", sets) +
           rows_of(database, rows, fmt::format("source.{} q", rows), if_absent) + "DELETE FROM set_of;\n";
  }
  return sql;
}

void in_transaction(SQLite::Database& database, const std::string& sql) {
  SQLite::Transaction transaction(database);
  database.exec(sql);
  transaction.commit();
}

}  // namespace

RowCopier::RowCopier(SQLite::Database& target) : target_(target) {
  target_.exec("PRAGMA temp_store = MEMORY");
  target_.exec(temporary_tables);
  const std::string points =
      "temp.ids i CROSS JOIN source.points p ON p.run_id = i.source AND p.plan_index NOT IN (SELECT place FROM "
      "skipped)";
  const std::string kernels =
      "temp.ids i CROSS JOIN source.points o ON o.run_id = i.source AND o.plan_index NOT IN "
      "(SELECT place FROM skipped) CROSS JOIN source.kernels p ON p.point_id = o.id";
  names_ = names(target_);
  run_ = rows_of(target_, "runs", "temp.ids i CROSS JOIN source.runs q ON q.id = i.source") +
         child_rows(target_, "runs", "temp.ids i CROSS JOIN source.runs p ON p.id = i.source", "points");
  points_ =
      rows_of(target_, "points",
              "temp.ids i CROSS JOIN source.points q ON q.run_id = i.source AND q.plan_index NOT IN (SELECT place "
              "FROM skipped)") +
      child_rows(target_, "points", points) + child_rows(target_, "kernels", kernels);
}

void RowCopier::attach(const std::string& uri) {
  SQLite::Statement attach(target_, "ATTACH ? AS source");
  attach.bind(1, uri);
  attach.exec();
  in_transaction(target_, names_);
}

void RowCopier::detach() {
  target_.exec("DETACH source");
  target_.exec("DELETE FROM device_of; DELETE FROM environment_of; DELETE FROM metric_of; DELETE FROM user_kernel_of");
}

void RowCopier::copy_run(std::int64_t source, std::int64_t target) {
  in_transaction(target_,
                 fmt::format("DELETE FROM ids; INSERT INTO ids VALUES ({}, {}, 0, 0);", source, target) + run_);
}

void RowCopier::copy_points(std::int64_t source, std::int64_t target) {
  // New ids follow the existing ones, in the source's order.
  constexpr const char* offsets = R"sql(
DELETE FROM ids;
INSERT INTO ids SELECT {0}, {1},
  (SELECT coalesce(max(id), 0) FROM main.points) - (SELECT coalesce(min(id), 0) FROM source.points WHERE run_id = {0}) + 1,
  (SELECT coalesce(max(id), 0) FROM main.kernels) - (SELECT coalesce(min(k.id), 0) FROM source.points p
    JOIN source.kernels k ON k.point_id = p.id WHERE p.run_id = {0}) + 1;
)sql";
  in_transaction(target_, fmt::format(offsets, source, target) + points_);
}

}  // namespace attnscope
