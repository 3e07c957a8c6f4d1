// SPDX-License-Identifier: Apache-2.0
// Findings as sentences, each computed from points and linked to them; ceilings and published errors that they use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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

#include "kernels/model/device_limits.h"
#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/points/impossible_values.h"
#include "profiler/predict/published_errors.h"
#include "profiler/report/report_parts.h"
#include "profiler/roofline/roofline.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {

namespace {

using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::Plot;
using analysis::Row;

constexpr std::size_t max_sentences = 12;
constexpr std::size_t max_model_rows = 16;

/// Keeps the last sentences, whose ratios are the largest.
std::vector<Paragraph> limited(std::vector<Paragraph> sentences) {
  if (sentences.size() <= max_sentences) return sentences;
  const std::size_t omitted = sentences.size() - max_sentences;
  sentences.erase(sentences.begin(), sentences.begin() + static_cast<std::ptrdiff_t>(omitted));
  sentences.push_back(plain_paragraph(msg::report::sentences_omitted{.omitted = omitted}));
  return sentences;
}

using PointsByRow = std::unordered_map<Row, const analysis::RooflinePoint*>;

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

Paragraph residual_sentence(const Context& context) {
  const analysis::ValueColumn& ratios = context.table().values(metric_key::l2_sm_over_model);
  std::optional<Row> worst;
  std::size_t points = 0;
  for (const Row row : context.table().rows()) {
    if (!ratios.has(row) || context.table().run(row).provenance != Provenance::measured) continue;
    ++points;
    if (!worst || std::abs(ratios.value(row) - 1) > std::abs(ratios.value(*worst) - 1)) worst = row;
  }
  if (!worst) return {};
  const std::string percent = text(Share(ratios.value(*worst) - 1));
  return sentence(text(msg::report::residual{
                      .percent = percent, .point = describe(context.table().spec(*worst)), .points = points}),
                  {{percent, worst}});
}

/// Returns one sentence per algorithm whose stores are about twice the expected ones, linked to its first point.
std::vector<Paragraph> store_sentences(const Context& context) {
  std::map<std::string, std::vector<Row>> by_algorithm;
  for (const Row row : context.table().rows()) {
    if (analysis::half_filled_sectors(context.table(), row))
      by_algorithm[context.table().algorithm(row)].push_back(row);
  }
  std::vector<Paragraph> sentences;
  for (const auto& [key, rows] : by_algorithm) {
    const std::string algorithm = analysis::short_title(context.table().algorithms(), key);
    const Message words =
        msg::report::stores{.algorithm = algorithm,
                            .points = rows.size(),
                            .reason = describe(*analysis::half_filled_sectors(context.table(), rows.front()))};
    sentences.push_back(sentence(text(words), {{algorithm, rows.front()}}));
  }
  return sentences;
}

/// Returns counted over modeled SM<->L2 bytes by algorithm and d.
std::optional<Figure> model_figure(const Context& context) {
  const analysis::PointTable& table = context.table();
  const analysis::ValueColumn& ratios = table.values(metric_key::l2_sm_over_model);
  std::map<std::tuple<std::size_t, std::string, std::int64_t>, StripRow> rows;
  std::size_t points = 0;
  for (const Row row : table.rows()) {
    if (!ratios.has(row) || table.run(row).provenance != Provenance::measured || !(ratios.value(row) > 0)) continue;
    ++points;
    const std::string& algorithm = table.algorithm(row);
    const std::int64_t d = table.problem(row).d;
    StripRow& strip = rows[{table.algorithms().place(algorithm), algorithm, d}];
    if (strip.label.empty()) {
      strip.label = fmt::format("{} d {}", analysis::short_title(table.algorithms(), algorithm), d);
      strip.identity = style::identity_of(algorithm);
    }
    strip.marks.push_back(
        {.x = ratios.value(row),
         .read_out_text = text(msg::report::model_read_out{.point = describe(table.spec(row)),
                                                           .ratio = fmt::format("{:.4f}", ratios.value(row))})});
  }
  if (rows.empty() || rows.size() > max_model_rows) return std::nullopt;
  StripChart chart{.x_title = text(msg::report::axis_over_model{})};
  for (auto& [key, strip] : rows) chart.rows.push_back(std::move(strip));
  Figure figure{.id = "model", .title = text(msg::report::model_title{}), .caption = text(msg::report::model_key{})};
  const std::size_t count = chart.rows.size();
  figure.panels.push_back(
      {.alt = text(msg::report::alt_strip{.points = points, .rows = count}), .picture = std::move(chart)});
  return figure;
}

using analysis::RunIndex;

/// Returns the newest ceilings measured on the device, else on another of the same name; empty if there are none.
/// Simulated devices use the datasheet unless the run used measured ceilings.
DeviceCeilings find_ceilings(const Context& context, RunIndex index) {
  const analysis::Run& run = context.table().runs()[index];
  const std::vector<CeilingFacts>& sets = context.input.ceilings;
  const std::string& rates = context.input.runs[index].rates_source;
  enum class Origin { other, same_model, same_device };
  const auto origin = [&](const CeilingFacts& set) {
    if (run.provenance == Provenance::simulated)
      return !set.device_id.empty() && rates.find(set.device_id) != std::string::npos ? Origin::same_model
                                                                                      : Origin::other;
    if (set.device_id == run.device_id) return Origin::same_device;
    return same_gpu(set.device_name, run.device_name) ? Origin::same_model : Origin::other;
  };
  const auto best = std::ranges::max_element(
      sets, {}, [&](const CeilingFacts& set) { return std::pair(origin(set), set.measured_at); });
  if (best == sets.end() || origin(*best) == Origin::other) return {};
  return {.ceilings = {.ceilings = best->ceilings, .same_device = origin(*best) == Origin::same_device},
          .measured_at = best->measured_at};
}

}  // namespace

