// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/choices.h"

#include <algorithm>
#include <array>

#include "messages/explorer_page.h"
#include "messages/prediction.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/multi_gpu_scaling.h"
#include "profiler/predict/speed_of_light.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QString occupancy_text(const analysis::ExploredKernel& kernel) {
  if (!kernel.waves) {
    return qtext(msg::explorer_page::occupancy_untimed{.blocks = kernel.blocks, .threads = kernel.threads_per_block});
  }
  const std::string occupancy = text(Percent(kernel.occupancy.warps_pct));
  const std::string limiter = text(analysis::limiter_title(kernel.occupancy.limiter));
  const std::string waves = number_text(*kernel.waves);
  if (kernel.launched_blocks < kernel.blocks) {
    return qtext(msg::explorer_page::occupancy_line_persistent{.all = kernel.blocks,
                                                               .blocks = kernel.occupancy.blocks_per_sm,
                                                               .launched = kernel.launched_blocks,
                                                               .limiter = limiter,
                                                               .occupancy = occupancy,
                                                               .waves = waves});
  }
  return qtext(msg::explorer_page::occupancy_line{.all = kernel.blocks,
                                                  .blocks = kernel.occupancy.blocks_per_sm,
                                                  .limiter = limiter,
                                                  .occupancy = occupancy,
                                                  .waves = waves});
}

QString rates_note(const ExplorerResult& explored) {
  const analysis::Exploration& e = explored.exploration;
  const QString link =
      e.sharing ? QLatin1Char(' ') + qtext(analysis::link_text(e.link, e.link_rate_measured)) : QString();
  const StoredCeilings* rates = explored.choices.rates.get();
  if (rates == nullptr || (!e.dram_rate_measured && !e.l2_rate_measured)) {
    return qtext(msg::explorer_page::time_breakdown_note{.device = e.device, .measured = e.rates_measured_on}) + link;
  }
  const std::string which = e.dram_rate_measured && e.l2_rate_measured ? text(msg::explorer_page::rates_of_both{})
                            : e.dram_rate_measured                     ? text(msg::explorer_page::rates_of_dram{})
                                                                       : text(msg::explorer_page::rates_of_l2{});
  const double factor = explored.choices.what_if.dram_rate;
  const QString times =
      factor == 1 ? QString()
                  : QLatin1Char(' ') + qtext(msg::explorer_page::rates_multiplied{
                                           .factor = QStringLiteral("%1").arg(factor, 0, 'g', 4).toStdString()});
  return qtext(msg::explorer_page::time_breakdown_note_measured{.device = e.device,
                                                                .gpu = rates->device_name,
                                                                .measured = e.rates_measured_on,
                                                                .time = rates->measured_at,
                                                                .uuid = rates->device_uuid,
                                                                .which = which}) +
         times + link;
}

QString rule_text(const ExplorerResult& explored) {
  if (!explored.choices.m_bytes) return {};
  const auto& rule = explored.rule;
  if (!rule) return qtext(msg::explorer_page::rule_not_applicable{});
  const bool keys = rule->outer == TileSide::bc;
  const std::string asked = describe(rule->asked);
  const std::int64_t m = rule->m_bytes / bytes_per_element(explored.exploration.point.spec.problem.dtype);
  QStringList lines{keys ? qtext(msg::explorer_page::rule_of_keys{.m = m, .tile = asked})
                         : qtext(msg::explorer_page::rule_of_queries{.m = m, .tile = asked})};
  if (!rule->config) {
    lines << qtext(msg::explorer_page::rule_nothing_runs{});
  } else {
    if (rule->config->tile != rule->asked) {
      lines << qtext(msg::explorer_page::rule_runs{.tile = describe(rule->config->tile)});
    }
    if (rule->limiting_refusal) {
      lines << qtext(msg::explorer_page::larger_m_without_effect_because{.why = rule->limiting_refusal->reason});
    } else if (rule->unchanged_by_larger_m) {
      lines << qtext(msg::explorer_page::larger_m_without_effect{});
    }
  }
  return lines.join(QLatin1Char(' '));
}

