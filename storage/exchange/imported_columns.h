// SPDX-License-Identifier: Apache-2.0
// What the columns of a file become, as a table: the command and the window show it.
#pragma once

#include <vector>

#include "profiler/points/table.h"
#include "storage/exchange/import.h"

namespace attnscope {

[[nodiscard]] analysis::Table imported_column_table(std::vector<ImportedColumn> columns);

}  // namespace attnscope
