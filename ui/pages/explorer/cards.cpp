// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/cards.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "messages/explorer.h"
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

namespace {

constexpr double bar_space = 8;
constexpr double pale_opacity = 0.6;

}  // namespace

BarList::BarList(Kind kind, const QString& accessible_name, QWidget* parent) : QWidget(parent), kind_(kind) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(accessible_name);
}

void BarList::set_lines(std::vector<BarLine> lines, const QString& otherwise) {
  if (lines.size() != lines_.size()) updateGeometry();
  lines_ = std::move(lines);
  otherwise_ = otherwise;
  fit_columns();
  QStringList all;
  for (const BarLine& line : lines_) {
    all << QStringList{line.title, line.words, line.note}.join(QLatin1Char(' ')).simplified();
  }
  setAccessibleDescription(all.join(QStringLiteral(", ")));
  update();
}

void BarList::fit_columns() {
  const QFontMetricsF metrics(bold(font()));
  double words = 0;
  double notes = 0;
  title_width_ = 0;
  for (const BarLine& line : lines_) {
    title_width_ = std::max(title_width_, metrics.horizontalAdvance(line.title));
    words = std::max(words, metrics.horizontalAdvance(line.words));
    notes = std::max(notes, metrics.horizontalAdvance(line.note));
  }
  text_width_ = words + (words > 0 && notes > 0 ? bar_space : 0) + notes;
}

double BarList::row_height() const {
  constexpr int row_padding = 5;
  return fontMetrics().height() + row_padding;
}

QRectF BarList::bar(std::size_t place) const {
  const auto length = [](const BarLine& line) { return line.value + line.pale; };
  const double left = title_width_ + bar_space;
  const double room = std::max(8.0, width() - left - bar_space - text_width_);
  const double most = length(*std::ranges::max_element(lines_, {}, length));
  return {left, static_cast<double>(place) * row_height() + 2, most > 0 ? room * length(lines_[place]) / most : 0,
          row_height() - 4};
}

QSize BarList::sizeHint() const {
  constexpr std::size_t usual_lines = 11;
  return {360, qRound(static_cast<double>(lines_.empty() ? usual_lines : lines_.size()) * row_height())};
}

void BarList::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  if (lines_.empty()) {
    painter.setPen(colors.muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, otherwise_);
  }
  const bool of_matrix = kind_ == Kind::of_matrix;
  for (std::size_t place = 0; place < lines_.size(); ++place) {
    const BarLine& line = lines_[place];
    const QRectF row(0, static_cast<double>(place) * row_height(), width(), row_height());
    const QRectF whole = bar(place);
    const QColor color = of_matrix       ? part_color(line.title.toStdString(), colors)
                         : line.is_bound ? colors.accent
                         : line.is_unit  ? with_opacity(colors.accent, 0.4)
                                         : colors.muted;
    QRectF solid = whole;
    if (line.pale > 0) solid.setWidth(whole.width() * line.value / (line.value + line.pale));
    painter.fillRect(QRectF(solid.topRight(), whole.bottomRight()), with_opacity(color, pale_opacity));
    if (!of_matrix) solid.setWidth(std::max(1.0, solid.width()));
    painter.fillRect(solid, color);
    painter.setFont(line.is_bound ? bold(font()) : font());
    painter.setPen(colors.text);
    painter.setBrush(Qt::NoBrush);
    if (of_matrix) painter.drawRect(whole.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, line.title);
    painter.drawText(row.adjusted(solid.right() + bar_space / 2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     line.words);
    if (!of_matrix) painter.setPen(colors.muted);
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, line.note);
  }
}

void BarList::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  fit_columns();
  updateGeometry();
}

bool BarList::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto place = static_cast<std::size_t>(std::max(0.0, help->pos().y() / row_height()));
  if (place < lines_.size()) QToolTip::showText(help->globalPos(), plain_tooltip(lines_[place].help), this);
  return true;
}

namespace {

constexpr double sm_height = 16;
constexpr double link_height = 9;
constexpr double block_height = 30;
constexpr double bar_distance = 4;
constexpr double between = 12;
constexpr double swatch = 9;
constexpr double entry_gap = 12;
constexpr std::array places{OnChipMemory::shared, OnChipMemory::registers};

QColor blended(const QColor& a, const QColor& b, double share_of_b) {
  return {style::mix(a.rgb() & RGB_MASK, b.rgb() & RGB_MASK, share_of_b)};
}

QColor span_color(const analysis::MemorySpan& span, const PlotColors& colors) {
  switch (span.kind) {
    case analysis::SpanKind::part:
      return part_color(span.name, colors);
    case analysis::SpanKind::unnamed:
      return blended(colors.background, colors.muted, 0.45);
    case analysis::SpanKind::padding:
      return blended(colors.background, colors.muted, 0.2);
    case analysis::SpanKind::reserved:
      return blended(colors.background, colors.muted, 0.8);
  }
  return colors.muted;
}

QString name_of(const analysis::MemorySpan& span, OnChipMemory place) {
  switch (span.kind) {
    case analysis::SpanKind::part:
      return QString::fromStdString(span.name);
    case analysis::SpanKind::unnamed:
      return place == OnChipMemory::registers ? qtext(msg::explorer_page::unnamed_registers{})
                                              : qtext(msg::explorer_page::unnamed_shared{});
    case analysis::SpanKind::padding:
      return qtext(msg::explorer::padding{});
    case analysis::SpanKind::reserved:
      return qtext(msg::explorer_page::reserved{});
  }
  return {};
}

QString words_of(const analysis::MemorySpan& span, OnChipMemory place) {
  const auto each = static_cast<double>(span.bytes) / span.stages;
  const QString size = span.stages > 1 ? QStringLiteral("%1 × %2").arg(span.stages).arg(qtext(Capacity(each)))
                                       : qtext(Capacity(span.bytes));
  return QStringLiteral("%1 %2").arg(name_of(span, place), size);
}

}  // namespace

