// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/formula_picture.h"

#include <QFontMetricsF>
#include <algorithm>
#include <utility>

namespace attnscope::ui {
namespace {

using Node = analysis::lesson::FormulaNode;
using NodeKind = Node::Kind;

constexpr double script_scale = 0.72;
constexpr double raised = 0.42;   ///< of the letters' height, of what stands above
constexpr double lowered = 0.22;  ///< and below
constexpr double fraction_gap = 0.12;

bool is_relation(const QString& text) {
  static const QString relations = QStringLiteral("=+<>≤≥≈×·−→↔∈");
  return text.size() == 1 && relations.contains(text);
}

QString node_text(const Node& node) {
  QString text = QString::fromStdString(node.text);
  return text == QLatin1String("-") ? QStringLiteral("−") : text;
}

}  // namespace

FormulaPicture::FormulaPicture(Node node, const QFont& font) : node_(std::move(node)), font_(font) {}

QSizeF FormulaPicture::size() const {
  const Extent all = measure(node_, 1);
  return {all.width, all.ascent + all.descent};
}

double FormulaPicture::ascent() const {
  return measure(node_, 1).ascent;
}

QFont FormulaPicture::font_of(const Node& node, double scale) const {
  QFont font = font_;
  font.setItalic(node.kind == NodeKind::word && node.text.size() <= 2);
  if (font.pixelSize() > 0) {
    font.setPixelSize(std::max(1, static_cast<int>(font_.pixelSize() * scale)));
  } else {
    font.setPointSizeF(font_.pointSizeF() * scale);
  }
  return font;
}

FormulaPicture::Extent FormulaPicture::measure(const Node& node, double scale) const {
  const QFontMetricsF metrics(font_of(node, scale));
  const double em = metrics.height();
  switch (node.kind) {
    case NodeKind::row: {
      Extent all{0, metrics.ascent(), metrics.descent()};
      for (const Node& child : node.children) {
        const Extent one = measure(child, scale);
        all = {all.width + one.width, std::max(all.ascent, one.ascent), std::max(all.descent, one.descent)};
      }
      return all;
    }
    case NodeKind::word:
    case NodeKind::number:
    case NodeKind::symbol:
    case NodeKind::plain: {
      const QString text = node_text(node);
      const double beside = is_relation(text) ? 0.36 * em : 0.06 * em;
      return {metrics.horizontalAdvance(text) + beside, metrics.ascent(), metrics.descent()};
    }
    case NodeKind::script:
      return measure_script(node, scale);
    case NodeKind::fraction: {
      const Extent above = measure(node.children.at(0), scale);
      const Extent below = measure(node.children.at(1), scale);
      const double axis = metrics.xHeight() / 2;
      return {std::max(above.width, below.width) + 0.4 * em, axis + fraction_gap * em + above.ascent + above.descent,
              fraction_gap * em - axis + below.ascent + below.descent};
    }
    case NodeKind::root: {
      const Extent inner = measure(node.children.at(0), scale);
      return {inner.width + 0.7 * em, inner.ascent + 0.1 * em, inner.descent};
    }
    case NodeKind::accent: {
      const Extent inner = measure(node.children.at(0), scale);
      return {inner.width, inner.ascent + 0.2 * em, inner.descent};
    }
  }
  return {};
}

FormulaPicture::Extent FormulaPicture::measure_script(const Node& node, double scale) const {
  const Extent base = measure(node.children.at(0), scale);
  const Extent below = measure(node.children.at(1), scale * script_scale);
  const Extent above = measure(node.children.at(2), scale * script_scale);
  const double height = base.ascent;
  Extent all = base;
  all.width += std::max(node.children[1].children.empty() && node.children[1].kind == NodeKind::row ? 0 : below.width,
                        node.children[2].children.empty() && node.children[2].kind == NodeKind::row ? 0 : above.width);
  all.ascent = std::max(all.ascent, raised * height + above.ascent * 0.9);
  all.descent = std::max(all.descent, lowered * height + below.descent);
  return all;
}

void FormulaPicture::draw(QPainter& painter, const Node& node, QPointF place, double scale) const {
  switch (node.kind) {
    case NodeKind::row:
      for (const Node& child : node.children) {
        draw(painter, child, place, scale);
        place.rx() += measure(child, scale).width;
      }
      return;
    case NodeKind::word:
    case NodeKind::number:
    case NodeKind::symbol:
    case NodeKind::plain: {
      const QFont font = font_of(node, scale);
      painter.setFont(font);
      const QString text = node_text(node);
      const double em = QFontMetricsF(font).height();
      painter.drawText(place + QPointF(is_relation(text) ? 0.18 * em : 0.03 * em, 0), text);
      return;
    }
    case NodeKind::script: {
      const Extent base = measure(node.children.at(0), scale);
      draw(painter, node.children[0], place, scale);
      const double x = place.x() + base.width;
      draw(painter, node.children.at(1), {x, place.y() + lowered * base.ascent}, scale * script_scale);
      draw(painter, node.children.at(2), {x, place.y() - raised * base.ascent}, scale * script_scale);
      return;
    }
    case NodeKind::fraction:
      return draw_fraction(painter, node, place, scale);
    case NodeKind::root:
      return draw_root(painter, node, place, scale);
    case NodeKind::accent: {
      const Extent inner = measure(node.children.at(0), scale);
      draw(painter, node.children[0], place, scale);
      const QFont font = font_of(node, scale);
      painter.setFont(font);
      const QFontMetricsF metrics(font);
      const QString over = node_text(node);
      painter.drawText(
          QPointF(place.x() + (inner.width - metrics.horizontalAdvance(over)) / 2, place.y() - metrics.xHeight() * 0.9),
          over);
      return;
    }
  }
}

void FormulaPicture::draw_fraction(QPainter& painter, const Node& node, const QPointF& place, double scale) const {
  const QFontMetricsF metrics(font_of(node, scale));
  const double em = metrics.height();
  const Extent all = measure(node, scale);
  const Extent above = measure(node.children.at(0), scale);
  const Extent below = measure(node.children.at(1), scale);
  const double bar = place.y() - metrics.xHeight() / 2;
  draw(painter, node.children[0], {place.x() + (all.width - above.width) / 2, bar - fraction_gap * em - above.descent},
       scale);
  draw(painter, node.children[1], {place.x() + (all.width - below.width) / 2, bar + fraction_gap * em + below.ascent},
       scale);
  painter.drawLine(QPointF(place.x() + 0.1 * em, bar), QPointF(place.x() + all.width - 0.1 * em, bar));
}

void FormulaPicture::draw_root(QPainter& painter, const Node& node, const QPointF& place, double scale) const {
  const double em = QFontMetricsF(font_of(node, scale)).height();
  const Extent inner = measure(node.children.at(0), scale);
  const double top = place.y() - inner.ascent - 0.03 * em;
  const double foot = place.y() + inner.descent * 0.8;
  const double x = place.x() + 0.08 * em;
  painter.drawPolyline(QPolygonF{{x, place.y() - 0.25 * em},
                                 {x + 0.14 * em, place.y() - 0.3 * em},
                                 {x + 0.28 * em, foot},
                                 {x + 0.44 * em, top},
                                 {x + 0.5 * em + inner.width, top}});
  draw(painter, node.children[0], {x + 0.48 * em, place.y()}, scale);
}

void FormulaPicture::paint(QPainter& painter, const QPointF& corner, const QColor& ink) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(ink, std::max(1.0, QFontMetricsF(font_).lineWidth())));
  draw(painter, node_, corner + QPointF(0, ascent()), 1);
  painter.restore();
}

