// SPDX-License-Identifier: Apache-2.0
// Views for people with sqlite3, made of the table of fields.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace attnscope {

/// Of every schema.
inline constexpr std::array<std::string_view, 4> our_views{"v_metrics", "v_points", "v_runs", "v_timing_samples"};
[[nodiscard]] bool is_our_view(std::string_view name);

/// Drops the views that are there and makes those of the newest schema.
[[nodiscard]] std::string view_statements();

}  // namespace attnscope
