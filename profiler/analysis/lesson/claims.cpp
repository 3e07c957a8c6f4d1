// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/lesson/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernels/model/gpu_values.h"
#include "kernels/model/io_model.h"
#include "profiler/analysis/law_exponents.h"
#include "profiler/analysis/lesson/faulty_program.h"
#include "profiler/analysis/lesson/ledger.h"
#include "profiler/analysis/lesson/online_softmax.h"
#include "profiler/analysis/lesson/pairs.h"
#include "profiler/analysis/point_query.h"

namespace attnscope::analysis::lesson {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Verdict untestable(std::string because, std::string detail = {}) {
  return {.outcome = Outcome::not_testable, .because = std::move(because), .detail = std::move(detail)};
}

double number_of(const Front& card, std::string_view key, double otherwise) {
  return card.number(key).value_or(otherwise);
}

/// The rows that the card's `points` ask for.
std::vector<Row> rows_of_card(const Front& card, const Evidence& evidence) {
  const auto query = PointQuery::parse(card.text("points"), evidence.points);
  if (!query.ok()) return {};
  std::vector<Row> rows;
  const std::vector<Row> asked = query->rows(evidence.points);
  std::ranges::set_intersection(asked, evidence.rows, std::back_inserter(rows));
  return rows;
}

/// What a card claims: `states` give or take `tolerance` (relative, 0.1), or from `low` to `high`.
struct Claimed {
  double low = -infinite;
  double high = infinite;
  std::optional<double> stated{};
  double tolerance = 0;
};
Claimed claimed_by(const Front& card) {
  if (const std::optional<double> stated = card.number("states")) {
    const double tolerance = number_of(card, "tolerance", 0.1);
    const double give = std::abs(*stated) * tolerance;
    return {*stated - give, *stated + give, stated, tolerance};
  }
  return {number_of(card, "low", -infinite), number_of(card, "high", infinite)};
}

void add_claimed(Verdict& verdict, const Claimed& claimed, Unit unit) {
  if (claimed.stated) {
    verdict.figures.push_back(
        {"claimed", *claimed.stated, unit, Provenance::imported, fmt::format("± {:g}%", 100 * claimed.tolerance)});
    return;
  }
  if (std::isfinite(claimed.low)) verdict.figures.push_back({"claimed_low", claimed.low, unit, Provenance::imported});
  if (std::isfinite(claimed.high))
    verdict.figures.push_back({"claimed_high", claimed.high, unit, Provenance::imported});
}

Provenance derived_from(Provenance provenance) {
  return provenance == Provenance::measured ? Provenance::derived : provenance;
}

/// A figure is a case: where all cases are as claimed it held, where none is it is refuted, and else it held in part.
Verdict held_to(const Claimed& claimed, std::vector<ClaimFigure> found, Unit unit, std::vector<Row> points) {
  const auto inside = std::ranges::count_if(
      found, [&](const ClaimFigure& figure) { return claimed.low <= figure.value && figure.value <= claimed.high; });
  const auto cases = std::ssize(found);
  Verdict verdict{.outcome = inside == cases ? Outcome::held
                             : inside == 0   ? Outcome::refuted
                                             : Outcome::partly,
                  .points = std::move(points)};
  add_claimed(verdict, claimed, unit);
  if (cases == 1) {
    if (found.front().label == "each") found.front().label = "found";
    verdict.figures.push_back(std::move(found.front()));
    return verdict;
  }
  std::ranges::stable_sort(found, {}, &ClaimFigure::value);
  const auto half = static_cast<std::size_t>(cases / 2);
  const double median = cases % 2 == 1 ? found[half].value : (found[half - 1].value + found[half].value) / 2;
  // The weakest of all that it is computed of.
  const Provenance provenance = derived_from(std::ranges::max_element(found, {}, &ClaimFigure::provenance)->provenance);
  verdict.figures.push_back(
      {"cases_inside", static_cast<double>(inside), Unit::plain, provenance, fmt::format("/ {}", cases)});
  verdict.figures.push_back({"median", median, unit, provenance});
  // Of many those that stand for all: the least, the largest, and evenly between them.
  constexpr std::ptrdiff_t most_shown = 12;
  const std::ptrdiff_t shown = std::min(cases, most_shown);
  for (std::ptrdiff_t i = 0; i < shown; ++i) {
    verdict.figures.push_back(found[static_cast<std::size_t>(i * (cases - 1) / (shown - 1))]);
  }
  return verdict;
}

/// What is measured of one problem is held together, on one device, by one means and from one state of the L2.
std::string case_of(const PointTable& points, Row row) {
  const PointSpec spec = points.spec(row);
  const Run& run = points.run(row);
  return fmt::format("{} {} {} {} {}", spec.algorithm, run.device_id, to_string(run.provenance), describe(spec.problem),
                     to_string(spec.cache));
}

/// The device where points of several are open.
std::string device_of(const PointTable& points, Row row) {
  const Run& own = points.run(row);
  const bool alone = std::ranges::all_of(points.runs(), [&](const Run& run) {
    return run.device_id == own.device_id && run.provenance == own.provenance;
  });
  return alone ? std::string() : device_title(points, points.run_index(row)) + ' ';
}

std::string name_of(const PointTable& points, Row row) {
  const PointSpec spec = points.spec(row);
  const AttentionProblem& p = spec.problem;
  return fmt::format(
      "{}{} {} d {} {} {}x{}", device_of(points, row), short_title(points.algorithms(), spec.algorithm),
      p.n_q == p.n_k ? fmt::format("N {}", p.n_k) : fmt::format("n_q {} n_k {}", p.n_q, p.n_k), p.d,
      p.batch == 1 ? fmt::format("heads {}", p.heads_q) : fmt::format("batch {} heads {}", p.batch, p.heads_q),
      spec.tile.br, spec.tile.bc);
}

Verdict of_pairs(const Front& card, const Evidence& evidence, const std::vector<Pair>& pairs, bool inverse) {
  if (pairs.empty()) return untestable("no_pairs");
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const Pair& pair : pairs) {
    found.push_back({"each", inverse ? 1 / pair.ratio() : pair.ratio(), Unit::ratio, derived_from(pair.provenance),
                     name_of(evidence.points, pair.to)});
    points.insert(points.end(), {pair.from, pair.to});
  }
  return held_to(claimed_by(card), std::move(found), Unit::ratio, std::move(points));
}

