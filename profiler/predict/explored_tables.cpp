// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/explored_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/common.h"
#include "messages/explorer.h"
#include "messages/explorer_help.h"
#include "messages/explorer_page.h"
#include "messages/metric.h"
#include "messages/metric_help.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

struct Figure {
  std::string_view unit;  ///< unit of the metrics table, "capacity" or "flop"
  MessageFunction label = nullptr;
  MessageFunction help = nullptr;
  BetterDirection better = BetterDirection::neither;
  double (*value)(const Exploration&) = nullptr;
  /// Measured counterpart; null: none.
  std::optional<MetricValue> (*measured)(const PointRecord&) = nullptr;
  bool multi_gpu_only = false;  ///< shown for several GPUs only
};

const ExploredKernel& main_kernel(const Exploration& e) {
  return e.kernels[e.longest()];
}

/// Returns 0 if the kernel's registers are unknown, because its occupancy then is, too.
double if_registers_known(const Exploration& e, double value) {
  return main_kernel(e).registers_per_thread > 0 ? value : 0;
}

template <const std::string_view& key>
std::optional<MetricValue> measured(const PointRecord& point) {
  return evaluate(key, point);
}

// One row per value; clang-format would split each into five lines.
// clang-format off
constexpr std::array figures{
    Figure{"ns", message_of<msg::explorer::time>, message_of<msg::explorer_help::time>, BetterDirection::less, [](const Exploration& e) { return e.ns; }, measured<metric_key::time_median_ns>},
    Figure{"flop/s", message_of<msg::explorer::rate>, message_of<msg::explorer_help::rate>, BetterDirection::more, [](const Exploration& e) { return e.flops_per_second(); }, measured<metric_key::tflops>},
    Figure{"hertz", message_of<msg::explorer::clock>, message_of<msg::explorer_help::clock>, BetterDirection::neither, [](const Exploration& e) { return main_kernel(e).time.clock_hz; }},
    Figure{"byte", message_of<msg::explorer::l2_bytes>, message_of<msg::explorer_help::l2_bytes>, BetterDirection::less, [](const Exploration& e) { return static_cast<double>(e.traffic.total()); }, measured<metric_key::l2_sm_bytes>},
    Figure{"byte", message_of<msg::explorer::dram_bytes>, message_of<msg::explorer_help::dram_bytes>, BetterDirection::less, [](const Exploration& e) { return e.dram_bytes; }, [](const PointRecord& p) { return dram_traffic(p); }},
    Figure{"byte", message_of<msg::metric::link_bytes>, message_of<msg::metric_help::link_bytes>, BetterDirection::less, [](const Exploration& e) { return static_cast<double>(e.link_bytes); }, measured<metric_key::link_bytes>, true},
    Figure{"ns", message_of<msg::metric::gpu_exposed_ns>, message_of<msg::metric_help::gpu_exposed_ns>, BetterDirection::less, [](const Exploration& e) { return e.sharing ? e.sharing->exposed_ns : 0; }, measured<metric_key::gpu_exposed_ns>, true},
    Figure{"1", message_of<msg::metric::gpu_imbalance>, message_of<msg::metric_help::gpu_imbalance>, BetterDirection::less, [](const Exploration& e) { return e.sharing ? e.sharing->imbalance : 0; }, measured<metric_key::gpu_imbalance>, true},
    Figure{"flop", message_of<msg::explorer::nominal_flops>, message_of<msg::explorer_help::nominal_flops>, BetterDirection::neither, [](const Exploration& e) { return e.nominal_flops; }},
    Figure{"flop", message_of<msg::explorer::executed_flops>, message_of<msg::explorer_help::executed_flops>, BetterDirection::less, [](const Exploration& e) { return e.executed_flops; }},
    Figure{"flop/byte", message_of<msg::explorer::l2_intensity>, message_of<msg::explorer_help::l2_intensity>, BetterDirection::more, [](const Exploration& e) { return e.l2_intensity(); }},
    Figure{"flop/byte", message_of<msg::explorer::dram_intensity>, message_of<msg::explorer_help::dram_intensity>, BetterDirection::more, [](const Exploration& e) { return e.dram_intensity(); }, measured<metric_key::arithmetic_intensity>},
    Figure{"percent", message_of<msg::explorer::occupancy>, message_of<msg::explorer_help::occupancy>, BetterDirection::neither, [](const Exploration& e) { return if_registers_known(e, main_kernel(e).occupancy.warps_pct); }, measured<metric_key::theoretical_occupancy_pct>},
    Figure{"1", message_of<msg::explorer::blocks_per_sm>, message_of<msg::explorer_help::blocks_per_sm>, BetterDirection::neither, [](const Exploration& e) { return if_registers_known(e, main_kernel(e).occupancy.blocks_per_sm); }},
    Figure{"1", message_of<msg::explorer::waves>, message_of<msg::explorer_help::waves>, BetterDirection::neither, [](const Exploration& e) { return main_kernel(e).waves.value_or(0); }},
    Figure{"capacity", message_of<msg::explorer::shared>, message_of<msg::explorer_help::shared>, BetterDirection::neither, [](const Exploration& e) { return static_cast<double>(main_kernel(e).shared_bytes); }},
    Figure{"register", message_of<msg::explorer::registers>, message_of<msg::explorer_help::registers>, BetterDirection::neither, [](const Exploration& e) { return static_cast<double>(main_kernel(e).registers_per_thread); }, measured<metric_key::registers>},
    Figure{"1", message_of<msg::explorer::threads>, message_of<msg::explorer_help::threads>, BetterDirection::neither, [](const Exploration& e) { return static_cast<double>(main_kernel(e).threads_per_block); }},
};
// clang-format on

