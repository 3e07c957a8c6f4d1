// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/fitted_table.h"

#include <QEvent>
#include <QHeaderView>
#include <QStyle>
#include <algorithm>
#include <vector>

namespace attnscope::ui {

FittedTable::FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent)
    : PlainTable(model, name, parent) {
  setFrameShape(QFrame::NoFrame);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

int FittedTable::width_of(const QFontMetrics& metrics, const QString& text) {
  constexpr qsizetype most_texts = 2000;
  if (widths_.size() > most_texts) widths_.clear();
  const auto known = widths_.constFind(text);
  return known != widths_.constEnd() ? *known : *widths_.insert(text, metrics.horizontalAdvance(text));
}

void FittedTable::fit() {
  constexpr int room = 18;  // beside a text, with what a style adds
  const int rows = model()->rowCount();
  const int columns = model()->columnCount();
  QFont bold = font();
  bold.setBold(true);
  const QFontMetrics metrics(bold);
  std::vector<int> widths;
  int sum = 0;
  for (int column = 0; column < columns; ++column) {
    int widest = width_of(metrics, model()->headerData(column, Qt::Horizontal).toString());
    for (int row = 0; row < rows; ++row) {
      widest = std::max(widest, width_of(metrics, model()->index(row, column).data().toString()));
    }
    widths.push_back(widest + room);
    sum += widths.back();
  }
  // Where the columns need more room than there is, the table scrolls; the texts stay whole.
  const bool narrow = sum > width();
  if (!narrow && columns > 0) widths[0] += width() - sum;
  for (int column = 0; column < columns; ++column) {
    horizontalHeader()->resizeSection(column, widths[static_cast<std::size_t>(column)]);
  }
  const int bar = narrow ? style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this) : 0;
  const int row_heights = std::min(rows, most_rows_) * verticalHeader()->defaultSectionSize();
  const int height = horizontalHeader()->sizeHint().height() + row_heights + bar + 2;
  if (minimumHeight() != height) setFixedHeight(height);
}

void FittedTable::set_most_rows(int rows) {
  most_rows_ = rows;
  setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
}

void FittedTable::resizeEvent(QResizeEvent* event) {
  PlainTable::resizeEvent(event);
  fit();
}

void FittedTable::changeEvent(QEvent* event) {
  PlainTable::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  widths_.clear();
  fit();
}

}  // namespace attnscope::ui