std::vector<Paragraph> bound_sentences(const Context& context, const Plot& plot) {
  bool by_datasheet = false;
  const analysis::CurveSet set = curves_of(context, plot);
  std::vector<Paragraph> all;
  for (const DeviceRoofline& roofs : make_rooflines(context, plot)) {
    const bool has_links = analysis::find_roof(roofs.report.roofs, analysis::Bound::link) != nullptr;
    const PointsByRow bounded = bounded_points(roofs.report);
    std::vector<Paragraph> bounds;
    for (const Curve& curve : set.curves) {
      if (curve.kind != CurveKind::measured || curve.name.age > 0) continue;
      const std::vector<const analysis::RooflinePoint*> points = points_of(curve, bounded);
      if (points.size() < 2) continue;
      const bool one_tile = std::ranges::all_of(
          points, [&](const analysis::RooflinePoint* each) { return each->tile == points.front()->tile; });
      const std::string name = series_text(context, curve.name);
      bounds.push_back(
          bound_sentence(one_tile ? with_tile(context, name, points.back()->row) : name, points, has_links));
      // The datasheet's tensor-core peak does not name an instruction.
      by_datasheet = by_datasheet || std::ranges::any_of(points, [](const analysis::RooflinePoint* point) {
                       return point->shares.front().bound == analysis::Bound::tensor;
                     });
    }
    std::ranges::move(limited(std::move(bounds)), std::back_inserter(all));
  }
  if (by_datasheet) all.push_back(plain_paragraph(msg::report::tensor_bound{}));
  return all;
}

std::optional<Section> model_section(const Context& context) {
  Section section{.title = text(msg::report::against_model{}), .figure = model_figure(context)};
  if (Paragraph residual = residual_sentence(context); !residual.words.empty())
    section.text.push_back(std::move(residual));
  std::ranges::move(store_sentences(context), std::back_inserter(section.text));
  std::ranges::move(simulator_error_sentences(context), std::back_inserter(section.text));
  if (!section.figure && section.text.empty()) return std::nullopt;
  return section;
}

std::vector<Paragraph> failure_sentences(const Context& context) {
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
  std::vector<Paragraph> sentences;
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
    sentences.push_back(sentence(text(told), {{point, example}}));
  }
  return sentences;
}

