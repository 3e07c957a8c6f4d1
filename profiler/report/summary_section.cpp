// SPDX-License-Identifier: Apache-2.0
// What the points say, in sentences: each is made of values of points that it leads to, and is not there without them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "messages/report.h"
#include "profiler/analysis/roofline.h"
#include "profiler/metrics/metrics.h"
#include "profiler/report/numbers.h"
#include "profiler/report/sections.h"

namespace attnscope::report {
namespace {

using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::Plot;
using analysis::PlotKind;
using analysis::Row;
using analysis::RunIndex;

/// Problems that sentences are about: those of most points.
constexpr std::size_t problems_told = 2;

struct Rival {
  std::string series;
  CurvePoint point;
};

/// Counted or timed points of one device at the longest N that at least two of its series have, the largest value
/// first.
std::vector<Rival> rivals_of(const Context& context, const analysis::CurveSet& set, analysis::Quantity quantity) {
  std::map<std::pair<std::string, double>, std::vector<Rival>> at;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != quantity || curve.name.age > 0) continue;
    for (const CurvePoint& point : curve.points) {
      if (point.row)
        at[{context.table().run(*point.row).device_id, point.n}].push_back({series_text(context, curve.name), point});
    }
  }
  std::vector<Rival> best;
  double longest = 0;
  for (const auto& [where, rivals] : at) {
    if (rivals.size() < 2 || where.second <= longest) continue;
    longest = where.second;
    best = rivals;
  }
  std::ranges::stable_sort(best, std::greater<>(), [](const Rival& rival) { return rival.point.value; });
  return best;
}

/// Two counts of one launch differ by their spread each, and times are for the verdict to tell apart.
bool told_apart(const Context& context, const Rival& most, const Rival& less, bool bytes) {
  if (bytes) return most.point.value / less.point.value > (1 + dram_count_spread) / (1 - dram_count_spread);
  const std::vector<Row> base{*most.point.row};
  const std::vector<Row> other{*less.point.row};
  const std::array<std::string, 1> words{"problem"};
  const auto alignment = analysis::alignment_of(words, context.table(), base, other);
  if (!alignment.ok()) return false;
  const analysis::ComparisonResult result = analysis::compare(
      context.table(), {.base = base, .other = other, .alignment = *alignment, .verdicts = {}, .conditions = {}});
  return result.count(analysis::Verdict::faster) == 1;
}

/// "FA2 (128 × 64)": another tile of it may be faster or slower.
std::string series_with_tile(const Context& context, const Rival& rival) {
  const TileShape& tile = context.table().spec(*rival.point.row).tile;
  if (tile.br <= 0) return rival.series;
  return fmt::format("{} ({} × {})", rival.series, tile.br, tile.bc);
}

/// "12.3 times fewer", or nothing where both are alike.
void tell_ratios(const Context& context, const Plot& plot, analysis::Quantity quantity, std::vector<Block>& blocks) {
  const std::vector<Rival> rivals = rivals_of(context, curves_of(context, plot), quantity);
  if (rivals.empty()) return;
  const bool bytes = quantity == analysis::Quantity::dram;
  const std::string_view unit = bytes ? "byte" : "ns";
  const Rival& most = rivals.front();
  for (std::size_t k = 1; k < rivals.size(); ++k) {
    const Rival& less = rivals[k];
    if (!(less.point.value > 0) || !told_apart(context, most, less, bytes)) continue;
    const std::string ratio = three_digits(most.point.value / less.point.value);
    const std::string own = with_unit(less.point.value, unit);
    const std::string other = with_unit(most.point.value, unit);
    const std::string n = exact(less.point.n);
    const std::string device = analysis::device_title(context.table(), context.table().run_index(*less.point.row));
    const std::string origin =
        less.point.provenance == most.point.provenance
            ? origin_text(less.point.provenance)
            : fmt::format("{}, {}", origin_text(less.point.provenance), origin_text(most.point.provenance));
    const std::string words = bytes ? text(say::report::fewer_bytes{.n = n,
                                                                    .problem = problem_text(plot),
                                                                    .device = device,
                                                                    .series = series_with_tile(context, less),
                                                                    .ratio = ratio,
                                                                    .other = series_with_tile(context, most),
                                                                    .own_bytes = own,
                                                                    .other_bytes = other,
                                                                    .origin = origin})
                                    : text(say::report::faster{.n = n,
                                                               .problem = problem_text(plot),
                                                               .device = device,
                                                               .series = series_with_tile(context, less),
                                                               .ratio = ratio,
                                                               .other = series_with_tile(context, most),
                                                               .own_time = own,
                                                               .other_time = other,
                                                               .origin = origin});
    blocks.emplace_back(sentence(words, {{own, less.point.row}, {other, most.point.row}}));
  }
}

