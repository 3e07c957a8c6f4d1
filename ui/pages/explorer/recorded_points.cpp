// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/recorded_points.h"

#include <QScopedValueRollback>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

#include "messages/explorer_page.h"
#include "profiler/points/point_table.h"
#include "profiler/predict/unit_use.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

double octaves(std::int64_t a, std::int64_t b) {
  return a > 0 && b > 0 ? std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))) : a == b ? 0 : 1;
}

/// What two points may differ by, and how far that sets them apart.
struct Distance {
  std::vector<std::string_view> fields;  ///< that it is worked out of; empty: knobs
  double (*apart)(const PointSpec&, const PointSpec&);
};

/// Sides of a tile weigh least: what differs in the problem itself is farther away.
const std::vector<Distance>& distances() {
  static constexpr double of_problem = 4;
  static constexpr double of_words = 16;
  static constexpr auto differ = [](bool same) { return same ? 0 : of_words; };
  static const std::vector<Distance> all{
      {{"br"}, [](const PointSpec& a, const PointSpec& b) { return octaves(a.tile.br, b.tile.br); }},
      {{"bc"}, [](const PointSpec& a, const PointSpec& b) { return octaves(a.tile.bc, b.tile.bc); }},
      {{}, [](const PointSpec& a, const PointSpec& b) { return a.knobs == b.knobs ? 0.0 : 1.0; }},
      {{"n_q"}, [](const auto& a, const auto& b) { return of_problem * octaves(a.problem.n_q, b.problem.n_q); }},
      {{"n_k"}, [](const auto& a, const auto& b) { return of_problem * octaves(a.problem.n_k, b.problem.n_k); }},
      {{"d"}, [](const auto& a, const auto& b) { return of_problem * octaves(a.problem.d, b.problem.d); }},
      {{"batch", "heads_q"},
       [](const PointSpec& a, const PointSpec& b) {
         return of_problem * octaves(a.problem.heads_q * a.problem.batch, b.problem.heads_q * b.problem.batch);
       }},
      {{"batch", "heads_kv"},
       [](const PointSpec& a, const PointSpec& b) {
         return of_problem * octaves(a.problem.heads_kv * a.problem.batch, b.problem.heads_kv * b.problem.batch);
       }},
      {{"mask"}, [](const auto& a, const auto& b) { return differ(a.problem.mask == b.problem.mask); }},
      {{"dtype"}, [](const auto& a, const auto& b) { return differ(a.problem.dtype == b.problem.dtype); }},
      {{"dropout"}, [](const auto& a, const auto& b) { return differ(a.problem.dropout == b.problem.dropout); }},
      {{"page"}, [](const auto& a, const auto& b) { return differ(a.problem.page == b.problem.page); }},
      {{"deterministic"},
       [](const auto& a, const auto& b) { return differ(a.problem.deterministic == b.problem.deterministic); }},
      {{"cache"}, [](const auto& a, const auto& b) { return differ(a.cache == b.cache); }},
  };
  return all;
}

struct Use {
  QString words;
  double share = 0;
};

Use use_of(GpuUnit unit, const PointRecord& record, const std::string& kernel, const DeviceLimits& limits) {
  constexpr double percent_of_one = 100;
  const auto number = [](double percent) { return QString::number(percent, 'f', 0).toStdString(); };
  const auto said = [&](double percent) -> Use {
    return {qtext(say::explorer_page::use{.percent = number(percent)}), percent / percent_of_one};
  };
  if (const auto use = analysis::counted_use(unit, record, kernel)) return said(*use);
  if (unit == GpuUnit::tensor) {
    const auto pipe = evaluate(metric_key::tensor_pipe_pct, record, kernel);
    if (!pipe) return {};
    return {qtext(say::explorer_page::use_while_active{.percent = number(pipe->value)}), pipe->value / percent_of_one};
  }
  const auto rate = evaluate(metric_key::dram_bandwidth, record, kernel);
  if (unit != GpuUnit::dram || !rate || limits.dram_bytes_per_second <= 0) return {};
  return said(100 * rate->value / limits.dram_bytes_per_second);
}

}  // namespace

std::optional<UnitBars::Measured> measured_of(const PointRecord& record, const std::string& kernel,
                                              const DeviceLimits& limits) {
  const auto time = evaluate(metric_key::time_median_ns, record, kernel);
  if (!time) return std::nullopt;
  UnitBars::Measured measured{.ns = time->value, .provenance = to_qstring(time->provenance)};
  if (time->provenance != Provenance::measured) return measured;
  for (const GpuUnit unit : gpu_units) {
    const Use use = use_of(unit, record, kernel, limits);
    measured.uses.at(static_cast<std::size_t>(unit)) = use.words;
    measured.shares.at(static_cast<std::size_t>(unit)) = use.share;
  }
  return measured;
}