std::string source_text(const DeviceCeilings& known, const analysis::Roof& roof, const std::string& device) {
  // In the order of RoofSource.
  const std::array<Message, 8> sources{msg::report::roof_measured{.time = known.measured_at},
                                       msg::report::roof_same_model{.device = device, .time = known.measured_at},
                                       msg::report::roof_datasheet{},
                                       msg::report::roof_architecture{},
                                       msg::report::roof_stated{},
                                       msg::report::roof_estimate{},
                                       msg::report::roof_typical{},
                                       msg::report::roof_share{}};
  return text(sources.at(static_cast<std::size_t>(roof.source)));
}

std::vector<DeviceRoofline> make_rooflines(const Context& context, const analysis::Plot& plot) {
  std::vector<DeviceRoofline> all;
  const std::vector<Row> rows = shown_rows(context, plot);
  for (const std::string& device : analysis::roofline_devices(context.table(), rows)) {
    const auto of_device =
        std::ranges::find_if(rows, [&](Row row) { return context.table().run(row).device_id == device; });
    const analysis::Run& run = context.table().run(*of_device);
    DeviceRoofline roofs{.run = context.table().run_index(*of_device), .known = {}, .report = {}, .sources = {}};
    roofs.known = find_ceilings(context, roofs.run);
    const bool known = run.provenance != Provenance::imported || find_gpu(run.device_name) != nullptr ||
                       !roofs.known.measured_at.empty();
    if (!known) continue;
    roofs.report = analysis::roofline(context.table(), rows, {device, roofs.known.ceilings});
    std::set<std::string> sources;
    for (const analysis::Roof& roof : roofs.report.roofs) {
      const std::string source = source_text(roofs.known, roof, run.device_name);
      if (!sources.insert(source).second) continue;
      roofs.sources += (roofs.sources.empty() ? "" : "; ") + source;
    }
    all.push_back(std::move(roofs));
  }
  return all;
}

std::vector<Paragraph> simulator_error_sentences(const Context& context) {
  // GPU names that share an error table are merged; algorithms as returned by error_group().
  struct Simulated {
    const analysis::PublishedErrors* errors = nullptr;
    std::set<std::pair<std::string, Pass>> parts;
  };
  std::map<std::string, Simulated> simulated;
  for (const Row row : context.table().rows()) {
    if (!is_simulated(context.table().points().origin(row)) || !analysis::has_values(context.table().disposition(row)))
      continue;
    const analysis::Run& run = context.table().run(row);
    const analysis::PublishedErrors* errors = analysis::validated_errors(run.limits);
    const AttentionProblem problem = context.table().problem(row);
    Simulated& group = simulated[errors != nullptr ? errors->device : run.device_name];
    group.errors = errors;
    group.parts.emplace(analysis::error_group(context.table().algorithm(row), problem.dtype), problem.pass);
  }
  std::set<std::string> not_validated;
  std::vector<Paragraph> sentences;
  for (const auto& [gpu, group] : simulated) {
    const auto& [errors, parts] = group;
    std::vector<std::string> known;
    for (const auto& [algorithm, pass] : parts) {
      const std::size_t before = known.size();
      for (const std::string_view quantity : {"time", "dram_bytes"}) {
        const analysis::ErrorRow* row = errors != nullptr ? errors->find(algorithm, pass, quantity) : nullptr;
        if (row == nullptr) continue;
        const std::string name =
            quantity == "time" ? text(msg::report::median_time{}) : text(msg::report::dram_bytes{});
        known.push_back(text(msg::report::error_of{.algorithm = algorithm,
                                                   .half = row->half,
                                                   .median = text(Share(row->median)),
                                                   .p95 = text(Share(row->p95)),
                                                   .pass = to_string(pass),
                                                   .quantity = name}));
      }
      if (known.size() == before) not_validated.insert(fmt::format("{} {} ({})", algorithm, to_string(pass), gpu));
    }
    if (known.empty()) continue;
    sentences.push_back(
        plain_paragraph(msg::report::errors{.gpu = gpu, .list = fmt::format("{}", fmt::join(known, "; "))}));
  }
  if (!not_validated.empty())
    sentences.push_back(plain_paragraph(msg::report::errors_none{.what = join_texts(not_validated)}));
  return sentences;
}

}  // namespace attnscope::report