QColor part_color(const std::string& name, const PlotColors& colors) {
  // Gradients (dQ) have the colors of their matrices.
  const std::string matrix = name.size() == 2 && name.starts_with('d') ? name.substr(1) : name;
  const std::size_t place = std::string_view("QKVSPO").find(matrix);
  const bool known = matrix.size() == 1 && place != std::string_view::npos;
  return known ? QColor(style::matrix_colors()[place]) : colors.axis;
}

OnChipMap::OnChipMap(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(qtext(msg::explorer_page::on_chip{}));
}

void OnChipMap::set_kernel(const analysis::ExploredKernel* kernel) {
  known_ = kernel != nullptr;
  shared_ = known_ ? kernel->shared : analysis::MemoryMap{};
  registers_ = known_ ? kernel->registers : analysis::MemoryMap{};
  QStringList lines;
  for (const OnChipMemory place : places) {
    if (!known_) break;
    QStringList entries;
    for (const analysis::MemorySpan& span : map_of(place).block) entries << words_of(span, place);
    lines << heading(place) + QStringLiteral(": ") + entries.join(QStringLiteral(", "));
  }
  // Texts may wrap differently, so cached heights are invalid.
  if (const QString all = lines.join(QLatin1Char('\n')); all != accessibleDescription()) {
    setAccessibleDescription(all);
    updateGeometry();
  }
  update();
}

QString OnChipMap::heading(OnChipMemory place) const {
  const analysis::MemoryMap& map = map_of(place);
  const bool shared = place == OnChipMemory::shared;
  const auto capacity = [](std::int64_t bytes) { return text(Capacity(bytes)); };
  const std::string each = capacity(map.block_bytes);
  const std::string free = capacity(map.free_bytes());
  const std::string all = capacity(map.sm_bytes);
  if (map.overrun() > 0) {
    const Message of = shared ? Message(msg::explorer_page::of_shared{}) : Message(msg::explorer_page::of_registers{});
    return qtext(msg::explorer_page::exceeds_limit{.each = capacity(map.needed()),
                                                   .limit = capacity(map.available()),
                                                   .over = capacity(map.overrun()),
                                                   .what = of});
  }
  if (!shared && map.block_bytes == 0) return qtext(msg::explorer_page::registers_unstated{.all = all});
  if (!shared) {
    return qtext(msg::explorer_page::register_map{.all = all, .blocks = map.blocks, .each = each, .free = free});
  }
  if (registers_.block_bytes == 0) {
    return qtext(msg::explorer_page::shared_map_alone{.all = all, .blocks = map.blocks, .each = each, .free = free});
  }
  return qtext(msg::explorer_page::shared_map{.all = all, .blocks = map.blocks, .each = each, .free = free});
}

