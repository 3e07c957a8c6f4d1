// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "messages/report.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/metrics/metrics.h"
#include "profiler/report/document.h"
#include "profiler/report/report_parts.h"

namespace attnscope::report {

namespace {

constexpr std::size_t max_sections = 6;

std::string devices_of(const Input& input) {
  std::set<std::string> names;
  for (const analysis::Row row : input.table.rows()) names.insert(input.table.run(row).device_name);
  return join_texts(names);
}

std::string date_of(const Input& input) {
  constexpr std::size_t digits = 10;
  std::string last;
  for (const RunFacts& run : input.runs) last = std::max({last, run.started_at, run.finished_at});
  return last.substr(0, digits);
}

/// Keeps `most` evenly spaced marks, with both ends.
template <class Item>
void thin_out(std::vector<Item>& marks, std::size_t most) {
  if (marks.size() <= most) return;
  const double step = static_cast<double>(marks.size() - 1) / static_cast<double>(most - 1);
  std::vector<Item> kept;
  kept.reserve(most);
  for (std::size_t k = 0; k < most; ++k)
    kept.push_back(std::move(marks[static_cast<std::size_t>(std::lround(static_cast<double>(k) * step))]));
  marks = std::move(kept);
}

/// `rows`: the lines or rows of a chart.
template <class Rows>
void limit_marks(Rows& rows, std::string& caption) {
  constexpr std::size_t max_marks = 2000;
  const auto count = [&] {
    std::size_t marks = 0;
    for (const auto& row : rows) marks += row.marks.size();
    return marks;
  };
  const std::size_t all = count();
  if (all <= max_marks) return;
  for (auto& row : rows) {
    std::ranges::stable_sort(row.marks, {}, [](const auto& mark) { return mark.x; });
    thin_out(row.marks, max_marks / rows.size());
  }
  caption += " " + text(msg::report::marks_limited{.all = all, .shown = count()});
}

/// Moves the first figure to the first page and adds the sections.
void add_sections(const Context& context, const Request& request, Document& document) {
  std::vector<Section> sections;
  std::size_t done = 0;
  for (const auto section :
       {ratio_section, bytes_section, time_section, tiles_section, roofline_section, model_section}) {
    request.progress(++done);
    if (std::optional<Section> found = section(context)) sections.push_back(*std::move(found));
  }
  const auto with_figure =
      std::ranges::find_if(sections, [](const Section& section) { return section.figure.has_value(); });
  if (!document.figure && with_figure != sections.end()) {
    document.figure = std::exchange(with_figure->figure, std::nullopt);
    if (with_figure->text.empty()) sections.erase(with_figure);
  }
  std::vector<Paragraph> failures = failure_sentences(context);
  if (!failures.empty()) {
    const auto tiles = std::ranges::find_if(
        sections, [](const Section& section) { return section.figure && section.figure->id == "tiles"; });
    const bool own = tiles == sections.end() && (sections.size() < max_sections || sections.empty());
    if (own) sections.push_back({.title = text(msg::report::failures{})});
    Section& section = own || tiles == sections.end() ? sections.back() : *tiles;
    std::ranges::move(failures, std::back_inserter(section.text));
  }
  document.sections = std::move(sections);
  if (document.figure) limit_marks(*document.figure);
  for (Section& section : document.sections) {
    if (section.figure) limit_marks(*section.figure);
  }
}

analysis::CurveSet curves_over(const Context& context, const analysis::Plot& plot, std::span<const analysis::Row> rows,
                               analysis::Ordinate ordinate, bool residuals = false) {
  analysis::CurveRequest request{.ordinate = ordinate, .tile = plot.tile, .sm_l2 = false, .residuals = residuals};
  for (const analysis::Row row : rows) request.algorithms.insert(context.table().algorithm(row));
  return analysis::build_curves(context.table(), rows, request);
}

}  // namespace

Result<Document, Message> make_report(const Input& input, const Request& request) {
  if (input.table.empty()) return Failure{Message(msg::report::no_points{})};
  const Context context{input,
                        analysis::plan_plots(input.table),
                        compare_with_baseline(input, request),
                        {request.baseline.begin(), request.baseline.end()}};
  Document document;
  document.title = text(msg::report::title{.devices = devices_of(input)});
  document.date = date_of(input);
  document.version = text(msg::report::made_by{.version = input.version});
  context.has_pairs() ? add_comparison(context, document) : add_overview(context, document);
  if (!request.title.empty()) document.title = request.title;
  document.measured = measured_lines(context);
  add_sections(context, request, document);
  add_verdict_tables(context, document);
  std::ranges::move(appendix(context), std::back_inserter(document.appendix));
  document.notes = notes_of(context);
  if (context.compared && !context.has_pairs()) {
    for (const Message& missing : context.compared->missing) document.warnings.push_back(text(missing));
  }
  return document;
}

void limit_marks(Figure& figure) {
  constexpr std::size_t max_lines = 40;  // labels at the line ends overlap beyond this
  for (Chart& chart : figure.panels) {
    if (auto* curves = std::get_if<LineChart>(&chart.picture)) {
      if (const std::size_t all = curves->lines.size(); all > max_lines) {
        curves->lines.resize(max_lines);
        figure.caption += " " + text(msg::report::lines_limited{.all = all, .shown = max_lines});
      }
      limit_marks(curves->lines, figure.caption);
    }
    if (auto* strips = std::get_if<StripChart>(&chart.picture)) limit_marks(strips->rows, figure.caption);
  }
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

std::string problem_text(const Context& context, std::span<const analysis::Row> rows) {
  return analysis::split_settings(context.table(), rows).common;
}

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

analysis::CurveSet curves_of(const Context& context, const analysis::Plot& plot, bool residuals) {
  if (plot.kind == analysis::PlotKind::time)
    return curves_over(context, plot, plot.filter.rows(), analysis::Ordinate::time);
  return curves_over(context, plot, shown_rows(context, plot), plot.ordinate(), residuals);
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

std::string series_without_device(const Context& context, analysis::SeriesName name) {
  name.device.clear();
  return series_text(context, name);
}

std::string with_tile(const Context& context, const std::string& words, analysis::Row row) {
  const TileShape& tile = context.table().spec(row).tile;
  return analysis::has_tile(tile) ? fmt::format("{} ({})", words, describe(tile)) : words;
}

std::string gpu_of(const Context& context, analysis::RunIndex run) {
  const std::string device = analysis::device_title(context.table(), run);
  return is_simulated(context.table().runs()[run].provenance) ? text(msg::report::simulated_gpu{.device = device})
                                                              : device;
}

Paragraph plain_paragraph(const Message& message) {
  return {{{text(message)}}};
}

void add_panels(Figure& figure, std::vector<LineChart> charts, const std::vector<std::string>& names,
                const std::function<std::string(const LineChart&)>& alt) {
  constexpr double height_of_several = 190;
  share_ranges(charts);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    if (charts.size() > 1) charts[i].height = height_of_several;
    std::string words = alt(charts[i]);
    figure.panels.push_back(
        {.panel = charts.size() > 1 ? names[i] : "", .alt = std::move(words), .picture = std::move(charts[i])});
  }
}

std::string join_texts(const std::set<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string origin_text(Provenance provenance) {
  return text(title(provenance));
}

std::string origin_text(Provenance provenance, bool throttled) {
  const std::string origin = origin_text(provenance);
  return throttled ? text(msg::report::origin_throttled{.origin = origin}) : origin;
}

void Paragraph::append(const Paragraph& more) {
  if (!words.empty() && !more.words.empty()) words.push_back({" "});
  words.insert(words.end(), more.words.begin(), more.words.end());
}

std::string Paragraph::text() const {
  std::string all;
  for (const LinkedText& each : words) all += each.text;
  return all;
}

Table fill_table(const analysis::Table& result, std::string key, std::string caption) {
  Table table{.key = std::move(key), .caption = std::move(caption), .columns = {}, .rows = {}};
  for (const analysis::Column& column : result.columns) {
    table.columns.push_back({.key = column.key, .title = column.title, .kind = column.kind});
  }
  for (std::size_t row = 0; row < result.rows; ++row) {
    std::vector<TableCell>& cells = table.rows.emplace_back();
    for (const analysis::Column& column : result.columns)
      cells.push_back({column.cell(row), result.tone_of(column, row)});
  }
  return table;
}

Paragraph sentence(const std::string& text, const std::vector<LinkedText>& links) {
  Paragraph paragraph;
  std::size_t end = text.size();
  for (auto at_link = links.rbegin(); at_link != links.rend(); ++at_link) {
    const LinkedText& link = *at_link;
    const std::size_t size = link.text.size();
    const std::size_t at = size == 0 || size > end ? std::string::npos : text.rfind(link.text, end - size);
    if (at == std::string::npos) continue;
    if (at + size < end) paragraph.words.push_back({text.substr(at + size, end - at - size)});
    paragraph.words.push_back(link);
    end = at;
  }
  if (end > 0) paragraph.words.push_back({text.substr(0, end)});
  std::ranges::reverse(paragraph.words);
  return paragraph;
}

}  // namespace attnscope::report
