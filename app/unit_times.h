// SPDX-License-Identifier: Apache-2.0
// What a file says of how units of one kind differ.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiler/analysis/tables/unit_table.h"
#include "storage/run_store.h"

namespace attnscope {

/// By GPU's name, of runs of one plan that several units measured (`collect --each`, and the anchors of GPUs that share
/// a plan); without GPUs of which there is one unit.
[[nodiscard]] std::map<std::string, std::vector<analysis::UnitSpread>> units_in(const RunStore&);

}  // namespace attnscope
