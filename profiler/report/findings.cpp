// SPDX-License-Identifier: Apache-2.0
// Findings as sentences, each computed from points and linked to them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages/report.h"
#include "profiler/curves/curve_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/points/half_filled_sectors.h"
#include "profiler/report/report_parts.h"
#include "profiler/roofline/roofline.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::Plot;
using analysis::PlotKind;
using analysis::Row;
using analysis::RunIndex;

struct ComparablePoint {
  analysis::SeriesName name;
  CurvePoint point;
};

/// Returns the series without its device, which the sentence names already.
std::string series_of(const Context& context, analysis::SeriesName name) {
  name.device.clear();
  return series_text(context, name);
}

std::string gpu_of(const Context& context, RunIndex run) {
  const std::string device = analysis::device_title(context.table(), run);
  return is_simulated(context.table().runs()[run].provenance) ? text(msg::report::simulated_gpu{.device = device})
                                                              : device;
}

/// `of_clocks`: the values depend on the clock.
std::string both_origins_text(const CurvePoint& one, const CurvePoint& other, bool of_clocks) {
  const std::string first = origin_text(one.provenance, of_clocks && one.throttled);
  const std::string second = origin_text(other.provenance, of_clocks && other.throttled);
  return first == second ? first : fmt::format("{}; {}", first, second);
}

/// Returns the points of one device at the longest N that at least two of its series cover, largest value first.
std::vector<ComparablePoint> comparable_points(const Context& context, const analysis::CurveSet& set,
                                               analysis::Quantity quantity) {
  std::map<std::pair<std::string, double>, std::vector<ComparablePoint>> at;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != quantity || curve.name.age > 0) continue;
    for (const CurvePoint& point : curve.points) {
      if (!point.row || analysis::impossible_value(context.table(), *point.row)) continue;
      at[{context.table().run(*point.row).device_id, point.n}].push_back({curve.name, point});
    }
  }
  std::vector<ComparablePoint> best;
  double longest = 0;
  for (const auto& [where, rivals] : at) {
    if (rivals.size() < 2 || where.second <= longest) continue;
    longest = where.second;
    best = rivals;
  }
  std::ranges::stable_sort(best, std::greater<>(), [](const ComparablePoint& rival) { return rival.point.value; });
  return best;
}

/// Returns "FA2 (128 × 64)": the result may differ for other tiles.
std::string with_tile(const Context& context, const std::string& words, Row row) {
  const TileShape& tile = context.table().spec(row).tile;
  return tile.br > 0 ? fmt::format("{} ({} × {})", words, tile.br, tile.bc) : words;
}

/// Adds the sentences; of many only the last, which of ratios are the largest.
void add_sentences(std::vector<Block>& blocks, const std::vector<Block>& sentences) {
  constexpr std::size_t most = 12;
  const std::size_t omitted = sentences.size() > most ? sentences.size() - most : 0;
  blocks.insert(blocks.end(), sentences.begin() + static_cast<std::ptrdiff_t>(omitted), sentences.end());
  if (omitted > 0) blocks.emplace_back(plain_paragraph(msg::report::sentences_omitted{.omitted = omitted}));
}