struct RatedCell {
  Cell cell;
  Tone tone = Tone::plain;
};

struct Line {
  std::string label;
  std::string help;
  std::vector<RatedCell> cells;
};

/// "+12%", "−8%", "×2.1": relative difference from the pinned value.
std::string distance(double ratio) {
  constexpr double far = 2;
  if (ratio >= far || ratio <= 1 / far) return fmt::format("×{}", number_text(ratio));
  const double percent = 100 * (ratio - 1);
  return fmt::format("{}{}%", percent < 0 ? "−" : "+", number_text(std::abs(percent), 2));
}

std::optional<double> value_of(const Figure& figure, const Exploration& e) {
  if (e.refusal || (figure.multi_gpu_only && e.point.spec.problem.gpus == 1)) return std::nullopt;
  const double value = figure.value(e);
  // Kernels without a time or byte model have 0 here.
  return value == 0 && !e.can_predict_time ? std::nullopt : std::optional(value);
}

RatedCell rated_cell(const Figure& figure, const ExploredColumn& column, std::optional<double> pinned,
                     bool one_problem) {
  const std::optional<double> value = value_of(figure, *column.exploration);
  if (!value) {
    const auto counted =
        figure.measured != nullptr && column.measured != nullptr ? figure.measured(*column.measured) : std::nullopt;
    if (!counted) return {.cell = {.text = text(msg::explorer_page::no_figure{})}};
    return {
        .cell = {.text = text(msg::explorer_page::measured_figure{
                     .provenance = title(counted->provenance), .value = value_text(counted->value, counted->unit)})}};
  }
  RatedCell judged{.cell = {.text = value_text(*value, figure.unit), .number = value}};
  constexpr double alike = 1e-12;  // rounding error of equal sums
  if (!pinned || *pinned == 0 || std::abs(*value - *pinned) <= alike * std::max(std::abs(*value), std::abs(*pinned))) {
    return judged;
  }
  const std::string shown = std::exchange(judged.cell.text, {});
  const std::string by = distance(*value / *pinned);
  if (figure.better == BetterDirection::neither || !one_problem) {
    judged.cell.text = fmt::format("{}  {}", shown, by);
  } else if ((*value < *pinned) == (figure.better == BetterDirection::less)) {
    judged.tone = Tone::better;
    judged.cell.text = figure.unit == "ns" ? text(msg::explorer_page::faster{.by = by, .value = shown})
                                           : text(msg::explorer_page::better{.by = by, .value = shown});
  } else {
    judged.tone = Tone::worse;
    judged.cell.text = figure.unit == "ns" ? text(msg::explorer_page::slower{.by = by, .value = shown})
                                           : text(msg::explorer_page::worse{.by = by, .value = shown});
  }
  return judged;
}

/// Fields and knobs in which the configurations differ, in table order; padding last.
void add_choices(std::vector<Line>& lines, std::span<const ExploredColumn> columns, const Registry& registry) {
  const auto add = [&](const Message& label, const auto& text_of) {
    Line line{.label = text(label), .help = text(msg::explorer_page::chosen_help{}), .cells = {}};
    for (const ExploredColumn& column : columns) line.cells.push_back({.cell = {.text = text_of(*column.exploration)}});
    const auto differs = [&](const RatedCell& each) { return each.cell.text != line.cells.front().cell.text; };
    if (std::ranges::any_of(line.cells, differs)) lines.push_back(std::move(line));
  };
  add(msg::explorer::device{}, [](const Exploration& e) { return e.device; });
  for (const Field& field : fields_and_knobs(point_fields(), registry.knobs())) {
    add(field.label(), [&](const Exploration& e) {
      std::string chosen = field_text(field, e.point.spec);
      return chosen == "0" && registry.find_knob(field.name) != nullptr ? text(msg::common::chosen{}) : chosen;
    });
  }
  add(msg::explorer::padding{}, [](const Exploration& e) { return std::to_string(e.point.padding_bytes); });
}

Cell bytes_cell(std::int64_t bytes) {
  return {.text = bytes == 0 ? "–" : text(Bytes(bytes)), .number = static_cast<double>(bytes)};
}

}  // namespace

