// SPDX-License-Identifier: Apache-2.0
// One row per point and kernel, as CSV or JSON, in base units.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "storage/run_store.h"

namespace attnscope {

/// RFC 4180 with a header row; absent values are empty fields. Metrics beyond the fixed columns follow them by name.
void export_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);

/// {"schema_version":1,"created_at":...,"devices":[...],"environments":[...],"runs":[{...,"argv":[...]}],"points":[{...}]};
/// absent values are null, timing samples are included.
void export_json(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);

/// The fixed columns in order.
[[nodiscard]] std::span<const std::string_view> export_columns();

}  // namespace attnscope
