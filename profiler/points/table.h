// SPDX-License-Identifier: Apache-2.0
// A result as a table, which terminal, CSV, JSON, Markdown, HTML and item models print. Cells are computed on demand,
// so large tables are cheap to create.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope::analysis {

/// Index into point columns.
using Row = std::uint32_t;

/// Emphasis of a cell. `muted`: not measured or without verdict; `strong`: a total or the current configuration.
enum class Tone : std::uint8_t { plain, muted, strong, better, worse };

struct Cell {
  std::string text = {};              ///< empty: no value
  std::optional<double> number = {};  ///< sort key; for number columns the value in base units
  std::optional<Row> row = {};        ///< point that the cell shows
};

enum class ColumnKind : std::uint8_t {
  text,
  number,
  sentence,  ///< stretches to the remaining width
};

struct Column {
  std::string key;         ///< stable id for programs and saved sort orders
  std::string title = {};  ///< display name; empty in machine-readable tables
  ColumnKind kind = ColumnKind::text;
  std::function<Cell(std::size_t row)> cell = nullptr;
  std::string help = {};
  /// Sort key if cell() is expensive.
  std::function<std::optional<double>(std::size_t row)> number = nullptr;
  std::function<std::string(std::size_t row)> tip = nullptr;
  std::function<Tone(std::size_t row)> tone = nullptr;  ///< overrides the row's tone
};

struct Table {
  std::vector<Column> columns;
  std::size_t rows = 0;
  std::function<Tone(std::size_t row)> tone = nullptr;

  [[nodiscard]] Tone tone_of(const Column&, std::size_t row) const;
  [[nodiscard]] const Column* find(std::string_view key) const;
  /// Removes a column whose values are shown elsewhere.
  void drop(std::string_view key);
  void drop_empty_columns();
  /// Row indices sorted by a column, stable; rows without a value are last.
  [[nodiscard]] std::vector<Row> ordered(std::size_t column, bool descending) const;
};

/// Shortest exact text; empty for no value and for NaN or infinity.
[[nodiscard]] std::string raw_text(std::optional<double> value);

/// Builds a table with one object of type `Line` per row.
template <class Line>
class TableBuilder {
 public:
  explicit TableBuilder(std::vector<Line> lines) : lines_(std::make_shared<const std::vector<Line>>(std::move(lines))) {
    table_.rows = lines_->size();
  }

  /// Adds a column computed from a line by `getter`, which returns a Cell, text or number.
  template <class Getter>
  Column& add(Column column, Getter getter) {
    using Value = std::invoke_result_t<Getter, const Line&>;
    constexpr bool number = std::is_arithmetic_v<Value> || std::is_same_v<Value, std::optional<double>>;
    if (number) column.kind = ColumnKind::number;
    column.cell = of([getter = std::move(getter)](const Line& line) -> Cell {
      if constexpr (std::is_same_v<Value, Cell>) {
        return getter(line);
      } else if constexpr (number) {
        const std::optional<double> value = getter(line);
        return {.text = raw_text(value), .number = value};
      } else if constexpr (std::is_same_v<Value, Message>) {
        return {.text = text(getter(line))};
      } else {
        return {.text = std::string(getter(line))};
      }
    });
    return table_.columns.emplace_back(std::move(column));
  }
  /// Adapts a function of a line to a function of the row index, for other members of a column or table.
  template <class LineFunction>
  [[nodiscard]] auto of(LineFunction line_function) const {
    return [lines = lines_, line_function = std::move(line_function)](std::size_t row) {
      return line_function((*lines)[row]);
    };
  }
  [[nodiscard]] const std::vector<Line>& lines() const { return *lines_; }
  [[nodiscard]] Table& table() { return table_; }
  [[nodiscard]] Table take() && { return std::move(table_); }

 private:
  std::shared_ptr<const std::vector<Line>> lines_;
  Table table_;
};

}  // namespace attnscope::analysis
