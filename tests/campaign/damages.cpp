// SPDX-License-Identifier: Apache-2.0
#include "damages.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t page_bytes = 4096;

// Damage to bytes

void flip_bits(std::string& bytes, Random& random) {
  for (std::size_t i = 1 + below(random, 8); i > 0; --i) {
    char& byte = bytes[below(random, bytes.size())];
    byte = static_cast<char>(byte ^ (1 << below(random, 8)));
  }
}

void overwrite_range(std::string& bytes, Random& random) {
  const std::size_t at = below(random, bytes.size());
  const std::size_t length = std::min(bytes.size() - at, 1 + below(random, 600));
  const bool zero = below(random, 2) == 0;
  for (std::size_t i = 0; i < length; ++i) bytes[at + i] = zero ? '\0' : static_cast<char>(random());
}

/// Replaces a page by zeros or by another page.
void misplace_page(std::string& bytes, Random& random) {
  const std::size_t pages = bytes.size() / page_bytes;
  const std::size_t to = below(random, pages) * page_bytes;
  if (below(random, 3) == 0) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(to), page_bytes, '\0');
  } else {
    const std::string page = bytes.substr(below(random, pages) * page_bytes, page_bytes);
    bytes.replace(to, page_bytes, page);
  }
}

void cut(std::string& bytes, Random& random) {
  bytes.resize(below(random, bytes.size()));
}

/// Changes page and cell headers, which contain lengths and pointers.
void change_pointer(std::string& bytes, Random& random) {
  const std::size_t page = below(random, bytes.size() / page_bytes) * page_bytes;
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) bytes[page + below(random, 64)] = static_cast<char>(random());
}

// Damage to rows

std::vector<std::string> texts(SQLite::Database& database, const std::string& sql) {
  std::vector<std::string> found;
  SQLite::Statement query(database, sql);
  while (query.executeStep()) found.push_back(query.getColumn(0).getString());
  return found;
}

const std::vector<std::string> hostile_values{"0",
                                              "-1",
                                              "-7",
                                              "1",
                                              "4294967360",
                                              "9223372036854775807",
                                              "-9223372036854775807 - 1",
                                              "9e999",
                                              "-9e999",
                                              "1e308",
                                              "4.9e-324",
                                              "''",
                                              "'all'",
                                              "'[1e308,1e308]'",
                                              "'[]'",
                                              "'{}'",
                                              "'{\"max_noise\":null}'",
                                              "'lengths:9999999'",
                                              "'blocks:16:random50'",
                                              "CAST(x'61ff62' AS TEXT)",
                                              "CAST(x'610062' AS TEXT)",
                                              "char(27) || '[2J'",
                                              "'=1+1'",
                                              "'<img src=\"file:///dev/zero\">'",
                                              "replace(hex(zeroblob(2000)), '00', 'x')"};

}  // namespace

Random random_of_case(std::uint64_t seed, std::uint64_t index) {
  std::seed_seq both{seed, index};
  return Random(both);
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

void write_whole(const fs::path& file) {
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  RunHeader header = full_header();
  for (const char* device : {"GPU-1", "GPU-2", "GPU-1"}) {
    header.device.uuid = device;
    const std::int64_t run = store.begin_run(header);
    for (std::size_t i = 0; i < 25; ++i) {
      PointRecord record = i % 3 == 0 ? full_record() : simple_record(64 + static_cast<std::int64_t>(i));
      record.wall_seconds = static_cast<double>(i) + 0.5;
      store.add_point(run, i, record);
    }
    store.finish_run(run, StoredRunState::complete);
  }
}

void change_rows(const fs::path& file, Random& random) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
  const std::vector<std::string> tables =
      texts(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name");
  for (std::size_t i = 1 + below(random, 3); i > 0; --i) {
    const std::string& table = tables[below(random, tables.size())];
    const std::vector<std::string> columns =
        texts(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
    const std::string& column = columns[below(random, columns.size())];
    const std::string one =
        fmt::format("{0} IN (SELECT {0} FROM {1} ORDER BY {0} LIMIT 1 OFFSET {2})", column, table, below(random, 20));
    const std::string value = below(random, 3) == 0 ? fmt::format("{} + {}", column, 1 + below(random, 3))
                                                    : hostile_values[below(random, hostile_values.size())];
    const std::string sql = below(random, 8) == 0
                                ? fmt::format("DELETE FROM {} WHERE {}", table, one)
                                : fmt::format("UPDATE {} SET {} = {} WHERE {}", table, column, value, one);
    try {
      database.exec(sql);
    } catch (const SQLite::Exception&) {  // the table rejects the value
    }
  }
}

void change_schema(const fs::path& file, Random& random, const fs::path& canary) {
  const std::string run = canary.string();
  const std::string texts[] = {
      "CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM runs; END",
      "CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT load_extension('" + run + "'); END",
      "DROP VIEW v_points; CREATE VIEW v_points AS SELECT load_extension('" + run + "') AS algorithm FROM points",
      "CREATE VIEW sqlite_stat AS SELECT writefile('" + run + "', 'x')",
      "DROP TABLE run_tags; CREATE VIEW run_tags AS SELECT 1 AS run_id, load_extension('" + run + "') AS tag",
      "ALTER TABLE runs ADD COLUMN x TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000)))",
      "CREATE INDEX i ON points (abs(plan_index), hex(zeroblob(1000000)))",
      "CREATE TABLE notes (text DEFAULT (load_extension('" + run + "')))",
      "CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (plan_index >= 0)', 'CHECK "
      "(load_extension(''" +
          run + "''))') WHERE name = 'points'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'points'",
      "PRAGMA user_version = 99",
      "PRAGMA application_id = 7"};
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  try {
    database.exec(texts[below(random, std::size(texts))]);
  } catch (const SQLite::Exception&) {  // not supported by this SQLite
  }
}

void damage(const fs::path& file, const std::string& whole, Random& random) {
  using Change = void (*)(std::string&, Random&);
  constexpr Change changes[] = {flip_bits, flip_bits, overwrite_range, misplace_page, change_pointer, cut};
  const std::size_t kind = below(random, std::size(changes) * 2);
  if (kind >= std::size(changes)) {
    write(file, whole);
    return change_rows(file, random);
  }
  std::string bytes = whole;
  changes[kind](bytes, random);
  write(file, bytes);
}

}  // namespace attnscope::testing
