// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/error_note.h"

#include <algorithm>
#include <map>

#include "messages/prediction.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::ErrorRow;
using analysis::PublishedErrors;

/// Below this number of problems the 95th percentile is unknown.
constexpr std::size_t min_problems_for_p95 = 3;

std::string short_gpu(const std::string& name) {
  return QString::fromStdString(name).remove(QStringLiteral("NVIDIA ")).toStdString();
}

/// "DRAM ±0.4% (p95 1.4%)"
QString figure(const ErrorRow& row, const Message& quantity) {
  const std::string median = text(Share(row.median));
  if (row.problems < min_problems_for_p95) {
    return qtext(msg::prediction::of_few_problems{.median = median, .problems = row.problems, .quantity = quantity});
  }
  return qtext(msg::prediction::figure{.median = median, .p95 = text(Share(row.p95)), .quantity = quantity});
}

/// Returns "FA3" or "FA3 fp8" for a result of error_group().
QString algorithm_short_label(std::string_view judged) {
  const std::size_t end = std::min(judged.find(' '), judged.size());
  return short_title(judged.substr(0, end)) + QString::fromUtf8(judged.substr(end));
}

/// "FA2 DRAM ±0.4% (p95 1.4%), time ±56% (p95 75%)"
QString error_figures(const PublishedErrors& errors, const SimulatedGroup& part) {
  QStringList figures;
  if (const ErrorRow* dram = errors.find(part.algorithm, part.pass, "dram_bytes")) {
    figures << figure(*dram, msg::prediction::dram{});
  }
  if (const ErrorRow* time = errors.find(part.algorithm, part.pass, "time")) {
    figures << figure(*time, msg::prediction::time{});
  }
  const QString title = algorithm_short_label(part.algorithm);
  if (figures.isEmpty()) return qtext(msg::prediction::not_validated{.what = title.toStdString()});
  return title + QLatin1Char(' ') + figures.join(QStringLiteral(", "));
}

QString line_of(const std::set<SimulatedGroup>& parts) {
  std::map<std::string, QStringList> figures;  // Keyed by the GPU of the validation.
  QStringList others;
  for (const SimulatedGroup& part : parts) {
    const std::string gpu = short_gpu(part.gpu);
    if (part.errors != nullptr) {
      figures[part.errors->device] << error_figures(*part.errors, part);
    } else {
      others << qtext(msg::prediction::not_validated{.what = gpu});
    }
    if (!part.l2_source.empty()) {
      others << qtext(msg::prediction::l2_source{.gpu = short_gpu(part.l2_source), .what = gpu});
    }
  }
  QStringList lines;
  for (const auto& [gpu, of_gpu] : figures) {
    lines << qtext(
        msg::prediction::line{.figures = of_gpu.join(QStringLiteral(" · ")).toStdString(), .gpu = short_gpu(gpu)});
  }
  others.removeDuplicates();
  return (lines + others).join(QStringLiteral(" · "));
}

}  // namespace

std::set<SimulatedGroup> simulated_groups(const PointSet& points, std::span<const Row> rows) {
  std::set<SimulatedGroup> parts;
  std::map<const analysis::Run*, const PublishedErrors*> errors;
  const analysis::PointTable& table = points.table();
  for (const Row row : rows) {
    const analysis::Run& run = table.run(row);
    if (run.provenance != Provenance::simulated) continue;
    const AttentionProblem problem = table.problem(row);
    const auto [known, first] = errors.try_emplace(&run);
    if (first) known->second = analysis::validated_errors(run.limits);
    parts.insert({analysis::error_group(table.algorithm(row), problem.dtype), problem.pass, run.device_name,
                  run.l2_source, known->second});
  }
  return parts;
}

ErrorNote::ErrorNote(QWidget* parent) : ElidedLabel(parent) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  hide();
}

void ErrorNote::show_errors(const std::set<SimulatedGroup>& parts) {
  const QString line = line_of(parts);
  setText(line);
  setToolTip(plain_tooltip(line));
  setVisible(!parts.empty());
}

}  // namespace attnscope::ui
