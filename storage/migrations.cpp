// SPDX-License-Identifier: Apache-2.0
#include "storage/migrations.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/legacy/fa2_rule.h"
#include "profiler/plan/fields.h"
#include "storage/schema/steps.h"
#include "storage/views.h"

namespace attnscope {
namespace {

constexpr std::string_view sql_type(FieldType type) {
  switch (type) {
    case FieldType::integer:
    case FieldType::flag:
      return "INTEGER";
    case FieldType::real:
      return "REAL";
    case FieldType::word:
      return "TEXT";
  }
  return "TEXT";
}

/// The fields that came with schema `version`, as columns that older points have the fallback in. Views are the newest
/// schema's alone, and stand in the way of changing what they name.
std::string generated_step(int version, std::span<const Field> fields) {
  std::string text = "DROP VIEW IF EXISTS v_points; DROP VIEW IF EXISTS v_runs; ";
  for (const Field& field : fields) {
    if (field.since != version) continue;
    text += fmt::format("ALTER TABLE points ADD COLUMN {} {} NOT NULL DEFAULT {};\n", field.name, sql_type(field.type),
                        field_default(field));
  }
  return text;
}

/// Whether the word stands by itself in a step's text.
bool names(std::string_view step, std::string_view word) {
  const auto part_of_a_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = step.find(word); at != std::string_view::npos; at = step.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !part_of_a_word(step[at - 1])) && (end == step.size() || !part_of_a_word(step[end]))) return true;
  }
  return false;
}

/// legacy_algorithm(algorithm, pass, dtype, mask, batch, heads_q, heads_kv, n_q, n_k, d, dropout, br, bc, warps,
/// stages, raster, compute_major, compute_minor, shared_bytes_per_block), for step 3.
void legacy_algorithm(sqlite3_context* context, int count, sqlite3_value** values) {
  const auto text = [&](int i) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
    return std::string_view(bytes == nullptr ? "" : bytes);
  };
  const auto integer = [&](int i) { return sqlite3_value_int64(values[i]); };
  const auto small = [&](int i) { return sqlite3_value_int(values[i]); };
  AttentionProblem p;
  const auto pass = parse_pass(text(1));
  const auto dtype = parse_dtype(text(2));
  const auto mask = parse_mask(text(3));
  if (count != 19 || !pass || !dtype || !mask) {  // a damaged row keeps its word
    sqlite3_result_value(context, values[0]);
    return;
  }
  p.pass = *pass;
  p.dtype = *dtype;
  p.mask = *mask;
  p.batch = integer(4);
  p.heads_q = integer(5);
  p.heads_kv = integer(6);
  p.n_q = integer(7);
  p.n_k = integer(8);
  p.d = integer(9);
  p.dropout = sqlite3_value_double(values[10]);
  const std::string shown = legacy::shown_algorithm(text(0), p,
                                                    {.br = small(11),
                                                     .bc = small(12),
                                                     .warps = small(13),
                                                     .stages = small(14),
                                                     .q_fastest = text(15) == "q_fastest",
                                                     .compute_major = small(16),
                                                     .compute_minor = small(17),
                                                     .shared_bytes_per_block = integer(18)});
  sqlite3_result_text(context, shown.data(), static_cast<int>(shown.size()), SQLITE_TRANSIENT);
}

/// Dropping a table that others refer to deletes their rows unless foreign keys are off, which has no effect inside a
/// transaction.
class WithoutForeignKeys {
 public:
  explicit WithoutForeignKeys(SQLite::Database& database)
      : database_(database), were_on_(database.execAndGet("PRAGMA foreign_keys").getInt() != 0) {
    database_.exec("PRAGMA foreign_keys = OFF");
  }
  ~WithoutForeignKeys() {
    if (were_on_) database_.tryExec("PRAGMA foreign_keys = ON");
  }
  WithoutForeignKeys(const WithoutForeignKeys&) = delete;
  WithoutForeignKeys& operator=(const WithoutForeignKeys&) = delete;

 private:
  SQLite::Database& database_;
  bool were_on_;
};

