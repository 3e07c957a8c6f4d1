// SPDX-License-Identifier: Apache-2.0
// What commands say of rows that a file holds and reading skipped.
#pragma once

#include "app/command.h"
#include "storage/run_store.h"

namespace attnscope {

/// How many rows reading has skipped until now, and the first of them, as a warning; then the exit code is `partial`
/// where it was `ok`.
[[nodiscard]] ExitCode with_skipped_rows(const RunStore& store, ExitCode code);

}  // namespace attnscope