namespace {

/// Returns the required and the available amount of the exceeded limit, in one unit; otherwise the reason.
QString refusal_text(const analysis::Exploration& e) {
  for (const analysis::ExploredKernel& kernel : e.overrun) {
    for (const analysis::MemoryMap* map : {&kernel.shared, &kernel.registers}) {
      if (map->overrun() == 0) continue;
      const Message what = map == &kernel.shared ? Message(msg::explorer_page::of_shared{})
                                                 : Message(msg::explorer_page::of_registers{});
      return qtext(msg::explorer_page::needs{
          .available = text(Capacity(map->available())), .needed = text(Capacity(map->needed())), .what = what});
    }
  }
  return qtext(msg::explorer_page::refused{.why = e.refusal->reason});
}

}  // namespace

QString verdict_text(const analysis::Exploration& e) {
  if (!e.refusal && !e.times_validated) return qtext(msg::prediction::time_not_validated{.device = e.device});
  if (!e.refusal && !e.can_predict_time) return qtext(msg::explorer_page::user_kernel_untimed{});
  if (!e.refusal) {
    QString line = qtext(msg::explorer_page::runs{.bound = analysis::bound_text(e.light),
                                                  .rate = text(FlopsPerSecond(e.flops_per_second())),
                                                  .time = text(Nanoseconds(e.ns))});
    if (e.rates_inherited && !(e.dram_rate_measured && e.l2_rate_measured)) {
      line += QLatin1Char(' ') + qtext(msg::explorer_page::rates_inherited{.device = e.device});
    }
    return line;
  }
  QString line = refusal_text(e);
  if (e.nearest) {
    const std::string tile = describe(e.nearest->tile);
    line += QLatin1Char(' ') + qtext(msg::explorer_page::nearest{.tile = tile});
    if (e.fastest) line += QLatin1Char(' ') + qtext(msg::explorer_page::fastest{.tile = describe(e.fastest->tile)});
  } else if (e.refusal->cause != Refusal::Cause::architecture && e.point.padding_bytes == 0) {
    line += QLatin1Char(' ') + qtext(msg::explorer_page::no_tile_runs{});
  }
  return line;
}

const analysis::ErrorRow* published_errors(const ExplorerResult& explored) {
  const PointSpec& spec = explored.exploration.point.spec;
  const analysis::PublishedErrors* errors = analysis::validated_errors(limits_of(explored.choices));
  return errors == nullptr
             ? nullptr
             : errors->find(analysis::error_group(spec.algorithm, spec.problem.dtype), spec.problem.pass, "time");
}

QString prediction_text(const ExplorerResult& explored) {
  if (!explored.exploration.can_predict_time) return {};
  const analysis::ErrorRow* row = published_errors(explored);
  if (row == nullptr) return qtext(msg::explorer_page::errors_none{});
  return qtext(msg::explorer_page::errors_line{.gpu = analysis::validated_errors(limits_of(explored.choices))->device,
                                               .median = text(Share(row->median)),
                                               .p95 = text(Share(row->p95)),
                                               .problems = row->problems});
}

namespace {

struct UnitUse {
  QString words;
  double share = 0;
};

UnitUse use_of(GpuUnit unit, const PointRecord& record, const std::string& kernel, const DeviceLimits& limits) {
  constexpr double percent_of_one = 100;
  const auto number = [](double percent) { return QString::number(percent, 'f', 0).toStdString(); };
  const auto to_use = [&](double percent) -> UnitUse {
    return {qtext(msg::explorer_page::use{.percent = number(percent)}), percent / percent_of_one};
  };
  if (const auto use = analysis::counted_utilization(unit, record, kernel)) return to_use(*use);
  if (unit == GpuUnit::tensor) {
    const auto pipe = evaluate(metric_key::tensor_pipe_pct, record, kernel);
    if (!pipe) return {};
    return {qtext(msg::explorer_page::use_while_active{.percent = number(pipe->value)}), pipe->value / percent_of_one};
  }
  const auto rate = evaluate(metric_key::dram_bandwidth, record, kernel);
  if (unit != GpuUnit::dram || !rate || limits.dram_bytes_per_second <= 0) return {};
  return to_use(percent_of_one * rate->value / limits.dram_bytes_per_second);
}

QString percent_text(double share) {
  return qtext(msg::explorer_page::part_percent{.percent = QString::number(100 * share, 'f', 0).toStdString()});
}

}  // namespace

