// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/point_plot.h"

#include <QContextMenuEvent>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "ui/plots/plot_parts.h"
#include "ui/runs/point_set.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

constexpr double reach = 14;       ///< Maximum distance in pixels between the pointer and the mark of the read-out.
constexpr int title_margins = 16;  ///< Total horizontal margin of title and key, in pixels.
constexpr double fixed_row_stretch = 0.001;  ///< Stretch factor of a row with fixed height.

/// Scales markers and lines with the font.
void enlarge(QCPGraph& graph, double by) {
  if (by == 1) return;
  const auto wider = [by](QPen pen) {
    pen.setWidthF(by * pen.widthF());
    return pen;
  };
  graph.setPen(wider(graph.pen()));
  QCPScatterStyle marks = graph.scatterStyle();
  marks.setSize(by * marks.size());
  if (marks.isPenDefined()) marks.setPen(wider(marks.pen()));
  graph.setScatterStyle(marks);
}

}  // namespace

QString selection_layer() {
  return QStringLiteral("selection");
}

QString selection_halo_layer() {
  return QStringLiteral("selection-halo");
}

PointPlot::PointPlot(QWidget* parent)
    : QCustomPlot(parent),
      headline_(new QCPTextElement(this)),
      title_(new QCPTextElement(this)),
      overlay_(new HoverOverlay(this)) {
  setAutoAddPlottableToLegend(false);  // LegendTable shows them; adding takes quadratic time
  setPlottingHint(QCP::phImmediateRefresh, false);
  // Disables the separate buffer of this empty layer, which would be cleared and blended at each drawing.
  layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmLogical);
  setMinimumSize(320, 240);
  setFocusPolicy(Qt::StrongFocus);
  // QCustomPlot sets this attribute; the page needs the context menu events.
  setAttribute(Qt::WA_NoMousePropagation, false);
  plotLayout()->insertRow(0);
  auto* head = new QCPLayoutGrid;
  head->setRowSpacing(0);
  head->addElement(0, 0, headline_);
  head->addElement(1, 0, title_);
  plotLayout()->addElement(0, 0, head);
  plotLayout()->setRowStretchFactor(0, fixed_row_stretch);
  title_->setMargins({8, 6, 8, 2});
  for (QCPTextElement* line : {headline_, title_}) {
    // The titles may extend above the legend; they do not widen the column of the axes.
    line->setTextFlags(Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip);
    line->setMinimumSize(1, 0);
  }
  addLayer(selection_halo_layer(), layer(QStringLiteral("main")), limAbove);
  addLayer(selection_layer(), layer(selection_halo_layer()), limAbove);
}

void PointPlot::add_key() {
  key_ = new QCPTextElement(this);
  key_->setMargins({0, 0, 0, 4});
  const int row = plotLayout()->rowCount();
  plotLayout()->addElement(row, 0, key_);
  plotLayout()->setRowStretchFactor(row, fixed_row_stretch);
}

void PointPlot::rebuild() {
  overlay_->clear();
  rings_.clear();
  marks_.clear();
  cursor_.reset();
  clearPlottables();
  clearItems();
  const PlotColors colors = plot_colors(palette());
  setBackground(QBrush(colors.background));
  if (key_ != nullptr) {
    key_->setFont(small_font(font()));
    key_->setTextColor(colors.muted);
  }
  headline_text_.clear();
  title_text_.clear();
  key_text_.clear();
  draw_contents();
  setAccessibleName(headline_text_.isEmpty() ? title_text_ : headline_text_);
  QFont none;
  none.setPixelSize(1);  // the row of an empty text has the height of its font
  headline_->setFont(headline_text_.isEmpty() ? none : headline_font(font()));
  headline_->setTextColor(colors.text);
  title_->setFont(headline_text_.isEmpty() ? bold(font()) : small_font(font()));
  title_->setTextColor(headline_text_.isEmpty() ? colors.text : colors.muted);
  for (int i = 0; i < graphCount(); ++i) enlarge(*graph(i), font_scale(font()));
  draw_selection();
  lay_out(size(), PlotTarget::screen);
}

void PointPlot::redraw() {
  rebuild();
  replot(rpQueuedReplot);
}

