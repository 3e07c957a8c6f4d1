// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/law_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "messages/law.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis {
namespace {

constexpr std::array variables{LawVariable::n, LawVariable::d, LawVariable::m};

/// No more digits than an exponent is known to.
std::string exponent_text(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? "0.000" : text;
}

Cell share_cell(double value) {
  return {.text = text(Share(value)), .number = value};
}

/// What stands for the exponents that are to be shown; null with a refusal.
const PowersFit* shown_fit(const LawFamily& family) {
  return family.refusal || !family.fit ? nullptr : &*family.fit;
}

std::string note_of(const LawFamily& family) {
  std::vector<std::string> notes;
  if (family.refusal) notes.push_back(text(say::law::withheld{.reason = refusal_words(family)}));
  if (family.level == LawLevel::dram && !family.cycles) notes.push_back(text(say::law::served{}));
  if (family.outside + family.cached > 0) {
    notes.push_back(text(say::law::left_out{.outside = family.outside, .cached = family.cached}));
  }
  return fmt::format("{}", fmt::join(notes, " "));
}

/// What a column says of the families, and of the laws and the closed forms where these say something there.
struct Says {
  std::function<Cell(const LawFamily&)> found;
  std::function<Cell(const LawFamily&)> closed_form = nullptr;
  std::function<Cell(const PowerLaw&)> law = nullptr;
  std::function<std::string(const LawFamily&)> tip = nullptr;
};

void add(TableOf<LawLine>& table, Column column, const Says& says) {
  if (says.tip) {
    column.tip = table.of([tip = says.tip](const LawLine& line) {
      return line.kind == LawLine::Kind::found ? tip(*line.family) : std::string();
    });
  }
  table.add(std::move(column), [says](const LawLine& line) {
    if (line.kind == LawLine::Kind::found) return says.found(*line.family);
    if (line.kind == LawLine::Kind::law) return says.law ? says.law(line.family->law) : Cell{};
    return says.closed_form ? says.closed_form(*line.family) : Cell{};
  });
}

void add_exponent(TableOf<LawLine>& table, std::size_t k) {
  const LawVariable variable = variables.at(k);
  const std::string name(to_string(variable));
  add(table, {.key = name, .title = name, .kind = ColumnKind::number},
      {[k](const LawFamily& family) {
         const PowersFit* fit = shown_fit(family);
         if (fit == nullptr) return Cell{};
         const Interval& interval = fit->intervals[k];
         return Cell{.text = fmt::format("{} ± {}", exponent_text(fit->exponents[k]),
                                         exponent_text((interval.high - interval.low) / 2)),
                     .number = fit->exponents[k]};
       },
       [k](const LawFamily& family) {
         const double exponent = family.closed_form->exponents[k];
         return Cell{.text = exponent_text(exponent), .number = exponent};
       },
       [variable](const PowerLaw& law) {
         return Cell{.text = fmt::to_string(law.exponent(variable)), .number = law.exponent(variable)};
       },
       [k](const LawFamily& family) {
         const PowersFit* fit = shown_fit(family);
         if (fit == nullptr) return std::string();
         const Interval& interval = fit->intervals[k];
         return text(say::law::interval{.low = exponent_text(interval.low), .high = exponent_text(interval.high)});
       }});
}

void add_figures(TableOf<LawLine>& table) {
  constexpr ColumnKind number = ColumnKind::number;
  add(table, {.key = "miss", .title = text(say::law::miss{}), .kind = number, .help = text(say::law::miss_help{})},
      {[](const LawFamily& family) {
         const PowersFit* fit = shown_fit(family);
         return fit == nullptr ? Cell{} : share_cell(fit->worst());
       },
       [](const LawFamily& family) { return share_cell(family.closed_form->worst()); }});
  add(table, {.key = "points", .title = text(say::law::points{}), .kind = number}, {[](const LawFamily& family) {
        const auto count = static_cast<double>(family.points.size());
        return Cell{.text = number_text(count), .number = count};
      }});
  add(table, {.key = "band", .title = text(say::law::band{}), .kind = number, .help = text(say::law::band_help{})},
      {[](const LawFamily& family) {
        if (family.points.empty()) return Cell{};
        return Cell{.text = fmt::format("{} – {}", number_text(family.band.low), number_text(family.band.high)),
                    .number = family.band.median};
      }});
  add(table,
      {.key = "spread", .title = text(say::law::spread{}), .kind = number, .help = text(say::law::spread_help{})},
      {[](const LawFamily& family) {
        if (family.points.empty()) return Cell{};
        return Cell{.text = number_text(family.bytes_range) + " ×", .number = family.bytes_range};
      }});
}

}  // namespace

Message level_title(LawLevel level) {
  return level == LawLevel::sm_l2 ? Message(say::law::sm_l2{}) : say::law::dram{};
}