/// Adds a sentence such as "12.3 times fewer"; none if the values do not differ significantly.
void add_ratio_sentences(const Context& context, const Plot& plot, analysis::Quantity quantity,
                         std::vector<Block>& blocks) {
  const std::vector<ComparablePoint> rivals = comparable_points(context, curves_of(context, plot), quantity);
  if (rivals.empty()) return;
  const bool bytes = quantity == analysis::Quantity::dram;
  const std::string_view unit = bytes ? "byte" : "ns";
  const ComparablePoint& most = rivals.front();
  // If all points are of one run, name it only once.
  const std::string run = most.name.runs;
  const bool one_run = std::ranges::all_of(rivals, [&](const ComparablePoint& each) { return each.name.runs == run; });
  const auto words_of = [&](const ComparablePoint& rival) {
    analysis::SeriesName name = rival.name;
    if (one_run) name.runs.clear();
    return with_tile(context, series_of(context, std::move(name)), *rival.point.row);
  };
  std::vector<Block> told;
  for (std::size_t k = 1; k < rivals.size(); ++k) {
    const ComparablePoint& less = rivals[k];
    if (!(less.point.value > 0) || !differs_significantly(context.table(), most.point, less.point, quantity)) continue;
    const std::string ratio = number_text(most.point.value / less.point.value);
    const std::string own = value_text(less.point.value, unit);
    const std::string other = value_text(most.point.value, unit);
    const std::string origin = both_origins_text(less.point, most.point, !bytes);
    const std::string words = bytes ? text(msg::report::fewer_bytes{.origin = origin,
                                                                    .other = words_of(most),
                                                                    .other_bytes = other,
                                                                    .own_bytes = own,
                                                                    .ratio = ratio,
                                                                    .series = words_of(less)})
                                    : text(msg::report::faster{.origin = origin,
                                                               .other = words_of(most),
                                                               .other_time = other,
                                                               .own_time = own,
                                                               .ratio = ratio,
                                                               .series = words_of(less)});
    told.emplace_back(sentence(words, {{own, less.point.row}, {other, most.point.row}}));
  }
  if (told.empty()) return;
  const std::string n = exact_text(most.point.n);
  std::string device = gpu_of(context, context.table().run_index(*most.point.row));
  if (one_run && !run.empty()) device += " · " + run;
  const std::string problem = plot.filter.summary();
  blocks.emplace_back(bytes ? heading_paragraph(msg::report::bytes_at{.device = device, .n = n, .problem = problem})
                            : heading_paragraph(msg::report::times_at{.device = device, .n = n, .problem = problem}));
  add_sentences(blocks, told);
}

/// Points of one algorithm at one N by GPU.
using PointsByDevice = std::map<std::string, CurvePoint>;

/// Adds how much slower each GPU is than the fastest, at the longest N that two GPUs share.
void add_device_sentences(const Context& context, const Plot& plot, std::vector<Block>& blocks) {
  const analysis::CurveSet set = curves_of(context, plot);
  std::map<double, std::map<std::string, PointsByDevice>> at;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != analysis::Quantity::time || curve.name.age > 0) continue;
    for (const CurvePoint& point : curve.points) {
      if (!point.row || analysis::impossible_value(context.table(), *point.row)) continue;
      analysis::SeriesName name = curve.name;
      name.runs.clear();
      at[point.n][series_of(context, name)].try_emplace(gpu_of(context, context.table().run_index(*point.row)), point);
    }
  }
  for (auto length = at.rbegin(); length != at.rend(); ++length) {
    std::vector<Block> told;
    for (const auto& [series, devices] : length->second) {
      if (devices.size() < 2) continue;
      const auto value = [](const auto& entry) { return entry.second.value; };
      const auto fast = std::ranges::min_element(devices, {}, value);
      for (const auto& [device, slow] : devices) {
        const CurvePoint& best = fast->second;
        if (device == fast->first || !(best.value > 0) ||
            !differs_significantly(context.table(), slow, best, analysis::Quantity::time))
          continue;
        const std::string own = text(Nanoseconds(slow.value));
        const std::string other = text(Nanoseconds(best.value));
        const Message words = msg::report::slower_there{.fast = with_tile(context, fast->first, *best.row),
                                                        .fast_time = other,
                                                        .origin = both_origins_text(slow, best, true),
                                                        .ratio = number_text(slow.value / best.value),
                                                        .series = series,
                                                        .slow = with_tile(context, device, *slow.row),
                                                        .slow_time = own};
        told.emplace_back(sentence(text(words), {{own, slow.row}, {other, best.row}}));
      }
    }
    if (told.empty()) continue;
    blocks.emplace_back(
        heading_paragraph(msg::report::devices_at{.n = exact_text(length->first), .problem = plot.filter.summary()}));
    add_sentences(blocks, told);
    return;
  }
}

using PointsByRow = std::unordered_map<Row, const analysis::RooflinePoint*>;

/// Returns the points that have a bottleneck.
PointsByRow bounded_points(const analysis::RooflineReport& report) {
  PointsByRow points;
  for (const analysis::RooflineSeries& series : report.series) {
    for (const analysis::RooflinePoint& point : series.points) {
      if (!point.shares.empty() && point.intensity(analysis::RooflineLevel::dram)) points.emplace(point.row, &point);
    }
  }
  return points;
}