/// Of one algorithm the metric over another's: `from` / `to`.
Verdict versus(const Front& card, const Evidence& evidence) {
  return of_pairs(card, evidence,
                  pairs_of_algorithms(evidence.points, rows_of_card(card, evidence), card.text("from"), card.text("to"),
                                      card.text("metric")),
                  true);
}

/// After over before, with one thing twice as large.
Verdict doubled(const Front& card, const Evidence& evidence) {
  const std::optional<Doubled> what = doubled_of(card.text("doubled"));
  if (!what) return untestable("broken_card", card.text("doubled"));
  return of_pairs(card, evidence,
                  doubled_pairs(evidence.points, rows_of_card(card, evidence), *what, card.text("metric")), false);
}

/// The backward pass over the forward one.
Verdict passes(const Front& card, const Evidence& evidence) {
  return of_pairs(
      card, evidence,
      pairs_of_passes(evidence.points, rows_of_card(card, evidence), Pass::fwd, Pass::bwd, card.text("metric")), false);
}

/// Of the card's points those with both the metric and a time, of each algorithm and problem the fastest.
std::vector<Row> fastest_of_each(const Front& card, const Evidence& evidence, std::string_view metric) {
  std::map<std::string, Row> best;
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const ValueColumn& values = evidence.points.values(metric);
  for (const Row row : rows_of_card(card, evidence)) {
    if (evidence.points.disposition(row) != Disposition::ok || !times.has(row) || !values.has(row)) continue;
    const auto [place, fresh] = best.emplace(case_of(evidence.points, row), row);
    if (!fresh && times.value(row) < times.value(place->second)) place->second = row;
  }
  std::vector<Row> rows;
  rows.reserve(best.size());
  for (const auto& [key, row] : best) rows.push_back(row);
  return rows;
}

/// `scale`: of a point, by what its value is multiplied; 0 leaves it out.
Verdict of_metric(const Front& card, const Evidence& evidence, std::string_view metric, Unit unit,
                  double (*scale)(const Run&) = nullptr) {
  std::vector<ClaimFigure> found;
  const ValueColumn& values = evidence.points.values(metric);
  std::vector<Row> points = fastest_of_each(card, evidence, metric);
  std::erase_if(points, [&](Row row) { return scale != nullptr && scale(evidence.points.run(row)) == 0; });
  for (const Row row : points) {
    const double by = scale == nullptr ? 1 : scale(evidence.points.run(row));
    found.push_back({"each", values.value(row) * by, unit, values.provenance(row), name_of(evidence.points, row)});
  }
  if (found.empty()) return untestable("no_points");
  return held_to(claimed_by(card), std::move(found), unit, std::move(points));
}

