// SPDX-License-Identifier: Apache-2.0
#include "storage/statement_rows.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "profiler/metrics/statement.h"
#include "storage/bounds.h"
#include "storage/rows.h"

namespace attnscope {
namespace {

using Select = std::function<SQLite::Statement&(std::string_view)>;
/// What of a statement's sources could be read, or the first thing wrong with them.
struct Sources {
  std::vector<StatementSource> all;
  Message wrong;
};

std::unordered_map<std::int64_t, Sources> read_sources(const Select& select, bool contents) {
  std::unordered_map<std::int64_t, Sources> by_statement;
  SQLite::Statement& query = select(
      fmt::format("SELECT user_kernel_id, name, digest, {} FROM user_kernel_sources ORDER BY user_kernel_id, name",
                  contents ? "content" : "NULL"));
  while (query.executeStep()) {
    Sources& sources = by_statement[query.getColumn(0).getInt64()];
    if (!sources.wrong.empty()) continue;
    try {
      Reader in(query);
      (void)in.integer();
      StatementSource source{.name = in.text(), .digest = in.text()};
      if (const SQLite::Column content = query.getColumn(3); !content.isNull()) {
        const bool small = static_cast<std::size_t>(content.getBytes()) <= most_kept_source_bytes;
        if (small) source.content = content.getString();
        if (!small || uuid_of(*source.content) != source.digest) {
          throw RowError(make_message("source {} is not what was written: its digest is another", source.name));
        }
      }
      sources.all.push_back(std::move(source));
    } catch (const RowError& error) {
      sources.wrong = error.message();
    }
  }
  return by_statement;
}

std::string_view without_version(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool has_one = last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '.';
  return has_one ? name.substr(0, last) : name;
}

}  // namespace

bool is_of(const StatementRow& row, std::string_view algorithm) {
  return without_version(row.algorithm) == without_version(algorithm);
}

std::unordered_map<std::int64_t, StatementRow> read_statements(
    const Select& select, bool contents, const std::function<void(std::int64_t id, const Message& why)>& note) {
  std::unordered_map<std::int64_t, StatementRow> rows;
  auto sources = read_sources(select, contents);
  SQLite::Statement& query = select("SELECT id, digest, algorithm, text, host_code FROM user_kernels");
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    StatementRow& row = rows[id];
    try {
      Reader in(query);
      (void)in.integer();
      row.digest = in.text();
      row.algorithm = in.text();
      KernelStatement statement{.text = in.text(), .host_code = in.flag(), .sources = std::move(sources[id].all)};
      Message wrong = std::move(sources[id].wrong);
      if (wrong.empty()) wrong = out_of_bounds(statement);
      if (wrong.empty() && digest_of(statement) != row.digest) wrong = "its checksum does not match its content";
      if (!wrong.empty()) throw RowError(wrong);
      row.statement = std::make_shared<const KernelStatement>(std::move(statement));
    } catch (const RowError& error) {
      note(id, error.message());
    }
  }
  return rows;
}

}  // namespace attnscope
