// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/cards.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QStyle>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "messages/explorer_page.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

CardLayout::CardLayout(QWidget* parent, int column_width, int max_columns, int spacing)
    : QLayout(parent), column_width_(column_width), max_columns_(max_columns) {
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

QSize CardLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) size = size.expandedTo(item->minimumSize());
  return size;
}

void CardLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

int CardLayout::arrange(const QRect& rect, bool apply) const {
  struct Column {
    std::vector<std::pair<QLayoutItem*, int>> items;  ///< With their heights.
    int height = 0;
  };
  std::vector<Column> columns(
      static_cast<std::size_t>(std::clamp((rect.width() + spacing()) / (column_width_ + spacing()), 1, max_columns_)));
  const auto count = static_cast<int>(columns.size());
  const int width = (rect.width() - (count - 1) * spacing()) / count;
  std::vector<std::pair<QLayoutItem*, int>> shown;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    shown.emplace_back(item, item->hasHeightForWidth() ? item->heightForWidth(width) : item->sizeHint().height());
  }
  // The first two cards stay at the top. The highest of the others come first, which evens the columns.
  const auto others = std::min<std::ptrdiff_t>(2, std::ssize(shown));
  std::stable_sort(shown.begin() + others, shown.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& item : shown) {
    Column& lowest = *std::ranges::min_element(columns, {}, &Column::height);
    lowest.items.push_back(item);
    lowest.height += item.second + spacing();
  }
  int x = rect.x();
  for (const Column& column : columns) {
    const auto grows = [](const auto& item) { return (item.first->expandingDirections() & Qt::Vertical) != 0; };
    const auto growing = static_cast<int>(std::ranges::count_if(column.items, grows));
    const int spare = growing > 0 ? std::max(0, rect.height() - column.height + spacing()) / growing : 0;
    int y = rect.y();
    for (const auto& item : column.items) {
      const int height = item.second + (grows(item) ? spare : 0);
      if (apply) item.first->setGeometry({x, y, width, height});
      y += height + spacing();
    }
    x += width + spacing();
  }
  return std::ranges::max_element(columns, {}, &Column::height)->height - spacing();
}

InfoButton::InfoButton(QWidget* parent) : QToolButton(parent) {
  setText(QStringLiteral("i"));
  setAutoRaise(true);
  setAccessibleName(qtext(msg::explorer_page::about{}));
  connect(this, &QToolButton::clicked, this,
          [this] { QToolTip::showText(mapToGlobal(rect().bottomLeft()), toolTip(), this); });
  hide();
}

void InfoButton::set_text(const QString& text) {
  info_ = text;
  // Rich text wraps.
  setToolTip(QStringLiteral("<p>%1</p>").arg(text.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"))));
  setAccessibleDescription(text);
  setVisible(!text.isEmpty());
}

CardTitle card_title(const QString& text, const QString& info) {
  CardTitle title{.text = new QLabel(text), .info = new InfoButton()};
  title.text->setWordWrap(true);
  title.text->setFont(bold(title.text->font()));
  title.info->set_text(info);
  return title;
}

QWidget* card(const CardTitle& title, const std::vector<QWidget*>& parts) {
  auto* frame = new QFrame();
  frame->setFrameShape(QFrame::StyledPanel);
  frame->setBackgroundRole(QPalette::Base);
  frame->setAutoFillBackground(true);
  auto* column = new QVBoxLayout(frame);
  column->setContentsMargins(10, 8, 10, 10);
  column->setSpacing(6);
  auto* line = new QHBoxLayout();
  line->addWidget(title.text, 1);
  line->addWidget(title.info);
  column->addLayout(line);
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

QPushButton* add_button(QLayout& layout, const QString& name, const QString& text, const QString& help) {
  auto* button = new QPushButton(text);
  button->setObjectName(name);
  button->setToolTip(plain_tooltip(help));
  layout.addWidget(button);
  return button;
}

FittedTable::FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent)
    : PlainTable(model, name, parent) {
  setFrameShape(QFrame::NoFrame);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void FittedTable::fit() {
  if (model()->columnCount() == 0) return;
  horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  // A table that is too narrow scrolls; texts are not elided.
  const bool narrow = horizontalHeader()->length() > width();
  if (!narrow) horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  const int bar = narrow ? style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this) : 0;
  setFixedHeight(horizontalHeader()->sizeHint().height() +
                 model()->rowCount() * verticalHeader()->defaultSectionSize() + bar + 2);
}

void FittedTable::resizeEvent(QResizeEvent* event) {
  PlainTable::resizeEvent(event);
  fit();
}

void FittedTable::changeEvent(QEvent* event) {
  PlainTable::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit();
}

}  // namespace attnscope::ui
