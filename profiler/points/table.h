// SPDX-License-Identifier: Apache-2.0
// A result as a table, said once: terminal, CSV, JSON, Markdown, HTML and the window's models write it, each in its
// format. A cell is made when it is looked at: a table of 100,000 rows costs nothing until then.
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

/// A place in columns of points.
using Row = std::uint32_t;

/// Emphasis of a cell. `muted`: not measured, or not judged; `strong`: a sum, or the current configuration.
enum class Tone : std::uint8_t { plain, muted, strong, better, worse };

struct Cell {
  std::string text = {};              ///< empty: no value here
  std::optional<double> number = {};  ///< what it is sorted by; of a number the value, in base units
  std::optional<Row> row = {};        ///< the point that it is of
};

enum class ColumnKind : std::uint8_t {
  text,
  number,
  sentence,  ///< takes the room that others leave
};

struct Column {
  std::string key;         ///< what programs and saved orders know it by
  std::string title = {};  ///< for people; empty in tables that programs alone read
  ColumnKind kind = ColumnKind::text;
  std::function<Cell(std::size_t row)> cell = nullptr;
  std::string help = {};  ///< one sentence
  /// The cell's number where the whole cell takes long: thousands of rows are sorted by it at once.
  std::function<std::optional<double>(std::size_t row)> number = nullptr;
  std::function<std::string(std::size_t row)> tip = nullptr;  ///< what the text has no room for
  std::function<Tone(std::size_t row)> tone = nullptr;        ///< in place of the row's
};

/// For people, for programs, or for both: people read titles, programs keys.
struct Table {
  std::vector<Column> columns;
  std::size_t rows = 0;
  std::function<Tone(std::size_t row)> tone = nullptr;

  [[nodiscard]] Tone tone_of(const Column&, std::size_t row) const;
  /// Null where there is none.
  [[nodiscard]] const Column* find(std::string_view key) const;
  /// Of columns that every table of the kind has, to be left out where what stands around the table says it.
  void drop(std::string_view key);
  /// What no row has takes no room.
  void drop_empty_columns();
  /// The rows in the order of a column, those without a value last and equal ones as they stand.
  [[nodiscard]] std::vector<Row> ordered(std::size_t column, bool descending) const;
};

/// As programs read it; empty of none, and of what is no number.
[[nodiscard]] std::string raw_text(std::optional<double> value);

/// A table in the making, of which each row is a line of its own kind.
template <class Line>
class TableOf {
 public:
  explicit TableOf(std::vector<Line> lines) : lines_(std::make_shared<const std::vector<Line>>(std::move(lines))) {
    table_.rows = lines_->size();
  }

  /// `said` of a line: a cell, its words, or a number as programs read it.
  template <class Said>
  Column& add(Column column, Said said) {
    using Of = std::invoke_result_t<Said, const Line&>;
    constexpr bool number = std::is_arithmetic_v<Of> || std::is_same_v<Of, std::optional<double>>;
    if (number) column.kind = ColumnKind::number;
    column.cell = of([said = std::move(said)](const Line& line) -> Cell {
      if constexpr (std::is_same_v<Of, Cell>) {
        return said(line);
      } else if constexpr (number) {
        const std::optional<double> value = said(line);
        return {.text = raw_text(value), .number = value};
      } else if constexpr (std::is_same_v<Of, Message>) {
        return {.text = text(said(line))};
      } else {
        return {.text = std::string(said(line))};
      }
    });
    return table_.columns.emplace_back(std::move(column));
  }
  /// A function of rows from one of lines: for a column's or the table's other parts.
  template <class OfLine>
  [[nodiscard]] auto of(OfLine of_line) const {
    return [lines = lines_, of_line = std::move(of_line)](std::size_t row) { return of_line((*lines)[row]); };
  }
  [[nodiscard]] const std::vector<Line>& lines() const { return *lines_; }
  [[nodiscard]] Table& table() { return table_; }
  [[nodiscard]] Table take() && { return std::move(table_); }

 private:
  std::shared_ptr<const std::vector<Line>> lines_;
  Table table_;
};

}  // namespace attnscope::analysis
