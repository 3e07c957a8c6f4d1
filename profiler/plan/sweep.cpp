// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"
#include "kernels/model/io_model.h"
#include "kernels/tile_table.h"
#include "messages/preset.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

using Error = Failure<Message>;

constexpr std::size_t max_points = 100'000;

void overlay(std::vector<Axis>& axes, Axis axis) {
  std::erase_if(axes, [&](const Axis& old) { return axis_replaces(axis.name, old.name); });
  axes.push_back(std::move(axis));
}

// Axes in nesting order, with the fallback values of missing axes.
std::vector<Axis> complete(const std::vector<Axis>& given, std::span<const AxisDef> kinds) {
  std::vector<Axis> ordered;
  for (const AxisDef& kind : kinds) {
    const auto found = std::ranges::find(given, kind.name, &Axis::name);
    if (found != given.end()) {
      ordered.push_back(*found);
    } else if (!kind.fallback.empty()) {
      ordered.push_back({.name = kind.name, .values = {std::string(kind.fallback)}});
    }
  }
  return ordered;
}

struct LongestN {
  std::int64_t n_k = 0;
  bool includes_queries = false;  // from axis N, not from n_k alone
};

// Without a tile axis, all points of a curve over N use the best tile of the largest N, because a change of tile would
// look like a dependence on N. Exceptions: the tile is infeasible at this N, or the algorithm decodes and reads K and V
// once with any tile.
Config curve_config(const Algorithm& algorithm, const PartialPoint& draft, const LongestN& longest,
                    const DeviceLimits& limits) {
  const AttentionProblem& problem = draft.spec.problem;
  if (!draft.auto_tile && !algorithm.facts().for_decoding) {
    AttentionProblem last = problem;
    last.n_k = longest.n_k;
    if (longest.includes_queries) last.n_q = longest.n_k;
    Config config = auto_config(algorithm, last, limits);
    if (!algorithm.refusal(problem, config, limits)) return config;
  }
  return auto_config(algorithm, problem, limits);
}

// Config from the axes, completed by the algorithm. A tile side without an axis shrinks until the tile fits, down to
// 16. If none fits, it keeps its size, so that the refusal names the requested configuration.
Config choose_config(const Algorithm& algorithm, const PartialPoint& draft, const LongestN& longest,
                     const DeviceLimits& limits) {
  Config config = curve_config(algorithm, draft, longest, limits);
  // M has no effect if the algorithm's traffic depends on no tile side.
  const TileSide divides = algorithm.facts().traffic_side(draft.spec.problem.pass);
  const bool by_rule = draft.m > 0 && divides != TileSide::none;
  const TileShape& asked = draft.spec.tile;
  if (asked.br > 0 || asked.bc > 0 || by_rule) {
    for (const Knob& knob : algorithm.facts().knobs) {
      if (knob.depends_on_tile) config.knobs.set(knob.name, std::int64_t{0});
    }
  }
  for (const std::string& name : draft.knobs) {
    const KnobValue* value = draft.spec.knobs.find(name);
    config.knobs.set(name, value != nullptr ? *value : KnobValue(std::int64_t{0}));
  }
  if (by_rule) {
    config.tile = tile_of_memory(draft.m, draft.spec.problem.d, divides);
    return config;
  }
  if (asked.br > 0) config.tile.br = asked.br;
  if (asked.bc > 0) config.tile.bc = asked.bc;
  if (asked.br > 0 && asked.bc > 0) return config;
  const auto fits = [&](const TileShape& some) {
    return !algorithm.refusal(draft.spec.problem, {some, config.knobs}, limits);
  };
  if (asked.br == 0 && asked.bc == 0) {
    if (draft.knobs.empty()) return config;
    const TileShape smaller = shrink_to_fit(config.tile, fits);
    if (fits(smaller)) config.tile = smaller;
    return config;
  }
  int& free_side = asked.br > 0 ? config.tile.bc : config.tile.br;
  const int requested_side = free_side;
  while (free_side > 16 && !fits(config.tile)) free_side -= 16;
  if (!fits(config.tile)) free_side = requested_side;
  return config;
}

class SweepExpander {
 public:
  SweepExpander(const DeviceLimits& limits, const Registry& registry, const SweepRequest& request)
      : limits_(limits),
        registry_(registry),
        kinds_(axis_definitions(registry)),
        cache_(request.cache),
        cancelled_(request.cancelled) {}