Verdict rate(const Front& card, const Evidence& evidence) {
  return of_metric(card, evidence, metric_key::tflops, Unit::tflops);
}

Verdict peak_share(const Front& card, const Evidence& evidence) {
  return of_metric(card, evidence, metric_key::tflops, Unit::percent, [](const Run& run) {
    return run.limits.tensor_flops > 0 ? 1e14 / run.limits.tensor_flops : 0;  // of its own GPU's peak
  });
}

/// The achieved occupancy.
Verdict occupancy(const Front& card, const Evidence& evidence) {
  return of_metric(card, evidence, metric_key::achieved_occupancy_pct, Unit::percent);
}

/// An exponent of Theorem 2's law, as it was fitted.
Verdict exponent(const Front& card, const Evidence& evidence) {
  const LawReport report = fit_law_exponents(evidence.points, rows_of_card(card, evidence));
  const std::string level = card.text("level");
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const LawFamily& family : report.families) {
    if (family.refusal || !family.fit || (level == "dram") != (family.level == LawLevel::dram)) continue;
    for (const LawVariable variable : {LawVariable::n, LawVariable::d, LawVariable::m}) {
      if (to_string(variable) != card.text("of")) continue;
      found.push_back({"each", family.fit->exponents[static_cast<std::size_t>(variable)], Unit::plain,
                       family.provenance,
                       device_of(evidence.points, family.points.front().row) +
                           std::string(short_title(evidence.points.algorithms(), family.algorithm))});
      for (const LawPoint& point : family.points) points.push_back(point.row);
    }
  }
  if (found.empty()) return untestable("no_law");
  return held_to(claimed_by(card), std::move(found), Unit::plain, std::move(points));
}

/// From which N one algorithm is faster. Fewer than three N are no sweep; where the faster one is ahead from the first
/// measured N on, that N decides only if it lies below what is claimed.
Verdict crossover(const Front& card, const Evidence& evidence) {
  constexpr std::size_t least_pairs = 3;
  const Claimed claimed = claimed_by(card);
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const Crossover& group :
       crossovers(evidence.points, rows_of_card(card, evidence), card.text("from"), card.text("to"))) {
    if (group.pairs.size() < least_pairs) continue;
    const auto first = static_cast<double>(evidence.points.n_k(group.pairs.front().to));
    if (!group.n && !group.never && !(first < claimed.low)) continue;
    const Provenance provenance = std::ranges::max(group.pairs, {}, &Pair::provenance).provenance;
    found.push_back({group.n || group.never ? "each" : "each_at_most", group.never ? infinite : group.n.value_or(first),
                     Unit::length, derived_from(provenance),
                     fmt::format("{}d {} BH {}", device_of(evidence.points, group.pairs.front().to), group.like.d,
                                 group.like.instances())});
    for (const Pair& pair : group.pairs) points.insert(points.end(), {pair.from, pair.to});
  }
  if (found.empty()) return untestable("no_pairs");
  return held_to(claimed_by(card), std::move(found), Unit::length, std::move(points));
}

/// A tile's time over the fastest of its problem's.
Verdict tile_best(const Front& card, const Evidence& evidence) {
  struct Times {
    double best = infinite;
    std::set<std::pair<int, int>> tiles{};
    std::optional<Row> tile{};
  };
  std::map<std::string, Times> problems;
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const auto br = static_cast<int>(number_of(card, "br", 0));
  const auto bc = static_cast<int>(number_of(card, "bc", 0));
  std::vector<Row> points;
  for (const Row row : rows_of_card(card, evidence)) {
    if (evidence.points.disposition(row) != Disposition::ok || !times.has(row)) continue;
    Times& problem = problems[case_of(evidence.points, row)];
    problem.best = std::min(problem.best, times.value(row));
    const TileShape& tile = evidence.points.tile_of(row).tile;
    problem.tiles.emplace(tile.br, tile.bc);
    const bool it = tile.br == br && tile.bc == bc;
    if (it && (!problem.tile || times.value(row) < times.value(*problem.tile))) problem.tile = row;
    points.push_back(row);
  }
  std::vector<ClaimFigure> found;
  for (const auto& [key, problem] : problems) {
    if (!problem.tile || problem.tiles.size() < 2) continue;  // alone it is the best of nothing
    found.push_back({"each", times.value(*problem.tile) / problem.best, Unit::ratio,
                     derived_from(times.provenance(*problem.tile)), name_of(evidence.points, *problem.tile)});
  }
  if (found.empty()) return untestable("no_tile");
  return held_to(claimed_by(card), std::move(found), Unit::ratio, std::move(points));
}