/// Returns the points of a time curve that have a bottleneck, by N.
std::vector<const analysis::RooflinePoint*> points_of(const Curve& curve, const PointsByRow& bounded) {
  std::vector<const analysis::RooflinePoint*> points;
  for (const CurvePoint& of_curve : curve.points) {
    if (const auto found = bounded.find(of_curve.row.value()); found != bounded.end()) points.push_back(found->second);
  }
  return points;
}

/// Returns from which N on an SM unit bounds a series rather than memory, linked to the points.
Paragraph bound_sentence(const std::string& name, const std::vector<const analysis::RooflinePoint*>& points,
                         bool has_links) {
  const auto of_bytes = [](const analysis::RooflinePoint* point) {
    return analysis::is_bandwidth_bound(point->shares.front().bound);
  };
  const auto n_of = [](const analysis::RooflinePoint& point) { return exact_text(static_cast<double>(point.n)); };
  const auto bound_of = [](const analysis::RooflinePoint& point) {
    return analysis::to_string(point.shares.front().bound);
  };
  const auto last = std::ranges::find_if(points.rbegin(), points.rend(), of_bytes);
  const analysis::RooflinePoint& first = *points.front();
  const analysis::RooflinePoint& longest = *points.back();
  const std::string origin = origin_text(longest.provenance, longest.throttled);
  const bool by_link = last != points.rend() && (*last)->shares.front().bound == analysis::Bound::link;
  const Message bytes = by_link ? Message(msg::report::by_link{}) : Message(msg::report::by_memory{});
  if (last == points.rbegin()) {
    return sentence(
        text(msg::report::stays_memory{
            .bound = bound_of(longest), .bytes = bytes, .n = n_of(longest), .origin = origin, .series = name}),
        {{n_of(longest), longest.row}});
  }
  if (last == points.rend()) {
    return sentence(text(msg::report::never_memory{.bytes = has_links ? Message(msg::report::by_either{}) : bytes,
                                                   .first = n_of(first),
                                                   .last = n_of(longest),
                                                   .origin = origin,
                                                   .series = name}),
                    {{n_of(first), first.row}, {n_of(longest), longest.row}});
  }
  const analysis::RooflinePoint& from = **(last.base());
  return sentence(text(msg::report::leaves_memory{
                      .bound = bound_of(from), .bytes = bytes, .n = n_of(from), .origin = origin, .series = name}),
                  {{n_of(from), from.row}});
}

/// Adds a bottleneck sentence for each leading time curve. Returns whether one uses the datasheet's tensor-core peak,
/// which does not name an instruction.
bool add_bound_sentences(const Context& context, const Plot& plot, std::vector<Block>& blocks) {
  bool by_datasheet = false;
  const analysis::CurveSet set = curves_of(context, plot);
  for (const DeviceRoofline& roofs : make_rooflines(context, plot)) {
    const bool has_links = analysis::find_roof(roofs.report.roofs, analysis::Bound::link) != nullptr;
    const PointsByRow bounded = bounded_points(roofs.report);
    std::vector<Block> bounds;
    for (const Curve& curve : set.curves) {
      if (curve.kind != CurveKind::measured || curve.name.age > 0) continue;
      const std::vector<const analysis::RooflinePoint*> points = points_of(curve, bounded);
      if (points.size() < 2) continue;
      const bool one_tile = std::ranges::all_of(
          points, [&](const analysis::RooflinePoint* each) { return each->tile == points.front()->tile; });
      const std::string name = series_of(context, curve.name);
      bounds.emplace_back(
          bound_sentence(one_tile ? with_tile(context, name, points.back()->row) : name, points, has_links));
      by_datasheet = by_datasheet || std::ranges::any_of(points, [](const analysis::RooflinePoint* point) {
                       return point->shares.front().bound == analysis::Bound::tensor;
                     });
    }
    if (bounds.empty()) continue;
    blocks.emplace_back(heading_paragraph(msg::report::bounds_on{
        .device = gpu_of(context, roofs.run), .problem = plot.filter.summary(), .sources = roofs.sources}));
    add_sentences(blocks, bounds);
  }
  return by_datasheet;
}

