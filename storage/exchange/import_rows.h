// SPDX-License-Identifier: Apache-2.0
// Records of imported files and their conversion to points. Internal to storage/exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "storage/exchange/import.h"
#include "storage/exchange/import_columns.h"
#include "storage/exchange/import_text.h"

namespace attnscope::exchange {

/// One record of a file of any format: field texts by name.
struct ImportRow {
  FileLocation place;                                           ///< a line, or an element of "points"
  std::map<std::string, std::string, std::less<>> fields = {};  ///< non-empty fields
  std::vector<MetricValue> metrics = {};                        ///< values with units
  std::vector<double> samples_ns = {};
  /// column names in the file by column name of the program; null if equal
  const std::map<std::string, std::string, std::less<>>* file_columns = nullptr;
  std::map<std::string, std::string> unknown = {};  ///< non-empty texts of columns without a meaning
  std::map<std::string, std::string> ignored = {};  ///< non-empty texts of columns that the user ignores
  std::string algorithm_suffix = {};                ///< texts of columns mapped to the algorithm's name

  /// Sets the non-empty text of a column of the file.
  void set(const ColumnPlan& plan, std::size_t column, const std::string& text);
  /// Sets the numbers of a cell of our column.
  void set_number(const ScaledColumn& ours, const std::string& text);
  void set_text(std::string_view name, std::string text) { fields[std::string(name)] = std::move(text); }
  /// Moves the samples, separated by spaces, to samples_ns. Their stated number reveals lists that a spreadsheet
  /// truncated.
  void read_samples();

  /// Returns true for a row of this program's exports.
  [[nodiscard]] bool is_own() const;
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Returns an empty text if the field is absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Returns the file's name of a column of the program.
  [[nodiscard]] std::string_view column(std::string_view name) const;
  /// Returns "line 3, column 'd'".
  [[nodiscard]] FileLocation at(std::string_view name) const { return place.at(column(name)); }
  [[nodiscard]] std::optional<double> real(std::string_view name) const;
  /// Returns a finite number >= 0, unless the metric may be negative; nullopt for NaN.
  [[nodiscard]] std::optional<double> amount(std::string_view name, const Metric* metric = nullptr) const {
    return checked(at(name), real(name), metric);
  }
  /// Also accepts integers written as real numbers ("1024.0").
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
};

/// Returns one row per group of the plan. `texts`: one per column.
[[nodiscard]] std::vector<ImportRow> rows_of(const ColumnPlan& plan, const FileLocation& place,
                                             std::span<const std::string> texts);

/// Numbers of rows by what was done with them, as the end of a sentence.
using NumberRemarks = std::map<std::string_view, std::size_t>;
/// Adds the row's numbers to `kernel`, except those derived from others (a median from samples, TFLOP/s from a time).
/// Throws ImportError for impossible numbers and for two that contradict each other.
void add_numbers(const ImportRow& row, const PointSpec& spec, KernelRecord& kernel, NumberRemarks& remarks);

/// Combines rows into points, grouped by device.
class PointBuilder {
 public:
  /// `request` must outlive this object. `is_long`: numeric columns without a meaning are values; they never identify a
  /// problem. The caller then notes the texts of each line with note_unknown().
  explicit PointBuilder(const ImportRequest& request, bool is_long = false) : request_(request), is_long_(is_long) {}

  /// Adds a row, which is one kernel of a point or of one of its rounds. Rows with equal identity belong to one point;
  /// if a kernel repeats without a round, a new point begins. Rows without numbers are skipped.
  void add(ImportRow row);
  /// Returns the device; one entry per device and recording. `run`: name of the recording in the file.
  [[nodiscard]] ImportedDevice& device_of(const std::string& name, const std::string& run = {}, bool simulated = false);
  void note_unknown(const std::map<std::string, std::string>& texts);
  /// Notes a metric of a long table that has no meaning and is kept by its name.
  void note_metric(const std::string& name) { unknown_metrics_.insert(name); }

