// SPDX-License-Identifier: Apache-2.0
// Columns of imported files: which field, knob or metric each becomes. Internal to storage/exchange.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/plan/fields.h"
#include "storage/exchange/import.h"

namespace attnscope::exchange {

/// Columns of a row that hold its time.
namespace time_column {
inline constexpr std::string_view time = "time_ns";
inline constexpr std::string_view mean = "time_mean_ns";
}  // namespace time_column
inline constexpr std::array<std::string_view, 2> time_columns{time_column::time, "gpu__time_duration.sum"};

/// Columns that no field has: they give a part of one, or state what follows from fields (PointBuilder).
namespace partial_column {
inline constexpr std::string_view window = "window";
inline constexpr std::string_view window_left = "window_left";
inline constexpr std::string_view window_right = "window_right";
inline constexpr std::string_view group = "gqa_group";
inline constexpr std::string_view d_v = "head_dim_v";
}  // namespace partial_column

/// Prefixes of columns of spreads that are fractions of the time, and spreads of a FLOP rate. Others are times.
inline constexpr std::string_view relative_spread = "relative ";
inline constexpr std::string_view rate_spread = "rate ";
/// Deviations between the extremes of all samples depend on their number.
inline constexpr double extremes = -1;
/// A statistic of a row's times.
struct Statistic {
  std::string_view column;
  std::string_view words;   ///< in lower case, separated by spaces
  double deviations = 0;    ///< spreads: standard deviations in its width, or up to `opposite`
  bool is_of_mean = false;  ///< it shrinks with the square root of the number of samples
  bool is_relative = false;
  std::string_view opposite = {};  ///< other bound; empty for widths
};
[[nodiscard]] std::span<const Statistic> statistics();
/// Returns the spread in a column; null for other columns.
[[nodiscard]] const Statistic* spread_in(std::string_view column);

/// Column of the program with the factor that converts values of the file to its unit.
struct ScaledColumn {
  std::string name;
  std::string unit = {};
  double scale = 1;
  Message skipped = Message();  ///< reason why the values are recognized but not imported; empty if imported
  bool unit_in_cells = false;   ///< a time or rate whose heading has no unit
  std::string provider = {};    ///< "flash" in "flash_fwd_ms": the algorithm of the values
  std::string pass = {};        ///< "fwd" in "flash_fwd_ms"
  bool of_time = false;         ///< describes a time; without a unit it has that of the time
};
/// Returns our column for a name of the file; nullopt if it has no meaning. Names are read in any case and with any
/// separators: "batch_size" is batch, "N_CTX" is N, "GPU Time (sec)" is time_ns with factor 1e9, "TFLOPS" is tflops.
[[nodiscard]] std::optional<ScaledColumn> resolve(std::string_view name);
/// Returns the dtype that a word of the name states; empty if none or several.
[[nodiscard]] std::string dtype_in(std::string_view name);
/// Converts the notation of other programs for the values of a field: "torch.float16" is fp16, mask "True" is causal.
/// Other texts are returned unchanged.
[[nodiscard]] std::string normalized_value(std::string_view field, std::string_view text);

/// Returns true if the column has a meaning for imports.
[[nodiscard]] bool is_known_column(std::string_view name);
[[nodiscard]] const FieldPair* find_field_pair(std::string_view name);
/// Returns the unit in which a column's values are stored: "ns" for times.
[[nodiscard]] std::string_view base_of(std::string_view name);
/// Returns true for columns of times, rates, metrics and counters.
[[nodiscard]] bool is_measured(std::string_view name);

/// Columns of a file and how each is imported. Lists at most 4096.
class ColumnList {
 public:
  [[nodiscard]] ImportedColumn& operator[](std::string_view name);
  /// Records that column `name` of the file is read as `ours`.
  void map_column(std::string_view name, const ScaledColumn& ours);
  /// Sets the example of a column that has none.
  void add_example(std::string_view name, std::string_view text);
  /// Completes columns without a description and returns all. `stored`: metrics that some point has; others were
  /// derived.
  [[nodiscard]] std::vector<ImportedColumn> take(const std::set<std::string>& stored);

 private:
  void describe(ImportedColumn& column, const std::set<std::string>& stored) const;

  std::vector<ImportedColumn> columns_;
  std::map<std::string, std::size_t, std::less<>> place_;
  std::map<std::string, std::string, std::less<>> read_as_;
  ImportedColumn overflow_;
};

/// Use of one column of a file.
struct ColumnUse {
  enum class Kind {
    read,       ///< has a meaning
    skipped,    ///< a recognized value without a metric; never identifies a problem
    unknown,    ///< no meaning; may identify a problem
    ignored,    ///< by --ignore
    algorithm,  ///< appended to the algorithm's name by --map
  };
  Kind kind = Kind::unknown;
  ScaledColumn column = {};  ///< Kind::read only
  bool is_number = false;    ///< Kind::read: the text is a number, or a list of numbers
  std::size_t group = 0;     ///< Kind::read: 1 + index in ColumnPlan::groups; 0: of all groups
};
/// Columns of one provider or pass in a table whose other columns describe the problem: "flash_fwd_ms".
struct ColumnGroup {
  std::string provider;
  std::string pass;
  std::string dtype = {};  ///< named by the provider: "Triton [FP8]"
  /// Names in the file of the columns that are read as another one.
  std::map<std::string, std::string, std::less<>> file_columns = {};
};
struct ColumnPlan {
  std::vector<std::string> names;   ///< columns of the file
  std::vector<ColumnUse> uses;      ///< one per name
  std::vector<ColumnGroup> groups;  ///< at least one; a record has a row for each
};
/// Decides and describes in `columns` how each column is used. Exact names take precedence over synonyms. `cells`:
/// texts of the first row, whose units make a column one of times ("1.2 ms"). Throws ImportError for a --map that fits
/// no field or takes the place of another column.
[[nodiscard]] ColumnPlan plan_columns(std::vector<std::string> names, std::span<const std::string> cells, bool is_long,
                                      const ImportRequest& request, ColumnList& columns);
/// Returns true for columns that differ between the rows of one point in a long table.
[[nodiscard]] bool is_long_value_column(std::string_view name);

/// Returns "missing N, d (give -a N=VALUE -a d=VALUE)" for the required fields that the columns do not give, each pair
/// (N, heads) once; empty if there are none. `columns`: the file may have the field in another column.
[[nodiscard]] Message missing_fields(const std::function<bool(std::string_view)>& has, bool columns = true);

}  // namespace attnscope::exchange
