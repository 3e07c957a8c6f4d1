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

/// The schema since which views are made of the fields; those of before stand in its frozen steps.
inline constexpr int made_views_since = 3;
/// Drops the views that are there and makes those of schema `version`, which show the fields that it has.
[[nodiscard]] std::string view_statements(int version);

}  // namespace attnscope