  [[nodiscard]] const ImportRequest& request() const { return request_; }
  [[nodiscard]] ColumnList& columns() { return columns_; }
  /// Returns the point of the given fields. Throws ImportError if one is missing or invalid.
  [[nodiscard]] PointSpec given_spec();
  [[nodiscard]] Import finish();

 private:
  /// Identity of a point: device entry, names in the file, and parameters.
  using Identity = std::tuple<std::size_t, std::string, std::string, std::string>;
  /// Texts of a column without a meaning.
  struct UnknownColumn {
    std::string first;
    std::size_t rows = 0;
    bool varies = false;
    bool numeric = true;
  };
  /// Latest point of an identity.
  struct LatestPoint {
    std::size_t index = 0;  ///< in the device's points
    FileLocation place;
    std::map<std::string, std::string> ignored;
  };
  struct Remark {
    std::size_t points = 0;
    Message first;
    void add(const PointSpec&, const Message& what);
    [[nodiscard]] Message text(std::string_view several) const;
  };

  /// Sets fields that the row lacks.
  void apply_given(ImportRow& row);
  void place(const ImportRow& row, PointRecord point, KernelRecord kernel);
  void require_equal_ignored(const LatestPoint& before, const ImportRow& row) const;
  void require_consistent_word(const std::string& column, const std::string& text) const;
  void require_constant_unknown();
  void complete(PointRecord& point, const DeviceLimits& limits);
  void add_notes();

  const ImportRequest& request_;
  bool is_long_;
  Import import_;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> devices_;
  std::map<std::string, UnknownColumn> unknown_;
  std::size_t rows_ = 0;
  Remark impossible_;
  Remark half_filled_;
  std::set<std::string> contradicted_;  ///< given fields that the file states otherwise
  bool is_own_ = false;                 ///< an export of this program
  bool states_cache_ = false;           ///< some row states the L2's state
  NumberRemarks remarks_;
  std::set<std::string> unknown_metrics_;
  ColumnList columns_;
  std::map<Identity, LatestPoint> latest_;
  std::size_t repeated_rows_ = 0;  ///< rows that repeat a point without a round
};

// Readers of the file formats. All throw ImportError.

/// Header names may have units. If a column is named "metric", rows are values.
struct ForeignTable {
  CsvLine header;
  std::vector<CsvLine> rows = {};
  std::vector<Message> notes = {};
};
/// Reads one row per point and kernel, or one row per value if there is a column "metric". `next` returns the rows
/// below the header; nullopt at the end.
[[nodiscard]] Import import_table(const CsvLine& header, const std::function<std::optional<CsvLine>()>& next,
                                  const ImportRequest&);
[[nodiscard]] Import import_csv(std::string_view text, const ImportRequest&);
[[nodiscard]] Import import_json(std::string_view text, const ImportRequest&);
/// Pre: the request gives a problem or is columns_only.
[[nodiscard]] Import import_ncu(std::string_view text, const ImportRequest&);
/// Returns true for what ncu prints without --csv.
[[nodiscard]] bool is_ncu_text_report(std::string_view text);
/// Returns the offset of the table in ncu's output, whose header begins with "ID"; npos if there is none.
[[nodiscard]] std::size_t find_ncu_table(std::string_view text);

/// Converts a table of another program, of one of the other formats, to the columns of import_table().
[[nodiscard]] ForeignTable read_foreign_table(std::string_view text, ImportFormat, const ImportRequest&);
/// Returns the format of a CSV or Markdown table, or of a JSON document that is no export; nullopt for others.
[[nodiscard]] std::optional<ImportFormat> detect_foreign_format(std::string_view text);
/// Parses a JSON document. Throws ImportError if it is malformed, nested deeper than 32 levels or larger than 64 MiB.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
/// Returns a string's text, or the JSON of any other value.
[[nodiscard]] std::string scalar_text(const nlohmann::json& value);

}  // namespace attnscope::exchange
