// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/on_chip_map.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <string_view>

#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double sm_height = 16;
constexpr double link_height = 9;
constexpr double block_height = 30;
constexpr double bar_distance = 4;
constexpr double between = 12;
constexpr double swatch = 9;
constexpr double entry_gap = 12;
constexpr std::array places{OnChipPlace::shared, OnChipPlace::registers};

/// Okabe-Ito's, in the order of the algorithm's lines; what has no line takes one by its name.
constexpr std::array<QRgb, 7> light{0xff0072b2, 0xffe69f00, 0xff009e73, 0xffcc79a7, 0xff56b4e9, 0xffd55e00, 0xffb8a800};
constexpr std::array<QRgb, 7> dark{0xff4fa8dc, 0xfff0b63c, 0xff35c49a, 0xffdb9cc0, 0xff8accf2, 0xfff08a45, 0xffe5d84a};
constexpr std::array<std::pair<std::string_view, std::size_t>, 14> known_parts{{{"Q", 0},
                                                                                {"K", 1},
                                                                                {"V", 2},
                                                                                {"S", 3},
                                                                                {"P", 4},
                                                                                {"O", 5},
                                                                                {"m, l", 6},
                                                                                {"dO", 5},
                                                                                {"dK", 1},
                                                                                {"dV", 2},
                                                                                {"dP", 4},
                                                                                {"dS", 3},
                                                                                {"dQ", 0},
                                                                                {"LSE, D", 6}}};

QColor blended(const QColor& a, const QColor& b, double share_of_b) {
  const auto channel = [&](int x, int y) { return x + static_cast<int>((y - x) * share_of_b); };
  return {channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue())};
}

QColor span_color(const analysis::MemorySpan& span, const PlotColors& colors) {
  switch (span.kind) {
    case analysis::SpanKind::part:
      return part_color(span.name, colors.dark);
    case analysis::SpanKind::unnamed:
      return blended(colors.background, colors.muted, 0.45);
    case analysis::SpanKind::padding:
      return blended(colors.background, colors.muted, 0.2);
    case analysis::SpanKind::reserved:
      return blended(colors.background, colors.muted, 0.8);
  }
  return colors.muted;
}

QString name_of(const analysis::MemorySpan& span, OnChipPlace place) {
  switch (span.kind) {
    case analysis::SpanKind::part:
      return QString::fromStdString(span.name);
    case analysis::SpanKind::unnamed:
      return place == OnChipPlace::registers ? qtext(say::explorer_page::unnamed_registers{})
                                             : qtext(say::explorer_page::unnamed_shared{});
    case analysis::SpanKind::padding:
      return qtext(say::explorer::padding{});
    case analysis::SpanKind::reserved:
      return qtext(say::explorer_page::reserved{});
  }
  return {};
}

QString words_of(const analysis::MemorySpan& span, OnChipPlace place) {
  const auto each = static_cast<double>(span.bytes) / span.stages;
  const QString size = span.stages > 1 ? QStringLiteral("%1 × %2").arg(span.stages).arg(qtext(Capacity(each)))
                                       : qtext(Capacity(span.bytes));
  return QStringLiteral("%1 %2").arg(name_of(span, place), size);
}

}  // namespace

QColor part_color(const std::string& name, bool on_dark) {
  const auto known = std::ranges::find(known_parts, name, &std::pair<std::string_view, std::size_t>::first);
  const std::size_t place = known == known_parts.end() ? std::hash<std::string>{}(name) % light.size() : known->second;
  return {on_dark ? dark.at(place) : light.at(place)};
}

OnChipMap::OnChipMap(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(qtext(say::explorer_page::on_chip{}));
}

void OnChipMap::set_kernel(const analysis::ExploredKernel* kernel) {
  known_ = kernel != nullptr;
  shared_ = known_ ? kernel->shared : analysis::MemoryMap{};
  registers_ = known_ ? kernel->registers : analysis::MemoryMap{};
  QStringList words;
  if (known_) {
    for (const OnChipPlace place : places)
      words << heading(place) + QStringLiteral(": ") + legend(place).join(QStringLiteral(", "));
  }
  // The layout keeps heights of widths that this is not as wide as now: other words may break there.
  if (const QString all = words.join(QLatin1Char('\n')); all != accessibleDescription()) {
    setAccessibleDescription(all);
    updateGeometry();
  }
  update();
}

double OnChipMap::heading_height(OnChipPlace place, int width) const {
  constexpr int any = 10'000;
  return fontMetrics().boundingRect(QRect(0, 0, width, any), Qt::TextWordWrap, heading(place)).height();
}