  Message add(const std::vector<Axis>& axes) {
    double count = 1;
    longest_ = {};
    knobs_.clear();
    for (const Axis& axis : axes) {
      if (axis.name == field_name::algorithm) add_knobs(axis);
      count *= static_cast<double>(axis.values.size());
      // n_q and n_k follow N in nesting order and override it.
      if (axis.name == field_name::n_q) longest_.includes_queries = false;
      const bool of_both = axis.name == field_name::n;
      if (!of_both && axis.name != field_name::n_k) continue;
      longest_ = {.includes_queries = of_both};
      for (const std::string& value : axis.values) {
        longest_.n_k = std::max<std::int64_t>(longest_.n_k, std::stoll(value));
      }
    }
    if (count > static_cast<double>(max_points)) {
      return make_message("the axes expand to {:.0f} points; the maximum is {}", count, max_points);
    }
    PartialPoint draft;
    draft.spec.cache = cache_;
    return expand(axes, draft);
  }

  std::vector<PointSpec> take() { return std::move(points_); }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): one level an axis
  Message expand(std::span<const Axis> axes, const PartialPoint& draft) {
    if (axes.empty()) return finish(draft);
    const AxisDef& kind = *std::ranges::find(kinds_, axes.front().name, &AxisDef::name);
    for (const std::string& value : axes.front().values) {
      PartialPoint next = draft;
      kind.set(next, value);
      if (Message wrong = expand(axes.subspan(1), next); !wrong.empty()) return wrong;
    }
    return {};
  }

  void add_knobs(const Axis& algorithms) {
    for (const std::string& name : algorithms.values) {
      for (const Knob& knob : registry_.find(name)->facts().knobs) knobs_.insert(knob.name);
    }
  }

  // Does not apply an axis of a knob to an algorithm without it, if another algorithm of the grid has the knob.
  void drop_foreign_knobs(PartialPoint& draft) const {
    const std::vector<Knob>& own = registry_.find(draft.spec.algorithm)->facts().knobs;
    std::erase_if(draft.knobs, [&](const std::string& name) {
      return knobs_.contains(name) && std::ranges::find(own, name, &Knob::name) == own.end();
    });
  }

  Message finish(PartialPoint draft) {
    if (cancelled_ && cancelled_()) return "planning was cancelled";
    drop_foreign_knobs(draft);
    PointSpec spec = draft.spec;
    if (Message wrong = invalid_reason(spec.problem); !wrong.empty()) return wrong;
    const Config config = choose_config(*registry_.find(spec.algorithm), draft, longest_, limits_);
    spec.tile = config.tile;
    spec.knobs = config.knobs;
    if (seen_.insert(canonical_text(spec)).second) points_.push_back(std::move(spec));
    return {};
  }

  const DeviceLimits& limits_;
  const Registry& registry_;
  std::vector<AxisDef> kinds_;
  CacheState cache_;
  const std::function<bool()>& cancelled_;
  LongestN longest_;             // largest N of the current grid
  std::set<std::string> knobs_;  // knobs of the algorithms of the current grid
  std::unordered_set<std::string> seen_;
  std::vector<PointSpec> points_;
};

// Returns an error if the user gave a single value which no selected algorithm can run on any device; in a list it
// would be an infeasible cell.
Message unsupported_value_error(const SweepRequest& request, const std::vector<PointSpec>& points,
                                const DeviceLimits& limits, const Registry& registry) {
  const auto is_single = [&](std::string_view name) {
    const auto found = std::ranges::find(request.axes, name, &Axis::name);
    return found != request.axes.end() && found->values.size() == 1;
  };
  const std::vector<AxisDef> kinds = axis_definitions(registry);
  if (std::ranges::none_of(kinds, [&](const AxisDef& kind) { return kind.can_be_infeasible && is_single(kind.name); }))
    return {};

  Message first_reason;
  for (const PointSpec& point : points) {
    const auto refusal = registry.find(point.algorithm)->refusal(point.problem, point.config(), limits);
    if (!refusal || refusal->cause != Refusal::Cause::shape) return {};
    if (first_reason.empty()) first_reason = make_message("{}: {}", describe(point), refusal->reason);
  }
  return first_reason;
}

// Removes algorithms that the user did not name and whose kernels support none of the points (such as decoding kernels
// on prefill shapes) or not the GPU. Keeps all if none would remain.
void drop_unsupported_algorithms(std::vector<PointSpec>& points, const DeviceLimits& limits, const Registry& registry) {
  std::unordered_set<std::string> supported_algorithms;
  for (const PointSpec& point : points) {
    if (supported_algorithms.contains(point.algorithm)) continue;
    const auto refusal = registry.find(point.algorithm)->refusal(point.problem, point.config(), limits);
    const bool unsupported =
        refusal && (refusal->cause == Refusal::Cause::shape || refusal->cause == Refusal::Cause::architecture);
    if (!unsupported) supported_algorithms.insert(point.algorithm);
  }
  if (supported_algorithms.empty()) return;
  std::erase_if(points, [&](const PointSpec& point) { return !supported_algorithms.contains(point.algorithm); });
}

