// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as a table: a row each point that both sides have, with its verdict, then each that only one has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/models/comparison_set.h"
#include "ui/models/point_settings.h"
#include "ui/models/table_model.h"

namespace attnscope::ui {

/// "FASTER", and "AMBIGUOUS" as "undecided": a verdict as the window says it.
[[nodiscard]] QString verdict_words(analysis::Verdict verdict);
/// Blue of what is faster, orange of what is slower; invalid of the others.
[[nodiscard]] QColor verdict_color(analysis::Verdict verdict, bool dark);
/// "0.952 [0.949, 0.955]"
[[nodiscard]] QString interval_words(const analysis::RatioInterval& ratio);
/// The command that would settle a pair; empty for one that is decided, or that rounds would not decide.
[[nodiscard]] std::string settling_command(const ComparisonSet& set, const analysis::ComparedPair& pair);
/// Why a pair is undecided, and the command that would settle it; empty for one that is decided.
[[nodiscard]] QString settling_words(const ComparisonSet& set, const analysis::ComparedPair& pair);
/// Why rows of one side stand alone.
[[nodiscard]] QString left_out_words(const ComparisonSet& set, const analysis::LeftOut& left);
/// What has to be known of the verdicts: how they were come by, a sentence each.
[[nodiscard]] QStringList method_words(const ComparisonSet& set);

class ComparisonModel : public TableModel {
  Q_OBJECT
 public:
  explicit ComparisonModel(QObject* parent = nullptr);

  /// `code`: of the one other side that is shown; nothing: all of them.
  void set_comparison(std::shared_ptr<const ComparisonSet> set, std::optional<std::uint32_t> code);
  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& comparison() const { return set_; }

  /// One row of the table.
  struct Line {
    std::size_t other = 0;  ///< place among the other sides
    std::size_t place = 0;  ///< among its pairs, or what is left out
    bool left_out = false;
  };
  [[nodiscard]] const analysis::ComparedPair* pair(int row) const;
  /// The point of the baseline, or of the other side, in a row.
  [[nodiscard]] std::optional<ShownPoint> point(int row, bool of_other) const;
  /// The first row that has this point.
  [[nodiscard]] std::optional<int> row_of(Row point) const;

  /// What a column is known by: "verdict", "time", a setting's key.
  [[nodiscard]] QString key_of(int column) const { return columns_[static_cast<std::size_t>(column)].key; }
  /// What all rows were set to, so that no column says it: "d 128 · full · bf16".
  [[nodiscard]] QString common() const;
  /// -1 where there is none.
  [[nodiscard]] int column_named(const QString& key) const;
  /// For other programs: plain numbers.
  static constexpr int copy_role = sort_role + 1;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return static_cast<int>(columns_.size()); }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
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
  using PairValue = std::function<Value(const analysis::ComparedPair&)>;
  [[nodiscard]] const OtherSide& side(const Line& line) const { return set_->others[line.other]; }
  [[nodiscard]] const analysis::LeftOut& left(const Line& line) const { return side(line).result.left_out[line.place]; }
  [[nodiscard]] const analysis::ComparedPair& pair_of(const Line& line) const {
    return side(line).result.pairs[line.place];
  }
  /// A point that says which problem the line is of.
  [[nodiscard]] Row row_in(const Line& line) const;
  [[nodiscard]] static Value ratio_value(const analysis::RatioInterval& ratio);
  [[nodiscard]] QVariant verdict_order(const Line& line) const;
  [[nodiscard]] QString verdict_tip(const Line& line) const;
  [[nodiscard]] bool varies(const PointSetting& setting) const;
  /// What the sides differ in is in their names.
  [[nodiscard]] bool sets_sides_apart(const PointSetting& setting) const;
  void make_columns();
  void add_settings();
  void add_measured();
  void add_pair_column(const QString& heading, const QString& key, const QString& help, PairValue value);

  std::shared_ptr<const ComparisonSet> set_ = std::make_shared<const ComparisonSet>();
  std::vector<Line> lines_;
  std::vector<Column> columns_;
};

}  // namespace attnscope::ui
