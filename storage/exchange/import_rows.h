// SPDX-License-Identifier: Apache-2.0
// Records of other programs' files, and the points that they become. Internal to storage/exchange.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "storage/exchange/import.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {

/// One record of a file, whatever its form: fields by name, as text.
struct ImportRow {
  Place place;                                                  ///< a line, or one of "points"
  std::map<std::string, std::string, std::less<>> fields = {};  ///< absent ones left out
  std::vector<MetricValue> metrics = {};                        ///< with units: of JSON's "metrics"
  std::vector<double> samples_ns = {};
  std::vector<RoundRecord> rounds =
      {};  ///< of several, ascending: each with the row's kernel alone, whose name is the row's
  const std::map<std::string, std::string, std::less<>>* headings = nullptr;  ///< what the file calls columns of ours

  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Empty where there is none.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// "line 3, column 'd'"
  [[nodiscard]] Place at(std::string_view name) const;
  [[nodiscard]] std::optional<double> real(std::string_view name) const;
  /// A whole number; also one that is written as a real one ("1024.0").
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
};

/// Whether a column of that name means something here.
[[nodiscard]] bool is_known_column(std::string_view name, const Registry& registry);

/// A column of ours and what a value is multiplied with to stand in it.
struct ColumnInUnit {
  std::string name;
  std::string unit = {};
  double scale = 1;
};
/// Of a name that ends in a unit that the column of ours has not: "time_ms" and "duration [us]" are time_ns, 1e6 and
/// 1e3 of it. Nothing where it means nothing here.
[[nodiscard]] std::optional<ColumnInUnit> column_in_unit(std::string_view name, const Registry& registry);

/// The columns of a file and what is kept of each. Beyond 4096 they are not listed.
class ColumnList {
 public:
  /// The column of that name, from the first time on that it is asked for.
  [[nodiscard]] ImportedColumn& operator[](std::string_view name);
  /// Of a metric of the table, or of a column that stands for two: some row's value of it is kept. The name outlives
  /// this.
  void keep(std::string_view name) { kept_.insert(name); }
  /// That a column of the file is read as another.
  void read_as(std::string_view name, const ColumnInUnit& ours);
  /// Of those of which a reader has not said it, says what they become or why they are left out.
  [[nodiscard]] std::vector<ImportedColumn> take(const Registry& registry);

 private:
  void describe(ImportedColumn& column, const Registry& registry) const;

  std::vector<ImportedColumn> columns_;
  std::map<std::string, std::size_t, std::less<>> place_;
  std::set<std::string_view> kept_;
  std::map<std::string, std::string, std::less<>> read_as_;
  ImportedColumn beyond_;
};
/// On one line, with `...` where it is long.
[[nodiscard]] std::string example_of(std::string_view text);

/// Rows become points, points go to their devices.
class PointBuilder {
 public:
  /// The request outlives this.
  explicit PointBuilder(const ImportRequest& request) : request_(request) {}

  [[nodiscard]] const Registry& registry() const { return *request_.registry; }

  /// A row is a kernel of a point, or of one of its rounds. Rows that a file does not tell apart are one point's, but
  /// for a kernel that comes again without a round: that is another point. A row without a number is left out.
  void add(const ImportRow& row);
  /// `run`: the file's name for the recording; of a device a run each.
  [[nodiscard]] ImportedDevice& device_of(const std::string& name, const std::string& run = {}, bool simulated = false);
  /// Notes a column that means nothing here.
  void ignore(std::string_view column);
  [[nodiscard]] ColumnList& columns() { return columns_; }
  [[nodiscard]] Import take();

 private:
  /// What tells points apart: their device and run, their names in the file, all that they were asked for.
  using Identity = std::tuple<std::size_t, std::string, std::string, std::string>;

  const ImportRequest& request_;
  Import import_;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> devices_;
  std::set<std::string> ignored_;
  ColumnList columns_;
  std::map<Identity, std::size_t> latest_;  ///< by place among their device's points
  std::size_t repeated_ = 0;                ///< rows that say a point again
};

// A reader for each form of file. All throw Wrong.

[[nodiscard]] Import import_json(std::string_view text, const ImportRequest&);
/// One row a point and kernel, or one a value.
[[nodiscard]] Import import_csv(std::string_view text, const ImportRequest&);
/// Pre: the request says what was computed, or only looks.
[[nodiscard]] Import import_ncu(std::string_view text, const ImportRequest&);
/// The place of the table in ncu's output: its header begins with "ID". npos: none.
[[nodiscard]] std::size_t ncu_table(std::string_view text);

}  // namespace attnscope::exchange
