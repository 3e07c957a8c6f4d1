// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "kernels/model/device_limits.h"
#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/plan/text.h"
#include "profiler/report/sections.h"

namespace attnscope::report {

namespace {

struct SectionKind {
  std::string_view key;
  Saying title;
  MakeSection make;
};

/// In the order of the report: another section is another line.
constexpr std::array section_kinds{
    SectionKind{"summary", said<say::report::summary>, summary_section},
    SectionKind{"environment", said<say::report::environment>, environment_section},
    SectionKind{"comparison", said<say::report::comparison>, comparison_section},
    SectionKind{"io", said<say::report::io>, io_section},
    SectionKind{"exponents", said<say::report::exponents>, exponents_section},
    SectionKind{"time", said<say::report::time>, time_section},
    SectionKind{"tiles", said<say::report::tiles>, tiles_section},
    SectionKind{"roofline", said<say::report::roofline>, roofline_section},
    SectionKind{"units", said<say::report::units>, units_section},
    SectionKind{"kernels", said<say::report::kernels>, kernels_section},
    SectionKind{"gpus", said<say::report::sharing>, sharing_section},
    SectionKind{"paper", said<say::report::paper>, paper_section},
    SectionKind{"failures", said<say::report::failures>, failures_section},
    SectionKind{"commands", said<say::report::commands>, commands_section},
    SectionKind{"appendix", said<say::report::appendix>, appendix_section},
};

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
    last = std::max(last, run.started_at);
  }
  const std::string all = joined(files);
  const std::size_t runs = input.runs.size();
  const std::size_t points = input.table.size();
  if (first == last)
    return text(say::report::subtitle_once{.files = all, .first = first, .runs = runs, .points = points});
  return text(say::report::subtitle{.files = all, .first = first, .last = last, .runs = runs, .points = points});
}

std::string title_of(const Context& context) {
  if (!context.request.title.empty()) return context.request.title;
  const std::string devices = joined(device_names(context.input));
  if (context.compared.empty()) return text(say::report::title{.devices = devices});
  return text(say::report::title_compared{.devices = devices, .base = context.compared.front().side().base});
}

/// Rows that a chosen set of sections does not print are no place to lead to.
class LinkCheck {
 public:
  explicit LinkCheck(const Document& document) {
    for (const Section& section : document.sections) {
      for (const Block& block : section.blocks) {
        const auto* table = std::get_if<Table>(&block);
        if (table == nullptr) continue;
        for (std::size_t row = 0; row < table->rows.size(); ++row) places_.insert(table->place_of(row));
      }
    }
  }

  void operator()(Paragraph& paragraph) const {
    for (Words& words : paragraph.words) {
      if (has(target_of(words))) continue;
      words.row.reset();
      words.place.clear();
    }
  }
  void operator()(Table& table) const {
    for (std::vector<Cell>& row : table.rows) {
      for (Cell& cell : row) {
        if (cell.row && !has("row-" + row_name(*cell.row))) cell.row.reset();
      }
    }
  }
  void operator()(Figure& figure) const { (*this)(figure.behind); }
  void operator()(Commands& /*commands*/) const {}

 private:
  [[nodiscard]] bool has(const std::string& target) const { return target.empty() || places_.contains(target); }

  std::set<std::string> places_;
};

void drop_lost_links(Document& document) {
  const LinkCheck check(document);
  for (Section& section : document.sections) {
    for (Block& block : section.blocks) std::visit(check, block);
  }
}

/// What nobody may read past: what is left out, and which values are of a simulation, of another program, of throttled
/// clocks or of rows that nobody can check.
std::vector<Paragraph> notices(const Input& input) {
  std::size_t simulated = 0;
  std::size_t imported = 0;
  std::size_t throttled = 0;
  std::size_t with_values = 0;
  for (const analysis::Row row : input.table.rows()) {
    const Provenance provenance = input.table.run(row).provenance;
    if (!analysis::has_values(input.table.disposition(row))) continue;  // what did not run has no data
    ++with_values;
    if (is_simulated(provenance)) ++simulated;
    if (provenance == Provenance::imported) ++imported;
    if (input.table.throttled(row)) ++throttled;
  }
  std::vector<Paragraph> all;
  const auto add = [&](const Message& message) { all.push_back({{{text(message)}}, true}); };
  if (!input.filter.empty()) {
    add(say::report::is_filtered{.filter = input.filter, .points = input.table.size(), .all = input.filtered_from});
  }
  if (input.damaged_rows > 0) {
    add(say::report::is_damaged{.rows = input.damaged_rows, .damage = input.first_damage});
  }
  if (simulated > 0) add(say::report::is_simulated{.points = simulated, .all = with_values});
  if (imported > 0) add(say::report::is_imported{.points = imported, .all = with_values});
  if (throttled > 0) add(say::report::is_throttled{.points = throttled, .all = with_values});
  if (input.unverified_runs > 0) add(say::report::is_unverified{.runs = input.unverified_runs});
  return all;
}

std::optional<Message> refusal(const Input& input, const Request& request) {
  const std::vector<std::string> keys = section_keys();
  for (const std::string& wanted : request.sections) {
    if (std::ranges::count(keys, wanted) > 0) continue;
    return say::report::unknown_section{.word = wanted, .known = join_or(keys)};
  }
  if (input.table.empty()) return say::report::no_points{};
  return std::nullopt;
}

}  // namespace

