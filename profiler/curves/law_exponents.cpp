// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/law_exponents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/model/io_model.h"
#include "messages/law.h"
#include "profiler/curves/curves.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

constexpr std::array law_variable_list{LawVariable::n, LawVariable::d, LawVariable::m};

/// Returns the facets that are constant within a family, except the run.
std::vector<FacetPtr> family_facets() {
  std::vector<FacetPtr> facets = map_facets();
  std::erase_if(facets, [](const FacetPtr& facet) { return facet->key == "n" || facet->key == "d"; });
  return facets;
}

/// Returns bytes by the closed form; nullopt if the configuration is infeasible or has no closed form.
std::optional<double> model_bytes(const Algorithm& algorithm, const PointSpec& spec, const DeviceLimits& limits,
                                  LawLevel level, bool cycles) {
  const AttentionModel model = algorithm.model(spec.problem, spec.config(), limits);
  if (model.refusal || !model.reports_traffic) return std::nullopt;
  if (level == LawLevel::sm_l2 || cycles) return static_cast<double>(model.traffic().total());
  double once = 0;
  for (const KernelModel& kernel : model.kernels) {
    if (!kernel.setup) once += kernel.work.distinct_bytes;
  }
  return once;
}

bool varies(const std::vector<LawPoint>& points, LawVariable variable) {
  return std::ranges::any_of(
      points, [&](const LawPoint& point) { return point.value(variable) != points.front().value(variable); });
}

std::optional<PowerLawFit> fit_of(const std::vector<LawPoint>& points, const std::vector<double>& bytes) {
  std::array<std::vector<double>, law_variable_count> x;
  for (const LawPoint& point : points) {
    for (std::size_t k = 0; k < law_variable_count; ++k) x.at(k).push_back(point.at.at(k));
  }
  return fit_power_law(x, bytes);
}

void fit(LawFamily& family) {
  const auto refuse = [&](ExponentRefusal why) { family.refusal = why; };
  if (family.points.size() < min_law_points) return refuse(ExponentRefusal::too_few);
  for (const LawVariable variable : law_variable_list) {
    if (varies(family.points, variable)) continue;
    family.fixed = variable;
    return refuse(ExponentRefusal::constant);
  }
  std::vector<double> bytes;
  std::vector<double> modeled;
  for (const LawPoint& point : family.points) {
    bytes.push_back(point.bytes);
    if (point.model_bytes) modeled.push_back(*point.model_bytes);
  }
  if (modeled.size() == bytes.size()) family.closed_form = fit_of(family.points, modeled);
  family.fit = fit_of(family.points, bytes);
  if (!family.fit) return refuse(ExponentRefusal::entangled);
  const PowerLawFit& found = *family.fit;
  const auto vague = [](const Interval& interval) {
    return interval.high - interval.low > 2 * max_exponent_half_width;
  };
  if (std::ranges::any_of(found.intervals, vague)) return refuse(ExponentRefusal::vague);
  if (found.worst() > max_accepted_residual) return refuse(ExponentRefusal::misses);
}

void summarize_family(LawFamily& family) {
  if (family.points.empty()) return;
  std::vector<double> ratios;
  ratios.reserve(family.points.size());
  for (const LawPoint& point : family.points) ratios.push_back(point.ratio());
  const auto& bytes_extent = std::ranges::minmax(family.points, {}, &LawPoint::bytes);
  family.bytes_ratio = bytes_extent.max.bytes / bytes_extent.min.bytes;
  const bool all_measured = std::ranges::all_of(family.points, [](const LawPoint& point) {
    return point.provenance == Provenance::measured || point.provenance == Provenance::derived;
  });
  const bool extrapolated = std::ranges::count(family.points, Provenance::extrapolated, &LawPoint::provenance) > 0;
  const auto [least, most] = std::ranges::minmax(ratios);
  family.band = {least, summarize(ratios)->median, most};
  family.provenance = all_measured   ? Provenance::derived
                      : extrapolated ? Provenance::extrapolated
                                     : family.points.front().provenance;
}

class ExponentBuilder {
 public:
  explicit ExponentBuilder(const PointTable& table) : table_(table), d_(table.points().field("d")) {}

