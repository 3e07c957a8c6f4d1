// SPDX-License-Identifier: Apache-2.0
// Records of imported files and their conversion to points. Internal to storage/exchange.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import.h"
#include "storage/exchange/import_columns.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {

/// One record of a file of any format: field texts by name.
struct ImportRow {
  FileLocation place;                                           ///< a line, or an element of "points"
  std::map<std::string, std::string, std::less<>> fields = {};  ///< non-empty fields
  std::vector<MetricValue> metrics = {};                        ///< values of JSON's "metrics", with units
  std::vector<double> samples_ns = {};
  std::vector<RoundRecord> rounds = {};  ///< rounds, ascending, each with only the row's kernel
  /// column names in the file by column name of the program; null if equal
  const std::map<std::string, std::string, std::less<>>* file_columns = nullptr;
  std::map<std::string, std::string> unknown = {};  ///< non-empty texts of columns without a meaning
  std::map<std::string, std::string> ignored = {};  ///< non-empty texts of columns that the user ignores
  std::string algorithm_suffix = {};                ///< texts of columns mapped to the algorithm's name
  /// texts of columns that state what follows from fields: column of the program and text by column
  std::map<std::string, std::pair<std::string, std::string>> stated = {};

  /// Sets the non-empty text of a column of the file.
  void set(const ColumnPlan& plan, std::size_t column, const std::string& text);
  /// Sets the numbers of a cell of our column.
  void set_number(const ScaledColumn& ours, const std::string& text, bool decimal_comma);

  /// Returns true for a row of this program's exports.
  [[nodiscard]] bool is_own() const;
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Returns an empty text if the field is absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Returns the file's name of a column of the program.
  [[nodiscard]] std::string_view column(std::string_view name) const;
  /// Returns "line 3, column 'd'".
  [[nodiscard]] FileLocation at(std::string_view name) const;
  [[nodiscard]] std::optional<double> real(std::string_view name) const;
  /// Also accepts integers written as real numbers ("1024.0").
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
};

/// Converts flash-attn's window_size, one column "(256, 0)" or two, to a mask. A negative number is unlimited.
void apply_window(ImportRow& row);
/// Sets the K/V heads from the number of query heads of each.
void apply_group(ImportRow& row);
/// Throws if a column that states what follows from the problem contradicts it.
void require_stated(const ImportRow& row, const PointSpec& spec);

/// Returns one row per group of the plan. `texts`: one per column.
[[nodiscard]] std::vector<ImportRow> rows_of(const ColumnPlan& plan, const FileLocation& place,
                                             std::span<const std::string> texts);

/// Counts of the rows whose numbers were converted in a way that the reader of the result must know.
struct NumberRemarks {
  std::size_t times_from_rates = 0;
  std::size_t mean_times = 0;
  std::size_t normal_quartiles = 0;     ///< quartiles from a standard deviation or a range
  std::size_t causal_counted_full = 0;  ///< stated rates
  std::size_t causal_counted_half = 0;
  std::size_t backward_counted_twice = 0;
  std::size_t rates_of_the_mean = 0;

  [[nodiscard]] std::vector<Message> notes() const;
};

[[nodiscard]] inline bool has(const KernelRecord& kernel, std::string_view name) {
  return kernel.metric(name).has_value();
}

/// Adds the row's numbers to `kernel`, except those derived from others (a median from samples, TFLOP/s from a time).
/// Throws ImportError for impossible numbers and for two that contradict each other.
void add_numbers(const ImportRow& row, const PointRecord& point, KernelRecord& kernel, ColumnList& columns,
                 NumberRemarks& remarks);

/// Combines rows into points, grouped by device.
class PointBuilder {
 public:
  /// `request` must outlive this object.
  explicit PointBuilder(const ImportRequest& request) : request_(request) {}

  [[nodiscard]] const Registry& registry() const { return *request_.registry; }

  /// Adds a row, which is one kernel of a point or of one of its rounds. Rows with equal identity belong to one point;
  /// if a kernel repeats without a round, a new point begins. Rows without numbers are skipped.
  void add(ImportRow row);
  /// Returns the device; one entry per device and recording. `run`: name of the recording in the file.
  [[nodiscard]] ImportedDevice& device_of(const std::string& name, const std::string& run = {}, bool simulated = false);
  /// Numeric columns without a meaning are values in a long table; they never identify a problem.
  /// The caller then notes the texts of each line with note_unknown().
  void set_long_table() { is_long_ = true; }
  void note_unknown(const std::map<std::string, std::string>& texts);
  /// Notes a metric of a long table that has no meaning and is kept by its name.
  void note_metric(const std::string& name) { unknown_metrics_.insert(name); }
  /// Counts a row of totals or means.
  void skip_summary(std::size_t line) { summaries_.push_back(line); }
  [[nodiscard]] const ImportRequest& request() const { return request_; }
  [[nodiscard]] std::vector<ImportedDevice>& devices() { return import_.devices; }
  [[nodiscard]] ColumnList& columns() { return columns_; }
  /// Returns the required fields that the request does not give.
  [[nodiscard]] std::vector<std::string> missing_given() const;
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

  void flag_impossible(PointRecord& point, const DeviceLimits& limits);
  void note_half_filled_sectors(const PointRecord& point);
  /// Sets fields that the row lacks.
  void apply_given(ImportRow& row);
  void place(const ImportRow& row, PointRecord point, KernelRecord kernel);
  void require_equal_ignored(const LatestPoint& before, const ImportRow& row) const;
  void require_consistent_word(const std::string& column, const std::string& text) const;
  void require_constant_unknown();

  const ImportRequest& request_;
  Import import_;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> devices_;
  std::map<std::string, UnknownColumn> unknown_;
  std::size_t rows_ = 0;
  std::size_t impossible_ = 0;
  Message first_impossible_;
  std::size_t half_filled_ = 0;
  Message first_half_filled_;
  std::set<std::string> contradicted_;  ///< given fields that the file states otherwise
  bool is_own_ = false;                 ///< an export of this program
  bool states_cache_ = false;           ///< some row states the L2's state
  NumberRemarks remarks_;
  std::set<std::string> unknown_metrics_;
  std::vector<std::size_t> summaries_;  ///< lines of skipped rows of totals
  bool is_long_ = false;
  ColumnList columns_;
  std::map<Identity, LatestPoint> latest_;
  std::size_t repeated_rows_ = 0;  ///< rows that repeat a point without a round
};

/// Reads the samples of a row, separated by spaces. Their number reveals lists that a spreadsheet truncated.
void read_samples(ImportRow& row);

// Readers of the file formats. All throw ImportError.

/// Reads one row per point and kernel, or one row per value if there is a column "metric". `next` returns the rows
/// below the header; nullopt at the end.
[[nodiscard]] Import import_table(const CsvLine& header, const std::function<std::optional<CsvLine>()>& next,
                                  const ImportRequest&, bool decimal_comma = false);
[[nodiscard]] Import import_json(std::string_view text, const ImportRequest&);
[[nodiscard]] Import import_csv(std::string_view text, const ImportRequest&);
/// Pre: the request has a spec or is columns_only.
[[nodiscard]] Import import_ncu(std::string_view text, const ImportRequest&);
/// Returns true for what ncu prints without --csv.
[[nodiscard]] bool is_ncu_text_report(std::string_view text);
/// Returns the offset of the table in ncu's output, whose header begins with "ID"; npos if there is none.
[[nodiscard]] std::size_t find_ncu_table(std::string_view text);

}  // namespace attnscope::exchange
