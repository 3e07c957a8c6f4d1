// SPDX-License-Identifier: Apache-2.0
#include "app/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/command.h"
#include "app/user_kernels.h"
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
  std::vector<std::string> known;
  for (const Algorithm* algorithm : known_algorithms().algorithms()) known.push_back(algorithm->name());
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end())
      throw CommandError(ExitCode::usage, unknown_name_message("algorithm", name, known));
  }
}

std::uint64_t new_order_seed() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % (1ULL << 53U);
}

SweepOptions::SweepOptions(CLI::App& command, std::string default_preset) : default_preset_(std::move(default_preset)) {
  std::string preset_help = "Named sweep; see `attnscope help presets`";
  if (!default_preset_.empty()) preset_help += fmt::format(" (default without axes: {})", default_preset_);
  add_kernel_option(command);
  command.add_option("--preset", preset_, preset_help)->type_name("NAME");
  command
      .add_option("-a,--axis", axes_,
                  "Axis of the sweep, such as d=64, \"N=[1024,4096]\" or \"N[pow2]=[8,14]\"; replaces the preset's; "
                  "repeatable; see `attnscope help axes`")
      ->type_name("AXIS")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
  command.add_option("--algorithms", algorithms_, "Algorithms, separated by commas (default: all of the sweep)")
      ->type_name("NAMES")
      ->delimiter(',');
  add_cache_option(command, cache_control_);
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
