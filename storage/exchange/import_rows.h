// SPDX-License-Identifier: Apache-2.0
// Records of imported files and their conversion to points. Internal to storage/exchange.
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

/// One record of a file of any format: field texts by name.
struct ImportRow {
  Place place;                                                  ///< a line, or an element of "points"
  std::map<std::string, std::string, std::less<>> fields = {};  ///< non-empty fields
  std::vector<MetricValue> metrics = {};                        ///< values of JSON's "metrics", with units
  std::vector<double> samples_ns = {};
  std::vector<RoundRecord> rounds = {};  ///< rounds, ascending, each with only the row's kernel
  /// column names in the file by column name of the program; null if equal
  const std::map<std::string, std::string, std::less<>>* file_columns = nullptr;

  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Returns an empty text if the field is absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Returns "line 3, column 'd'".
  [[nodiscard]] Place at(std::string_view name) const;
  [[nodiscard]] std::optional<double> real(std::string_view name) const;
  /// Also accepts integers written as real numbers ("1024.0").
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
};

/// Returns true if the column has a meaning for imports.
[[nodiscard]] bool is_known_column(std::string_view name, const Registry& registry);

/// Column of the program with the factor that converts values of the file to its unit.
struct ScaledColumn {
  std::string name;
  std::string unit = {};
  double scale = 1;
};
/// Parses a column name with a unit suffix: "time_ms" and "duration [us]" are time_ns with factors 1e6 and 1e3. Returns
/// nullopt for unknown names.
[[nodiscard]] std::optional<ScaledColumn> parse_scaled_column(std::string_view name, const Registry& registry);

/// Columns of a file and how each is imported. Lists at most 4096.
class ColumnList {
 public:
  [[nodiscard]] ImportedColumn& operator[](std::string_view name);
  /// Marks a metric, or a column that sets two fields, as imported. `name` must outlive this object.
  void keep(std::string_view name) { kept_.insert(name); }
  /// Records that column `name` of the file is read as `ours`.
  void read_as(std::string_view name, const ScaledColumn& ours);
  /// Completes columns without a description and returns all.
  [[nodiscard]] std::vector<ImportedColumn> take(const Registry& registry);

 private:
  void describe(ImportedColumn& column, const Registry& registry) const;

  std::vector<ImportedColumn> columns_;
  std::map<std::string, std::size_t, std::less<>> place_;
  std::set<std::string_view> kept_;
  std::map<std::string, std::string, std::less<>> read_as_;
  ImportedColumn overflow_;
};
/// Returns the text on one line, shortened with `...`.
[[nodiscard]] std::string shorten_example(std::string_view text);

/// Combines rows into points, grouped by device.
class PointBuilder {
 public:
  /// `request` must outlive this object.
  explicit PointBuilder(const ImportRequest& request) : request_(request) {}

  [[nodiscard]] const Registry& registry() const { return *request_.registry; }

  /// Adds a row, which is one kernel of a point or of one of its rounds. Rows with equal identity belong to one point;
  /// if a kernel repeats without a round, a new point begins. Rows without numbers are skipped.
  void add(const ImportRow& row);
  /// Returns the device; one entry per device and recording. `run`: name of the recording in the file.
  [[nodiscard]] ImportedDevice& device_of(const std::string& name, const std::string& run = {}, bool simulated = false);
  void ignore(std::string_view column);
  [[nodiscard]] ColumnList& columns() { return columns_; }
  [[nodiscard]] Import take();

 private:
  /// Identity of a point: device entry, names in the file, and parameters.
  using Identity = std::tuple<std::size_t, std::string, std::string, std::string>;

  const ImportRequest& request_;
  Import import_;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> devices_;
  std::set<std::string> ignored_;
  ColumnList columns_;
  std::map<Identity, std::size_t> latest_;  ///< index in the device's points
  std::size_t repeated_rows_ = 0;           ///< rows that repeat a point without a round
};

// Readers of the file formats. All throw Wrong.

[[nodiscard]] Import import_json(std::string_view text, const ImportRequest&);
/// Reads one row per point and kernel, or one row per value.
[[nodiscard]] Import import_csv(std::string_view text, const ImportRequest&);
/// Pre: the request has a spec or is columns_only.
[[nodiscard]] Import import_ncu(std::string_view text, const ImportRequest&);
/// Returns the offset of the table in ncu's output, whose header begins with "ID"; npos if there is none.
[[nodiscard]] std::size_t find_ncu_table(std::string_view text);

}  // namespace attnscope::exchange
