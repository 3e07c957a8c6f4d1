// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/recorded_points.h"

#include <QScopedValueRollback>
#include <algorithm>
#include <cmath>
#include <variant>

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

/// Adds to each row's distance how far its value of a field is from the point's. Sides of a tile weigh least: what
/// differs in the problem itself is farther away.
void add_distances(const analysis::FieldColumn& column, const PointSpec& spec, const std::vector<Row>& rows,
                   std::vector<double>& apart) {
  constexpr double of_problem = 4;
  constexpr double of_words = 16;
  const Field& field = column.field();
  const FieldValue asked = field.get(spec);
  std::optional<std::uint64_t> key;
  double distance = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (column.key(rows[i]) != key) {  // neighbours mostly agree
      key = column.key(rows[i]);
      distance = field.type == FieldType::integer ? (field.role == FieldRole::tile ? 1 : of_problem) *
                                                        octaves(column.number(rows[i]), std::get<std::int64_t>(asked))
                                                  : (column.value(rows[i]) == asked ? 0 : of_words);
    }
    apart[i] += distance;
  }
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
  const auto found = std::make_shared<Candidates>(Candidates{.of = ask, .rows = {}});
  std::vector<bool> of_gpu;
  for (const analysis::Run& run : table.runs()) {
    of_gpu.push_back(run.provenance == Provenance::measured && same_gpu(run.device_name, ask.device));
  }
  const analysis::FieldColumn& pass = table.points().field("pass");
  for (Row row = 0; row < table.size() && !outdated(); ++row) {
    if (of_gpu[table.run_index(row)] && table.disposition(row) == Disposition::ok &&
        table.algorithm(row) == ask.algorithm && pass.word(row) == to_string(ask.pass)) {
      found->rows.push_back(row);
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
  const analysis::PointColumns& columns = points.table().points();
  std::vector<double> apart(of->rows.size(), 0);
  for (const analysis::FieldColumn& column : columns.fields()) add_distances(column, spec, of->rows, apart);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    if (columns.knobs()[of->rows[i]] != spec.knobs) apart[i] += 1;
  }
  // The latest of equally near points.
  const auto nearest = std::min_element(apart.rbegin(), apart.rend());
  if (nearest == apart.rend()) return std::nullopt;
  const Row row = of->rows[static_cast<std::size_t>(apart.rend() - nearest) - 1];
  const ShownPoint point = points[row];
  Found found{.record = nullptr, .spec = point.spec, .title = point.run->title, .ns = {}};
  found.ns = points.table().values(metric_key::time_median_ns).at(row);
  // A file is read for the very point alone: the window waits for it.
  if (*nearest == 0 && point.spec == spec) found.record = records_.read(point).record;
  return found;
}

}  // namespace attnscope::ui
