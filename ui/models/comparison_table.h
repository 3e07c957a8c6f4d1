// SPDX-License-Identifier: GPL-3.0-or-later
// What a comparison says, line by line and column by column: a line each point that both sides have, with its verdict,
// then each that only one has. Made in any thread, for 100,000 points take longer than a frame; nothing of it changes.
#pragma once

#include <QString>
#include <QVariant>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/models/comparison_set.h"
#include "ui/models/verdict_words.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

class ComparisonTable {
 public:
  ComparisonTable() : ComparisonTable(std::make_shared<const ComparisonSet>(), std::nullopt) {}
  /// `code`: of the one other side that is shown; nothing: all of them.
  ComparisonTable(std::shared_ptr<const ComparisonSet> set, std::optional<std::uint32_t> code);
  ComparisonTable(const ComparisonTable&) = delete;
  ComparisonTable& operator=(const ComparisonTable&) = delete;

  struct Line {
    std::size_t other = 0;  ///< place among the other sides
    std::size_t place = 0;  ///< among its pairs, or what is left out
    bool left_out = false;
  };
  struct Value {
    QString text;
    QVariant sort = {};  ///< invalid: no value here
    QString tip = {};
    bool number = false;
  };
  struct Column {
    QString heading;
    QString key;
    QString help;
    bool number = false;
    std::function<Value(const Line&)> value;
    /// Where sorting by the whole value would take long: thousands of rows are sorted by it at once.
    std::function<QVariant(const Line&)> sort = nullptr;
    std::function<QString(const Line&)> tip = nullptr;  ///< in place of the value's
  };

  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& set() const { return set_; }
  [[nodiscard]] std::optional<std::uint32_t> code() const { return code_; }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  /// -1 where there is none.
  [[nodiscard]] int column_named(const QString& key) const;
  /// Null of what is left out.
  [[nodiscard]] const analysis::ComparedPair* pair(std::size_t line) const;
  [[nodiscard]] const analysis::LeftOut& left(const Line& line) const { return side(line).result.left_out[line.place]; }
  /// The point of the baseline, or of the other side, in a line.
  [[nodiscard]] std::optional<ShownPoint> point(std::size_t line, bool of_other) const;
  /// The first line that has this point.
  [[nodiscard]] std::optional<std::size_t> line_of(Row point) const;
  /// What all lines were set to, so that no column says it: "d 128 · full · bf16".
  [[nodiscard]] const QString& common() const { return common_; }
  /// The lines in the order of a column, those without a value last and equal ones as they stand.
  [[nodiscard]] std::vector<Row> ordered(int column, Qt::SortOrder order) const;

  /// What a column's width follows from: the longest texts among so many lines, each once.
  struct Sample {
    QString text;
    bool bold = false;
    bool operator==(const Sample&) const = default;
  };
  [[nodiscard]] std::vector<std::vector<Sample>> longest_texts(std::size_t lines) const;
  [[nodiscard]] bool is_bold(const Line& line, int column) const;

 private:
  using PairValue = std::function<Value(const analysis::ComparedPair&)>;
  using PairNumber = std::function<std::optional<double>(const analysis::ComparedPair&)>;
  [[nodiscard]] const OtherSide& side(const Line& line) const { return set_->others[line.other]; }
  [[nodiscard]] const analysis::ComparedPair& pair_of(const Line& line) const {
    return side(line).result.pairs[line.place];
  }
  /// A point that says which problem the line is of.
  [[nodiscard]] Row row_in(const Line& line) const {
    return line.left_out ? left(line).rows.front() : pair_of(line).other.front();
  }
  [[nodiscard]] QVariant verdict_order(const Line& line) const;
  [[nodiscard]] QString verdict_tip(const Line& line) const;
  [[nodiscard]] bool varies(const PointSetting& setting) const;
  /// What the sides differ in is in their names.
  [[nodiscard]] bool sets_sides_apart(const PointSetting& setting) const;
  void add_lines();
  void find_settings();
  void make_columns();
  void add_settings();
  void add_measured();
  /// `value` without what it is sorted by, which is `number`.
  void add_pair_column(const QString& heading, const QString& key, const QString& help, PairValue value,
                       PairNumber number);

  std::shared_ptr<const ComparisonSet> set_;
  std::optional<std::uint32_t> code_;
  std::vector<Line> lines_;
  std::vector<Row> rows_;                     ///< row_in() of each
  std::vector<std::uint32_t> line_of_;        ///< by row of the points, from 1; 0: in none
  std::vector<const PointSetting*> varying_;  ///< settings that set lines apart
  QString common_;
  std::vector<Column> columns_;
};

}  // namespace attnscope::ui
