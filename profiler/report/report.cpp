// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/impossible_values.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {

namespace {

std::set<std::string> device_names(const Input& input) {
  std::set<std::string> names;
  for (const analysis::Row row : input.table.rows()) names.insert(input.table.run(row).device_name);
  return names;
}

std::string subtitle(const Input& input) {
  std::set<std::string> files;
  std::string first;
  std::string last;
  for (const RunFacts& run : input.runs) {
    files.insert(run.file);
    if (first.empty() || run.started_at < first) first = run.started_at;
    last = std::max({last, run.started_at, run.finished_at});
  }
  const std::string all = join_texts(files);
  const std::size_t runs = input.runs.size();
  const std::size_t points = input.table.size();
  if (first == last)
    return text(msg::report::subtitle_once{.files = all, .first = first, .points = points, .runs = runs});
  return text(msg::report::subtitle{.files = all, .first = first, .last = last, .points = points, .runs = runs});
}

std::string title_of(const Context& context) {
  const std::string devices = join_texts(device_names(context.input));
  if (context.compared.empty()) return text(msg::report::title{.devices = devices});
  return text(msg::report::title_compared{.base = context.compared.front().side().base, .devices = devices});
}

/// Adds one sentence per limit that imported values break, linked to the worst point.
void add_impossible(const Input& input, std::vector<Block>& blocks) {
  struct Kind {
    std::size_t count = 0;
    analysis::ImpossibleValue worst;
    analysis::Row row = 0;
  };
  std::map<analysis::BrokenLimit, Kind> kinds;
  std::size_t points = 0;
  for (const analysis::Row row : input.table.rows()) {
    const auto found = analysis::impossible_value(input.table, row);
    if (!found) continue;
    ++points;
    Kind& kind = kinds[found->limit];
    const bool is_low = found->limit == analysis::BrokenLimit::compulsory_bytes;
    const bool worse = is_low ? found->ratio() < kind.worst.ratio() : found->ratio() > kind.worst.ratio();
    if (kind.count++ == 0 || worse) std::tie(kind.worst, kind.row) = std::tie(*found, row);
  }
  if (points == 0) return;
  blocks.emplace_back(heading_paragraph(msg::report::impossible{.all = input.table.size(), .points = points}));
  for (const auto& [limit, kind] : kinds) {
    const std::string percent = text(Share(kind.worst.ratio()));
    const std::size_t count = kind.count;
    Message words = msg::report::above_dram_rate{.percent = percent, .points = count};
    if (limit == analysis::BrokenLimit::flop_rate) {
      words = msg::report::above_flop_rate{.percent = percent, .points = count};
    } else if (limit == analysis::BrokenLimit::compulsory_bytes) {
      words = msg::report::below_compulsory{.percent = percent, .points = count};
    }
    std::string line = text(words);
    if (kind.worst.is_likely_unit_error()) line += " " + text(msg::report::unit_error{});
    blocks.emplace_back(sentence(line, {{percent, kind.row}}));
  }
}

/// Adds devices and software, then skipped data and caveats.
void add_source_notes(const Context& context, std::vector<Block>& blocks) {
  const Input& input = context.input;
  const auto add = [&](const Message& message) { blocks.emplace_back(plain_paragraph(message)); };
  std::set<std::string> devices;
  std::size_t simulated = 0;
  std::size_t imported = 0;
  std::size_t throttled = 0;
  std::size_t with_values = 0;
  std::map<std::string, std::size_t> notes;
  for (const analysis::Row row : input.table.rows()) {
    const analysis::Run& run = input.table.run(row);
    const RunFacts& facts = input.runs[input.table.run_index(row)];
    std::set<std::string> software;
    if (!facts.program.empty()) software.insert("attnscope " + facts.program);
    if (!facts.driver.empty()) software.insert("driver " + facts.driver);
    devices.insert(fmt::format("{} ({}{}{})", run.device_name, origin_text(run.provenance),
                               software.empty() ? "" : ", ", join_texts(software)));
    const Message& note = input.table.reason(row);
    const bool noted = input.table.disposition(row) == Disposition::ok && !note.empty();
    if (noted && !analysis::impossible_value(input.table, row)) ++notes[text(note)];
    if (!analysis::has_values(input.table.disposition(row))) continue;  // failed points have no data
    ++with_values;
    if (is_simulated(run.provenance)) ++simulated;
    if (run.provenance == Provenance::imported) ++imported;
    if (input.table.throttled(row)) ++throttled;
  }
  add(msg::report::measured_on{.devices = fmt::format("{}", fmt::join(devices, "; "))});
  if (!input.filter.empty()) {
    add(msg::report::is_filtered{.all = input.unfiltered_count, .filter = input.filter, .points = input.table.size()});
  }
  if (input.damaged_rows > 0) {
    add(msg::report::is_damaged{.damage = input.first_damage, .rows = input.damaged_rows});
  }
  if (simulated > 0) add(msg::report::is_simulated{.all = with_values, .points = simulated});
  if (imported > 0) add(msg::report::is_imported{.all = with_values, .points = imported});
  if (throttled > 0) add(msg::report::is_throttled{.all = with_values, .points = throttled});
  if (input.unverified_runs > 0) add(msg::report::is_unverified{.runs = input.unverified_runs});
  if (input.fuller_copies > 0) add(msg::report::duplicates{.points = input.fuller_copies});
  for (const auto& [note, count] : notes) add(msg::report::noted{.count = count, .note = note});
  add_simulator_errors(context, blocks);
}

}  // namespace

