// SPDX-License-Identifier: Apache-2.0
#include "storage/compared_runs.h"

#include <fmt/format.h>

namespace attnscope {

bool has_two_sides(const RunSummary& run) {
  // A file may say anything of itself.
  return run.planned_points > 0 && run.planned_points % 2 == 0 &&
         (run.preset == planted_preset || (run.preset == ab_preset && run.planned_points == 2));
}

bool of_other_side(const RunSummary& run, std::size_t place) {
  return place >= run.planned_points / 2;
}

std::size_t looks_of(const RunSummary& run) {
  if (!has_two_sides(run) || run.preset != ab_preset || run.rounds < 1) return 1;
  return analysis::looks_of_turns(static_cast<std::size_t>(run.rounds));
}

SweepRounds rounds_of(const RunSummary& run) {
  const bool in_own_order = run.provenance == Provenance::measured && run.order_seed != 0;
  return in_own_order ? SweepRounds{.count = run.rounds, .seed = run.order_seed} : SweepRounds{};
}

analysis::RunConditions conditions_of(const RunSummary& run) {
  const Environment& environment = run.environment;
  const MeasureOptions& options = run.options;
  const bool simulated = run.provenance == Provenance::simulated;
  return {{"program", environment.app_version},
          {"driver", environment.driver_version},
          {"CUDA", environment.cuda_driver_api},
          {"NVRTC", environment.nvrtc_version},
          {"CUPTI", environment.cupti_version},
          {"system", environment.operating_system},
          {"simulated with the L2 of", simulated && run.l2_from.empty() ? "its own GPU" : run.l2_from},
          {"simulated with the rates of", run.rates_from},
          {"samples", fmt::format("{} to {}", options.min_samples, options.max_samples)},
          {"noise", fmt::format("{}", options.max_noise)},
          {"seed", fmt::format("{}", options.seed)}};
}

}  // namespace attnscope