/// How much a metric varies with one side of the tile, all else equal.
Verdict varies_with(const Front& card, const Evidence& evidence) {
  const std::optional<Doubled> what = doubled_of(card.text("of"));
  if (what != Doubled::br && what != Doubled::bc) return untestable("broken_card", card.text("of"));
  struct Extremes {
    double low = infinite;
    double high = 0;
    Row row = 0;
    int points = 0;
  };
  std::map<std::string, Extremes> groups;
  std::vector<Row> points;
  const ValueColumn& values = evidence.points.values(card.text("metric"));
  for (const Row row : rows_of_card(card, evidence)) {
    if (evidence.points.disposition(row) != Disposition::ok || !values.has(row)) continue;
    const TileShape& tile = evidence.points.tile_of(row).tile;
    Extremes& group =
        groups[fmt::format("{} {}", case_of(evidence.points, row), what == Doubled::br ? tile.bc : tile.br)];
    group.low = std::min(group.low, values.value(row));
    group.high = std::max(group.high, values.value(row));
    group.row = row;
    ++group.points;
    points.push_back(row);
  }
  std::vector<ClaimFigure> found;
  for (const auto& [key, group] : groups) {
    if (group.points < 2) continue;
    found.push_back({"each", group.high / group.low, Unit::ratio, derived_from(values.provenance(group.row)),
                     name_of(evidence.points, group.row)});
  }
  if (found.empty()) return untestable("no_points");
  return held_to(claimed_by(card), std::move(found), Unit::ratio, std::move(points));
}

AttentionProblem problem_of_card(const Front& card) {
  const auto whole = [&](std::string_view key, std::int64_t otherwise) {
    return static_cast<std::int64_t>(number_of(card, key, static_cast<double>(otherwise)));
  };
  AttentionProblem p{.batch = whole("batch", 1), .heads_q = whole("heads", 1), .heads_kv = whole("heads", 1)};
  p.n_q = p.n_k = whole("n", 1024);
  p.d = whole("d", 64);
  return p;
}

/// Numbers of a list beside numbers of another: N and what is stated of it.
std::vector<std::pair<std::int64_t, double>> table_of(const Front& card) {
  const std::vector<std::string> lengths = card.words("n");
  const std::vector<std::string> stated = card.words("states");
  std::vector<std::pair<std::int64_t, double>> rows;
  for (std::size_t i = 0; i < std::min(lengths.size(), stated.size()); ++i) {
    Front one;
    one.entries["n"].value = lengths[i];
    one.entries["s"].value = stated[i];
    const auto n = one.number("n");
    const auto s = one.number("s");
    if (n && s) rows.emplace_back(static_cast<std::int64_t>(*n), *s);
  }
  return rows;
}

/// A table of what a matrix takes; a row is right within the tolerance.
Verdict of_table(const Front& card, Unit unit, double scale, const std::function<double(const Ledger&)>& of) {
  const double tolerance = number_of(card, "tolerance", 0.1);
  Verdict verdict;
  std::size_t right = 0;
  const std::vector<std::pair<std::int64_t, double>> rows = table_of(card);
  for (const auto& [n, stated] : rows) {
    AttentionProblem p = problem_of_card(card);
    p.n_q = p.n_k = n;
    if (!invalid_reason(p).empty()) return untestable("broken_card", fmt::to_string(n));
    const double is = of(ledger_of(p));
    const std::string name = fmt::format("N {}", n);
    verdict.figures.push_back(
        {"claimed", stated * scale, unit, Provenance::imported, fmt::format("{} ± {:g}%", name, 100 * tolerance)});
    verdict.figures.push_back({"found", is, unit, Provenance::modelled, name});
    if (std::abs(is / (stated * scale) - 1) <= tolerance) ++right;
  }
  if (rows.empty()) return untestable("broken_card", card.text("states"));
  verdict.outcome = right == rows.size() ? Outcome::held : right == 0 ? Outcome::refuted : Outcome::partly;
  return verdict;
}

