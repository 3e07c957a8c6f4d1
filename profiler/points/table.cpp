// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope::analysis {
namespace {

template <class Key>
void sort_by_key(std::vector<std::pair<Key, Row>>& keyed, bool descending) {
  std::ranges::stable_sort(
      keyed, [&](const auto& a, const auto& b) { return descending ? b.first < a.first : a.first < b.first; });
}

}  // namespace

Tone Table::tone_of(const Column& column, std::size_t row) const {
  return column.tone ? column.tone(row) : tone ? tone(row) : Tone::plain;
}

const Column* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(columns, key, &Column::key);
  return found == columns.end() ? nullptr : &*found;
}

void Table::drop(std::string_view key) {
  std::erase_if(columns, [&](const Column& column) { return column.key == key; });
}

void Table::drop_empty_columns() {
  std::erase_if(columns, [&](const Column& column) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (!column.cell(row).text.empty()) return false;
    }
    return rows > 0;
  });
}

std::vector<Row> Table::ordered(std::size_t column, bool descending) const {
  const Column& by = columns.at(column);
  std::vector<std::pair<double, Row>> numbers;
  std::vector<std::pair<std::string, Row>> texts;
  std::vector<Row> without;
  for (std::size_t at = 0; at < rows; ++at) {
    const auto row = static_cast<Row>(at);
    Cell cell = by.number ? Cell{.number = by.number(at)} : by.cell(at);
    if (cell.number && !std::isnan(*cell.number)) {
      numbers.emplace_back(*cell.number, row);
    } else if (!cell.text.empty()) {
      texts.emplace_back(std::move(cell.text), row);
    } else {
      without.push_back(row);
    }
  }
  sort_by_key(numbers, descending);
  sort_by_key(texts, descending);
  std::vector<Row> rows_in_order;
  rows_in_order.reserve(rows);
  for (const auto& [key, row] : numbers) rows_in_order.push_back(row);
  for (const auto& [key, row] : texts) rows_in_order.push_back(row);
  rows_in_order.insert(rows_in_order.end(), without.begin(), without.end());
  return rows_in_order;
}

std::string raw_text(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

}  // namespace attnscope::analysis