QImage FormulaPicture::image(const QColor& ink, double ratio) const {
  const QSizeF extent = size();
  QImage drawn(QSize(static_cast<int>(extent.width() * ratio) + 2, static_cast<int>(extent.height() * ratio) + 2),
               QImage::Format_ARGB32_Premultiplied);
  drawn.setDevicePixelRatio(ratio);
  drawn.fill(Qt::transparent);
  QPainter painter(&drawn);
  paint(painter, {0, 0}, ink);
  return drawn;
}

std::optional<QString> flat_formula(const Node& node) {
  switch (node.kind) {
    case NodeKind::row: {
      QString html;
      for (const Node& child : node.children) {
        const auto one = flat_formula(child);
        if (!one) return std::nullopt;
        html += *one;
      }
      return html;
    }
    case NodeKind::word: {
      const QString text = node_text(node).toHtmlEscaped();
      return node.text.size() <= 2 ? QStringLiteral("<i>%1</i>").arg(text) : text;
    }
    case NodeKind::number:
    case NodeKind::plain:
      return node_text(node).toHtmlEscaped();
    case NodeKind::symbol: {
      const QString text = node_text(node);
      const QString shown = text.toHtmlEscaped();
      return is_relation(text) ? QStringLiteral("&nbsp;%1 ").arg(shown) : shown;
    }
    case NodeKind::script: {
      const auto base = flat_formula(node.children.at(0));
      const auto below = flat_formula(node.children.at(1));
      const auto above = flat_formula(node.children.at(2));
      if (!base || !below || !above) return std::nullopt;
      QString html = *base;
      if (!below->isEmpty()) html += QStringLiteral("<sub>%1</sub>").arg(*below);
      if (!above->isEmpty()) html += QStringLiteral("<sup>%1</sup>").arg(*above);
      return html;
    }
    case NodeKind::fraction:
    case NodeKind::root:
    case NodeKind::accent:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace attnscope::ui
