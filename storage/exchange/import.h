// SPDX-License-Identifier: Apache-2.0
// Imports points that other programs measured. All values get provenance `imported`, except those that a file marks as
// simulated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"
#include "profiler/points/table.h"

namespace attnscope {

enum class ImportFormat { json, csv, ncu, nvbench, kernel_tuner, nsight_python, markdown };
/// Names of the formats, in the order of ImportFormat.
inline constexpr std::array<std::string_view, 7> import_format_names{
    "json", "csv", "ncu", "nvbench", "kernel-tuner", "nsight-python", "markdown"};
[[nodiscard]] constexpr std::string_view to_string(ImportFormat format) {
  return import_format_names.at(static_cast<std::size_t>(format));
}
/// Detects the format from the first characters and the header.
[[nodiscard]] ImportFormat detect_import_format(std::string_view text);

/// Points of one recording on one device; recordings are identified by the columns run_uid or run.
struct ImportedDevice {
  DeviceInfo info;  ///< limits from the file or the table of known GPUs; otherwise only the name
  std::vector<PointRecord> points = {};
};

/// A column of a file (JSON: member of a point; long table: metric; ncu: counter) and how it is imported.
struct ImportedColumn {
  std::string name;
  std::string unit = {};         ///< unit in the file; empty if unknown
  std::string example = {};      ///< first value in the file, shortened; empty if all rows are empty
  std::string becomes = {};      ///< names of fields, a knob, a metric or a counter; empty if skipped
  std::string title = {};        ///< display name of the target; empty if it has none
  std::string kept_in = {};      ///< unit of the target
  Message left_out = Message();  ///< reason why the column is skipped
};

struct Import {
  std::vector<ImportedDevice> devices;
  std::vector<ImportedColumn> columns;  ///< in the file's order
  std::size_t empty_rows = 0;           ///< skipped rows without any number
  std::vector<std::string> ignored;     ///< unknown columns
  std::vector<Message> notes;           ///< remarks on how rows were combined
  bool l2_unknown = false;              ///< no row states whether the L2 was cold or warm
  Message missing = Message();          ///< columns_only: fields that the file lacks, and the options that give them
};

/// Selects launches of an ncu table and how often they repeat.
struct NcuSelection {
  std::string kernel = {};                        ///< part of the kernel's name in the table; empty: any
  std::optional<std::int64_t> first_launch = {};  ///< launch ids of ncu
  std::optional<std::int64_t> last_launch = {};
  std::int64_t repeats = 0;  ///< repetitions of the launch sequence; 0: detect
};

/// A column of the file that is read as another one: a field, knob, metric or counter, with an optional unit.
struct ColumnMapping {
  std::string column;
  std::string field;
};

/// Value of a field that the file lacks, the same for all points.
struct GivenField {
  std::string field;  ///< a field, a pair of fields (N, heads) or a knob
  std::string value;
};

struct ImportRequest {
  std::string device_name = {};  ///< empty: name from the file
  NcuSelection ncu = {};
  std::vector<GivenField> given = {};  ///< required for ncu, whose table has only kernels
  std::vector<ColumnMapping> map = {};
  std::vector<std::string> ignore = {};           ///< columns of the file
  bool columns_only = false;                      ///< the caller needs only the columns; missing fields are no error
  std::function<void()> cancellation_check = {};  ///< called before each record; an exception cancels the import

  /// Returns true if `given` has the field.
  [[nodiscard]] bool gives(std::string_view field) const;
  /// Returns true if `map` has the column.
  [[nodiscard]] bool maps(std::string_view column) const;
};

[[nodiscard]] analysis::Table imported_column_table(std::vector<ImportedColumn> columns);

/// Returns the imported points, or a one-sentence error with line (or JSON path) and column.
///
/// json: the output of export_json() ({"points": [...]}, optionally "devices"), or an array of such points. csv: the
/// output of export_csv(). Columns are matched by name and are optional: algorithm (any name), pass, dtype, mask,
/// batch, heads_q (or heads), heads_kv, n_q and n_k (or N), d, dropout, page, deterministic, br, bc, ..., kernel,
/// device, disposition, reason, round (marks rows as rounds of one point), and the numbers time_ns, keys of the metrics
/// table, or Nsight Compute counter names. Units are base units unless a CSV column names another ("time_ms", "time
/// [us]"). Other programs' names for fields, times and rates are read, too (import_synonyms.cpp). A column without a
/// meaning is ignored if it is constant and an error otherwise. The CSV separator is comma, semicolon or tab. Required:
/// algorithm, lengths, heads, d and at least one number. A CSV with a column `metric` is read as the output of
/// export_long_csv(): one value per row, in any order.
///
/// ncu: output of `ncu --csv`, raw or details page, with the program's own output around it. All launches form one
/// point: a sequence that repeats k times gives k samples; kernels that occur several times in a sequence are added.
/// Launches must be of one process and one GPU.
///
/// Others: tables of NVBench, Kernel Tuner and nsight-python, tables with one column of times or rates per provider,
/// and Markdown tables. Each is converted to the columns of csv (foreign_tables.cpp).
[[nodiscard]] Result<Import, Message> import_points(std::string_view text, ImportFormat, const ImportRequest&);

}  // namespace attnscope
