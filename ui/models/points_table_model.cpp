// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_table_model.h"

#include <QColor>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>
#include <algorithm>
#include <array>
#include <optional>

#include "kernels/common_knobs.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

struct Value {
  QString text;
  QVariant sort;  ///< invalid: the point has no value here
  QString tip;
  bool number = false;
};

using Search = PointsTableModel::Search;

struct Column {
  const char* heading;
  const char* key;  ///< in a filter: "heads=64"
  const char* help;
  Search search;
  Value (*value)(const ShownPoint&);
  bool (*in_use)(const ShownPoint&) = nullptr;  ///< none: always shown
  std::string_view metric = {};                 ///< of the metrics table, whose unit the values have; empty: a setting
};

Value text_value(const QString& text) {
  return {text, text.isEmpty() ? QVariant() : QVariant(text), {}, false};
}

Value integer(std::int64_t value) {
  return {QString::number(value), QVariant::fromValue(static_cast<qlonglong>(value)), {}, true};
}

/// Empty where it is not set.
Value optional_integer(std::int64_t value) {
  return value > 0 ? integer(value) : Value{{}, {}, {}, true};
}

Value metric(const ShownPoint& point, std::string_view key) {
  const auto value = evaluate(key, point.record());
  if (!value) return {{}, {}, {}, true};
  return {format_metric(*value), value->value,
          QStringLiteral("%1 (%2)").arg(format_number(value->value, 12), to_qstring(value->provenance)), true};
}

Value traffic(const ShownPoint& point, Quantity quantity) {
  const auto bytes = analysis::traffic(point.record(), quantity);
  if (!bytes) return {{}, {}, {}, true};
  return {format_metric(*bytes), bytes->value,
          QStringLiteral("%1 bytes, %2").arg(format_number(bytes->value, 12), to_qstring(bytes->provenance)), true};
}

constexpr const char* result_heading = "Result";