void PointPlot::lay_out(const QSize& size, PlotTarget /*target*/) {
  const auto put = [&](QCPTextElement* element, const QString& text) {
    element->setText(QFontMetrics(element->font()).elidedText(text, Qt::ElideRight, size.width() - title_margins));
  };
  headline_->setMargins(headline_text_.isEmpty() ? QMargins() : QMargins(8, 6, 8, 0));
  put(headline_, headline_text_);
  put(title_, title_text_);
  if (key_ != nullptr) put(key_, key_text_);
}

bool PointPlot::select(const ShownPoint& point) {
  selected_ = point;
  for (QCPGraph* ring : std::exchange(rings_, {})) removeGraph(ring);
  const bool shown = draw_selection();
  replot(rpQueuedReplot);
  return shown;
}

bool PointPlot::draw_selection() {
  setAccessibleDescription(key_text_);
  const std::optional<Row> row = selected_ && points_ ? points_->row_of(*selected_) : std::nullopt;
  if (!row) return false;
  for (const Mark& mark : marks_) {
    if (mark.is_axis_fraction || std::ranges::find(mark.rows, *row) == mark.rows.end()) continue;
    if (rings_.empty()) setAccessibleDescription(display_text(read_out(mark)));
    const auto [halo, ring] = selection_ring(plot_colors(palette()), mark.shift);
    for (const auto& [style, on] : {std::pair(halo, selection_halo_layer()), std::pair(ring, selection_layer())}) {
      QCPGraph* graph = add_marks(*mark.panel, style);
      graph->addData(mark.x, mark.y);
      enlarge(*graph, font_scale(font()));
      graph->setLayer(on);
      rings_.push_back(graph);
    }
  }
  return !rings_.empty();
}

void PointPlot::add_mark(QCPGraph& graph, const Mark& mark) {
  graph.addData(mark.x, mark.y);
  marks_.push_back(mark);
}

QString PointPlot::run_text(Row row) const {
  const analysis::PointTable& table = points_->table();
  return QStringLiteral("%1 · %2").arg(points_->run_of(row)->title,
                                       to_qstring(analysis::device_title(table, table.run_index(row))));
}

const PointPlot::Mark* PointPlot::mark_near(const QPointF& position) const {
  const Mark* nearest = nullptr;
  double best = reach;
  for (const Mark& mark : marks_) {
    const double away = QLineF(pixel_of(mark), position).length();
    if (away > best) continue;
    best = away;
    nearest = &mark;
  }
  return nearest;
}

bool PointPlot::hover_at(const QPointF& position) {
  const Mark* mark = mark_near(position);
  if (mark == nullptr) {
    overlay_->clear();
    return false;
  }
  overlay_->show_content(read_out(*mark), position.toPoint());
  return true;
}

void PointPlot::click(const QMouseEvent& event) {
  const Mark* mark = mark_near(event.position());
  if (mark != nullptr && mark->panel->rect().contains(event.pos())) click_mark(*mark);
}

void PointPlot::click_mark(const Mark& mark) {
  const ShownPoint point = (*points_)[mark.rows.front()];
  select(point);
  emit point_clicked(point);
}

QPointF PointPlot::pixel_of(const Mark& mark) const {
  QPointF pixel = to_pixels(*mark.panel, {mark.x, mark.y});
  pixel.rx() += mark.shift;
  if (mark.is_axis_fraction) pixel.setY(mark.panel->top() + mark.y * mark.panel->height());
  return pixel;
}

std::optional<std::size_t> PointPlot::cursor_mark() const {
  if (cursor_) return cursor_;
  const std::optional<Row> row = selected_ && points_ ? points_->row_of(*selected_) : std::nullopt;
  if (!row) return {};
  const auto mark = std::ranges::find_if(
      marks_, [&](const Mark& each) { return std::ranges::find(each.rows, *row) != each.rows.end(); });
  return mark == marks_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(mark - marks_.begin()));
}

