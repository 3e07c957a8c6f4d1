// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/on_chip_map.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <array>
#include <string_view>

#include "messages/explorer.h"
#include "messages/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
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

bool OnChipMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (const OnChipMemory place : places) {
    for (const MapGeometry::Span& span : map_geometry(place).spans) {
      if (!span.rect.contains(help->pos())) continue;
      QToolTip::showText(help->globalPos(), plain_tooltip(span.words), this);
      return true;
    }
  }
  QToolTip::hideText();
  return true;
}

}  // namespace attnscope::ui
