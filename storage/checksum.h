// SPDX-License-Identifier: Apache-2.0
// The checksum of a run: of its row, device, environment, shards, points and all that belongs to them, by content, so
// that ids and the order of rows change nothing. What people edit (name, note, tags, hidden, deleted) is outside. A
// user-defined kernel counts by its digest, which readers compare with its text. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>

#include "storage/digest.h"

namespace attnscope {

/// Of the run's content. Throws SQLite::Exception.
[[nodiscard]] Digest checksum_of_run(SQLite::Database&, std::int64_t run);

/// Stores the checksum of a run that has ended. Throws SQLite::Exception.
void sign_run(SQLite::Database&, std::int64_t run);

}  // namespace attnscope