std::optional<std::size_t> PointPlot::next_mark(int key) const {
  const std::optional<std::size_t> from = cursor_mark();
  const bool along = key == Qt::Key_Left || key == Qt::Key_Right;
  const bool back = key == Qt::Key_Left || key == Qt::Key_Up;
  std::optional<std::size_t> best;
  std::tuple<int, double, double> least{};
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i].rows.empty() || marks_[i].is_axis_fraction || from == i) continue;
    const QPointF at = pixel_of(marks_[i]);
    std::tuple<int, double, double> distance{0, back ? -at.x() : at.x(), -at.y()};  // without a cursor: the outermost
    if (from) {
      const Mark& mark = marks_[*from];
      const QPointF step = at - pixel_of(mark);
      const double forward = back ? -1 : 1;
      const bool same_panel = mark.panel == marks_[i].panel;
      const bool same_series = mark.series == marks_[i].series;
      if (along) {
        const bool later_panel = forward * (marks_[i].panel->left() - mark.panel->left()) > 0;
        const double points = forward * (static_cast<double>(marks_[i].point) - static_cast<double>(mark.point));
        if (same_panel ? !same_series || points <= 0 : !later_panel) continue;
        distance = {same_panel ? 0 : 1, same_panel ? points : forward * at.x(), std::abs(step.y())};
      } else {
        if (!same_panel || same_series || forward * step.y() < 0) continue;
        if (step.y() == 0 && (i < *from) != back) continue;  // coincident marks by their order
        distance = {0, std::abs(step.x()), std::abs(step.y())};
      }
    }
    if (best && distance >= least) continue;
    best = i;
    least = distance;
  }
  return best;
}

void PointPlot::move_cursor(std::size_t mark) {
  cursor_ = mark;
  const QPointF at = pixel_of(marks_[mark]);
  hover_at(at);                                                  // moves the crosshair
  overlay_->show_content(read_out(marks_[mark]), at.toPoint());  // exactly this mark, if several coincide
  overlay_->set_cursor(at);
  announce_cursor(*this, *this);
}

QString PointPlot::cursor_text() const {
  const std::optional<std::size_t> at = cursor_mark();
  return at ? display_text(read_out(marks_[*at])) : QString();
}

void PointPlot::select_cursor() {
  if (cursor_) click_mark(Mark(marks_[*cursor_]));  // Copied, because the selection may rebuild all marks.
}

void PointPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
      setFocus();  // also when the legend passes the key on: Enter then acts on the mark
      if (const std::optional<std::size_t> next = next_mark(event->key())) move_cursor(*next);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      return select_cursor();
    default:
      QCustomPlot::keyPressEvent(event);
  }
}

void PointPlot::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  if (event->buttons() == Qt::NoButton) hover_at(event->position());
}

void PointPlot::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  QCustomPlot::mousePressEvent(event);
}

void PointPlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  if ((event->pos() - pressed_).manhattanLength() <= 3) click(*event);
}

void PointPlot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  overlay_->clear();
}

void PointPlot::resizeEvent(QResizeEvent* event) {
  fit(event->size(), PlotTarget::screen);
  QCustomPlot::resizeEvent(event);
  overlay_->clear();
}

void PointPlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) redraw();
}

void PointPlot::paintEvent(QPaintEvent* event) {
  QCustomPlot::paintEvent(event);
  draw_focus_frame(*this);
}

void PointPlot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  update();
}

void PointPlot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  update();
}

void PointPlot::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Mouse) {
    if (const Mark* mark = mark_near(event->pos())) click_mark(*mark);
  }
  event->ignore();
}

void PointPlot::render(QCPPainter& painter, const QRect& area, const QString& source) {
  fit(area.size(), PlotTarget::file);
  QCPTextElement* below = nullptr;
  if (!source.isEmpty()) {
    below = new QCPTextElement(this, source, small_font(font()));
    below->setTextColor(plot_colors(palette()).muted);
    below->setTextFlags(Qt::AlignRight | Qt::AlignVCenter);
    below->setMargins({12, 0, 8, 6});
    const int row = plotLayout()->rowCount();
    plotLayout()->addElement(row, 0, below);
    plotLayout()->setRowStretchFactor(row, fixed_row_stretch);
  }
  for (const QString& each : {selection_layer(), selection_halo_layer()}) layer(each)->setVisible(false);
  painter.save();
  painter.translate(area.topLeft());
  toPainter(&painter, area.width(), area.height());
  painter.restore();
  for (const QString& each : {selection_layer(), selection_halo_layer()}) layer(each)->setVisible(true);
  if (below != nullptr) {
    plotLayout()->remove(below);
    plotLayout()->simplify();
  }
  fit(this->size(), PlotTarget::screen);
  replot(rpQueuedReplot);
}

PlotPicture picture_of(PointPlot& plot, const std::vector<RunPtr>& runs) {
  return {.title = plot.title(),
          .draw = [&plot, source = source_note(runs)](QCPPainter& painter, const QRect& area, double /*pixel*/) {
            plot.render(painter, area, source);
          }};
}

}  // namespace attnscope::ui