constexpr std::array columns_table{
    Column{"Algorithm", "algorithm", "Attention algorithm", Search::words,
           [](const ShownPoint& p) { return text_value(QString::fromStdString(p.spec().algorithm)); }},
    Column{"Pass", "pass", "fwd, bwd or both", Search::words,
           [](const ShownPoint& p) { return text_value(to_qstring(to_string(p.spec().problem.pass))); }},
    Column{"N", "n", "Sequence length (n_q × n_k where they differ)", Search::numbers,
           [](const ShownPoint& p) {
             const AttentionProblem& problem = p.spec().problem;
             Value value = integer(problem.n_k);
             value.text = format_lengths(problem);
             return value;
           }},
    Column{"d", "d", "Head dimension", Search::numbers,
           [](const ShownPoint& p) { return integer(p.spec().problem.d); }},
    Column{"Mask", "mask", "Which pairs of query and key count; full is mask=none of the command line and of exports",
           Search::words, [](const ShownPoint& p) { return text_value(format_mask(p.spec().problem.mask)); }},
    Column{"Type", "type", "Element type", Search::words,
           [](const ShownPoint& p) { return text_value(to_qstring(to_string(p.spec().problem.dtype))); }},
    Column{"Batch × heads", "heads", "Independent attention problems", Search::by_name,
           [](const ShownPoint& p) {
             Value value = integer(p.spec().problem.instances());
             value.text = format_heads(p.spec().problem);
             return value;
           }},
    Column{"Dropout", "dropout", "Probability with which an entry of P is dropped", Search::numbers,
           [](const ShownPoint& p) {
             const double dropout = p.spec().problem.dropout;
             return dropout > 0 ? Value{QString::number(dropout), dropout, {}, true} : Value{{}, {}, {}, true};
           },
           [](const ShownPoint& p) { return p.spec().problem.dropout > 0; }},
    Column{"Page", "page", "Keys of a page of a paged K/V cache", Search::by_name,
           [](const ShownPoint& p) { return optional_integer(p.spec().problem.page); },
           [](const ShownPoint& p) { return p.spec().problem.page > 0; }},
    Column{"Deterministic", "deterministic", "Whether gradients repeat bitwise", Search::by_name,
           [](const ShownPoint& p) {
             return text_value(p.spec().problem.deterministic ? QStringLiteral("yes") : QString());
           },
           [](const ShownPoint& p) { return p.spec().problem.deterministic; }},
    Column{"Br", "br", "Query rows of a tile", Search::numbers,
           [](const ShownPoint& p) { return optional_integer(p.spec().tile.br); }},
    Column{"Bc", "bc", "Key rows of a tile", Search::numbers,
           [](const ShownPoint& p) { return optional_integer(p.spec().tile.bc); }},
    Column{"Splits", "splits", "Parts that each head's keys are cut into; empty: the algorithm's choice",
           Search::by_name, [](const ShownPoint& p) { return optional_integer(p.spec().knobs.number("splits")); },
           [](const ShownPoint& p) { return p.spec().knobs.number("splits") > 0; }},
    Column{"Warps", "warps", "Warps that multiply; empty: the algorithm's choice", Search::by_name,
           [](const ShownPoint& p) { return optional_integer(p.spec().knobs.number("warps")); },
           [](const ShownPoint& p) { return p.spec().knobs.number("warps") > 0; }},
    Column{"Stages", "stages", "Buffers of K and of V; empty: the algorithm's choice", Search::by_name,
           [](const ShownPoint& p) { return optional_integer(p.spec().knobs.number("stages")); },
           [](const ShownPoint& p) { return p.spec().knobs.number("stages") > 0; }},
    Column{result_heading, "result", "How the point ended", Search::words,
           [](const ShownPoint& p) {
             Value value = text_value(to_qstring(to_string(p.record().disposition)));
             value.tip = to_qstring(p.record().reason);
             if (const auto& clocks = p.record().clocks; clocks && clocks->throttled) {
               value.text += QStringLiteral(", throttled");
               value.tip = QStringLiteral("The GPU slowed its clocks: %1")
                               .arg(QString::fromStdString(describe_throttle_reasons(clocks->throttle_reasons)));
             }
             if (p.record().origin() == Provenance::extrapolated) {
               value.text += QStringLiteral(", extrapolated");
               value.tip = QStringLiteral("Simulated in part, and continued from that");
             }
             return value;
           }},
    Column{"Time", "time", "Median of the timing samples", Search::by_name,
           [](const ShownPoint& p) { return metric(p, metric_key::time_median_ns); }, nullptr,
           metric_key::time_median_ns},
    Column{"Rate", "rate", "Matrix-product operations in that time", Search::by_name,
           [](const ShownPoint& p) { return metric(p, metric_key::tflops); }, nullptr, metric_key::tflops},
    Column{"DRAM", "dram", "DRAM bytes read and written", Search::by_name,
           [](const ShownPoint& p) { return traffic(p, Quantity::dram); }, nullptr, metric_key::dram_bytes},
    Column{"SM↔L2", "sm_l2", "Bytes between the SMs and the L2, both directions", Search::by_name,
           [](const ShownPoint& p) { return traffic(p, Quantity::sm_l2); }, nullptr, metric_key::l2_sm_bytes},
    Column{"Model SM↔L2", "model", "What the tile program says the SMs must move (modelled)", Search::by_name,
           [](const ShownPoint& p) { return metric(p, metric_key::model_l2_sm_bytes); }, nullptr,
           metric_key::model_l2_sm_bytes},
    Column{"÷ model", "over_model", "Measured SM↔L2 bytes over the model's", Search::by_name,
           [](const ShownPoint& p) {
             Value value = metric(p, metric_key::l2_sm_over_model);
             if (!value.text.isEmpty()) value.text = QString::number(value.sort.toDouble(), 'f', 4);
             return value;
           },
           nullptr, metric_key::l2_sm_over_model},
    Column{"Occupancy", "occupancy", "Achieved warps, of the most an SM can hold", Search::by_name,
           [](const ShownPoint& p) { return metric(p, metric_key::achieved_occupancy_pct); }, nullptr,
           metric_key::achieved_occupancy_pct},
    Column{"Registers", "registers", "A thread's registers", Search::by_name,
           [](const ShownPoint& p) {
             Value value = metric(p, metric_key::registers);
             value.text = value.text.section(QLatin1Char(' '), 0, 0);
             return value;
           },
           nullptr, metric_key::registers},
    Column{"Shared", "shared", "Shared memory of a block", Search::by_name,
           [](const ShownPoint& p) { return metric(p, metric_key::shared_bytes); }, nullptr, metric_key::shared_bytes},
    Column{"Values", "values", "Where the point's numbers come from", Search::words,
           [](const ShownPoint& p) { return text_value(to_qstring(p.record().origin())); }},
    Column{"Run", "run", "Preset and device", Search::words,
           [](const ShownPoint& p) {
             return text_value(QStringLiteral("%1 on %2")
                                   .arg(p.run->title.isEmpty() ? run_title(p.run->summary) : p.run->title,
                                        QString::fromStdString(p.run->summary.device_name)));
           }},
    Column{"Reason", "reason", "Why a point has no value", Search::words,
           [](const ShownPoint& p) { return text_value(to_qstring(p.record().reason)); }},
};

}  // namespace

