// SPDX-License-Identifier: Apache-2.0
// `attnscope model --against FILE`: the simulated GPU's predictions beside what was measured.
#pragma once

#include <span>
#include <string>

#include "app/command.h"
#include "app/table.h"

namespace attnscope {

/// Times are predicted with the rates that were measured of a GPU of that name into the file `ceilings`; where that is
/// empty, of the very GPU into `files`; and by table where nobody measured any.
/// `launches`: instead, a row for each launch, with what its time is predicted from (model_launches.h). Throws
/// CommandError where a file holds nothing that was measured.
ExitCode model_against(std::span<const std::string> files, const std::string& ceilings, bool launches,
                       TableFormat format);

}  // namespace attnscope
