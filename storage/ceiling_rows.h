// SPDX-License-Identifier: Apache-2.0
// The rows of ceilings. A set's uid is the digest of all that it says: equal sets are one, and one that is not what was
// written is known by it. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <vector>

#include "kernels/model/ceilings.h"
#include "storage/digest.h"

namespace attnscope {

inline constexpr int ceilings_since = 3;  // schema

/// What the set says, as it stands there.
[[nodiscard]] Digest digest_of_ceilings(SQLite::Database&, std::int64_t set);

/// Takes away the sets that are not what was written. Their ids.
std::vector<std::int64_t> remove_changed_ceilings(SQLite::Database&);

}  // namespace attnscope
