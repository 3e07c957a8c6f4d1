// SPDX-License-Identifier: Apache-2.0
// Users' kernels that a process knows by a file of results.
#pragma once

#include <vector>

#include "storage/run_store.h"

namespace attnscope {

/// Makes what the file says of users' kernels known for reading (user::know_from_file()); one line about each that is
/// not taken. Thread-safe.
[[nodiscard]] std::vector<Message> known_statements(const RunStore&);

}  // namespace attnscope