// Returns the algorithms of `wanted` that run in a grid. One that no grid of the preset lists runs in the grids of the
// first one's group.
std::vector<std::string> algorithms_of(const Grid& grid, std::span<const Grid> grids,
                                       const std::vector<std::string>& wanted, const Registry& registry) {
  std::vector<std::string> result;
  if (wanted.empty()) {
    for (const Algorithm* algorithm : registry.algorithms()) {
      if (grid.includes(*algorithm)) result.push_back(algorithm->name());
    }
    return result;
  }
  for (const std::string& name : wanted) {
    const Algorithm& algorithm = *registry.find(name);
    const bool listed = std::ranges::any_of(grids, [&](const Grid& some) { return some.includes(algorithm); });
    if (listed ? grid.includes(algorithm) : grid.group == grids.front().group) result.push_back(name);
  }
  return result;
}

Message unknown_preset(std::string_view name) {
  std::vector<std::string> known;
  for (const Preset& preset : presets()) known.emplace_back(preset.name);
  const auto near = closest_matches(name, known);
  if (!near.empty()) return make_message("unknown preset '{}'; did you mean {}?", name, join_or(near));
  return make_message("unknown preset '{}'; available: {}", name, fmt::join(known, ", "));
}

}  // namespace

Result<SweepPlan, Message> make_plan(const SweepRequest& request, const DeviceLimits& limits,
                                     const Registry& registry) {
  static const Preset free_axes{"custom", msg::preset::free_axes{}, {Grid()}};
  const Preset* const preset = request.preset.empty() ? &free_axes : find_preset(request.preset);
  if (preset == nullptr) return Error{unknown_preset(request.preset)};
  if (Message wrong = axis_overlap(request.axes); !wrong.empty()) return Error{std::move(wrong)};
  const std::vector<AxisDef> kinds = axis_definitions(registry);
  std::vector<std::string> wanted = request.algorithms;
  for (const Axis& axis : request.axes) {
    if (axis.name == field_name::algorithm) wanted = axis.values;
  }
  const AxisDef& algorithm_axis = *std::ranges::find(kinds, field_name::algorithm, &AxisDef::name);
  for (const std::string& name : wanted) {
    if (Message wrong = algorithm_axis.rejection_reason(name, registry); !wrong.empty()) return Error{std::move(wrong)};
  }

  SweepExpander expander(limits, registry, request);
  for (const Grid& grid : preset->grids) {
    std::vector<std::string> names = algorithms_of(grid, preset->grids, wanted, registry);
    if (names.empty()) continue;
    std::vector<Axis> axes;
    for (const std::string_view text : grid.axes) overlay(axes, *parse_axis(text, registry));
    for (const Axis& axis : request.axes) overlay(axes, axis);
    overlay(axes, {.name = std::string(field_name::algorithm), .values = std::move(names)});
    if (Message wrong = expander.add(complete(axes, kinds)); !wrong.empty()) return Error{std::move(wrong)};
  }

  SweepPlan plan;
  plan.preset = preset->name;
  plan.description = preset->description;
  plan.points = expander.take();
  if (Message wrong = unsupported_value_error(request, plan.points, limits, registry); !wrong.empty()) {
    return Error{std::move(wrong)};
  }
  if (wanted.empty()) drop_unsupported_algorithms(plan.points, limits, registry);
  return plan;
}

Result<PointSpec, Message> make_point(std::span<const Axis> axes, CacheState default_cache, const DeviceLimits& limits,
                                      const Registry& registry) {
  if (Message wrong = axis_overlap(axes); !wrong.empty()) return Error{std::move(wrong)};
  for (const Axis& axis : axes) {
    if (axis.values.size() != 1) {
      return Error{make_message("axis {} has {} values; a point takes one", axis.name, axis.values.size())};
    }
  }
  if (std::ranges::find(axes, field_name::algorithm, &Axis::name) == axes.end())
    return Error{"no algorithm given (add algorithm=NAME)"};
  SweepRequest request;
  request.cache = default_cache;
  SweepExpander expander(limits, registry, request);
  const std::vector<Axis> given(axes.begin(), axes.end());
  if (Message wrong = expander.add(complete(given, axis_definitions(registry))); !wrong.empty()) {
    return Error{std::move(wrong)};
  }
  return expander.take().front();
}

std::int64_t required_memory_bytes(const PointSpec& spec, const DeviceLimits& limits, const Registry& registry) {
  const Algorithm* algorithm = registry.find(spec.algorithm);
  if (algorithm == nullptr || algorithm->refusal(spec.problem, spec.config(), limits)) return 0;
  return bytes_of(algorithm->buffers(spec.problem, spec.config(), limits));
}

std::string plan_hash(const SweepPlan& plan, std::string_view options) {
  std::string text = fmt::format("{}\n", options);
  for (const PointSpec& point : plan.points) text += fmt::format("{}\n", canonical_text(point));
  return fmt::format("{:016x}", fnv1a(text));
}

}  // namespace attnscope