double matrix_bytes(const Front& card, const Ledger& ledger) {
  const std::string matrix = card.text("matrix");
  const bool all = card.text("over") == "all";
  const auto of = [&](Tensor tensor) {
    const LedgerLine& line = *ledger.find(tensor);
    return static_cast<double>(all ? line.all() : line.one());
  };
  if (matrix == "S") return of(Tensor::s);
  if (matrix == "QKV") return of(Tensor::q) + of(Tensor::k) + of(Tensor::v);
  if (matrix == "moved") return static_cast<double>(ledger.scores_moved());
  if (matrix == "ml") return of(Tensor::m) + of(Tensor::l);
  return 0;
}

/// States megabytes of 10^6 bytes unless the card says `unit: MiB`.
Verdict ledger_test(const Front& card, const Evidence& /*evidence*/) {
  const bool binary = card.text("unit") == "MiB";
  return of_table(card, binary ? Unit::bytes : Unit::bytes_si, binary ? 1 << 20 : 1e6,
                  [&](const Ledger& ledger) { return matrix_bytes(card, ledger); });
}

Verdict ledger_share(const Front& card, const Evidence& /*evidence*/) {
  const DeviceLimits* gpu = find_gpu(card.text("gpu"));
  if (gpu == nullptr) return untestable("no_gpu", card.text("gpu"));
  return of_table(card, Unit::percent, 1, [&](const Ledger& ledger) {
    return 100 * matrix_bytes(card, ledger) / static_cast<double>(gpu->dram_bytes);
  });
}

Verdict gpu_value(const Front& card, const Evidence& /*evidence*/) {
  const DeviceLimits* gpu = find_gpu(card.text("gpu"));
  const GpuValue* value = find_gpu_value(card.text("value"));
  if (gpu == nullptr || value == nullptr) return untestable("no_gpu", card.text("gpu") + ' ' + card.text("value"));
  // Sizes are said as sizes; what else a table of GPUs holds is a plain number.
  const double bytes = value->unit == "MiB" ? 0x1p20 : value->unit == "GiB" ? 0x1p30 : 0;
  Claimed claimed = claimed_by(card);
  if (bytes > 0) {
    claimed.low *= bytes;
    claimed.high *= bytes;
    if (claimed.stated) *claimed.stated *= bytes;
  }
  const Unit unit = bytes > 0 ? Unit::bytes : Unit::plain;
  const double found = value->get(*gpu) * (bytes > 0 ? bytes : 1);
  return held_to(claimed, {{"found", found, unit, Provenance::modelled, gpu->name, true}}, unit, {});
}

/// A measured ceiling, or one over another.
Verdict ceiling_test(const Front& card, const Evidence& evidence) {
  const auto of = [&](std::string_view key) -> std::optional<double> {
    const auto found = std::ranges::find_if(evidence.ceilings, [&](const Ceiling& ceiling) {
      return ceiling.name == key && ceiling.source != CeilingSource::datasheet;
    });
    return found == evidence.ceilings.end() ? std::nullopt : std::optional(found->value);
  };
  const std::optional<double> value = of(card.text("ceiling"));
  const std::string over = card.text("over");
  const std::optional<double> under = over.empty() ? std::optional(1.0) : of(over);
  if (!value || !under) return untestable("no_ceilings");
  const CeilingKind* kind = find_ceiling(card.text("ceiling"));
  const Unit unit = !over.empty()            ? Unit::ratio
                    : kind == nullptr        ? Unit::plain
                    : kind->unit == "ns"     ? Unit::nanoseconds
                    : kind->unit == "byte/s" ? Unit::bytes_per_second
                    : kind->unit == "flop/s" ? Unit::flops
                                             : Unit::plain;
  return held_to(claimed_by(card),
                 {{"found", *value / *under, unit, over.empty() ? Provenance::measured : Provenance::derived}}, unit,
                 {});
}