std::string change_text(double ratio) {
  constexpr double alike = 5e-5;  // printed as 0.0%
  if (std::abs(ratio - 1) < alike) return text(msg::explorer::change_none{});
  const std::string by = distance(ratio);
  return ratio < 1 ? text(msg::explorer::change_faster{.by = by}) : text(msg::explorer::change_slower{.by = by});
}

Table exploration_table(const ExploredColumn& now, const std::optional<ExploredColumn>& pinned,
                        const Registry& registry) {
  std::vector columns{now};
  if (pinned) columns.push_back(*pinned);
  const bool one_problem = pinned && now.exploration->point.spec.problem == pinned->exploration->point.spec.problem;
  std::vector<Line> lines;
  add_choices(lines, columns, registry);
  const auto one_gpu = [](const ExploredColumn& each) { return each.exploration->point.spec.problem.gpus == 1; };
  for (const Figure& figure : figures) {
    Line line{.label = text(figure.label()), .help = text(figure.help()), .cells = {}};
    line.cells.push_back(
        rated_cell(figure, now, pinned ? value_of(figure, *pinned->exploration) : std::nullopt, one_problem));
    if (pinned) line.cells.push_back(rated_cell(figure, *pinned, std::nullopt, one_problem));
    if (!figure.multi_gpu_only || !std::ranges::all_of(columns, one_gpu)) lines.push_back(std::move(line));
  }
  TableBuilder<Line> table(std::move(lines));
  const auto tip = table.of([](const Line& line) { return line.help; });
  table.add({.key = "figure", .title = text(msg::explorer_page::figure{}), .tip = tip},
            [](const Line& line) { return line.label; });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    table.add({.key = fmt::format("configuration_{}", i),
               .title = columns[i].title,
               .kind = ColumnKind::number,
               .help = columns[i].help,
               .tip = tip,
               .tone = table.of([i](const Line& line) { return line.cells[i].tone; })},
              [i](const Line& line) { return line.cells[i].cell; });
  }
  return std::move(table).take();
}

Table operands_table(const Exploration& e) {
  struct Matrix {
    std::array<Cell, 5> cells;
    std::string help = {};
    bool sum = false;
  };
  std::vector<Matrix> lines;
  if (!e.refusal) {
    const auto total_cell = [](double bytes) { return Cell{.text = text(Bytes(bytes)), .number = bytes}; };
    for (const OperandTraffic& operand : e.operands) {
      const auto total = static_cast<double>(operand.traffic.total());
      const double share = total / static_cast<double>(e.traffic.total());
      lines.push_back(
          {.cells = {Cell{.text = std::string(to_string(operand.tensor))}, bytes_cell(operand.traffic.l2_to_sm_bytes),
                     bytes_cell(operand.traffic.sm_to_l2_bytes), total_cell(total),
                     Cell{.text = fmt::format("{:.1f}%", 100 * share), .number = share}}});
    }
    lines.push_back(
        {.cells = {Cell{.text = text(msg::explorer_page::all_matrices{})}, bytes_cell(e.traffic.l2_to_sm_bytes),
                   bytes_cell(e.traffic.sm_to_l2_bytes), total_cell(static_cast<double>(e.traffic.total())), Cell{}},
         .help = text(msg::explorer_page::l2_sum_help{}),
         .sum = true});
    if (e.dram_bytes > 0) {
      lines.push_back({.cells = {Cell{.text = text(msg::explorer_page::dram_estimated{})}, Cell{}, Cell{},
                                 total_cell(e.dram_bytes), Cell{}},
                       .help = text(msg::explorer_page::dram_help{}),
                       .sum = true});
    }
    lines.push_back({.cells = {Cell{.text = text(msg::explorer_page::compulsory{})}, Cell{}, Cell{},
                               total_cell(static_cast<double>(e.compulsory_bytes)), Cell{}},
                     .help = text(msg::explorer_page::compulsory_help{})});
  }
  TableBuilder<Matrix> table(std::move(lines));
  table.table().tone = table.of([](const Matrix& line) { return line.sum ? Tone::strong : Tone::plain; });
  const auto tip = table.of([](const Matrix& line) { return line.help; });
  const std::array titles{std::pair("matrix", Message(msg::explorer_page::matrix{})),
                          std::pair("loaded", Message(msg::explorer_page::loaded{})),
                          std::pair("stored", Message(msg::explorer_page::stored{})),
                          std::pair("total", Message(msg::explorer_page::total{})),
                          std::pair("share", Message(msg::explorer_page::share{}))};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    table.add({.key = titles[i].first,
               .title = text(titles[i].second),
               .kind = i == 0 ? ColumnKind::text : ColumnKind::number,
               .tip = tip},
              [i](const Matrix& line) { return line.cells.at(i); });
  }
  return std::move(table).take();
}

}  // namespace attnscope::analysis
