// SPDX-License-Identifier: Apache-2.0
#include "app/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/command.h"
#include "app/own_kernels.h"
#include "kernels/registry.h"

namespace attnscope {

std::vector<Axis> parse_axes(const std::vector<std::string>& words) {
  std::vector<Axis> axes;
  for (const std::string& word : words) {
    Result<Axis, Message> axis = parse_axis(word, known_algorithms());
    if (!axis) throw CommandError(ExitCode::usage, axis.error());
    axes.push_back(std::move(axis).value());
  }
  return axes;
}

void require_algorithms(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (known_algorithms().find(name) == nullptr) {
      throw CommandError(ExitCode::usage, "unknown algorithm '{}'; `attnscope kernels` lists them", name);
    }
  }
}

SweepOptions::SweepOptions(CLI::App& command, std::string default_preset) : default_preset_(std::move(default_preset)) {
  std::string preset_help = "Named sweep:";
  for (const PresetInfo& preset : presets())
    preset_help += fmt::format("\n  {}: {}", preset.name, text(preset.description));
  if (!default_preset_.empty()) preset_help += fmt::format("\n  (default: {}, unless axes are given)", default_preset_);
  add_kernel_option(command);
  command.add_option("--preset", preset_, preset_help)->type_name("NAME");
  command
      .add_option("-a,--axis", axes_,
                  "Axis, replacing the preset's of that name; one option for each. \"N[pow2]=[8,14]\" (2^8 to 2^14), "
                  "\"N=[1024:4096:1024]\", \"mask=[full,causal]\", \"d=64\"; names and values: `attnscope help axes`")
      ->type_name("AXIS")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  command.add_option("--algorithms", algorithms_, "Only these, separated by commas")
      ->type_name("NAMES")
      ->delimiter(',');
  command
      .add_option("--cache-control", cache_control_,
                  "'all' overwrites the L2 before each launch (cold), 'none' leaves it as it is (warm)")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
}

std::string SweepOptions::preset() const {
  const std::string& named = preset_.empty() && axes_.empty() ? default_preset_ : preset_;
  return named.empty() ? "custom" : named;
}

CacheState SweepOptions::cache() const {
  return cache_control_ == "none" ? CacheState::warm : CacheState::cold;
}

SweepPlan SweepOptions::plan(const DeviceLimits& limits, const std::function<bool()>& cancelled) const {
  SweepRequest request;
  request.preset = preset_.empty() && axes_.empty() ? default_preset_ : preset_;
  request.axes = parse_axes(axes_);
  request.algorithms = algorithms_;
  request.cancelled = cancelled;
  request.cache = cache();
  Result<SweepPlan, Message> plan = make_plan(request, limits, known_algorithms());
  if (!plan) throw CommandError(ExitCode::usage, plan.error());
  return std::move(plan).value();
}

}  // namespace attnscope