std::vector<BarLine> time_bars(const LaunchTime* predicted, const PointRecord* record, const std::string& kernel,
                               const DeviceLimits& limits) {
  const auto measured = record == nullptr ? std::nullopt : evaluate(metric_key::time_median_ns, *record, kernel);
  std::vector<BarLine> bars;
  const auto add_time = [&](const QString& title, double ns) {
    bars.push_back({.title = title, .value = ns, .words = qtext(Nanoseconds(ns))});
  };
  if (predicted != nullptr) add_time(qtext(msg::explorer_page::predicted{}), predicted->ns);
  if (measured) add_time(to_qstring(measured->provenance), measured->value);
  if (bars.empty()) return bars;
  const double ns = bars.front().value;
  analysis::SpeedOfLight light;
  if (predicted != nullptr) light = analysis::speed_of_light({predicted, 1});
  std::array<UnitUse, gpu_units.size()> uses;
  if (measured && measured->provenance == Provenance::measured) {
    std::ranges::transform(gpu_units, uses.begin(),
                           [&](GpuUnit unit) { return use_of(unit, *record, kernel, limits); });
  }
  const double most = std::ranges::max_element(uses, {}, &UnitUse::share)->share;
  for (const GpuUnit unit : gpu_units) {
    const UnitUse& use = uses.at(static_cast<std::size_t>(unit));
    BarLine& bar = bars.emplace_back(BarLine{.title = qtext(analysis::title_of(unit)), .is_unit = true});
    if (predicted != nullptr) {
      bar.value = light.of(unit) * ns;
      bar.words = percent_text(light.of(unit));
      bar.note = use.words;
      bar.is_bound = light.bound() == unit;
    } else {
      bar.value = use.share * ns;
      bar.words = use.words.isEmpty() ? qtext(msg::explorer_page::no_figure{}) : use.words;
      bar.is_bound = use.share >= analysis::bottleneck_threshold && use.share == most;
    }
  }
  if (predicted == nullptr) return bars;
  const auto add = [&](const QString& title, double share, bool is_bound) {
    bars.push_back({.title = title, .value = share * ns, .words = percent_text(share), .is_bound = is_bound});
  };
  add(qtext(msg::explorer_page::launch{}), light.launch, false);
  add(qtext(msg::explorer_page::idle{}), light.idle, light.is_grid_limited());
  add(qtext(msg::explorer_page::latency{}), light.rest, !light.bound() && !light.is_grid_limited());
  return bars;
}

std::vector<BarLine> operand_bars(const analysis::Exploration& exploration) {
  const analysis::Table table = analysis::operands_table(exploration);
  std::vector<BarLine> bars;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto cell = [&](const char* key) { return table.find(key)->cell(row); };
    const auto words = [&](const char* key) { return to_qstring(cell(key).text); };
    const double stored = cell("stored").number.value_or(0);
    QString help = to_qstring(table.find("matrix")->tip(row));
    if (help.isEmpty()) {
      help = QStringLiteral("%1 %2, %3 %4")
                 .arg(qtext(msg::explorer_page::loaded{}), words("loaded"), qtext(msg::explorer_page::stored{}),
                      words("stored"));
    }
    bars.push_back({.title = words("matrix"),
                    .value = cell("total").number.value_or(0) - stored,
                    .pale = stored,
                    .note = QString(words("total") + QStringLiteral("  ") + words("share")).trimmed(),
                    .help = help});
  }
  return bars;
}

}  // namespace attnscope::ui