  LawReport build(std::span<const Row> rows) {
    const std::vector<std::uint64_t> problems = combined_codes(table_, family_facets());
    using Key = std::tuple<RunIndex, std::size_t, std::uint64_t>;
    std::map<Key, std::vector<std::pair<Row, std::int64_t>>> sweeps;  // rows with their M
    for (const Row row : rows) {
      const Algorithm* algorithm = table_.algorithms().find(table_.algorithm(row));
      if (algorithm == nullptr || table_.disposition(row) != Disposition::ok) continue;
      const auto m = tile_memory(row, *algorithm);
      if (!m) continue;
      const std::size_t place = table_.algorithms().place(table_.algorithm(row));
      sweeps[{table_.run_index(row), place, problems[row]}].emplace_back(row, *m);
    }
    for (const auto& [key, sweep] : sweeps) {
      const Algorithm* algorithm = table_.algorithms().find(table_.algorithm(sweep.front().first));
      if (algorithm == nullptr) continue;
      if (!varies_enough(sweep)) {
        ++report_.others;
        continue;
      }
      for (const LawLevel level : {LawLevel::sm_l2, LawLevel::dram}) add_family(*algorithm, sweep, level);
    }
    return std::move(report_);
  }

 private:
  using Sweep = std::vector<std::pair<Row, std::int64_t>>;

  /// Returns M of a row's tile if the algorithm has a law and the tile follows the paper's rule. Called for every row.
  [[nodiscard]] std::optional<std::int64_t> tile_memory(Row row, const Algorithm& algorithm) const {
    const Facts& facts = algorithm.facts();
    if (!facts.power_law || table_.n_q(row) != table_.n_k(row)) return std::nullopt;
    const TileShape& tile = table_.tile_of(row).tile;
    // Cheap test first: most tiles follow the rule on neither side.
    const std::int64_t d = d_.number(row);
    if (!memory_of_tile(tile, d, TileSide::br) && !memory_of_tile(tile, d, TileSide::bc)) return std::nullopt;
    return memory_of_tile(tile, d, facts.traffic_side(table_.problem(row).pass));
  }

  [[nodiscard]] bool varies_enough(const Sweep& sweep) const {
    std::array<std::set<std::int64_t>, law_variable_count> values;
    for (const auto& [row, memory] : sweep) {
      values[0].insert(table_.n_k(row));
      values[1].insert(d_.number(row));
      values[2].insert(memory);
    }
    return std::ranges::count_if(values, [](const auto& of_variable) { return of_variable.size() > 1; }) >= 2;
  }

  void add_family(const Algorithm& algorithm, const Sweep& sweep, LawLevel level) {
    const Row first = sweep.front().first;
    const PointSpec spec = table_.spec(first);
    LawFamily family;
    family.run = table_.run_index(first);
    family.algorithm = spec.algorithm;
    family.law = *algorithm.facts().power_law;
    family.like = spec.problem;
    family.cache = spec.cache;
    family.knobs = spec.knobs;
    family.level = level;
    family.cycles = algorithm.working_set_bytes(spec.problem, spec.config(), table_.run(first).limits) > 0;
    bool any = false;
    for (const auto& [row, memory] : sweep) any = add_point(family, algorithm, row, memory) || any;
    if (!any) return;  // no bytes at this level
    std::ranges::sort(family.points, {}, &LawPoint::at);
    summarize_family(family);
    fit(family);
    report_.families.push_back(std::move(family));
  }

  /// Adds the row to the family or counts it as skipped. Returns whether the row has a value at this level.
  bool add_point(LawFamily& family, const Algorithm& algorithm, Row row, std::int64_t m) {
    const ValueColumn& values = table_.values(metric_of(family.level));
    if (!values.has(row) || values.value(row) <= 0) return false;
    const PointSpec spec = table_.spec(row);
    const AttentionProblem& p = spec.problem;
    if (m < p.d || m > p.n_k * p.d) {
      ++family.outside;
      return true;
    }
    const DeviceLimits& limits = table_.run(row).limits;
    if (family.level == LawLevel::dram && family.cycles) {
      const auto cycled = static_cast<double>(algorithm.working_set_bytes(p, spec.config(), limits));
      if (cycled < L2Transition().high * static_cast<double>(limits.l2_bytes)) {
        ++family.cached;
        return true;
      }
    }
    family.points.push_back({.row = row,
                             .at = {static_cast<double>(p.n_k), static_cast<double>(p.d), static_cast<double>(m)},
                             .bytes = values.value(row),
                             .law_bytes = family.law.bytes(p, m),
                             .model_bytes = model_bytes(algorithm, spec, limits, family.level, family.cycles),
                             .provenance = values.provenance(row)});
    return true;
  }

  const PointTable& table_;
  const FieldColumn& d_;
  LawReport report_;
};

/// Avoids "-0.000".
std::string exponent_text(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? "0.000" : text;
}

Cell share_cell(double value) {
  return {.text = text(Share(value)), .number = value};
}