void add_residual_sentence(const Context& context, std::vector<Block>& blocks) {
  const analysis::ValueColumn& ratios = context.table().values(metric_key::l2_sm_over_model);
  std::optional<Row> worst;
  std::size_t points = 0;
  for (const Row row : context.table().rows()) {
    if (!ratios.has(row) || context.table().run(row).provenance != Provenance::measured) continue;
    ++points;
    if (!worst || std::abs(ratios.value(row) - 1) > std::abs(ratios.value(*worst) - 1)) worst = row;
  }
  if (!worst) return;
  const std::string percent = text(Share(ratios.value(*worst) - 1));
  blocks.emplace_back(
      sentence(text(msg::report::residual{
                   .percent = percent, .point = describe(context.table().spec(*worst)), .points = points}),
               {{percent, worst}}));
}

/// Adds one sentence per algorithm whose stores are about twice the expected ones, linked to its first point.
void add_store_sentences(const Context& context, std::vector<Block>& blocks) {
  std::map<std::string, std::vector<Row>> by_algorithm;
  for (const Row row : context.table().rows()) {
    if (analysis::half_filled_sectors(context.table(), row))
      by_algorithm[context.table().algorithm(row)].push_back(row);
  }
  for (const auto& [key, rows] : by_algorithm) {
    const std::string algorithm = analysis::short_title(context.table().algorithms(), key);
    const Message words =
        msg::report::stores{.algorithm = algorithm,
                            .points = rows.size(),
                            .reason = describe(*analysis::half_filled_sectors(context.table(), rows.front()))};
    blocks.emplace_back(sentence(text(words), {{algorithm, rows.front()}}));
  }
}

void add_model_comparison(const Context& context, std::vector<Block>& blocks) {
  std::vector<Block> sentences;
  add_residual_sentence(context, sentences);
  add_store_sentences(context, sentences);
  if (sentences.empty()) return;
  blocks.emplace_back(heading_paragraph(msg::report::against_model{}));
  std::ranges::move(sentences, std::back_inserter(blocks));
}

void add_failures(const Context& context, std::vector<Block>& blocks) {
  // Recordings of one configuration on one GPU count once.
  std::set<std::pair<std::string, std::string>> all;
  std::map<Disposition, std::vector<Row>> ends;
  std::set<std::tuple<Disposition, std::string, std::string>> ended;
  for (const Row row : context.table().rows()) {
    const Disposition end = context.table().disposition(row);
    std::string gpu = context.table().run(row).device_id;
    std::string spec = canonical_text(context.table().spec(row));
    all.emplace(gpu, spec);
    if (end != Disposition::ok && ended.emplace(end, std::move(gpu), std::move(spec)).second) ends[end].push_back(row);
  }
  if (!ends.empty()) blocks.emplace_back(heading_paragraph(msg::report::failures{}));
  for (const auto& [end, rows] : ends) {
    // The most frequent reason; the first in a tie.
    std::map<std::string, std::vector<Row>> by_reason;
    for (const Row row : rows) by_reason[text(context.table().reason(row))].push_back(row);
    const auto most = std::ranges::max_element(by_reason, [](const auto& a, const auto& b) {
      return std::pair(a.second.size(), b.second.front()) < std::pair(b.second.size(), a.second.front());
    });
    const Row example = most->second.front();
    const std::string point = describe(context.table().spec(example));
    const Message told = msg::report::ended{.alike = most->second.size(),
                                            .all = all.size(),
                                            .count = rows.size(),
                                            .outcome = title(end),
                                            .point = point,
                                            .reason = most->first};
    blocks.emplace_back(sentence(text(told), {{point, example}}));
  }
}

}  // namespace

void add_findings(const Context& context, std::vector<Block>& blocks) {
  if (const Plot* plot = context.plot(PlotKind::bytes))
    add_ratio_sentences(context, *plot, analysis::Quantity::dram, blocks);
  if (const Plot* plot = context.plot(PlotKind::time)) {
    add_ratio_sentences(context, *plot, analysis::Quantity::time, blocks);
    add_device_sentences(context, *plot, blocks);
    if (add_bound_sentences(context, *plot, blocks)) blocks.emplace_back(plain_paragraph(msg::report::tensor_bound{}));
  }
  add_model_comparison(context, blocks);
  add_failures(context, blocks);
}

}  // namespace attnscope::report
