// SPDX-License-Identifier: Apache-2.0
// Words for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// "66.0 GiB", "512 B": capacities are shown in IEC units.
[[nodiscard]] std::string format_iec_bytes(std::int64_t bytes);

/// Up to `limit` of `candidates` that `word` may have been meant for, nearest first: few edits away, or containing it.
[[nodiscard]] std::vector<std::string> near_matches(std::string_view word, std::span<const std::string> candidates,
                                                    std::size_t limit = 3);

/// "a", "a or b", "a, b or c"
[[nodiscard]] std::string join_or(std::span<const std::string> words);

}  // namespace attnscope