/// Views that people made name tables that steps rename and drop, which SQLite refuses then: they are taken away, and
/// come back as they were.
class WithoutOtherViews {
 public:
  explicit WithoutOtherViews(SQLite::Database& database) : database_(database) {
    SQLite::Statement query(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid");
    while (query.executeStep()) {
      std::string name = query.getColumn(0).getString();
      if (!is_our_view(name)) views_.emplace_back(std::move(name), query.getColumn(1).getString());
    }
    query.reset();
    for (const auto& [name, sql] : views_) database.exec("DROP VIEW " + quoted(name));
  }
  void put_back() {
    for (const auto& [name, sql] : views_) database_.exec(sql);
  }

 private:
  static std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
  }

  SQLite::Database& database_;
  std::vector<std::pair<std::string, std::string>> views_;  // name and statement
};

/// A file may lack views of ours, and frozen steps drop them as if they were always there.
void make_views_to_drop(SQLite::Database& database, std::string_view step) {
  for (const std::string_view view : our_views) {
    if (step.find(fmt::format("DROP VIEW {};", view)) == std::string_view::npos) continue;
    database.exec(fmt::format("CREATE VIEW IF NOT EXISTS {} AS SELECT 1", view));
  }
}

}  // namespace

std::span<const char* const> frozen_steps() {
  static const std::array steps{schema::step_1, schema::step_2, schema::step_3,
                                schema::step_4, schema::step_5, schema::step_6};
  return steps;
}

std::string field_default(const Field& field) {
  switch (field.type) {
    case FieldType::integer:
    case FieldType::real:
      return std::string(field.fallback);
    case FieldType::flag:
      return field.fallback == "yes" ? "1" : "0";
    case FieldType::word:
      return fmt::format("'{}'", field.fallback);
  }
  return "NULL";
}

std::vector<std::string> schema_steps(std::span<const char* const> frozen, std::span<const Field> fields) {
  std::vector<std::string> steps(frozen.begin(), frozen.end());
  int newest = 0;
  for (const Field& field : fields) {
    newest = std::max(newest, field.since);
    if (field.since < 1) throw std::logic_error(fmt::format("field {} is of no schema", field.name));
    if (field.since > static_cast<int>(frozen.size())) continue;
    const std::string_view its_step = frozen[static_cast<std::size_t>(field.since) - 1];
    if (!names(its_step, field.name)) {
      throw std::logic_error(fmt::format(
          "field {} is of schema {}, whose frozen step adds no such column: it came later", field.name, field.since));
    }
  }
  while (static_cast<int>(steps.size()) < newest) {
    steps.push_back(generated_step(static_cast<int>(steps.size()) + 1, fields));
  }
  return steps;
}

std::span<const std::string> migrations() {
  static const std::vector<std::string> steps = [] {
    std::vector<std::string> all = schema_steps(frozen_steps(), point_fields());
    all.back() += view_statements(static_cast<int>(all.size()));
    return all;
  }();
  return steps;
}

void migrate(SQLite::Database& database, std::span<const std::string> migration_steps) {
  const int newest = static_cast<int>(migration_steps.size());
  if (database.execAndGet("PRAGMA user_version").getInt() >= newest) return;
  const int made =
      sqlite3_create_function_v2(database.getHandle(), "legacy_algorithm", 19, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                 nullptr, legacy_algorithm, nullptr, nullptr, nullptr);
  if (made != SQLITE_OK) throw SQLite::Exception(database.getHandle(), made);
  const WithoutForeignKeys rebuilding(database);
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  WithoutOtherViews other_views(database);
  for (int version = database.execAndGet("PRAGMA user_version").getInt(); version < newest; ++version) {
    const std::string& step = migration_steps[static_cast<std::size_t>(version)];
    make_views_to_drop(database, step);
    database.exec(step.c_str());
  }
  other_views.put_back();
  if (SQLite::Statement orphans(database, "PRAGMA foreign_key_check"); orphans.executeStep()) {
    throw SQLite::Exception(format_text("a row of {} lacks what it refers to", orphans.getColumn(0).getString()),
                            SQLITE_CORRUPT);
  }
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, newest));
  transaction.commit();
}

}  // namespace attnscope