OnChipMap::MapGeometry OnChipMap::map_geometry(OnChipMemory place, int width) const {
  constexpr int any_height = 10'000;
  const analysis::MemoryMap& map = map_of(place);
  const PlotColors colors = plot_colors(palette());
  const double whole = width - 1.0;
  MapGeometry drawn;
  drawn.heading = heading(place);
  const double top =
      place == OnChipMemory::shared ? 0 : this->map_geometry(OnChipMemory::shared, width).bottom + between;
  const int height =
      fontMetrics().boundingRect(QRect(0, 0, width, any_height), Qt::TextWordWrap, drawn.heading).height();
  drawn.heading_rect = QRectF(0, top, width, height);
  // A block that exceeds the SM is drawn beyond it.
  const double share = map.block_bytes > map.sm_bytes && map.sm_bytes > 0
                           ? static_cast<double>(map.sm_bytes) / static_cast<double>(map.block_bytes)
                           : 1;
  drawn.sm = QRectF(0.5, top + height + bar_distance + 0.5, whole * share, sm_height);
  drawn.bottom = top + height + bar_distance + sm_height;
  if (known_ && map.block.empty()) return drawn;
  const double of_sm = map.sm_bytes > 0
                           ? drawn.sm.width() * static_cast<double>(map.block_bytes) / static_cast<double>(map.sm_bytes)
                           : 0;
  for (int block = 0; of_sm > 0 && block < map.blocks; ++block) {
    drawn.blocks.emplace_back(drawn.sm.x() + block * of_sm, drawn.sm.y(), of_sm, sm_height);
  }
  const double block_top = drawn.sm.bottom() + link_height;
  const double of_byte = map.block_bytes > 0 ? whole / static_cast<double>(map.block_bytes) : 0;
  const double line = fontMetrics().height() + 1;
  QPointF entry(0, block_top + block_height + bar_distance);
  for (const analysis::MemorySpan& span : map.block) {
    const QString words = words_of(span, place);
    const double entry_width = swatch + bar_distance + fontMetrics().horizontalAdvance(words);
    if (entry.x() > 0 && entry.x() + entry_width > width) entry = QPointF(0, entry.y() + line);
    drawn.spans.push_back({.span = span,
                           .words = words,
                           .rect = QRectF(drawn.sm.x() + static_cast<double>(span.offset) * of_byte, block_top,
                                          static_cast<double>(span.bytes) * of_byte, block_height),
                           .color = span_color(span, colors),
                           .entry = QRectF(entry, QSizeF(entry_width, line - 1))});
    entry.rx() += entry_width + entry_gap;
  }
  if (map.overrun() > 0) {
    const double kept = static_cast<double>(map.block_limit) * of_byte;
    drawn.overrun = QRectF(0.5 + kept, block_top, whole - kept, block_height);
  }
  drawn.bottom = entry.y() - 0.5 + line;
  return drawn;
}

int OnChipMap::heightForWidth(int width) const {
  return static_cast<int>(map_geometry(OnChipMemory::registers, width).bottom) + 2;
}

void OnChipMap::paint(QPainter& painter, OnChipMemory place) const {
  const PlotColors colors = plot_colors(palette());
  const MapGeometry drawn = this->map_geometry(place);
  painter.setPen(colors.text);
  painter.drawText(drawn.heading_rect, Qt::AlignLeft | Qt::TextWordWrap, drawn.heading);
  painter.setPen(QPen(colors.axis, 1));
  painter.setBrush(colors.background);
  painter.drawRect(drawn.sm);
  if (drawn.spans.empty() || drawn.blocks.empty()) return;
  for (std::size_t i = 0; i < drawn.blocks.size(); ++i) {
    const QRectF& block = drawn.blocks[i];
    // The first block is the enlarged one; the others are drawn paler.
    for (const MapGeometry::Span& span : drawn.spans) {
      const double scale = block.width() / (width() - 1.0);
      painter.fillRect(QRectF(block.x() + (span.rect.x() - drawn.sm.x()) * scale, block.y(), span.rect.width() * scale,
                              block.height()),
                       i == 0 ? span.color : blended(span.color, colors.background, 0.55));
    }
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(block);
  }
  painter.setPen(QPen(colors.muted, 1, Qt::DotLine));
  painter.drawLine(drawn.sm.bottomLeft(), drawn.sm.bottomLeft() + QPointF(0, link_height));
  painter.drawLine(drawn.blocks[0].bottomRight(), QPointF(width() - 0.5, drawn.sm.bottom() + link_height));
  for (const MapGeometry::Span& span : drawn.spans) {
    painter.fillRect(span.rect, span.color);
    painter.setPen(QPen(colors.background, 1));
    for (int stage = 1; stage < span.span.stages; ++stage) {
      const double x = span.rect.x() + span.rect.width() * stage / span.span.stages;
      painter.drawLine(QPointF(x, span.rect.top()), QPointF(x, span.rect.bottom()));
    }
    const QString name = name_of(span.span, place);
    if (fontMetrics().horizontalAdvance(name) + 4 < span.rect.width()) {
      painter.setPen(contrasting_color(span.color));
      painter.drawText(span.rect, Qt::AlignCenter, name);
    }
    painter.setPen(QPen(colors.text, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(span.rect);
    painter.fillRect(QRectF(span.entry.x(), span.entry.center().y() - swatch / 2, swatch, swatch), span.color);
    painter.setPen(colors.text);
    painter.drawText(span.entry.adjusted(swatch + bar_distance, 0, entry_gap, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     span.words);
  }
  if (!drawn.overrun.isEmpty()) {
    painter.setPen(QPen(colors.wrong, 2));
    painter.setBrush(QBrush(colors.wrong, Qt::BDiagPattern));
    painter.drawRect(drawn.overrun);
    painter.drawLine(drawn.sm.topRight() - QPointF(0, 3), drawn.sm.bottomRight() + QPointF(0, 3));
  }
}

void OnChipMap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (!known_) {
    painter.setPen(plot_colors(palette()).muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, qtext(msg::explorer_page::infeasible_configuration{}));
    return;
  }
  for (const OnChipMemory place : places) paint(painter, place);
}

}  // namespace attnscope::ui