PointsTableModel::PointsTableModel(QObject* parent) : TableModel(parent) {}

void PointsTableModel::set_points(std::vector<ShownPoint> points) {
  const bool grown =
      points.size() >= points_.size() &&
      std::equal(points_.begin(), points_.end(), points.begin(), [](const ShownPoint& a, const ShownPoint& b) {
        return a.point == b.point && a.run->title == b.run->title;
      });
  if (!grown || points_.empty()) {
    beginResetModel();
    points_ = std::move(points);
    endResetModel();
  } else if (points.size() > points_.size()) {
    beginInsertRows({}, static_cast<int>(points_.size()), static_cast<int>(points.size()) - 1);
    points_ = std::move(points);
    endInsertRows();
  }
}

int PointsTableModel::column_of(const QString& heading) const {
  for (std::size_t i = 0; i < columns_table.size(); ++i) {
    if (heading == QString::fromUtf8(columns_table[i].heading)) return static_cast<int>(i);
  }
  return -1;
}

bool PointsTableModel::column_in_use(int column) const {
  const Column& spec = columns_table[static_cast<std::size_t>(column)];
  return spec.in_use == nullptr || std::any_of(points_.begin(), points_.end(), spec.in_use);
}

int PointsTableModel::column_named(const QString& key) const {
  for (std::size_t i = 0; i < columns_table.size(); ++i) {
    if (key.compare(QLatin1String(columns_table[i].key), Qt::CaseInsensitive) == 0) return static_cast<int>(i);
  }
  return -1;
}

PointsTableModel::Search PointsTableModel::search_of(int column) const {
  return columns_table[static_cast<std::size_t>(column)].search;
}

bool PointsTableModel::is_setting(int column) const {
  return columns_table[static_cast<std::size_t>(column)].metric.empty();
}

int PointsTableModel::columns() const {
  return static_cast<int>(columns_table.size());
}

QVariant PointsTableModel::cell(int row, int column, int role) const {
  const ShownPoint& shown = point(row);
  const Column& spec = columns_table[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return spec.value(shown).text;
    case Qt::ToolTipRole: {
      const Value value = spec.value(shown);
      return value.tip.isEmpty() ? QVariant() : QVariant(plain_tip(value.tip));
    }
    case sort_role:
      return spec.value(shown).sort;
    case copy_role: {
      const Value value = spec.value(shown);
      if (spec.metric.empty()) return value.text;
      return value.sort.isValid() ? QString::number(value.sort.toDouble(), 'g', QLocale::FloatingPointShortest)
                                  : QString();
    }
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>((spec.value(shown).number ? Qt::AlignRight : Qt::AlignLeft) |
                                                Qt::AlignVCenter);
    case Qt::ForegroundRole: {
      const bool dark = plot_colors(QGuiApplication::palette()).dark;
      if (column == 0) return algorithm_color(shown.spec().algorithm, dark);
      if (spec.heading == result_heading) return disposition_color(shown.record().disposition, dark);
      return {};
    }
    default:
      return {};
  }
}

QVariant PointsTableModel::header(int column, int role) const {
  const Column& spec = columns_table[static_cast<std::size_t>(column)];
  if (role == copy_role) {
    const Metric* row = find_metric(spec.metric);
    const QString heading = QString::fromUtf8(spec.heading);
    return row == nullptr || row->unit == "1" ? heading : QStringLiteral("%1 [%2]").arg(heading, to_qstring(row->unit));
  }
  if (role == Qt::DisplayRole) return QString::fromUtf8(spec.heading);
  if (role == Qt::ToolTipRole) return QString::fromUtf8(spec.help);
  return {};
}

}  // namespace attnscope::ui
