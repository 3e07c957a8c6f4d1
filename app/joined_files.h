// SPDX-License-Identifier: Apache-2.0
// What commands say of files that were joined.
#pragma once

#include "app/command.h"
#include "storage/merge.h"

namespace attnscope {

/// Conflicts, missing shards, files that were left out and what was not copied, as warnings; `partial` if the joined
/// file is not whole.
[[nodiscard]] ExitCode with_join_report(const JoinReport&);

}  // namespace attnscope
