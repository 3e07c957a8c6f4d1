// SPDX-License-Identifier: Apache-2.0
// Numbers of one row of an imported file. Internal to storage/exchange.
#pragma once

#include <string_view>

#include "profiler/metrics/point.h"
#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {

[[nodiscard]] inline bool has(const KernelRecord& kernel, std::string_view name) {
  return kernel.metric(name).has_value();
}

/// Adds the row's numbers to `kernel`, except those derived from others (a median from samples, TFLOP/s from a time).
/// Throws ImportError for impossible numbers and for two that contradict each other.
void add_numbers(const ImportRow& row, const PointRecord& point, KernelRecord& kernel, ColumnList& columns,
                 NumberRemarks& remarks);

}  // namespace attnscope::exchange
