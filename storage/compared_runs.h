// SPDX-License-Identifier: Apache-2.0
// What a comparison of points has to know of the runs that they are of, and the numbers themselves do not say.
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

/// Preset of runs that hold two sides of one length in the same rounds, the base first: what `attnscope ab` measured.
inline constexpr std::string_view ab_preset = "ab";

/// Presets of the two runs of `attnscope ab --base-program`, which measured one plan in the same rounds: they have one
/// order of points, those of the base first.
inline constexpr std::string_view base_program_preset = "base program";
inline constexpr std::string_view other_program_preset = "other program";

[[nodiscard]] bool has_two_sides(const RunSummary&);
/// Of a run of two sides. `place`: the point's, in the run's plan.
[[nodiscard]] bool of_other_side(const RunSummary&, std::size_t place);

/// How often a verdict was tried while the run went on, which might have ended it: VerdictOptions are of_each_look() of
/// so many. 1 where it did not depend on what was found.
[[nodiscard]] std::size_t looks_of(const RunSummary&);

/// Sets what the order of the points in each round comes of, where that is known, and whose rounds it shares.
void set_rounds(const RunSummary&, analysis::Run&);
/// A run as tables of points have it, with its rounds, under its id and what it is called.
[[nodiscard]] analysis::Run analysis_run(const RunSummary&);

/// What repeated recordings tell of this one: those of its GPU and driver within a day of it, the nearest in time. Null
/// where there are none.
[[nodiscard]] std::shared_ptr<const analysis::NoiseModel> noise_for(const RunSummary&, std::span<const StoredNoise>);

/// What is shown where sides differ in it.
[[nodiscard]] analysis::RunConditions conditions_of(const RunSummary&);

}  // namespace attnscope
