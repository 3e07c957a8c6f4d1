// SPDX-License-Identifier: Apache-2.0
// What other programs measured, as points of ours: every value of them has provenance `imported`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"

namespace attnscope {

enum class ImportFormat { json, csv, ncu };
[[nodiscard]] Result<ImportFormat, std::string> parse_import_format(std::string_view);
/// By the first characters and the header.
[[nodiscard]] ImportFormat detect_import_format(std::string_view text);

/// The points that a file holds of one device.
struct ImportedDevice {
  DeviceInfo info;  ///< limits as the file or the table of known GPUs has them, else only the name
  std::vector<PointRecord> points;
};

struct Import {
  std::vector<ImportedDevice> devices;
  std::size_t empty_rows = 0;        ///< rows without any number, left out
  std::vector<std::string> ignored;  ///< columns that mean nothing here
};

struct ImportRequest {
  std::string device_name;  ///< empty: as the file says
  /// What was measured: needed for ncu, whose table knows kernels only.
  std::optional<PointSpec> spec;
  /// Whose knobs are columns.
  const Registry* registry = &built_in_algorithms();
};

/// The error is one sentence with the line or the place in the document, and the column.
///
/// json: what export_json() writes ({"points": [...]}, optionally "devices"), or a bare array of such points. csv: what
/// export_csv() writes. Of both, columns by name, any of them absent: algorithm (any word), pass, dtype, mask, batch,
/// heads_q (or heads), heads_kv, n_q and n_k (or N), d, dropout, page, deterministic, br, bc, ..., kernel, device,
/// disposition, reason, and as numbers time_ns, keys of the metrics table, or Nsight Compute's names, all in base
/// units. Needed are algorithm, the lengths, the heads, d and one number. csv with a column `metric` is what
/// export_long_csv() writes: a value a row, in any order.
///
/// ncu: what `ncu --csv --page raw` prints, the program's own output before it included. All its launches are one run
/// through one point.
[[nodiscard]] Result<Import, std::string> import_points(std::string_view text, ImportFormat, const ImportRequest&);

}  // namespace attnscope