/// Of each algorithm from which N on a unit of the SMs bounds it, and no memory does.
void tell_bounds(const Context& context, const Plot& plot, std::vector<Block>& blocks) {
  for (const std::string& device : analysis::roofline_devices(context.table(), plot.filter.rows())) {
    const auto of_device =
        std::ranges::find_if(plot.filter.rows(), [&](Row row) { return context.table().run(row).device_id == device; });
    if (of_device == plot.filter.rows().end()) continue;
    const RunIndex run = context.table().run_index(*of_device);
    const KnownRoofs known = roofs_known(context, run);
    const analysis::RooflineReport report =
        analysis::roofline(context.table(), plot.filter.rows(), {device, known.ceilings, analysis::Along::n, {}});
    const std::string sources = sources_text(known, report.roofs, context.table().runs()[run].device_name);
    std::set<std::string> told;
    for (const analysis::RooflineSeries& series : report.series) {
      std::vector<const analysis::RooflinePoint*> points;
      for (const analysis::RooflinePoint& point : series.points) {
        if (!point.shares.empty() && point.intensity(analysis::RooflineLevel::dram)) points.push_back(&point);
      }
      if (points.size() < 2 || !told.insert(series.algorithm).second) continue;
      const auto of_memory = [](const analysis::RooflinePoint* point) {
        const analysis::Bound bound = point->shares.front().bound;
        return bound == analysis::Bound::dram || bound == analysis::Bound::l2;
      };
      const std::string name = analysis::short_title(context.table().algorithms(), series.algorithm);
      const std::string gpu = analysis::device_title(context.table(), series.run);
      const auto last = std::ranges::find_if(points.rbegin(), points.rend(), of_memory);
      const analysis::RooflinePoint& longest = *points.back();
      const std::string last_n = exact(static_cast<double>(longest.n));
      const std::string first_n = exact(static_cast<double>(points.front()->n));
      const std::string problem = problem_text(plot);
      const std::string origin = origin_text(longest.provenance);
      if (last == points.rbegin()) {
        const std::string words = text(say::report::stays_memory{.series = name,
                                                                 .device = gpu,
                                                                 .problem = problem,
                                                                 .n = last_n,
                                                                 .bound = to_string(longest.shares.front().bound),
                                                                 .origin = origin,
                                                                 .sources = sources});
        blocks.emplace_back(sentence(words, {{last_n + ",", longest.row}}));
      } else if (last == points.rend()) {
        const std::string words = text(say::report::never_memory{.series = name,
                                                                 .device = gpu,
                                                                 .problem = problem,
                                                                 .first = first_n,
                                                                 .last = last_n,
                                                                 .origin = origin,
                                                                 .sources = sources});
        blocks.emplace_back(sentence(words, {{first_n + " to", points.front()->row}, {last_n, longest.row}}));
      } else {
        const analysis::RooflinePoint& from = **(last.base());
        const std::string n = exact(static_cast<double>(from.n));
        const std::string words = text(say::report::leaves_memory{.series = name,
                                                                  .device = gpu,
                                                                  .problem = problem,
                                                                  .n = n,
                                                                  .bound = to_string(from.shares.front().bound),
                                                                  .origin = origin,
                                                                  .sources = sources});
        blocks.emplace_back(sentence(words, {{n + ":", from.row}}));
      }
    }
  }
}

/// The counted point that lies furthest from its closed form.
void tell_residual(const Context& context, std::vector<Block>& blocks) {
  const analysis::ValueColumn& ratios = context.table().values(metric_key::l2_sm_over_model);
  std::optional<Row> worst;
  std::size_t points = 0;
  for (const Row row : context.table().rows()) {
    if (!ratios.has(row) || context.table().run(row).provenance != Provenance::measured) continue;
    ++points;
    if (!worst || std::abs(ratios.value(row) - 1) > std::abs(ratios.value(*worst) - 1)) worst = row;
  }
  if (!worst) return;
  const std::string percent = fmt::format("{:.3f}%", 100 * (ratios.value(*worst) - 1));
  blocks.emplace_back(
      sentence(text(say::report::residual{
                   .percent = percent, .points = points, .point = describe(context.table().spec(*worst))}),
               {{percent, worst}}));
}

void tell_failures(const Context& context, std::vector<Block>& blocks) {
  std::map<Disposition, std::vector<Row>> ends;
  for (const Row row : context.table().rows()) {
    const Disposition end = context.table().disposition(row);
    if (end != Disposition::ok) ends[end].push_back(row);
  }
  for (const auto& [end, rows] : ends) {
    const std::string count = fmt::format("{}", rows.size());
    const std::string reason = text(context.table().reason(rows.front()));
    const std::string point = describe(context.table().spec(rows.front()));
    const std::string all = fmt::format("{}", context.table().size());
    const Message told =
        rows.size() == 1
            ? Message(say::report::one_ended{.all = all, .outcome = to_string(end), .point = point, .reason = reason})
            : Message(say::report::ended{
                  .count = count, .all = all, .outcome = to_string(end), .point = point, .reason = reason});
    blocks.emplace_back(sentence(text(told), {{point, rows.front()}}));
  }
}

}  // namespace

std::vector<Block> summary_section(const Context& context) {
  std::vector<Block> blocks;
  tell_verdicts(context, blocks);
  const auto first_of = [&](PlotKind kind) {
    std::vector<const Plot*> plots = context.drawn(kind);
    if (plots.size() > problems_told) plots.erase(plots.begin() + problems_told, plots.end());
    return plots;
  };
  for (const Plot* plot : first_of(PlotKind::bytes)) tell_ratios(context, *plot, analysis::Quantity::dram, blocks);
  for (const Plot* plot : first_of(PlotKind::time)) tell_ratios(context, *plot, analysis::Quantity::time, blocks);
  for (const Plot* plot : first_of(PlotKind::time)) tell_bounds(context, *plot, blocks);
  tell_residual(context, blocks);
  tell_failures(context, blocks);
  return blocks;
}

}  // namespace attnscope::report