RecordedPoints::RecordedPoints(const Workspace& workspace, const std::function<void()>& found)
    : workspace_(workspace), work_(&RecordedPoints::candidates_of, [this, found](CandidatesPtr candidates) {
        candidates_ = std::move(candidates);
        if (!asking_) found();
      }) {
  work_.on_failure([](const QString&) {});  // then none is found
}

RecordedPoints::CandidatesPtr RecordedPoints::candidates_of(const Ask& ask, const Outdated& outdated) {
  const analysis::PointTable& table = ask.points->table();
  const analysis::PointColumns& columns = table.points();
  const auto found = std::make_shared<Candidates>(Candidates{.of = ask, .rows = {}, .parts = {}});
  std::vector<bool> of_gpu;
  for (const analysis::Run& run : table.runs()) {
    of_gpu.push_back(run.provenance == Provenance::measured && same_gpu(run.device_name, ask.device));
  }
  const analysis::FieldColumn& pass = columns.field("pass");
  const std::string asked_pass(to_string(ask.pass));
  std::map<std::uint64_t, bool> of_pass;
  for (Row row = 0; row < table.size(); ++row) {
    if (!of_gpu[table.run_index(row)] || table.disposition(row) != Disposition::ok) continue;
    if (table.algorithm(row) != ask.algorithm) continue;
    const auto [known, first] = of_pass.try_emplace(pass.key(row));
    if (first) known->second = attnscope::to_string(pass.value(row)) == asked_pass;
    if (known->second) found->rows.push_back(row);
  }
  for (const Distance& distance : distances()) {
    if (outdated()) break;
    std::vector<const analysis::FieldColumn*> fields;
    for (const std::string_view name : distance.fields) fields.push_back(&columns.field(name));
    std::map<std::array<std::uint64_t, 2>, std::uint32_t> codes;
    auto last = codes.end();
    Candidates::Part& part = found->parts.emplace_back();
    part.codes.reserve(found->rows.size());
    for (const Row row : found->rows) {
      std::array<std::uint64_t, 2> key{};
      for (std::size_t i = 0; i < fields.size(); ++i) key.at(i) = fields[i]->key(row);
      if (fields.empty()) key[0] = columns.knobs().code(row);
      if (last == codes.end() || last->first != key) {  // neighbours mostly agree
        bool first = false;
        std::tie(last, first) = codes.try_emplace(key, static_cast<std::uint32_t>(part.values.size()));
        if (first) part.values.push_back(columns.spec(row, distance.fields));
      }
      part.codes.push_back(last->second);
    }
  }
  return found;
}

const RecordedPoints::Candidates* RecordedPoints::candidates(const PointSpec& spec, const std::string& device) {
  Ask ask{workspace_.visible(), spec.algorithm, spec.problem.pass, device};
  if (candidates_ != nullptr && candidates_->of == ask) return candidates_.get();
  if (work_.busy() && asked_ == ask) return nullptr;
  asked_ = ask;
  const QScopedValueRollback asking(asking_, true);
  const std::size_t points = ask.points->size();
  work_.ask(std::move(ask), points);
  return work_.busy() ? nullptr : candidates_.get();
}

std::optional<RecordedPoints::Found> RecordedPoints::find(const ExplorerChoices& choices) {
  if (choices.point.padding_bytes > 0 || !choices.what_if.changes_nothing() || workspace_.gathering()) {
    return std::nullopt;
  }
  const PointSpec& spec = choices.point.spec;
  const Candidates* of = candidates(spec, choices.device);
  if (of == nullptr) return std::nullopt;
  const PointSet& points = *of->of.points;
  std::vector<double> apart(of->rows.size(), 0);
  for (std::size_t part = 0; part < of->parts.size(); ++part) {
    std::vector<double> of_value;
    for (const PointSpec& value : of->parts[part].values) of_value.push_back(distances()[part].apart(spec, value));
    for (std::size_t i = 0; i < apart.size(); ++i) apart[i] += of_value[of->parts[part].codes[i]];
  }
  // Of equal ones the one that was recorded last; the very point before any other.
  std::optional<Row> nearest;
  bool is_it = false;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = apart.size(); i-- > 0 && !is_it;) {
    if (apart[i] > 0 && apart[i] >= least) continue;
    is_it = apart[i] == 0 && points.table().spec(of->rows[i]) == spec;
    if (is_it || apart[i] < least) nearest = of->rows[i];
    least = std::min(least, apart[i]);
  }
  if (!nearest) return std::nullopt;
  const ShownPoint point = points[*nearest];
  Found found{.record = nullptr, .spec = point.spec, .title = point.run->title, .ns = {}};
  found.ns = points.table().values(metric_key::time_median_ns).at(*nearest);
  // A file is read for the very point alone: the window waits for it.
  if (is_it) found.record = records_.read(point).record;
  return found;
}

}  // namespace attnscope::ui
