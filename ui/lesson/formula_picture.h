// SPDX-License-Identifier: GPL-3.0-or-later
// A formula of the lesson's subset, drawn: scripts, fractions, roots and accents stand where a book has them.
#pragma once

#include <QColor>
#include <QFont>
#include <QImage>
#include <QPainter>
#include <QString>
#include <optional>

#include "profiler/analysis/lesson/formula.h"

namespace attnscope::ui {

class FormulaPicture {
 public:
  FormulaPicture(analysis::lesson::FormulaNode node, const QFont& font);

  [[nodiscard]] QSizeF size() const;
  /// From its top to the line that letters stand on.
  [[nodiscard]] double ascent() const;
  /// Into the place whose upper left corner that is.
  void paint(QPainter& painter, const QPointF& corner, const QColor& ink) const;
  /// On nothing, of so many device pixels a pixel.
  [[nodiscard]] QImage image(const QColor& ink, double ratio) const;

 private:
  struct Extent {
    double width = 0;
    double ascent = 0;
    double descent = 0;
  };
  using Node = analysis::lesson::FormulaNode;
  [[nodiscard]] QFont font_of(const Node& node, double scale) const;
  [[nodiscard]] Extent measure(const Node& node, double scale) const;
  [[nodiscard]] Extent measure_script(const Node& node, double scale) const;
  void draw(QPainter& painter, const Node& node, QPointF place, double scale) const;
  void draw_fraction(QPainter& painter, const Node& node, const QPointF& place, double scale) const;
  void draw_root(QPainter& painter, const Node& node, const QPointF& place, double scale) const;

  Node node_;
  QFont font_;
};

/// As rich text with <sup> and <sub>; nothing for one that has a fraction, a root or an accent.
[[nodiscard]] std::optional<QString> flat_formula(const analysis::lesson::FormulaNode& node);

}  // namespace attnscope::ui