Result<Document, Message> make_report(const Input& input, const Request& request) {
  if (input.table.empty()) return Failure{Message(msg::report::no_points{})};
  const Context context{input,
                        analysis::plan_plots(input.table),
                        compare_with_baseline(input, request),
                        {request.baseline.begin(), request.baseline.end()}};
  Document document;
  document.title = request.title.empty() ? title_of(context) : request.title;
  document.subtitle = subtitle(input);
  document.version = text(msg::report::made_by{.version = input.version});
  add_impossible(input, document.answer);
  add_verdicts(context, document.answer);
  add_source_notes(context, document.answer);
  add_findings(context, document.answer);
  add_method(context, document.answer);
  add_ratios(context, document.figures);
  add_curves(context, document.figures);
  add_tile_map(context, document.figures);
  add_roofline(context, document.figures);
  for (Figure& figure : document.figures) limit_marks(figure);
  document.appendix = appendix(context);
  for (const CandidateComparison& compared : context.compared) {
    if (compared.order.empty()) document.warnings.push_back(text(no_partners(compared)));
  }
  return document;
}

const analysis::Plot* Context::plot(analysis::PlotKind kind) const {
  const analysis::Plot* most = nullptr;
  for (const analysis::Plot& each : plots) {
    if (each.kind == kind && (most == nullptr || each.filter.rows().size() > most->filter.rows().size())) most = &each;
  }
  return most;
}

std::string Context::unplotted_note(analysis::PlotKind kind) const {
  const auto plots_of_kind = static_cast<std::size_t>(std::ranges::count(plots, kind, &analysis::Plot::kind));
  if (plots_of_kind < 2) return {};
  const std::size_t others = plots_of_kind - 1;
  return " " + (others == 1 ? text(msg::report::one_problem_not_plotted{})
                            : text(msg::report::problems_not_plotted{.problems = others}));
}

namespace {

analysis::CurveSet curves_over(const Context& context, const analysis::Plot& plot, std::span<const analysis::Row> rows,
                               analysis::Ordinate ordinate) {
  analysis::CurveRequest request{.ordinate = ordinate, .tile = plot.tile};
  for (const analysis::Row row : rows) request.algorithms.insert(context.table().algorithm(row));
  return analysis::build_curves(context.table(), rows, request);
}

}  // namespace

std::vector<analysis::Row> shown_rows(const Context& context, const analysis::Plot& plot) {
  const analysis::PointTable& table = context.table();
  const auto place = [&](analysis::Row row) {
    return std::tuple(table.run_index(row), table.algorithm(row), table.n_q(row), table.n_k(row));
  };
  std::set<analysis::Row> shown;
  std::set<decltype(place(0))> timed;
  for (const analysis::Curve& curve : curves_over(context, plot, plot.filter.rows(), analysis::Ordinate::time).curves) {
    for (const analysis::CurvePoint& point : curve.points) {
      if (!point.row) continue;
      shown.insert(*point.row);
      timed.insert(place(*point.row));
    }
  }
  const analysis::ValueColumn& times = table.values(metric_key::time_median_ns);
  for (const analysis::Row row : plot.filter.rows()) {
    if (!times.has(row) && !timed.contains(place(row))) shown.insert(row);
  }
  return {shown.begin(), shown.end()};
}

analysis::CurveSet curves_of(const Context& context, const analysis::Plot& plot) {
  if (plot.kind == analysis::PlotKind::time)
    return curves_over(context, plot, plot.filter.rows(), analysis::Ordinate::time);
  return curves_over(context, plot, shown_rows(context, plot), plot.ordinate());
}

std::string series_text(const Context& context, const analysis::SeriesName& name) {
  std::string words =
      name.algorithm.empty() ? std::string() : analysis::short_title(context.table().algorithms(), name.algorithm);
  for (const std::string* more : {&name.label, &name.device, &name.runs}) {
    if (!more->empty()) words += fmt::format("{}{}", words.empty() ? "" : " · ", *more);
  }
  // A run's name already distinguishes it.
  if (name.age > 0 && name.runs.empty()) words += " · " + text(msg::report::older{});
  return words;
}

Paragraph plain_paragraph(const Message& message) {
  return {{{text(message)}}};
}

Paragraph heading_paragraph(const Message& message) {
  return {.words = {{text(message)}}, .heading = true};
}

std::string join_texts(const std::set<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
  return all;
}

std::string origin_text(Provenance provenance) {
  return text(title(provenance));
}

std::string origin_text(Provenance provenance, bool throttled) {
  const std::string origin = origin_text(provenance);
  return throttled ? text(msg::report::origin_throttled{.origin = origin}) : origin;
}

}  // namespace attnscope::report
