// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/explored_figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "messages/explorer.h"
#include "messages/explorer_help.h"
#include "messages/metric.h"
#include "messages/metric_help.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis {
namespace {

/// What rounding alone makes of two equal sums.
constexpr double alike = 1e-12;

const ExploredKernel& main_kernel(const Exploration& e) {
  return e.kernels[e.longest()];
}

/// What an SM holds of a kernel whose registers nobody stated is not known: 0.
double on_an_sm(const Exploration& e, double value) {
  return main_kernel(e).registers_per_thread > 0 ? value : 0;
}

template <const std::string_view& key>
std::optional<MetricValue> measured(const PointRecord& point) {
  return evaluate(key, point);
}

// One line a figure; clang-format would make five of each.
// clang-format off
constexpr std::array figure_table{
    Figure{"time", "ns", said<say::explorer::time>, said<say::explorer_help::time>, Better::less, [](const Exploration& e) { return e.ns; }, measured<metric_key::time_median_ns>},
    Figure{"rate", "flop/s", said<say::explorer::rate>, said<say::explorer_help::rate>, Better::more, [](const Exploration& e) { return e.flops_per_second(); }, measured<metric_key::tflops>},
    Figure{"clock", "hertz", said<say::explorer::clock>, said<say::explorer_help::clock>, Better::neither, [](const Exploration& e) { return main_kernel(e).time.clock_hz; }},
    Figure{"l2_bytes", "byte", said<say::explorer::l2_bytes>, said<say::explorer_help::l2_bytes>, Better::less, [](const Exploration& e) { return static_cast<double>(e.traffic.total()); }, measured<metric_key::l2_sm_bytes>},
    Figure{"dram_bytes", "byte", said<say::explorer::dram_bytes>, said<say::explorer_help::dram_bytes>, Better::less, [](const Exploration& e) { return e.dram_bytes; }, [](const PointRecord& p) { return dram_traffic(p); }},
    Figure{"link_bytes", "byte", said<say::metric::link_bytes>, said<say::metric_help::link_bytes>, Better::less, [](const Exploration& e) { return static_cast<double>(e.link_bytes); }, measured<metric_key::link_bytes>, true},
    Figure{"exposed", "ns", said<say::metric::gpu_exposed_ns>, said<say::metric_help::gpu_exposed_ns>, Better::less, [](const Exploration& e) { return e.sharing ? e.sharing->exposed_ns : 0; }, measured<metric_key::gpu_exposed_ns>, true},
    Figure{"imbalance", "1", said<say::metric::gpu_imbalance>, said<say::metric_help::gpu_imbalance>, Better::less, [](const Exploration& e) { return e.sharing ? e.sharing->imbalance : 0; }, measured<metric_key::gpu_imbalance>, true},
    Figure{"flops", "flop", said<say::explorer::flops>, said<say::explorer_help::flops>, Better::neither, [](const Exploration& e) { return e.flops; }},
    Figure{"tensor_flops", "flop", said<say::explorer::tensor_flops>, said<say::explorer_help::tensor_flops>, Better::less, [](const Exploration& e) { return e.tensor_flops; }},
    Figure{"l2_intensity", "flop/byte", said<say::explorer::l2_intensity>, said<say::explorer_help::l2_intensity>, Better::more, [](const Exploration& e) { return e.l2_intensity(); }},
    Figure{"dram_intensity", "flop/byte", said<say::explorer::dram_intensity>, said<say::explorer_help::dram_intensity>, Better::more, [](const Exploration& e) { return e.dram_intensity(); }, measured<metric_key::arithmetic_intensity>},
    Figure{"occupancy", "percent", said<say::explorer::occupancy>, said<say::explorer_help::occupancy>, Better::neither, [](const Exploration& e) { return on_an_sm(e, main_kernel(e).occupancy.warps_pct); }, measured<metric_key::theoretical_occupancy_pct>},
    Figure{"blocks_per_sm", "1", said<say::explorer::blocks_per_sm>, said<say::explorer_help::blocks_per_sm>, Better::neither, [](const Exploration& e) { return on_an_sm(e, main_kernel(e).occupancy.blocks_per_sm); }},
    Figure{"waves", "1", said<say::explorer::waves>, said<say::explorer_help::waves>, Better::neither, [](const Exploration& e) { return main_kernel(e).time.waves; }},
    Figure{"shared", "capacity", said<say::explorer::shared>, said<say::explorer_help::shared>, Better::neither, [](const Exploration& e) { return static_cast<double>(main_kernel(e).shared_bytes); }},
    Figure{"registers", "register", said<say::explorer::registers>, said<say::explorer_help::registers>, Better::neither, [](const Exploration& e) { return static_cast<double>(main_kernel(e).registers_per_thread); }, measured<metric_key::registers>},
    Figure{"threads", "1", said<say::explorer::threads>, said<say::explorer_help::threads>, Better::neither, [](const Exploration& e) { return static_cast<double>(main_kernel(e).threads_per_block); }},
};
// clang-format on

Standing standing_of(Better better, double value, double first) {
  if (std::abs(value - first) <= alike * std::max(std::abs(value), std::abs(first))) return Standing::same;
  if (better == Better::neither) return Standing::differs;
  return (value < first) == (better == Better::less) ? Standing::better : Standing::worse;
}

}  // namespace