int OnChipMap::legend_rows(OnChipPlace place, int width) const {
  double x = 0;
  int rows = 1;
  for (const QString& entry : legend(place)) {
    const double entry_width = swatch + bar_distance + fontMetrics().horizontalAdvance(entry);
    if (x > 0 && x + entry_width > width) {
      ++rows;
      x = 0;
    }
    x += entry_width + entry_gap;
  }
  return rows;
}

double OnChipMap::below_sm(OnChipPlace place, int width) const {
  if (known_ && map_of(place).block.empty()) return 0;  // nobody stated what a block keeps there
  return link_height + block_height + bar_distance + legend_rows(place, width) * (fontMetrics().height() + 1);
}

int OnChipMap::heightForWidth(int width) const {
  double height = 0;
  for (const OnChipPlace place : places) {
    height += heading_height(place, width) + bar_distance + sm_height + below_sm(place, width);
  }
  return static_cast<int>(height + between) + 2;
}

double OnChipMap::top_of(OnChipPlace place) const {
  const double shared = heading_height(OnChipPlace::shared, width()) + bar_distance;
  if (place == OnChipPlace::shared) return shared;
  return shared + sm_height + below_sm(OnChipPlace::shared, width()) + between + heading_height(place, width()) +
         bar_distance;
}

QRectF OnChipMap::sm_rect(OnChipPlace place) const {
  const analysis::MemoryMap& map = map_of(place);
  // A block that has no room on the SM is drawn beyond it.
  const double share = map.block_bytes > map.sm_bytes && map.sm_bytes > 0
                           ? static_cast<double>(map.sm_bytes) / static_cast<double>(map.block_bytes)
                           : 1;
  return {0.5, top_of(place) + 0.5, (width() - 1.0) * share, sm_height};
}

QRectF OnChipMap::overrun_rect(OnChipPlace place) const {
  const analysis::MemoryMap& map = map_of(place);
  if (map.overrun() <= 0) return {};
  const double whole = width() - 1.0;
  const double kept = whole * static_cast<double>(map.block_limit) / static_cast<double>(map.block_bytes);
  return {0.5 + kept, sm_rect(place).bottom() + link_height, whole - kept, block_height};
}

std::vector<QRectF> OnChipMap::block_rects(OnChipPlace place) const {
  const analysis::MemoryMap& map = map_of(place);
  const QRectF whole = sm_rect(place);
  std::vector<QRectF> rects;
  if (map.sm_bytes <= 0) return rects;
  const double each = whole.width() * static_cast<double>(map.block_bytes) / static_cast<double>(map.sm_bytes);
  for (int block = 0; block < map.blocks; ++block) {
    rects.emplace_back(whole.x() + block * each, whole.y(), each, whole.height());
  }
  return rects;
}

QRectF OnChipMap::free_rect(OnChipPlace place) const {
  QRectF rect = sm_rect(place);
  const std::vector<QRectF> blocks = block_rects(place);
  if (!blocks.empty()) rect.setLeft(blocks.back().right());
  return rect;
}

std::vector<OnChipMap::DrawnSpan> OnChipMap::block_spans(OnChipPlace place) const {
  const analysis::MemoryMap& map = map_of(place);
  const QRectF sm = sm_rect(place);
  const PlotColors colors = plot_colors(palette());
  std::vector<DrawnSpan> drawn;
  for (const analysis::MemorySpan& span : map.block) {
    const double scale = (width() - 1.0) / static_cast<double>(map.block_bytes);
    drawn.push_back({span,
                     QRectF(sm.x() + static_cast<double>(span.offset) * scale, sm.bottom() + link_height,
                            static_cast<double>(span.bytes) * scale, block_height),
                     span_color(span, colors)});
  }
  return drawn;
}

QString OnChipMap::heading(OnChipPlace place) const {
  const analysis::MemoryMap& map = map_of(place);
  const auto capacity = [](std::int64_t bytes) { return text(Capacity(bytes)); };
  const std::string each = capacity(map.block_bytes);
  const std::string free = capacity(map.free_bytes());
  const std::string all = capacity(map.sm_bytes);
  if (map.overrun() > 0) {
    const Message of = place == OnChipPlace::shared ? Message(say::explorer_page::of_shared{})
                                                    : Message(say::explorer_page::of_registers{});
    return qtext(say::explorer_page::overrun{
        .each = each, .what = of, .limit = capacity(map.block_limit), .over = capacity(map.overrun())});
  }
  if (place == OnChipPlace::registers && map.block_bytes == 0) {
    return qtext(say::explorer_page::registers_unstated{.all = all});
  }
  if (place == OnChipPlace::shared && registers_.block_bytes == 0) {
    return qtext(say::explorer_page::shared_map_alone{.blocks = map.blocks, .each = each, .free = free, .all = all});
  }
  return place == OnChipPlace::shared
             ? qtext(say::explorer_page::shared_map{.blocks = map.blocks, .each = each, .free = free, .all = all})
             : qtext(say::explorer_page::register_map{.blocks = map.blocks, .each = each, .free = free, .all = all});
}