std::string note_of(const LawFamily& family) {
  std::vector<std::string> notes;
  if (family.refusal) notes.push_back(text(msg::law::no_fit{.reason = refusal_text(family)}));
  if (family.level == LawLevel::dram && !family.cycles) notes.push_back(text(msg::law::rereads_hit_l2{}));
  if (family.outside + family.cached > 0) {
    notes.push_back(text(msg::law::excluded{.cached = family.cached, .outside = family.outside}));
  }
  return fmt::format("{}", fmt::join(notes, " "));
}

/// Cells of a column for fits, closed forms and laws.
struct LawColumn {
  std::function<Cell(const LawFamily&)> found;
  std::function<Cell(const LawFamily&)> closed_form = nullptr;
  std::function<Cell(const PowerLaw&)> law = nullptr;
  std::function<std::string(const LawFamily&)> tip = nullptr;
};

void add(TableBuilder<LawLine>& table, Column column, const LawColumn& says) {
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

void add_exponent(TableBuilder<LawLine>& table, std::size_t k) {
  const LawVariable variable = law_variable_list.at(k);
  const std::string name(to_string(variable));
  add(table, {.key = name, .title = name, .kind = ColumnKind::number},
      {[k](const LawFamily& family) {
         const PowerLawFit* fit = family.reported_fit();
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
         const PowerLawFit* fit = family.reported_fit();
         if (fit == nullptr) return std::string();
         const Interval& interval = fit->intervals[k];
         return text(msg::law::interval{.high = exponent_text(interval.high), .low = exponent_text(interval.low)});
       }});
}

void add_figures(TableBuilder<LawLine>& table) {
  constexpr ColumnKind number = ColumnKind::number;
  add(table,
      {.key = "miss",
       .title = text(msg::law::max_residual{}),
       .kind = number,
       .help = text(msg::law::max_residual_help{})},
      {[](const LawFamily& family) {
         const PowerLawFit* fit = family.reported_fit();
         return fit == nullptr ? Cell{} : share_cell(fit->worst());
       },
       [](const LawFamily& family) { return share_cell(family.closed_form->worst()); }});
  add(table, {.key = "points", .title = text(msg::law::points{}), .kind = number}, {[](const LawFamily& family) {
        const auto count = static_cast<double>(family.points.size());
        return Cell{.text = number_text(count), .number = count};
      }});
  add(table, {.key = "band", .title = text(msg::law::band{}), .kind = number, .help = text(msg::law::band_help{})},
      {[](const LawFamily& family) {
        if (family.points.empty()) return Cell{};
        return Cell{.text = fmt::format("{} – {}", number_text(family.band.low), number_text(family.band.high)),
                    .number = family.band.median};
      }});
  add(table,
      {.key = "spread", .title = text(msg::law::spread{}), .kind = number, .help = text(msg::law::spread_help{})},
      {[](const LawFamily& family) {
        if (family.points.empty()) return Cell{};
        return Cell{.text = number_text(family.bytes_ratio) + " ×", .number = family.bytes_ratio};
      }});
}

}  // namespace

std::string_view metric_of(LawLevel level) {
  return level == LawLevel::sm_l2 ? metric_key::l2_sm_bytes : metric_key::dram_settled_bytes;
}

std::string_view to_string(LawLevel level) {
  return level == LawLevel::sm_l2 ? "SM<->L2" : "DRAM, settled";
}

LawReport fit_law_exponents(const PointTable& table, std::span<const Row> rows) {
  return ExponentBuilder(table).build(rows);
}

std::string declared_exponents(std::span<const LawFamily> families, LawVariable variable) {
  std::set<int, std::greater<>> exponents;
  for (const LawFamily& family : families) exponents.insert(family.law.exponent(variable));
  return fmt::format("{}", fmt::join(exponents, ", "));
}

std::string problem_text(const LawFamily& family) {
  std::string text = fmt::format("{} {} {} {}", to_string(family.like.pass), mask_text(family.like.mask),
                                 to_string(family.like.dtype), heads_text(family.like));
  text += describe(family.knobs);
  return fmt::format("{} {}", text, brief_text(family.cache));
}

Message refusal_text(const LawFamily& family) {
  if (!family.refusal) return {};
  switch (*family.refusal) {
    case ExponentRefusal::too_few:
      return msg::law::too_few{.fewest = min_law_points, .points = family.points.size()};
    case ExponentRefusal::constant:
      return msg::law::constant{.variable = to_string(*family.fixed)};
    case ExponentRefusal::entangled:
      return msg::law::not_independent{};
    case ExponentRefusal::vague:
      return msg::law::interval_too_wide{.reach = fmt::format("{}", max_exponent_half_width)};
    case ExponentRefusal::misses: {
      const LawPoint& worst = family.points[family.fit->worst_point];
      return msg::law::not_power_law{.d = static_cast<std::int64_t>(worst.value(LawVariable::d)),
                                     .m = static_cast<std::int64_t>(worst.value(LawVariable::m)),
                                     .n = static_cast<std::int64_t>(worst.value(LawVariable::n)),
                                     .percent = fmt::format("{:.0f}", 100 * family.fit->worst())};
    }
  }
  return {};
}

