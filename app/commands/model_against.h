// SPDX-License-Identifier: Apache-2.0
// `attnscope model --against FILE`: the simulated GPU's predictions beside what was measured.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"

namespace attnscope {

struct AgainstOptions {
  std::vector<std::string> files;
  std::string filter;     ///< only the points that fit these words
  std::string ceilings;   ///< empty: those of `files`
  bool launches = false;  ///< instead, a row for each launch, with what its time is predicted from (model_launches.h)
};

/// Times are predicted with the rates that were measured of a GPU of that name into the file `ceilings`; where that is
/// empty, of the very GPU into `files`; and by table where nobody measured any. Throws CommandError where a file holds
/// nothing that was measured.
ExitCode model_against(const AgainstOptions&, Output&);

}  // namespace attnscope
