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
#include <iterator>

#include "messages/explorer_page.h"
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

int CardLayout::width_of_column(int width) const {
  const int fitting = std::clamp((width + spacing()) / (column_width_ + spacing()), 1, max_columns_);
  return (width - (fitting - 1) * spacing()) / fitting;
}

int CardLayout::height_of(const QLayoutItem& item, int width) const {
  return item.hasHeightForWidth() ? item.heightForWidth(width) : item.sizeHint().height();
}

namespace {

/// Assignment of items to columns: the number of the column of each item.
using Assignment = std::vector<std::size_t>;

int height_of(const Assignment& columns_of, const std::vector<int>& heights, int spacing) {
  std::vector<int> columns(heights.size(), -spacing);
  for (std::size_t i = 0; i < heights.size(); ++i) columns[columns_of[i]] += heights[i] + spacing;
  return *std::ranges::max_element(columns);
}

/// Changes to the next assignment; false after the last one. The first two items stay at the top of their columns.
bool advance(Assignment& columns_of, std::size_t columns) {
  constexpr std::size_t fixed = 2;
  for (std::size_t i = columns_of.size(); i-- > fixed;) {
    if (++columns_of[i] < columns) return true;
    columns_of[i] = 0;
  }
  return false;
}

Assignment lowest(const std::vector<int>& heights, std::size_t columns, int spacing) {
  Assignment tried(heights.size(), 0);
  if (columns > 1 && heights.size() > 1) tried[1] = 1;
  Assignment best = tried;
  if (columns < 2) return best;
  int least = height_of(best, heights, spacing);
  while (advance(tried, columns)) {
    const int height = height_of(tried, heights, spacing);
    if (height >= least) continue;
    least = height;
    best = tried;
  }
  return best;
}

}  // namespace

std::vector<CardLayout::Column> CardLayout::columns(int width) const {
  const int each = width_of_column(width);
  std::vector<Column> columns(static_cast<std::size_t>(std::max(1, (width + spacing()) / (each + spacing()))));
  std::vector<QLayoutItem*> shown;
  std::ranges::copy_if(items_, std::back_inserter(shown), [](const QLayoutItem* item) { return !item->isEmpty(); });
  std::vector<int> heights;
  heights.reserve(shown.size());
  for (const QLayoutItem* item : shown) heights.push_back(height_of(*item, each));
  const Assignment columns_of = lowest(heights, columns.size(), spacing());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    Column& column = columns[columns_of[i]];
    column.height += heights[i] + (column.items.empty() ? 0 : spacing());
    column.items.push_back(shown[i]);
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
  CardTitle title{.text = new CardLabel(text), .info = new InfoButton()};
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
  QFont bold = title.text->font();
  bold.setBold(true);
  title.text->setFont(bold);
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

CardLabel::CardLabel(const QString& text, QWidget* parent) : QLabel(text, parent) {
  setWordWrap(true);
}

int CardLabel::heightForWidth(int width) const {
  constexpr std::size_t max_widths = 6;
  if (asked_.text != text() || asked_.font != font()) asked_ = {text(), font(), {}};
  const auto known = std::ranges::find(asked_.heights, width, &std::pair<int, int>::first);
  if (known != asked_.heights.end()) return known->second;
  const int height = QLabel::heightForWidth(width);
  if (asked_.heights.size() == max_widths) asked_.heights.erase(asked_.heights.begin());
  asked_.heights.emplace_back(width, height);
  return height;
}

QLabel* card_label(QWidget* parent, const QString& name) {
  auto* label = new CardLabel({}, parent);
  label->setObjectName(name);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

void set_label_text(QLabel* label, const QString& text) {
  if (label->text() != text) label->setText(text);
}

void show_text(QLabel* label, const QString& text) {
  set_label_text(label, text);
  label->setVisible(!text.isEmpty());
}

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
  constexpr qsizetype max_texts = 2000;
  if (widths_.size() > max_texts) widths_.clear();
  const auto known = widths_.constFind(text);
  return known != widths_.constEnd() ? *known : *widths_.insert(text, metrics.horizontalAdvance(text));
}

void FittedTable::fit() {
  constexpr int room = 18;  // Cell padding, including the style's.
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
  // A table that is too narrow scrolls; texts are not elided.
  const int scroll_bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, this);
  const int available = width() - (rows > max_rows_ ? scroll_bar : 0);
  const bool narrow = sum > available;
  if (!narrow && columns > 0) widths[0] += available - sum;
  for (int column = 0; column < columns; ++column) {
    horizontalHeader()->resizeSection(column, widths[static_cast<std::size_t>(column)]);
  }
  const int bar = narrow ? scroll_bar : 0;
  const int row_heights = std::min(rows, max_rows_) * verticalHeader()->defaultSectionSize();
  const int height = horizontalHeader()->sizeHint().height() + row_heights + bar + 2;
  if (minimumHeight() != height) setFixedHeight(height);
}

void FittedTable::set_max_rows(int rows) {
  max_rows_ = rows;
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
