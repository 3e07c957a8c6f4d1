// SPDX-License-Identifier: Apache-2.0
// Properties of runs that comparisons and point tables need.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "profiler/compare/comparison.h"
#include "profiler/plan/round_order.h"
#include "profiler/stats/recording_noise.h"
#include "storage/run_store.h"

namespace attnscope {

/// Preset of runs by `attnscope ab`: two sides of equal length, measured in the same rounds, base first.
inline constexpr std::string_view ab_preset = "ab";

/// Presets of the two runs of `attnscope ab --baseline-program`. Both measure one plan in the same rounds; in each
/// round's order the base's points come first.
inline constexpr std::string_view base_program_preset = "base program";
inline constexpr std::string_view other_program_preset = "other program";

[[nodiscard]] bool has_two_sides(const RunSummary&);
/// Returns true if the point at plan index `place` belongs to the second side. Pre: has_two_sides().
[[nodiscard]] bool is_candidate_side(const RunSummary&, std::size_t place);

/// Returns the number of interim analyses at which the run could have stopped; the argument of
/// VerdictOptions::looks. 1 if its length did not depend on results.
[[nodiscard]] std::size_t interim_analysis_count(const RunSummary&);

/// Sets the seed of the point order within rounds, if known, and which runs share their rounds.
void set_rounds(const RunSummary&, analysis::Run&);
/// Returns the run as an entry of a point table, with its rounds.
[[nodiscard]] analysis::Run analysis_run(const RunSummary&);

/// Returns the noise model of this run's GPU and driver that was measured nearest in time, within a day; null if there
/// is none.
[[nodiscard]] std::shared_ptr<const analysis::NoiseModel> find_noise_model(const RunSummary&,
                                                                           std::span<const StoredNoise>);

/// Returns the run's conditions, which are shown if they differ between compared runs.
[[nodiscard]] analysis::RunConditions run_conditions(const RunSummary&);

}  // namespace attnscope