Message level_title(LawLevel level) {
  return level == LawLevel::sm_l2 ? Message(msg::law::sm_l2{}) : msg::law::dram{};
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
    if (family.reported_fit() != nullptr && family.closed_form) lines.push_back({LawLine::Kind::closed_form, &family});
  }
  return lines;
}

Table law_table(const PointTable& points, std::span<const LawFamily> families) {
  TableBuilder<LawLine> table(law_lines(families));
  table.table().tone =
      table.of([](const LawLine& line) { return line.kind == LawLine::Kind::found ? Tone::plain : Tone::muted; });
  add(table, {.key = "series", .title = text(msg::law::series{})},
      {[&points](const LawFamily& family) {
         return Cell{.text = fmt::format("{} · {}", short_title(points.algorithms(), family.algorithm),
                                         text(level_title(family.level)))};
       },
       [](const LawFamily&) { return Cell{.text = "    " + text(msg::law::closed_form{})}; },
       [](const PowerLaw& law) { return Cell{.text = text(msg::law::theorem{.law = law.text, .title = law.title})}; },
       note_of});
  add(table, {.key = "source", .title = text(msg::law::source{})},
      {[&points](const LawFamily& family) {
         return Cell{.text = fmt::format("{} · {} · {}", text(title(family.provenance)),
                                         points.runs()[family.run].title, device_title(points, family.run))};
       },
       [](const LawFamily&) { return Cell{.text = text(title(Provenance::modeled))}; }});
  add(table, {.key = "problem", .title = text(msg::law::problem{})},
      {[](const LawFamily& family) { return Cell{.text = problem_text(family)}; }});
  for (std::size_t k = 0; k < law_variable_list.size(); ++k) add_exponent(table, k);
  add_figures(table);
  add(table, {.key = "note", .title = text(msg::law::note{}), .kind = ColumnKind::sentence},
      {[](const LawFamily& family) { return Cell{.text = note_of(family)}; }});
  table.table().drop_empty_columns();
  return std::move(table).take();
}

Table law_data(const PointTable& points, std::span<const LawFamily> families, std::span<const std::string> files) {
  using Family = LawFamily;
  using Number = std::optional<double>;
  std::vector<const Family*> lines;
  for (const Family& family : families) lines.push_back(&family);
  TableBuilder<const Family*> table(std::move(lines));
  const auto add = [&](const std::string& key, auto said) {
    table.add({.key = key}, [said](const Family* const& family) { return said(*family); });
  };
  const auto fit_value = [](auto value) {
    return [value](const Family& family) {
      const PowerLawFit* fit = family.reported_fit();
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
  add("excluded_out_of_range", [](const Family& family) { return static_cast<double>(family.outside); });
  add("excluded_in_l2", [](const Family& family) { return static_cast<double>(family.cached); });
  for (std::size_t k = 0; k < law_variable_list.size(); ++k) {
    const std::string name(to_string(law_variable_list.at(k)));
    add(name, fit_value([k](const PowerLawFit& fit) { return fit.exponents[k]; }));
    add(name + "_low", fit_value([k](const PowerLawFit& fit) { return fit.intervals[k].low; }));
    add(name + "_high", fit_value([k](const PowerLawFit& fit) { return fit.intervals[k].high; }));
    add(name + "_theorem", [k](const Family& family) { return family.law.exponent(law_variable_list.at(k)); });
    add(name + "_closed_form",
        [k](const Family& family) { return family.closed_form ? Number(family.closed_form->exponents[k]) : Number(); });
  }
  add("coefficient", fit_value([](const PowerLawFit& fit) { return fit.coefficient; }));
  add("max_residual", fit_value([](const PowerLawFit& fit) { return fit.worst(); }));
  add("collapse_low", of_points([](const Family& family) { return family.band.low; }));
  add("collapse_median", of_points([](const Family& family) { return family.band.median; }));
  add("collapse_high", of_points([](const Family& family) { return family.band.high; }));
  add("spread", of_points([](const Family& family) { return family.bytes_ratio; }));
  add("no_fit_reason", [](const Family& family) { return refusal_text(family); });
  return std::move(table).take();
}

}  // namespace attnscope::analysis