/// Whether the tile can run on this GPU at all.
Verdict tile_fits(const Front& card, const Evidence& evidence) {
  const Algorithm* algorithm = evidence.registry.find(card.text("algorithm"));
  if (algorithm == nullptr) return untestable("no_algorithm", card.text("algorithm"));
  const auto side = [&](std::string_view key) { return static_cast<int>(number_of(card, key, 0)); };
  const Config config{{.br = side("br"), .bc = side("bc")}, {}};
  const std::optional<Refusal> refusal = algorithm->refusal(problem_of_card(card), config, evidence.gpu);
  // What only our kernels cannot do says nothing of the tile.
  if (refusal && refusal->cause == Refusal::Cause::shape) return untestable("refused", text(refusal->reason));
  Verdict verdict{.outcome = refusal ? Outcome::refuted : Outcome::held};
  verdict.figures.push_back({"tile_rows", static_cast<double>(side("br")), Unit::plain, Provenance::imported});
  verdict.figures.push_back({"tile_keys", static_cast<double>(side("bc")), Unit::plain, Provenance::imported});
  if (refusal) verdict.detail = text(refusal->reason);
  return verdict;
}

/// Rows of the tile that the paper's rule (Algorithm 1, line 1) makes of M bytes: it counts M in elements, of two
/// bytes.
Verdict paper_rule(const Front& card, const Evidence& /*evidence*/) {
  const std::optional<double> kib = card.number("m_kib");
  const std::optional<double> d = card.number("d");
  if (!kib || !d || !(*kib >= 1 && *kib <= 1e6 && *d >= 1 && *d <= 1e6)) return untestable("broken_card", "m_kib, d");
  const auto elements = static_cast<std::int64_t>(*kib * 1024 / 2);
  const PaperTile tile = paper_tile(elements, static_cast<std::int64_t>(*d));
  Verdict verdict =
      held_to(claimed_by(card), {{"tile_keys", static_cast<double>(tile.bc), Unit::plain}}, Unit::plain, {});
  verdict.figures.push_back({"elements", static_cast<double>(elements), Unit::plain, Provenance::modelled});
  return verdict;
}

/// How often each byte of a matrix crosses between L2 and SM: 1 for what the outer loop holds.
Verdict loaded_times(const Front& card, const Evidence& evidence) {
  const Algorithm* algorithm = evidence.registry.find(card.text("algorithm"));
  if (algorithm == nullptr) return untestable("no_algorithm", card.text("algorithm"));
  const AttentionProblem p = problem_of_card(card);
  const AttentionModel model = algorithm->model(p, algorithm->default_config(p, evidence.gpu), evidence.gpu);
  if (model.refusal) return untestable("refused", text(model.refusal->reason));
  const Ledger ledger = ledger_of(p);
  for (const LedgerLine& line : ledger.lines) {
    if (to_string(line.tensor) != card.text("tensor")) continue;
    std::int64_t bytes = 0;
    for (const KernelModel& kernel : model.kernels) {
      for (const OperandTraffic& operand : kernel.operands) {
        if (operand.tensor == line.tensor) bytes += operand.traffic.total();
      }
    }
    const double times = static_cast<double>(bytes) / static_cast<double>(line.all());
    return held_to(claimed_by(card), {{"found", times, Unit::ratio, Provenance::modelled}}, Unit::ratio, {});
  }
  return untestable("broken_card", card.text("tensor"));
}

/// What one algorithm keeps beside Q, K, V and O, over what another does.
Verdict memory_saved(const Front& card, const Evidence& evidence) {
  const AttentionProblem p = problem_of_card(card);
  const auto beside = [&](std::string_view key) -> std::optional<double> {
    const Algorithm* algorithm = evidence.registry.find(card.text(key));
    if (algorithm == nullptr) return std::nullopt;
    const Config config = algorithm->default_config(p, evidence.gpu);
    if (algorithm->refusal(p, config, evidence.gpu)) return std::nullopt;
    return static_cast<double>(bytes_of(algorithm->buffers(p, config, evidence.gpu)) - ledger_of(p).kept());
  };
  const std::optional<double> more = beside("from");
  const std::optional<double> less = beside("to");
  if (!more || !less || *less <= 0) return untestable("no_algorithm", card.text("from") + ' ' + card.text("to"));
  Verdict verdict =
      held_to(claimed_by(card), {{"found", *more / *less, Unit::ratio, Provenance::modelled}}, Unit::ratio, {});
  verdict.figures.push_back({"beside_from", *more, Unit::bytes, Provenance::modelled});
  verdict.figures.push_back({"beside_to", *less, Unit::bytes, Provenance::modelled});
  return verdict;
}

