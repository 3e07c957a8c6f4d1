// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/hover_overlay.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <algorithm>
#include <utility>

#include "ui/plots/plot_parts.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int box_padding = 6;
constexpr int sample_width = 18;
constexpr int column_gap = 10;
constexpr int note_width = 300;
constexpr int pointer_gap = 14;
constexpr double font_share = 0.88;  ///< Fraction of the plot's font size, so that the box hides little of the plot.

/// A plot as a chart. Its value is the read-out at the cursor, and its press action selects that mark.
class AccessiblePlot : public QAccessibleWidget {
 public:
  AccessiblePlot(QWidget* plot, PlotCursor& cursor) : QAccessibleWidget(plot, QAccessible::Chart), cursor_(cursor) {}

  [[nodiscard]] QString text(QAccessible::Text kind) const override {
    return kind == QAccessible::Value ? cursor_.cursor_text() : QAccessibleWidget::text(kind);
  }
  [[nodiscard]] QStringList actionNames() const override {
    return QStringList{pressAction()} + QAccessibleWidget::actionNames();
  }
  void doAction(const QString& action) override {
    action == pressAction() ? cursor_.select_cursor() : QAccessibleWidget::doAction(action);
  }

 private:
  PlotCursor& cursor_;
};

QAccessibleInterface* make_accessible_plot(const QString& /*type*/, QObject* object) {
  auto* plot = qobject_cast<QWidget*>(object);
  auto* cursor = dynamic_cast<PlotCursor*>(object);
  return plot == nullptr || cursor == nullptr ? nullptr : new AccessiblePlot(plot, *cursor);
}

}  // namespace

QString display_text(const HoverContent& content) {
  QStringList words{content.title};
  for (const HoverRow& row : content.rows) words << (row.label + QLatin1Char(' ') + row.value).trimmed();
  return (words + content.notes).join(QStringLiteral(", "));
}

HoverOverlay::HoverOverlay(QWidget* plot) : QWidget(plot) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
}

void HoverOverlay::show_content(HoverContent content, const QPoint& pointer) {
  setGeometry(parentWidget()->rect());
  content_ = std::move(content);
  pointer_ = pointer;
  raise();
  update();
}

void HoverOverlay::set_guides(std::vector<QLineF> guides) {
  if (guides == guides_) return;
  setGeometry(parentWidget()->rect());
  guides_ = std::move(guides);
  update();
}

void HoverOverlay::set_cursor(std::optional<QPointF> at) {
  if (at == cursor_) return;
  setGeometry(parentWidget()->rect());
  cursor_ = at;
  raise();
  update();
}

void HoverOverlay::hide_box() {
  if (!content_) return;
  content_.reset();
  update();
}

void HoverOverlay::clear() {
  set_guides({});
  set_cursor({});
  hide_box();
}

QRect HoverOverlay::place_box(const QSize& size) const {
  // Right of the pointer, or left if there is no room; always inside the widget.
  int x = pointer_.x() + pointer_gap;
  if (x + size.width() > width()) x = pointer_.x() - pointer_gap - size.width();
  int y = pointer_.y() + pointer_gap;
  if (y + size.height() > height()) y = pointer_.y() - pointer_gap - size.height();
  x = std::clamp(x, 0, std::max(0, width() - size.width()));
  y = std::clamp(y, 0, std::max(0, height() - size.height()));
  return {QPoint(x, y), size};
}

void HoverOverlay::paintEvent(QPaintEvent*) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(colors.axis, 1));
  painter.drawLines(QVector<QLineF>(guides_.begin(), guides_.end()));
  if (cursor_) {
    constexpr double radius = 9;
    painter.setPen(QPen(colors.accent, 2, Qt::DashLine));
    painter.drawEllipse(*cursor_, radius, radius);
  }
  if (!content_) return;

  QFont plain = font();
  plain.setPointSizeF(font_share * plain.pointSizeF());
  const QFontMetrics metrics(plain);
  const bool marked = std::any_of(content_->rows.begin(), content_->rows.end(),
                                  [](const HoverRow& row) { return row.sample.kind != SampleKind::none; });
  const int indent = marked ? sample_width : 0;
  int label_width = 0;
  int value_width = 0;
  for (const HoverRow& row : content_->rows) {
    label_width = std::max(label_width, metrics.horizontalAdvance(row.label));
    value_width = std::max(value_width, metrics.horizontalAdvance(row.value));
  }
  const int line = metrics.height() + 1;
  int inner_width = std::max(QFontMetrics(bold(plain)).horizontalAdvance(content_->title),
                             content_->rows.empty() ? 0 : indent + label_width + column_gap + value_width);
  int notes_height = 0;
  for (const QString& note : content_->notes) {
    inner_width = std::max(inner_width, std::min(note_width, metrics.horizontalAdvance(note)));
  }
  for (const QString& note : content_->notes) {
    notes_height += metrics.boundingRect(0, 0, inner_width, 1000, Qt::TextWordWrap, note).height() + 4;
  }
  const int height = line + static_cast<int>(content_->rows.size()) * line + notes_height + 4;
  const QRect box = place_box({inner_width + 2 * box_padding, height + 2 * box_padding});

  painter.setPen(QPen(colors.axis, 1));
  const QColor panel = with_opacity(colors.panel, 244 / 255.0);
  painter.setBrush(panel);
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);

  int y = box.top() + box_padding;
  const int x = box.left() + box_padding;
  painter.setFont(bold(plain));
  painter.setPen(colors.text);
  painter.drawText(QRect(x, y, inner_width, line), Qt::AlignLeft | Qt::AlignVCenter, content_->title);
  y += line + 4;
  painter.setFont(plain);
  for (const HoverRow& row : content_->rows) {
    const bool model = row.sample.kind == SampleKind::line;
    draw_sample(painter, QRectF(x, y, sample_width - 6, line), row.sample,
                model ? QPen(row.color, 1) : QPen(row.color, 0, Qt::NoPen), panel);
    painter.setPen(colors.text);
    painter.drawText(QRect(x + indent, y, label_width, line), Qt::AlignLeft | Qt::AlignVCenter, row.label);
    painter.drawText(QRect(x, y, inner_width, line), Qt::AlignRight | Qt::AlignVCenter, row.value);
    y += line;
  }
  painter.setPen(colors.muted);
  for (const QString& note : content_->notes) {
    QRect used;
    painter.drawText(QRect(x, y + 2, inner_width, 1000), Qt::TextWordWrap, note, &used);
    y += used.height() + 4;
  }
}

PlotCursor::PlotCursor() {
  static const bool installed = [] {
    QAccessible::installFactory(&make_accessible_plot);
    return true;
  }();
  (void)installed;
}

void announce_cursor(QWidget& plot, const PlotCursor& cursor) {
  plot.setAccessibleDescription(cursor.cursor_text());
  QAccessibleEvent changed(&plot, QAccessible::ValueChanged);
  QAccessible::updateAccessibility(&changed);
}

}  // namespace attnscope::ui
