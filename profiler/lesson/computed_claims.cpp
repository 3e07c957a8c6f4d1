// SPDX-License-Identifier: Apache-2.0
// Claims that no point is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "kernels/model/gpu_values.h"
#include "kernels/model/io_model.h"
#include "profiler/lesson/claim_tests.h"
#include "profiler/lesson/ledger.h"
#include "profiler/lesson/online_softmax.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis::lesson {
namespace {

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
    verdict.figures.push_back({"claimed", stated * scale, unit, Provenance::imported, name, "stated"});
    verdict.figures.push_back({"found", is, unit, Provenance::modelled, name});
    if (std::abs(is / (stated * scale) - 1) <= tolerance) ++right;
  }
  if (rows.empty()) return untestable("broken_card", card.text("states"));
  verdict.figures.push_back(tolerance_figure(tolerance));
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

}  // namespace

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
  return held_to(claimed, {{"found", found, unit, Provenance::modelled, gpu->name, "datasheet"}}, unit, {});
}

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

Verdict tile_fits(const Front& card, const Evidence& evidence) {
  const Algorithm* algorithm = evidence.registry.find(card.text("algorithm"));
  if (algorithm == nullptr) return untestable("no_algorithm", card.text("algorithm"));
  const auto side = [&](std::string_view key) { return static_cast<int>(number_of(card, key, 0)); };
  const Config config{{.br = side("br"), .bc = side("bc")}, {}};
  const std::optional<Refusal> refusal = algorithm->refusal(problem_of_card(card), config, evidence.gpu);
  // What only our kernels cannot do says nothing of the tile.
  if (refusal && refusal->cause == Refusal::Cause::shape) return untestable("refused", text(refusal->reason));
  Verdict verdict{.outcome = refusal ? Outcome::refuted : Outcome::held};
  verdict.figures.push_back(
      {"tile_rows", static_cast<double>(side("br")), Unit::plain, Provenance::imported, {}, "stated"});
  verdict.figures.push_back(
      {"tile_keys", static_cast<double>(side("bc")), Unit::plain, Provenance::imported, {}, "stated"});
  if (refusal) verdict.detail = text(refusal->reason);
  const PointTable& points = evidence.points;
  const ValueColumn& times = points.values(metric_key::time_median_ns);
  for (const Row row : evidence.rows) {
    const AttentionProblem& p = points.problem(row);
    const auto as_asked = [&](std::string_view key, std::int64_t is) {
      return number_of(card, key, static_cast<double>(is)) == static_cast<double>(is);
    };
    if (points.algorithm(row) != algorithm->name() || points.run(row).provenance != Provenance::measured) continue;
    if (p.pass != Pass::fwd || !as_asked("d", p.d) || !as_asked("n", p.n_q) || !as_asked("n", p.n_k) ||
        !as_asked("heads", p.heads_q) || !as_asked("batch", p.batch))
      continue;
    if (!(points.tile_of(row).tile == config.tile) || !same_gpu(points.run(row).limits.name, evidence.gpu.name))
      continue;
    if (points.disposition(row) != Disposition::ok || !times.has(row)) continue;
    verdict.figures.push_back(
        {"ran", times.value(row), Unit::nanoseconds, times.provenance(row), name_of(points, row)});
    verdict.points.push_back(row);
  }
  return verdict;
}

Verdict operations(const Front& card, const Evidence& evidence) {
  const Algorithm* algorithm = evidence.registry.find(card.text("algorithm"));
  if (algorithm == nullptr) return untestable("no_algorithm", card.text("algorithm"));
  std::vector<double> flops;
  for (const Pass pass : {Pass::fwd, Pass::bwd}) {
    AttentionProblem p = problem_of_card(card);
    p.pass = pass;
    const AttentionModel model = algorithm->model(p, algorithm->default_config(p, evidence.gpu), evidence.gpu);
    if (model.refusal) return untestable("refused", text(model.refusal->reason));
    flops.push_back(model.matrix_flops());
  }
  return held_to(claimed_by(card), {{"found", flops[1] / flops[0], Unit::ratio, Provenance::modelled}}, Unit::ratio,
                 {});
}

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

Verdict loaded_times(const Front& card, const Evidence& evidence) {
  const Algorithm* algorithm = evidence.registry.find(card.text("algorithm"));
  if (algorithm == nullptr) return untestable("no_algorithm", card.text("algorithm"));
  const AttentionProblem p = problem_of_card(card);
  const AttentionModel model = algorithm->model(p, algorithm->default_config(p, evidence.gpu), evidence.gpu);
  if (model.refusal) return untestable("refused", text(model.refusal->reason));
  Ledger ledger = ledger_of(p);
  ledger.lines.push_back({.tensor = Tensor::o_acc,
                          .matrices = p.instances(),
                          .rows = p.n_q,
                          .cols = p.d,
                          .element_bytes = accumulator_bytes(p.dtype)});
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

Verdict softmax_error(const Front& card, const Evidence& /*evidence*/) {
  SoftmaxRows in{.rows = 1, .columns = 8, .d = 1};
  for (int i = 0; i < 8; ++i) {
    in.scores.push_back(i);
    in.values.push_back(i);
  }
  const std::string fault = card.text("fault");
  double error = -1;
  for (int i = 0; i < softmax_faults; ++i) {
    const auto each = static_cast<SoftmaxFault>(i);
    if (to_string(each) == fault) error = play_online(in, 2, Rescaling::outer, each).largest_error;
  }
  if (error < 0) return untestable("broken_card", fault);
  return held_to(claimed_by(card), {{"largest_error", error, Unit::plain, Provenance::modelled}}, Unit::plain, {});
}

Verdict elsewhere(const Front& card, const Evidence& /*evidence*/) {
  return untestable("elsewhere", card.text("missing"));
}

}  // namespace attnscope::analysis::lesson
