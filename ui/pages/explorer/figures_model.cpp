// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/figures_model.h"

#include <QFont>
#include <QGuiApplication>
#include <QPalette>
#include <cmath>
#include <utility>

#include "messages/common.h"
#include "messages/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedValue;
using analysis::Standing;

/// "+12%", "−8%", "×2.1": how far a value is from the first one.
QString distance(double ratio) {
  constexpr double far = 2;
  if (ratio >= far || ratio <= 1 / far) return QStringLiteral("×%1").arg(format_number(ratio));
  const double percent = 100 * (ratio - 1);
  const QString size = format_number(std::abs(percent), 2);
  return (percent < 0 ? QStringLiteral("−%1%") : QStringLiteral("+%1%")).arg(size);
}

QString compared_text(const ComparedValue& value, std::string_view unit, bool first) {
  if (!value.value) return qtext(say::explorer_page::no_figure{});
  QString text = format_value(*value.value, unit);
  if (first || value.standing == Standing::same || !value.ratio) return text;
  const std::string by = distance(*value.ratio).toStdString();
  if (value.standing == Standing::better)
    return qtext(say::explorer_page::better{.value = text.toStdString(), .by = by});
  if (value.standing == Standing::worse) return qtext(say::explorer_page::worse{.value = text.toStdString(), .by = by});
  return QStringLiteral("%1  %2").arg(text, QString::fromStdString(by));
}

void take_measured(QString& text, const analysis::Figure& figure, const PointRecord& record) {
  const auto measured = figure.measured != nullptr ? figure.measured(record) : std::nullopt;
  if (!measured) return;
  text = qtext(say::explorer_page::measured_figure{.value = format_value(measured->value, measured->unit).toStdString(),
                                                   .provenance = title(measured->provenance)});
}

QString bytes_text(std::int64_t bytes) {
  return bytes == 0 ? QStringLiteral("–") : qtext(Bytes(bytes));
}

}  // namespace

QColor standing_color(Standing standing, bool dark) {
  if (standing == Standing::better) return dark ? QColor(0x6d, 0xb8, 0xf2) : QColor(0x00, 0x5a, 0x9c);
  if (standing == Standing::worse) return dark ? QColor(0xf0, 0x9a, 0x4a) : QColor(0xa8, 0x44, 0x00);
  return {};
}

