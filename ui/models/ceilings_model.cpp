// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/ceilings_model.h"

#include <QGuiApplication>
#include <algorithm>
#include <map>
#include <set>

#include "messages/ceilings_page.h"
#include "profiler/analysis/peaks.h"
#include "profiler/metrics/point.h"
#include "ui/models/runs_model.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// Bytes of ceilings are room, not traffic.
QString in_unit(double value, std::string_view unit) {
  return format_value(value, unit == "byte" ? "capacity" : unit);
}

QString words_of(const Ceiling& ceiling) {
  // A mask of NVML's bits, kept as a number; 0 is none of them.
  constexpr double past_any_mask = 9e15;
  if (ceiling.name == ceiling_key::throttle_reasons && ceiling.value > 0 && ceiling.value < past_any_mask) {
    const Message reasons = describe_throttle_reasons(static_cast<std::uint64_t>(ceiling.value));
    if (!reasons.empty()) return qtext(reasons);
  }
  return in_unit(ceiling.value, ceiling.unit);
}

/// Half the distance of the quartiles, in the value's own unit.
QString spread_text(const Ceiling& ceiling) {
  if (!ceiling.q1 || !ceiling.q3) return {};
  return QStringLiteral("±%1").arg(in_unit((*ceiling.q3 - *ceiling.q1) / 2, ceiling.unit));
}

QString text_of(const CeilingLine& line, int column) {
  switch (column) {
    case CeilingsModel::name_column:
      return qtext(analysis::ceiling_label(*line.kind, line.ceiling.source));
    case CeilingsModel::data_column:
      return line.kind->curve ? qtext(Capacity(line.ceiling.argument)) : QString();
    case CeilingsModel::value_column:
      return words_of(line.ceiling);
    case CeilingsModel::spread_column: {
      const auto spread = relative_spread(line.ceiling);
      // Of a value near zero a percentage says nothing.
      if (spread && *spread > 1) return spread_text(line.ceiling);
      return spread ? QStringLiteral("±") + qtext(Share(*spread)) : QString();
    }
    case CeilingsModel::clock_column:
      return line.clock_hz ? qtext(Hertz(*line.clock_hz)) : QString();
    case CeilingsModel::origin_column:
      return to_qstring(to_string(line.ceiling.source));
    default:
      return {};
  }
}

}  // namespace

std::vector<ShownCeilings> ceilings_of(const Workspace& workspace) {
  std::vector<ShownCeilings> shown;
  std::set<std::string> uids;
  std::set<std::string> measured;
  std::vector<const FileCeilings*> sets;
  for (const FileCeilings& each : workspace.ceilings()) sets.push_back(&each);
  std::stable_sort(sets.begin(), sets.end(),
                   [](const auto* a, const auto* b) { return a->set.measured_at > b->set.measured_at; });
  for (const FileCeilings* each : sets) {
    const StoredCeilings& set = each->set;
    measured.insert(set.device_uuid);
    if (!uids.insert(set.uid).second) continue;  // a copy
    shown.push_back({set.device_name, set.device_uuid,
                     QStringLiteral("%1 · %2 · %3")
                         .arg(QString::fromStdString(set.device_name), format_time(set.measured_at),
                              workspace.file_name(each->file)),
                     true, set.ceilings});
  }
  for (const LoadedRun& run : workspace.runs()) {
    const RunSummary& summary = run.info->summary;
    if (summary.provenance == Provenance::imported || !measured.insert(summary.device_uuid).second) continue;
    std::vector<Ceiling> datasheet = datasheet_ceilings(summary.limits);
    if (datasheet.empty()) continue;
    // A GPU and its simulation are of one name.
    std::string device = summary.device_name;
    if (summary.provenance == Provenance::simulated)
      device.append(" (").append(to_string(summary.provenance)).append(")");
    shown.push_back({summary.device_name, summary.device_uuid,
                     qtext(say::ceilings_page::of_datasheet{.device = device}), false, std::move(datasheet)});
  }
  return shown;
}

void CeilingsModel::set_ceilings(std::span<const Ceiling> ceilings) {
  beginResetModel();
  lines_ = ceiling_lines(ceilings);
  endResetModel();
}

QVariant CeilingsModel::cell(int row, int column, int role) const {
  const CeilingLine& line = lines_[static_cast<std::size_t>(row)];
  switch (role) {
    case Qt::DisplayRole:
      return text_of(line, column);
    case Qt::ToolTipRole:
      return column == name_column ? QVariant(plain_tip(text_of(line, column))) : QVariant();
    case sort_role:
      if (column == data_column) return line.ceiling.argument;
      if (column == value_column) return line.ceiling.value;
      return text_of(line, column);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>(
          (column == name_column || column == origin_column ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      // What nobody measured is not read like what was.
      return line.ceiling.source == CeilingSource::datasheet ? QVariant(plot_colors(QGuiApplication::palette()).muted)
                                                             : QVariant();
    default:
      return {};
  }
}

QVariant CeilingsModel::header(int column, int role) const {
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue<Qt::Alignment>(
        (column == name_column || column == origin_column ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (column) {
    case name_column:
      return qtext(say::ceilings_page::ceiling{});
    case data_column:
      return qtext(say::ceilings_page::data{});
    case value_column:
      return qtext(say::ceilings_page::value{});
    case spread_column:
      return qtext(say::ceilings_page::spread{});
    case clock_column:
      return qtext(say::ceilings_page::clock{});
    case origin_column:
      return qtext(say::ceilings_page::provenance{});
    default:
      return {};
  }
}

}  // namespace attnscope::ui
