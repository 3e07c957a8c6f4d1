// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/row_keys.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace attnscope::analysis {
namespace {

/// Numbers the texts by first occurrence; equal texts get equal numbers.
std::vector<std::uint64_t> numbered(const std::vector<std::string>& texts) {
  std::map<std::string_view, std::uint64_t> known;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(texts.size());
  for (const std::string& text : texts) numbers.push_back(known.try_emplace(text, known.size()).first->second);
  return numbers;
}

std::unordered_set<std::uint64_t> keys_of(const RowKey& key, std::span<const Row> rows) {
  std::unordered_set<std::uint64_t> keys;
  std::uint64_t last = 0;
  for (const Row row : rows) {
    const std::uint64_t now = key(row);
    if (keys.empty() || now != last) keys.insert(now);  // adjacent rows are often equal
    last = now;
  }
  return keys;
}

/// Renumbers the values by first occurrence; returns the number of distinct values.
std::uint64_t renumber(std::vector<std::uint64_t>& values) {
  std::unordered_map<std::uint64_t, std::uint64_t> known;
  for (std::uint64_t& value : values) value = known.try_emplace(value, known.size()).first->second;
  return known.size();
}

}  // namespace

RowKey key_of_field(const PointTable& table, std::string_view field) {
  return [&column = table.points().field(field)](Row row) { return column.key(row); };
}

RowKey key_of_knobs(const PointTable& table) {
  return [&knobs = table.points().knobs()](Row row) { return std::uint64_t{knobs.code(row)}; };
}

RowKey key_of_knob(const PointTable& table, std::string_view name) {
  const PointColumns::KnobsColumn& column = table.points().knobs();
  std::vector<std::string> texts;
  for (const Knobs& knobs : column.values()) {
    const KnobValue* value = knobs.find(name);
    texts.push_back(value == nullptr ? std::string() : attnscope::to_string(*value));
  }
  return [&column, numbers = numbered(texts)](Row row) { return numbers[column.code(row)]; };
}

RowKey key_of_device(const PointTable& table) {
  std::vector<std::string> names;
  names.reserve(table.runs().size());
  for (const Run& run : table.runs()) names.push_back(run.device_name);
  return [&table, numbers = numbered(names)](Row row) { return numbers[table.run_index(row)]; };
}

RowKey key_of_extents(const PointTable& table) {
  return [&br = table.points().field("br"), &bc = table.points().field("bc")](Row row) {
    constexpr unsigned half = 32;
    return static_cast<std::uint64_t>(br.number(row)) << half | static_cast<std::uint32_t>(bc.number(row));
  };
}

bool have_common_key(const RowKey& key, std::span<const Row> base, std::span<const Row> other) {
  const std::unordered_set<std::uint64_t> keys = keys_of(key, base);
  return std::ranges::any_of(other, [&](Row row) { return keys.contains(key(row)); });
}

bool have_equal_keys(const RowKey& key, std::span<const Row> base, std::span<const Row> other) {
  return keys_of(key, base) == keys_of(key, other);
}

std::vector<std::uint64_t> group_numbers(std::span<const RowKey> keys, const std::vector<Row>& rows) {
  std::vector<std::uint64_t> groups(rows.size());
  std::vector<std::uint64_t> column(rows.size());
  for (const RowKey& key : keys) {
    std::ranges::transform(rows, column.begin(), [&](Row row) { return key(row); });
    const std::uint64_t count = renumber(column);
    if (count < 2) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) groups[i] = groups[i] * count + column[i];
    renumber(groups);
  }
  return groups;
}

RowGroups::RowGroups(std::span<const RowKey> keys, std::span<const Row> base, std::span<const Row> other) {
  std::vector<Row> rows(base.begin(), base.end());
  rows.insert(rows.end(), other.begin(), other.end());
  const std::vector<std::uint64_t> groups = group_numbers(keys, rows);
  const std::size_t count = groups.empty() ? 0 : *std::ranges::max_element(groups) + 1;
  const auto side_of = [&](std::size_t line) { return 2 * groups[line] + (line < base.size() ? 0 : 1); };
  begin_.assign(2 * count + 1, 0);
  for (std::size_t line = 0; line < rows.size(); ++line) ++begin_[side_of(line) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  rows_.resize(rows.size());
  for (std::size_t line = 0; line < rows.size(); ++line) rows_[next[side_of(line)]++] = rows[line];
}

bool equal_specs(const PointTable& table, Row a, Row b) {
  const PointColumns& points = table.points();
  return points.knobs().code(a) == points.knobs().code(b) &&
         std::ranges::all_of(points.fields(),
                             [&](const FieldColumn& column) { return column.key(a) == column.key(b); });
}

}  // namespace attnscope::analysis