std::vector<FiguresModel::Line> FiguresModel::lines_of(const std::vector<Column>& columns) {
  std::vector<const analysis::Exploration*> all;
  all.reserve(columns.size());
  for (const Column& column : columns) all.push_back(column.exploration);
  std::vector<Line> lines;
  for (const analysis::DifferingChoice& choice : analysis::differing_choices(all, known_algorithms())) {
    Line line{.label = qtext(choice.label), .help = qtext(say::explorer_page::chosen_help{}), .cells = {}};
    for (const std::string& text : choice.texts) {
      const bool own = choice.name != "padding" && text == "0" && known_algorithms().find_knob(choice.name) != nullptr;
      line.cells.push_back({.text = own ? qtext(say::common::chosen{}) : QString::fromStdString(text)});
    }
    lines.push_back(std::move(line));
  }
  for (const analysis::ComparedFigure& figure : analysis::compare(all)) {
    Line line{.label = qtext(figure.figure->label()), .help = qtext(figure.figure->help()), .cells = {}};
    for (const ComparedValue& value : figure.values) {
      line.cells.push_back({.text = compared_text(value, figure.figure->unit, line.cells.empty()),
                            .standing = line.cells.empty() ? Standing::same : value.standing});
      const PointRecord* record = columns[line.cells.size() - 1].measured;
      if (!value.value && record != nullptr) take_measured(line.cells.back().text, *figure.figure, *record);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void FiguresModel::set_columns(const std::vector<Column>& columns) {
  std::vector<Line> lines = lines_of(columns);
  std::vector<Column> titled = columns;
  for (Column& column : titled) {
    column.exploration = nullptr;
    column.measured = nullptr;
  }
  if (columns.size() != columns_.size()) {
    beginResetModel();
    lines_ = std::move(lines);
    columns_ = std::move(titled);
    return endResetModel();
  }
  columns_.swap(titled);
  replace_lines(lines_, std::move(lines), [](const Line& before, const Line& now, int column) {
    if (column == 0) return before.label == now.label && before.help == now.help;
    const auto place = static_cast<std::size_t>(column - 1);
    return before.help == now.help && before.cells[place] == now.cells[place];
  });
  for (int section = 1; section < columnCount(); ++section) {
    const auto place = static_cast<std::size_t>(section - 1);
    if (columns_[place].title != titled[place].title) emit headerDataChanged(Qt::Horizontal, section, section);
  }
}

QVariant FiguresModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  if (column == 0) {
    if (role == Qt::DisplayRole) return line.label;
    if (role == Qt::ToolTipRole) return plain_tip(line.help);
    return {};
  }
  const Cell& cell = line.cells[static_cast<std::size_t>(column - 1)];
  if (role == Qt::DisplayRole) return cell.text;
  if (role == Qt::ToolTipRole) return plain_tip(line.help);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ForegroundRole) {
    const QColor color = standing_color(cell.standing, plot_colors(QGuiApplication::palette()).dark);
    if (color.isValid()) return color;
  }
  return {};
}

QVariant FiguresModel::header(int section, int role) const {
  if (section == 0) {
    if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    return role == Qt::DisplayRole ? QVariant(qtext(say::explorer_page::figure{})) : QVariant();
  }
  const Column& column = columns_[static_cast<std::size_t>(section - 1)];
  if (role == Qt::DisplayRole) return column.title;
  if (role == Qt::ToolTipRole) return plain_tip(column.help);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

void OperandsModel::set_exploration(const analysis::Exploration* exploration) {
  std::vector<Line> lines;
  if (exploration != nullptr && !exploration->refusal) {
    const analysis::Exploration& e = *exploration;
    const auto share = [&](std::int64_t bytes) {
      return QStringLiteral("%1 %").arg(100 * static_cast<double>(bytes) / static_cast<double>(e.traffic.total()), 0,
                                        'f', 1);
    };
    for (const OperandTraffic& operand : e.operands) {
      lines.push_back({.texts = {to_qstring(to_string(operand.tensor)), bytes_text(operand.traffic.l2_to_sm_bytes),
                                 bytes_text(operand.traffic.sm_to_l2_bytes), share(operand.traffic.total())},
                       .help = {}});
    }
    lines.push_back({.texts = {qtext(say::explorer_page::all_matrices{}), bytes_text(e.traffic.l2_to_sm_bytes),
                               bytes_text(e.traffic.sm_to_l2_bytes), qtext(Bytes(e.traffic.total()))},
                     .help = qtext(say::explorer_page::l2_sum_help{}),
                     .sum = true});
    if (e.predicts_time) {
      lines.push_back({.texts = {qtext(say::explorer_page::dram_estimated{}), {}, {}, qtext(Bytes(e.dram_bytes))},
                       .help = qtext(say::explorer_page::dram_help{}),
                       .sum = true});
    }
    lines.push_back({.texts = {qtext(say::explorer_page::compulsory{}), {}, {}, qtext(Bytes(e.compulsory_bytes))},
                     .help = qtext(say::explorer_page::compulsory_help{})});
  }
  replace_lines(lines_, std::move(lines), [](const Line& before, const Line& now, int column) {
    return before.texts.at(static_cast<std::size_t>(column)) == now.texts.at(static_cast<std::size_t>(column)) &&
           before.help == now.help && before.sum == now.sum;
  });
}

QVariant OperandsModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  if (role == Qt::DisplayRole) return line.texts.at(static_cast<std::size_t>(column));
  if (role == Qt::ToolTipRole) return plain_tip(line.help);
  if (role == Qt::TextAlignmentRole && column != matrix_column) {
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role == Qt::FontRole && line.sum) {
    QFont font = QGuiApplication::font();
    font.setBold(true);
    return font;
  }
  return {};
}

QVariant OperandsModel::header(int section, int role) const {
  if (role == Qt::TextAlignmentRole) {
    return QVariant((section == matrix_column ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case matrix_column:
      return qtext(say::explorer_page::matrix{});
    case loaded_column:
      return qtext(say::explorer_page::loaded{});
    case stored_column:
      return qtext(say::explorer_page::stored{});
    default:
      return qtext(say::explorer_page::share{});
  }
}

}  // namespace attnscope::ui
