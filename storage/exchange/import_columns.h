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

#include "storage/exchange/import.h"
#include "storage/exchange/import_synonyms.h"

namespace attnscope::exchange {

inline constexpr std::array<std::string_view, 2> time_columns{time_column::time, "gpu__time_duration.sum"};

/// Returns true if the column has a meaning for imports.
[[nodiscard]] bool is_known_column(std::string_view name, const Registry& registry);

/// Returns true for columns of times: samples, medians, means, quartiles and deviations.
[[nodiscard]] bool is_time_column(std::string_view name);
/// Returns true for columns of times, rates, metrics and counters.
[[nodiscard]] bool is_measured(std::string_view name);

/// Returns true if a column of this name, ours or a synonym, has a meaning.
[[nodiscard]] bool is_recognized_column(const std::string& name, const Registry& registry);

/// Columns of a file and how each is imported. Lists at most 4096.
class ColumnList {
 public:
  [[nodiscard]] ImportedColumn& operator[](std::string_view name);
  /// Marks a metric, or a column that sets two fields, as imported. `name` must outlive this object.
  void keep(std::string_view name) { kept_.insert(name); }
  /// Records that column `name` of the file is read as `ours`.
  void map_column(std::string_view name, const ScaledColumn& ours);
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

/// Use of one column of a file.
struct ColumnUse {
  enum class Kind {
    read,       ///< has a meaning
    skipped,    ///< a recognized value without a metric; never identifies a problem
    unknown,    ///< no meaning; may identify a problem
    ignored,    ///< by --ignore
    algorithm,  ///< appended to the algorithm's name by --map
    stated,     ///< states what follows from fields, or a field that another column gives
  };
  Kind kind = Kind::read;
  ScaledColumn column = {};  ///< Kind::read and Kind::stated only
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
  bool decimal_comma = false;       ///< numbers are written 1.234,5
};

/// Decides and describes in `columns` how each column is used. Exact names take precedence over synonyms. `cells`:
/// texts of the first row, whose units make a column one of times ("1.2 ms"). Throws ImportError for a --map that fits
/// no field or takes the place of another column.
[[nodiscard]] ColumnPlan plan_columns(std::vector<std::string> names, std::span<const std::string> cells, bool is_long,
                                      bool decimal_comma, const ImportRequest& request, ColumnList& columns);
/// Returns true for columns that differ between the rows of one point in a long table.
[[nodiscard]] bool is_long_value_column(std::string_view name);

/// Returns the required fields that the columns do not give, each pair (N, heads) once.
[[nodiscard]] std::vector<std::string> missing_fields(const std::function<bool(std::string_view)>& has);
/// "missing N, d (rename a column with --map COLUMN=FIELD, or give -a N=VALUE -a d=VALUE)"; without `columns`: "missing
/// N, d (give -a N=VALUE -a d=VALUE)".
[[nodiscard]] Message missing_fields_message(std::span<const std::string> missing, bool columns = true);

}  // namespace attnscope::exchange
