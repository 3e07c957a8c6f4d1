// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison_model.h"

#include <QColor>
#include <QFont>
#include <QGuiApplication>
#include <utility>

#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

void ComparisonModel::set_table(std::shared_ptr<const ComparisonTable> table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

std::optional<int> ComparisonModel::row_of(Row point) const {
  const std::optional<std::size_t> line = table_->line_of(point);
  return line ? std::optional(static_cast<int>(*line)) : std::nullopt;
}

QVariant ComparisonModel::cell(int row, int column, int role) const {
  const ComparisonTable::Line& line = table_->lines()[static_cast<std::size_t>(row)];
  const ComparisonTable::Column& shown = table_->columns()[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return shown.value(line).text;
    case sort_role:
      return shown.sort ? shown.sort(line) : shown.value(line).sort;
    case copy_role: {
      const ComparisonTable::Value value = shown.value(line);
      return value.number && value.sort.isValid() ? value.sort : QVariant(value.text);
    }
    case Qt::ToolTipRole: {
      const QString tip = shown.tip ? shown.tip(line) : shown.value(line).tip;
      return tip.isEmpty() ? QVariant() : QVariant(plain_tip(tip));
    }
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>((shown.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ForegroundRole: {
      if (!line.left_out && column != 0) return {};
      const PlotColors colors = plot_colors(QGuiApplication::palette());
      if (line.left_out) return colors.muted;
      const analysis::Verdict verdict = pair(row)->verdict.verdict;
      const QColor color = verdict_color(verdict, colors.dark);
      if (color.isValid()) return color;
      return verdict == analysis::Verdict::ambiguous ? QVariant(colors.muted) : QVariant();
    }
    case Qt::FontRole: {
      if (!table_->is_bold(line, column)) return {};
      QFont bold;
      bold.setBold(true);
      return bold;
    }
    default:
      return {};
  }
}

QVariant ComparisonModel::header(int column, int role) const {
  const ComparisonTable::Column& shown = table_->columns()[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return shown.heading;
    case copy_role:
      return shown.key;
    case Qt::ToolTipRole:
      return plain_tip(shown.help);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>((shown.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    default:
      return {};
  }
}

}  // namespace attnscope::ui
