// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace attnscope::ui {

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent) {
  setSpacing(spacing);
  setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() {
  qDeleteAll(items_);
}

void FlowLayout::insert_widget(int index, QWidget* widget) {
  addChildWidget(widget);
  items_.insert(index, new QWidgetItem(widget));
  invalidate();
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) size = size.expandedTo(item->minimumSize());
  const QMargins margins = contentsMargins();
  return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

int FlowLayout::rows_of(const QList<int>& widths, int width) const {
  int rows = widths.isEmpty() ? 0 : 1;
  int x = 0;
  for (const int item : widths) {
    if (x > 0 && x + item > width) {
      ++rows;
      x = 0;
    }
    x += item + spacing();
  }
  return rows;
}

int FlowLayout::arrange(const QRect& rect, bool apply) const {
  const QRect area = rect.marginsRemoved(contentsMargins());
  int x = area.x();
  int y = area.y();
  int row_height = 0;
  QList<std::pair<QLayoutItem*, QRect>> row;
  const auto finish_row = [&] {
    for (auto& [item, place] : row) {
      // Vertically centered, so that boxes and buttons share a baseline.
      place.moveTop(y + (row_height - place.height()) / 2);
      if (apply) item->setGeometry(place);
    }
    row.clear();
  };
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    const QSize size = item->sizeHint();
    if (x > area.x() && x + size.width() > area.right() + 1) {
      finish_row();
      x = area.x();
      y += row_height + spacing();
      row_height = 0;
    }
    row.append({item, QRect(QPoint(x, y), size)});
    x += size.width() + spacing();
    row_height = std::max(row_height, size.height());
  }
  finish_row();
  return y + row_height - rect.y() + contentsMargins().bottom();
}

}  // namespace attnscope::ui
