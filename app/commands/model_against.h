// SPDX-License-Identifier: Apache-2.0
// `attnscope model --against FILE`: the simulated GPU's predictions beside what was measured.
#pragma once

#include <string>

#include "app/command.h"
#include "app/table.h"

namespace attnscope {

/// Throws CommandError where the file holds nothing that was measured.
ExitCode model_against(const std::string& file, TableFormat format);

}  // namespace attnscope