std::vector<std::string> section_keys() {
  std::vector<std::string> keys;
  keys.reserve(section_kinds.size());
  for (const SectionKind& kind : section_kinds) keys.emplace_back(kind.key);
  return keys;
}

Message section_title(std::string_view key) {
  const auto* const kind = std::ranges::find(section_kinds, key, &SectionKind::key);
  if (kind == section_kinds.end()) throw std::out_of_range("no such section");
  return kind->title();
}

Result<Document, Message> make_report(const Input& input, const Request& request) {
  if (std::optional<Message> refused = refusal(input, request)) return Failure{*std::move(refused)};
  Context context{input, request, analysis::plan_plots(input.table), compare_with_baseline(input, request)};
  Document document;
  document.title = title_of(context);
  document.subtitle = subtitle(input);
  document.version = text(say::report::made_by{.version = input.version});
  document.notices = notices(input);
  for (const Compared& compared : context.compared) {
    if (compared.order.empty()) document.warnings.push_back(text(no_partners(compared)));
  }
  for (const SectionKind& kind : section_kinds) {
    const bool wanted = request.sections.empty() || std::ranges::count(request.sections, kind.key) > 0;
    if (!wanted) continue;
    std::vector<Block> blocks = kind.make(context);
    // One that was asked for by name says that there is nothing; of the others a reader misses nothing.
    if (blocks.empty() && !request.sections.empty()) blocks.emplace_back(plain(say::report::nothing{}));
    if (!blocks.empty()) document.sections.push_back({std::string(kind.key), text(kind.title()), std::move(blocks)});
  }
  drop_lost_links(document);
  return document;
}

std::vector<const analysis::Plot*> Context::drawn(analysis::PlotKind kind, std::size_t& left) const {
  std::vector<const analysis::Plot*> of_kind;
  for (const analysis::Plot& plot : plots) {
    if (plot.kind == kind) of_kind.push_back(&plot);
  }
  std::ranges::stable_sort(of_kind, std::greater<>(),
                           [](const analysis::Plot* plot) { return plot->filter.rows().size(); });
  left = of_kind.size() > request.figures ? of_kind.size() - request.figures : 0;
  of_kind.resize(of_kind.size() - left);
  return of_kind;
}

std::vector<const analysis::Plot*> Context::drawn(analysis::PlotKind kind) const {
  std::size_t left = 0;
  return drawn(kind, left);
}

analysis::CurveSet curves_of(const Context& context, const analysis::Plot& plot) {
  analysis::CurveRequest request;
  for (const analysis::Row row : plot.filter.rows()) request.algorithms.insert(context.table().algorithm(row));
  request.ordinate = plot.ordinate();
  request.tile = plot.tile;
  return analysis::build_curves(context.table(), plot.filter.rows(), request);
}

std::string series_text(const Context& context, const analysis::SeriesName& name) {
  std::string words =
      name.algorithm.empty() ? std::string() : analysis::short_title(context.table().algorithms(), name.algorithm);
  for (const std::string* more : {&name.label, &name.device, &name.runs}) {
    if (!more->empty()) words += fmt::format("{}{}", words.empty() ? "" : " · ", *more);
  }
  // A run that is named needs no age.
  if (name.age > 0 && name.runs.empty()) words += " · " + text(say::report::older{});
  return words;
}

std::string problem_text(const analysis::Plot& plot) {
  return plot.filter.summary();
}

bool has_roofs(const Context& context, analysis::Row row) {
  const analysis::Run& run = context.table().run(row);
  return run.provenance != Provenance::imported || find_gpu(run.device_name) != nullptr ||
         !roofs_known(context, context.table().run_index(row)).measured_at.empty();
}

Paragraph plain(const Message& message) {
  return {{{text(message)}}};
}

Paragraph heading(const Message& message) {
  return {.words = {{text(message)}}, .heading = true};
}

std::string key_of(const LineChart& chart) {
  std::set<Provenance> kinds;
  bool spread = false;
  for (const Line& line : chart.lines) {
    if (!line.marks.empty()) kinds.insert(line.provenance);
    spread = spread || std::ranges::any_of(line.marks, [](const Mark& mark) { return mark.high > mark.low; });
  }
  std::string key;
  const auto add = [&](bool there, const Message& words) {
    if (there) key += fmt::format("{}{}", key.empty() ? "" : " ", text(words));
  };
  add(kinds.contains(Provenance::measured) || kinds.contains(Provenance::derived), say::report::key{});
  add(kinds.contains(Provenance::modelled), say::report::key_modelled{});
  add(kinds.contains(Provenance::simulated) || kinds.contains(Provenance::extrapolated), say::report::key_simulated{});
  add(kinds.contains(Provenance::imported), say::report::key_imported{});
  add(spread, say::report::key_spread{});
  return key;
}

void say_left_out(std::vector<Block>& blocks, std::size_t left) {
  if (left == 1) blocks.emplace_back(plain(say::report::one_left_out{}));
  if (left > 1) blocks.emplace_back(plain(say::report::left_out{.problems = left}));
}

std::string joined(const std::set<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
  return all;
}

std::string origin_text(Provenance provenance) {
  return text(title(provenance));
}

std::string origin_text(Provenance provenance, bool throttled) {
  const std::string origin = origin_text(provenance);
  return throttled ? text(say::report::origin_throttled{.origin = origin}) : origin;
}

}  // namespace attnscope::report
