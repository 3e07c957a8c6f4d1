// SPDX-License-Identifier: Apache-2.0
// What other programs measured, as points of ours: every value of them has provenance `imported`, but for what a file
// says is simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"
#include "profiler/points/table.h"

namespace attnscope {

enum class ImportFormat { json, csv, ncu };
[[nodiscard]] Result<ImportFormat, Message> parse_import_format(std::string_view);
/// By the first characters and the header.
[[nodiscard]] ImportFormat detect_import_format(std::string_view text);

/// The points that a file holds of one recording on one device: its rows tell recordings apart by run_uid or run.
struct ImportedDevice {
  DeviceInfo info;  ///< limits as the file or the table of known GPUs has them, else only the name
  std::vector<PointRecord> points = {};
};

/// A column of a file (a member of JSON's points, a metric of a long table, a counter of ncu's), and what it becomes.
struct ImportedColumn {
  std::string name;
  std::string unit = {};         ///< as the file has it; empty where it says none
  std::string example = {};      ///< the first value, as the file has it, shortened; empty: no row has one
  std::string becomes = {};      ///< names of fields, a knob, a metric or a counter; empty: it is left out
  std::string title = {};        ///< of that, for people; empty where it has none but its name
  std::string kept_in = {};      ///< the unit of what it becomes
  Message left_out = Message();  ///< why
};

struct Import {
  std::vector<ImportedDevice> devices;
  std::vector<ImportedColumn> columns;  ///< as they stand in the file
  std::size_t empty_rows = 0;           ///< rows without any number, left out
  std::vector<std::string> ignored;     ///< columns that mean nothing here
  std::vector<Message> notes;  ///< what a reader would not expect of how numbers were put together, a clause each
};

/// Which launches of ncu's table are meant, and how often they ran through.
struct NcuSelection {
  std::string kernel = {};                        ///< part of the kernel's name as the table has it; empty: any
  std::optional<std::int64_t> first_launch = {};  ///< by ncu's numbers
  std::optional<std::int64_t> last_launch = {};
  std::optional<std::int64_t> device = {};   ///< by ncu's number, of a process's GPUs
  std::optional<std::int64_t> process = {};  ///< by its number in the system
  std::int64_t repeats = 0;                  ///< of the sequence of launches; 0: as often as it repeats as a whole
};

struct ImportRequest {
  std::string device_name = {};  ///< empty: as the file says
  /// What was measured: needed for ncu, whose table knows kernels only.
  std::optional<PointSpec> spec = std::nullopt;
  NcuSelection ncu = {};
  /// Whose knobs are columns.
  const Registry* registry = &known_algorithms();
  bool only_look = false;              ///< at the columns: ncu's table needs no `spec` then
  std::function<void()> proceed = {};  ///< called before each record: what it throws ends the import
};

/// Table of the columns of a file and their meaning, for the command and the window.
[[nodiscard]] analysis::Table imported_column_table(std::vector<ImportedColumn> columns);

/// The error is one sentence with the line or the place in the document, and the column.
///
/// json: what export_json() writes ({"points": [...]}, optionally "devices"), or a bare array of such points. csv: what
/// export_csv() writes. Of both, columns by name, any of them absent: algorithm (any word), pass, dtype, mask, batch,
/// heads_q (or heads), heads_kv, n_q and n_k (or N), d, dropout, page, deterministic, br, bc, ..., kernel, device,
/// disposition, reason, round (of rows that are one point's rounds), and as numbers time_ns, keys of the metrics table,
/// or Nsight Compute's names, all in base units, but for a column of csv that names another ("time_ms", "time [us]").
/// csv's separator is the comma, the semicolon or the tab, as its header has it. Needed are algorithm, the lengths, the
/// heads, d and one number. csv with a column `metric` is what export_long_csv() writes: a value a row, in any order.
///
/// ncu: what `ncu --csv` prints, the raw page or the page of details, the program's own output around it included. Its
/// launches are one point: a sequence of them that repeats as a whole k times is k samples; what stands in it more than
/// once adds. They are of one process and on one GPU, or the selection says which.
[[nodiscard]] Result<Import, Message> import_points(std::string_view text, ImportFormat, const ImportRequest&);

}  // namespace attnscope