std::vector<LawLine> law_lines(std::span<const LawFamily> families) {
  std::vector<LawLine> lines;
  std::vector<PowerLaw> stated;
  for (const LawFamily& family : families) {
    if (std::ranges::find(stated, family.law) != stated.end()) continue;
    stated.push_back(family.law);
    lines.push_back({LawLine::Kind::law, &family});
  }
  for (const LawFamily& family : families) {
    lines.push_back({LawLine::Kind::found, &family});
    if (shown_fit(family) != nullptr && family.closed_form) lines.push_back({LawLine::Kind::closed_form, &family});
  }
  return lines;
}

Table law_table(const PointTable& points, std::span<const LawFamily> families) {
  TableOf<LawLine> table(law_lines(families));
  table.table().tone =
      table.of([](const LawLine& line) { return line.kind == LawLine::Kind::found ? Tone::plain : Tone::muted; });
  add(table, {.key = "series", .title = text(say::law::series{})},
      {[&points](const LawFamily& family) {
         return Cell{.text = fmt::format("{} · {}", short_title(points.algorithms(), family.algorithm),
                                         text(level_title(family.level)))};
       },
       [](const LawFamily&) { return Cell{.text = "    " + text(say::law::closed_form{})}; },
       [](const PowerLaw& law) { return Cell{.text = text(say::law::theorem{.title = law.title, .law = law.text})}; },
       note_of});
  add(table, {.key = "source", .title = text(say::law::source{})},
      {[&points](const LawFamily& family) {
         return Cell{.text = fmt::format("{} · {} · {}", text(title(family.provenance)),
                                         points.runs()[family.run].title, device_title(points, family.run))};
       },
       [](const LawFamily&) { return Cell{.text = text(title(Provenance::modelled))}; }});
  add(table, {.key = "problem", .title = text(say::law::problem{})},
      {[](const LawFamily& family) { return Cell{.text = problem_text(family)}; }});
  for (std::size_t k = 0; k < variables.size(); ++k) add_exponent(table, k);
  add_figures(table);
  add(table, {.key = "note", .title = text(say::law::note{}), .kind = ColumnKind::sentence},
      {[](const LawFamily& family) { return Cell{.text = note_of(family)}; }});
  table.table().drop_empty_columns();
  return std::move(table).take();
}

Table law_data(const PointTable& points, std::span<const LawFamily> families, std::span<const std::string> files) {
  using Family = LawFamily;
  using Number = std::optional<double>;
  std::vector<const Family*> lines;
  for (const Family& family : families) lines.push_back(&family);
  TableOf<const Family*> table(std::move(lines));
  const auto add = [&](const std::string& key, auto said) {
    table.add({.key = key}, [said](const Family* const& family) { return said(*family); });
  };
  const auto of_shown = [](auto value) {
    return [value](const Family& family) {
      const PowersFit* fit = shown_fit(family);
      return fit == nullptr ? Number() : Number(value(*fit));
    };
  };
  const auto of_points = [](auto value) {
    return [value](const Family& family) { return family.points.empty() ? Number() : Number(value(family)); };
  };
  add("file", [files](const Family& family) { return files[family.run]; });
  add("run", [&points](const Family& family) { return points.runs()[family.run].title; });
  add("device", [&points](const Family& family) { return points.runs()[family.run].device_name; });
  add("algorithm", [](const Family& family) { return family.algorithm; });
  add("level", [](const Family& family) { return to_string(family.level); });
  add("provenance", [](const Family& family) { return attnscope::to_string(family.provenance); });
  add("problem", [](const Family& family) { return problem_text(family); });
  add("points", [](const Family& family) { return static_cast<double>(family.points.size()); });
  add("outside", [](const Family& family) { return static_cast<double>(family.outside); });
  add("cached", [](const Family& family) { return static_cast<double>(family.cached); });
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const std::string name(to_string(variables.at(k)));
    add(name, of_shown([k](const PowersFit& fit) { return fit.exponents[k]; }));
    add(name + "_low", of_shown([k](const PowersFit& fit) { return fit.intervals[k].low; }));
    add(name + "_high", of_shown([k](const PowersFit& fit) { return fit.intervals[k].high; }));
    add(name + "_theorem", [k](const Family& family) { return family.law.exponent(variables.at(k)); });
    add(name + "_closed_form",
        [k](const Family& family) { return family.closed_form ? Number(family.closed_form->exponents[k]) : Number(); });
  }
  add("constant", of_shown([](const PowersFit& fit) { return fit.coefficient; }));
  add("worst_miss", of_shown([](const PowersFit& fit) { return fit.worst(); }));
  add("collapse_low", of_points([](const Family& family) { return family.band.low; }));
  add("collapse_median", of_points([](const Family& family) { return family.band.median; }));
  add("collapse_high", of_points([](const Family& family) { return family.band.high; }));
  add("spread", of_points([](const Family& family) { return family.bytes_range; }));
  add("withheld", [](const Family& family) { return refusal_words(family); });
  return std::move(table).take();
}

}  // namespace attnscope::analysis
