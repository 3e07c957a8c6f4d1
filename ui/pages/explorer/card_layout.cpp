// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/card_layout.h"

#include <QFrame>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/pages/explorer/card_words.h"

namespace attnscope::ui {

CardLayout::CardLayout(QWidget* parent, int column_width, int most_columns, int spacing)
    : QLayout(parent), column_width_(column_width), most_columns_(most_columns) {
  setSpacing(spacing);
  setContentsMargins(0, 0, 0, 0);
}

CardLayout::~CardLayout() {
  qDeleteAll(items_);
}

void CardLayout::set_column_width(int width) {
  if (width == column_width_) return;
  column_width_ = width;
  invalidate();
}

int CardLayout::width_of_column(int width) const {
  const int fitting = std::clamp((width + spacing()) / (column_width_ + spacing()), 1, most_columns_);
  return (width - (fitting - 1) * spacing()) / fitting;
}

int CardLayout::height_of(const QLayoutItem& item, int width) const {
  return item.hasHeightForWidth() ? item.heightForWidth(width) : item.sizeHint().height();
}

std::vector<CardLayout::Column> CardLayout::columns(int width) const {
  const int each = width_of_column(width);
  std::vector<Column> columns(static_cast<std::size_t>((width + spacing()) / (each + spacing())));
  if (columns.empty()) columns.resize(1);
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    Column& shortest = *std::ranges::min_element(columns, {}, &Column::height);
    shortest.height += height_of(*item, each) + (shortest.items.empty() ? 0 : spacing());
    shortest.items.push_back(item);
  }
  return columns;
}

int CardLayout::heightForWidth(int width) const {
  int most = 0;
  for (const Column& column : columns(width)) most = std::max(most, column.height);
  return most;
}

QSize CardLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) size = size.expandedTo(item->minimumSize());
  return size;
}

void CardLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  const int each = width_of_column(rect.width());
  int x = rect.x();
  for (const Column& column : columns(rect.width())) {
    const auto grows = [](const QLayoutItem* item) { return (item->expandingDirections() & Qt::Vertical) != 0; };
    const auto growing = static_cast<int>(std::ranges::count_if(column.items, grows));
    const int spare = growing > 0 ? std::max(0, rect.height() - column.height) / growing : 0;
    int y = rect.y();
    for (QLayoutItem* item : column.items) {
      const int height = height_of(*item, each) + (grows(item) ? spare : 0);
      item->setGeometry({x, y, each, height});
      y += height + spacing();
    }
    x += each + spacing();
  }
}

QWidget* card(const QString& title, const std::vector<QWidget*>& parts) {
  auto* frame = new QFrame();
  frame->setFrameShape(QFrame::StyledPanel);
  frame->setBackgroundRole(QPalette::Base);
  frame->setAutoFillBackground(true);
  auto* column = new QVBoxLayout(frame);
  column->setContentsMargins(10, 8, 10, 10);
  column->setSpacing(6);
  auto* heading = new CardWords(title, frame);
  QFont bold = heading->font();
  bold.setBold(true);
  heading->setFont(bold);
  column->addWidget(heading);
  bool grows = false;
  for (QWidget* part : parts) {
    const bool expands = (part->sizePolicy().expandingDirections() & Qt::Vertical) != 0;
    grows = grows || expands;
    column->addWidget(part, expands ? 1 : 0);
  }
  QSizePolicy policy(QSizePolicy::Preferred, grows ? QSizePolicy::Expanding : QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  frame->setSizePolicy(policy);
  return frame;
}

}  // namespace attnscope::ui