QStringList OnChipMap::legend(OnChipPlace place) const {
  QStringList entries;
  for (const analysis::MemorySpan& span : map_of(place).block) entries << words_of(span, place);
  return entries;
}

void OnChipMap::paint_legend(QPainter& painter, OnChipPlace place) const {
  const PlotColors colors = plot_colors(palette());
  const double line = fontMetrics().height();
  double x = 0;
  double y = sm_rect(place).bottom() + link_height + block_height + bar_distance;
  const QStringList entries = legend(place);
  for (qsizetype i = 0; i < entries.size(); ++i) {
    const double entry_width = swatch + bar_distance + fontMetrics().horizontalAdvance(entries[i]);
    if (x > 0 && x + entry_width > width()) {
      x = 0;
      y += line + 1;
    }
    painter.fillRect(QRectF(x, y + (line - swatch) / 2, swatch, swatch),
                     span_color(map_of(place).block[static_cast<std::size_t>(i)], colors));
    painter.setPen(colors.text);
    painter.drawText(QRectF(x + swatch + bar_distance, y, entry_width, line), Qt::AlignLeft | Qt::AlignVCenter,
                     entries[i]);
    x += entry_width + entry_gap;
  }
}

void OnChipMap::paint_memory(QPainter& painter, OnChipPlace place) const {
  const PlotColors colors = plot_colors(palette());
  const QRectF sm = sm_rect(place);
  painter.setPen(colors.text);
  const double height = heading_height(place, width());
  painter.drawText(QRectF(0, sm.y() - bar_distance - height, width(), height), Qt::AlignLeft | Qt::TextWordWrap,
                   heading(place));
  painter.setPen(QPen(colors.axis, 1));
  painter.setBrush(colors.background);
  painter.drawRect(sm);
  const std::vector<DrawnSpan> spans = block_spans(place);
  const std::vector<QRectF> blocks = block_rects(place);
  if (spans.empty() || blocks.empty()) return;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // The first is the one that is enlarged; the others are like it.
    for (const DrawnSpan& span : spans) {
      const double share = (span.rect.x() - sm.x()) / (width() - 1.0);
      const QRectF rect(blocks[i].x() + share * blocks[i].width(), sm.y(),
                        span.rect.width() / (width() - 1.0) * blocks[i].width(), sm.height());
      painter.fillRect(rect, i == 0 ? span.color : blended(span.color, colors.background, 0.55));
    }
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(blocks[i]);
  }
  painter.setPen(QPen(colors.muted, 1, Qt::DotLine));
  painter.drawLine(sm.bottomLeft(), sm.bottomLeft() + QPointF(0, link_height));
  painter.drawLine(blocks[0].bottomRight(), QPointF(width() - 0.5, sm.bottom() + link_height));
  for (const DrawnSpan& span : spans) {
    painter.fillRect(span.rect, span.color);
    painter.setPen(QPen(colors.background, 1));
    for (int stage = 1; stage < span.span.stages; ++stage) {
      const double x = span.rect.x() + span.rect.width() * stage / span.span.stages;
      painter.drawLine(QPointF(x, span.rect.top()), QPointF(x, span.rect.bottom()));
    }
    const QString name = name_of(span.span, place);
    if (fontMetrics().horizontalAdvance(name) + 4 < span.rect.width()) {
      painter.setPen(ink_on(span.color));
      painter.drawText(span.rect, Qt::AlignCenter, name);
    }
    painter.setPen(QPen(colors.axis, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(span.rect);
  }
  if (const QRectF over = overrun_rect(place); !over.isEmpty()) {
    painter.setPen(QPen(colors.wrong, 2));
    painter.setBrush(QBrush(colors.wrong, Qt::BDiagPattern));
    painter.drawRect(over);
    painter.drawLine(sm.topRight() - QPointF(0, 3), sm.bottomRight() + QPointF(0, 3));
  }
  paint_legend(painter, place);
}

void OnChipMap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (!known_) {
    painter.setPen(plot_colors(palette()).muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, qtext(say::explorer_page::does_not_run{}));
    return;
  }
  for (const OnChipPlace place : places) paint_memory(painter, place);
}

bool OnChipMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (const OnChipPlace place : places) {
    for (const DrawnSpan& span : block_spans(place)) {
      if (!span.rect.contains(help->pos())) continue;
      QToolTip::showText(help->globalPos(), plain_tip(words_of(span.span, place)), this);
      return true;
    }
  }
  QToolTip::hideText();
  return true;
}

}  // namespace attnscope::ui