std::span<const Figure> figures() {
  return figure_table;
}

bool ComparedFigure::differs() const {
  return std::ranges::any_of(values, [](const ComparedValue& value) { return value.standing != Standing::same; });
}

std::vector<ComparedFigure> compare(std::span<const Exploration* const> all) {
  std::vector<ComparedFigure> compared;
  for (const Figure& figure : figure_table) {
    ComparedFigure row{.figure = &figure, .values = {}};
    for (const Exploration* each : all) {
      ComparedValue value;
      if (!each->refusal) value.value = figure.value(*each);
      // Of a kernel that states no time or no bytes, these are 0.
      if (value.value == 0 && !each->predicts_time) value.value.reset();
      if (figure.of_several_gpus && each->point.spec.problem.gpus == 1) value.value.reset();
      const std::optional<double> first = row.values.empty() ? value.value : row.values.front().value;
      if (value.value && first) {
        // Of different problems neither is the better one.
        const bool one_problem = each->point.spec.problem == all.front()->point.spec.problem;
        value.standing = standing_of(one_problem ? figure.better : Better::neither, *value.value, *first);
        if (*first != 0) value.ratio = *value.value / *first;
      } else if (value.value.has_value() != first.has_value()) {
        value.standing = Standing::differs;
      }
      row.values.push_back(value);
    }
    const bool any =
        std::ranges::any_of(row.values, [](const ComparedValue& value) { return value.value.has_value(); });
    if (any || !figure.of_several_gpus) compared.push_back(std::move(row));
  }
  return compared;
}

std::vector<DifferingChoice> differing_choices(std::span<const Exploration* const> all, const Registry& registry) {
  std::vector<DifferingChoice> differing;
  const auto add = [&](std::string_view name, const Message& label, const auto& text_of) {
    DifferingChoice choice{.name = std::string(name), .label = label, .texts = {}};
    for (const Exploration* each : all) choice.texts.push_back(text_of(*each));
    const bool differs =
        std::ranges::any_of(choice.texts, [&](const std::string& text) { return text != choice.texts.front(); });
    if (differs) differing.push_back(std::move(choice));
  };
  add("device", said<say::explorer::device>(), [](const Exploration& e) { return e.device; });
  for (const Field& field : fields_and_knobs(point_fields(), registry.knobs())) {
    add(field.name, field.label(), [&](const Exploration& e) { return field_text(field, e.point.spec); });
  }
  add("padding", said<say::explorer::padding>(),
      [](const Exploration& e) { return std::to_string(e.point.padding_bytes); });
  return differing;
}

}  // namespace attnscope::analysis