/// Scores 0 .. 7 in blocks of two, whose maximum rises at every block; the fault's error in what comes out.
Verdict softmax_error(const Front& card, const Evidence& /*evidence*/) {
  SoftmaxRows in{.rows = 1, .columns = 8, .d = 1};
  for (int i = 0; i < 8; ++i) {
    in.scores.push_back(i);
    in.values.push_back(i);
  }
  const std::string fault = card.text("fault");
  double error = -1;
  if (fault == "program") error = run_program(in, 2).largest_error;
  for (int i = 0; i < softmax_faults; ++i) {
    const auto each = static_cast<SoftmaxFault>(i);
    if (to_string(each) == fault) error = play_online(in, 2, Rescaling::outer, each).largest_error;
  }
  if (error < 0) return untestable("broken_card", fault);
  return held_to(claimed_by(card), {{"largest_error", error, Unit::plain, Provenance::modelled}}, Unit::plain, {});
}

/// Of what nobody here has measured.
Verdict elsewhere(const Front& card, const Evidence& /*evidence*/) {
  return untestable("elsewhere", card.text("missing"));
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::held:
      return "held";
    case Outcome::partly:
      return "partly";
    case Outcome::refuted:
      return "refuted";
    case Outcome::not_testable:
      return "not-testable";
  }
  return "";
}

std::string_view origin(const ClaimFigure& figure) {
  return figure.of_datasheet ? "datasheet" : to_string(figure.provenance);
}

std::span<const ClaimTest> claim_tests() {
  // What is claimed: one number with its tolerance, or bounds (claimed_by()).
  const std::vector<std::string_view> claimed{"states", "tolerance", "low", "high"};
  const std::vector<std::string_view> of_problem{"states", "tolerance", "low", "high", "heads", "batch"};
  const std::vector<std::string_view> of_matrix{"over", "unit", "tolerance", "d", "heads", "batch"};
  static const std::vector<ClaimTest> tests{
      {"versus", {"from", "to", "metric", "points"}, claimed, versus},
      {"doubled", {"doubled", "metric", "points"}, claimed, doubled},
      {"passes", {"metric", "points"}, claimed, passes},
      {"rate", {"points"}, claimed, rate},
      {"peak-share", {"points"}, claimed, peak_share},
      {"occupancy", {"points"}, claimed, occupancy},
      {"exponent", {"of", "level", "points"}, claimed, exponent},
      {"crossover", {"from", "to", "points"}, claimed, crossover},
      {"tile-best", {"br", "bc", "points"}, claimed, tile_best},
      {"varies-with", {"of", "metric", "points"}, claimed, varies_with},
      {"ledger", {"matrix", "n", "states"}, of_matrix, ledger_test},
      {"ledger-share", {"matrix", "n", "states", "gpu"}, {"over", "tolerance", "d", "heads", "batch"}, ledger_share},
      {"gpu-value", {"gpu", "value", "states"}, {"tolerance"}, gpu_value},
      {"ceiling", {"ceiling"}, {"states", "tolerance", "low", "high", "over"}, ceiling_test},
      {"tile-fits", {"algorithm", "br", "bc", "d"}, {"n", "heads", "batch"}, tile_fits},
      {"paper-rule", {"m_kib", "d", "states"}, {"tolerance"}, paper_rule},
      {"loaded-times", {"algorithm", "tensor", "n", "d"}, of_problem, loaded_times},
      {"memory-saved", {"from", "to", "n", "d"}, of_problem, memory_saved},
      {"softmax-error", {"fault"}, claimed, softmax_error},
      {"elsewhere", {"missing"}, {}, elsewhere},
  };
  return tests;
}

const ClaimTest* find_claim_test(std::string_view word) {
  const auto found = std::ranges::find(claim_tests(), word, &ClaimTest::word);
  return found == claim_tests().end() ? nullptr : &*found;
}

Verdict judge(const Front& card, const Evidence& evidence) {
  const ClaimTest* test = find_claim_test(card.text("test"));
  if (test == nullptr) return untestable("broken_card", card.text("test"));
  if (card.find("points") != nullptr) {
    const auto query = PointQuery::parse(card.text("points"), evidence.points);
    if (!query.ok()) return untestable("broken_card", text(query.error()));
  }
  try {
    return test->run(card, evidence);
  } catch (const std::exception& error) {
    return untestable("broken_card", error.what());
  }
}

}  // namespace attnscope::analysis::lesson
