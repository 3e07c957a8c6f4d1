// SPDX-License-Identifier: Apache-2.0
// Fuzz target: axes (one per line) and the sweep that they define, including the model of each point.
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "profiler/plan/sweep.h"
#include "tests/campaign/fuzz_input.h"

namespace attnscope::campaign {
namespace {

std::vector<Axis> axes_of(std::string_view text) {
  constexpr std::size_t most = 8;
  std::vector<Axis> axes;
  while (!text.empty() && axes.size() < most) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Result<Axis, Message> axis = parse_axis(line, built_in_algorithms());
    if (!axis) {
      require(attnscope::text(axis.error()).size() < 4000 + line.size(), "an error message is too long");
      continue;
    }
    require(!axis->values.empty(), "an axis has no values");
    // Each value parses to itself.
    for (const std::string& value : axis->values) {
      const auto again = parse_axis(axis->name + "=" + value, built_in_algorithms());
      require(again.ok() && again->values == std::vector<std::string>{value}, "a value does not parse to itself");
    }
    axes.push_back(std::move(axis).value());
  }
  return axes;
}

void check(const SweepPlan& plan, const DeviceLimits& limits) {
  for (const PointSpec& point : plan.points) {
    require(invalid_reason(point.problem).empty(), "the plan has an invalid problem");
    const auto mask = parse_mask(to_string(point.problem.mask));
    require(mask.ok() && *mask == point.problem.mask, "a mask does not round-trip");
    const AttentionModel model =
        built_in_algorithms().find(point.algorithm)->model(point.problem, point.config(), limits);
    require(model.traffic().l2_to_sm_bytes >= 0 && model.traffic().sm_to_l2_bytes >= 0, "traffic overflowed");
    require(unmasked_pairs(point.problem) >= 0, "pairs overflowed");
  }
}

}  // namespace
}  // namespace attnscope::campaign

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;            // NOLINT(google-build-using-namespace): an entry point
  using namespace attnscope::campaign;  // NOLINT(google-build-using-namespace)
  constexpr double most_points = 32;
  const std::vector<Axis> axes = axes_of(text_of(data, size));
  double points = static_cast<double>(built_in_algorithms().algorithms().size());
  for (const Axis& axis : axes) points *= static_cast<double>(axis.values.size());
  if (axes.empty() || points > most_points) return 0;
  const DeviceLimits& limits = known_gpus().front();
  if (const auto plan = make_plan({.preset = "", .axes = axes, .algorithms = {}}, limits, built_in_algorithms())) {
    check(*plan, limits);
  }
  return 0;
}
