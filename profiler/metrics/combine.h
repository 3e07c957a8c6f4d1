// SPDX-License-Identifier: Apache-2.0
// How the values of a point's kernels make one of their sum: one rule for what is collected and what is imported.
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

enum class Combine { sum, weighted_mean, maximum, minimum };

/// `name`: a key of the metrics table, or the counter's own Nsight Compute name. What counts something adds up, also as
/// an average over the SMs (`sm__cycles_active.avg`); percentages, ratios and rates are weighted by the kernels' time;
/// a thread's or block's resources are those of the kernel that needs most.
[[nodiscard]] Combine combine_rule(std::string_view name, std::string_view unit);

/// Pre: as many weights as values, at least one. Weights that sum to nothing count alike.
[[nodiscard]] double combine(Combine rule, std::span<const double> values, std::span<const double> weights);

}  // namespace attnscope
