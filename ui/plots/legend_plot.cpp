// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/legend_plot.h"

#include <QHelpEvent>
#include <QJsonArray>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <optional>
#include <utility>

#include "messages/curve_plot.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr int legend_padding = 8;
constexpr int legend_sample_width = 26;
constexpr int legend_sample_gap = 6;
constexpr int legend_column_gap = 12;
constexpr int legend_row_padding = 5;
constexpr int widest_legend_name = 240;
constexpr double hidden_opacity = 0.35;
constexpr int min_axes_width = 520;          ///< The legend is below the axes if less would be left.
constexpr double most_legend_height = 0.36;  ///< Fraction of the height of the plot, for a legend below.
constexpr double most_legend_width = 0.4;  ///< Largest width of a legend right of the axes, as a fraction of the plot.
constexpr double fixed_stretch = 0.001;

/// Returns null if the axis cannot show the range.
std::optional<QCPRange> range_of(const QJsonValue& value, const QCPAxis& axis) {
  const QJsonArray ends = value.toArray();
  const double low = ends.at(0).toDouble();
  const double high = ends.at(1).toDouble();
  const bool logarithmic = axis.scaleType() == QCPAxis::stLogarithmic;
  if (low >= high || !QCPRange::validRange(low, high) || (logarithmic && low <= 0)) return {};
  return QCPRange(low, high);
}

}  // namespace

LegendTable::LegendTable(QWidget* plot) : QWidget(plot) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(qtext(msg::curve_plot::legend{}));
}

void LegendTable::set_content(LegendContent content, const std::set<QString>& hidden) {
  content_ = std::move(content);
  hidden_ = hidden;
  const int rows = static_cast<int>(content_.rows.size());
  current_ = std::min(current_, rows - 1);
  first_ = std::clamp(first_, 0, std::max(0, rows - visible_rows()));
  setHidden(rows == 0 && content_.notes.isEmpty());
  update();
}

QFont LegendTable::text_font() const {
  return small_font(font());
}

int LegendTable::line_height() const {
  return QFontMetrics(text_font()).height() + legend_row_padding;
}

int LegendTable::natural_width() const {
  const Columns columns = fit_columns(1e6);
  double width = 2 * legend_padding + legend_sample_width + legend_sample_gap + columns.name;
  for (const double each : columns.widths) width += legend_column_gap + each;
  return static_cast<int>(std::ceil(width));
}

LegendTable::Columns LegendTable::fit_columns(double width) const {
  const QFontMetricsF metrics(text_font());
  Columns columns;
  double name = metrics.horizontalAdvance(content_.corner);
  for (const LegendRow& row : content_.rows) name = std::max(name, metrics.horizontalAdvance(row.text) + 1);
  columns.name = std::min<double>(name, widest_legend_name);
  double left = width - 2 * legend_padding - legend_sample_width - legend_sample_gap;
  for (qsizetype k = 0; k < content_.columns.size(); ++k) {
    double widest = metrics.horizontalAdvance(content_.columns[k]);
    if (k < content_.widest.size()) widest = std::max(widest, metrics.horizontalAdvance(content_.widest[k]));
    // The last columns are dropped if the table is narrow.
    constexpr double least_name = 60;
    if (left - widest - legend_column_gap < std::min(columns.name, least_name)) break;
    columns.widths.push_back(widest);
    left -= widest + legend_column_gap;
  }
  columns.name = std::min(columns.name, left);
  return columns;
}

double LegendTable::notes_height(double width) const {
  const QFontMetricsF metrics(text_font());
  double height = 0;
  for (const QString& note : content_.notes) {
    const QRectF room(0, 0, width - 2 * legend_padding, 1000);
    height += metrics.boundingRect(room, Qt::TextWordWrap, note).height() + 2;
  }
  return height > 0 ? height + legend_row_padding : 0;
}

int LegendTable::height_for(int width) const {
  const auto rows = static_cast<int>(content_.rows.size());
  return legend_padding + (rows + 1) * line_height() + static_cast<int>(std::ceil(notes_height(width)));
}

int LegendTable::visible_rows() const {
  const double room = height() - legend_padding - line_height() - notes_height(width());
  return std::max(1, static_cast<int>(room / line_height()));
}

QRect LegendTable::row_rect(int row) const {
  const int line = line_height();
  return {0, legend_padding / 2 + (1 + row - first_) * line, width(), line};
}

int LegendTable::row_at(const QPoint& position) const {
  const int last = std::min(first_ + visible_rows(), static_cast<int>(content_.rows.size()));
  for (int row = first_; row < last; ++row) {
    if (row_rect(row).contains(position)) return row;
  }
  return -1;
}

void LegendTable::draw_row(QPainter& painter, const QRectF& line, const LegendRow& row, const Columns& columns) const {
  const PlotColors colors = plot_colors(palette());
  const QFontMetricsF metrics(text_font());
  const bool hidden = hidden_.contains(row.series);
  painter.setOpacity(hidden ? hidden_opacity : 1);
  double x = line.left() + legend_padding;
  draw_sample(painter, QRectF(x, line.top(), legend_sample_width, line.height()), row.sample, row.line,
              colors.background);
  painter.setOpacity(1);
  painter.setPen(hidden ? colors.muted : colors.text);
  x += legend_sample_width + legend_sample_gap;
  painter.drawText(QRectF(x, line.top(), columns.name, line.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(row.text, Qt::ElideRight, columns.name));
  x += columns.name;
  for (std::size_t k = 0; k < columns.widths.size() && !hidden; ++k) {
    x += legend_column_gap + columns.widths[k];
    if (static_cast<qsizetype>(k) >= row.cells.size()) break;
    painter.drawText(QRectF(x - columns.widths[k], line.top(), columns.widths[k], line.height()),
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, row.cells[static_cast<qsizetype>(k)]);
  }
}

void LegendTable::draw_rows(QPainter& painter, const QRectF& area, const std::vector<const LegendRow*>& rows,
                            int current) const {
  const PlotColors colors = plot_colors(palette());
  const Columns columns = fit_columns(area.width());
  painter.setFont(text_font());
  painter.setPen(colors.muted);
  QRectF line(area.left(), area.top() + legend_padding / 2.0, area.width(), line_height());
  double x = line.left() + legend_padding + legend_sample_width + legend_sample_gap;
  painter.drawText(QRectF(x, line.top(), columns.name + legend_column_gap, line.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, content_.corner);
  x += columns.name;
  for (std::size_t k = 0; k < columns.widths.size(); ++k) {
    x += legend_column_gap + columns.widths[k];
    painter.drawText(QRectF(x - columns.widths[k], line.top(), columns.widths[k], line.height()),
                     Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, content_.columns[static_cast<qsizetype>(k)]);
  }
  painter.setPen(QPen(colors.grid, 1));
  painter.drawLine(QPointF(line.left() + legend_padding, line.bottom() - 0.5), QPointF(x, line.bottom() - 0.5));
  for (const LegendRow* row : rows) {
    line.translate(0, line_height());
    const auto place = static_cast<int>(row - content_.rows.data());
    if (place == current) {
      painter.setPen(QPen(colors.accent, 2));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(line.adjusted(3, 1, -3, -1), 4, 4);
    }
    draw_row(painter, line, *row, columns);
  }
  painter.setPen(colors.muted);
  double y = line.bottom() + legend_row_padding;
  for (const QString& note : content_.notes) {
    const QRectF room(area.left() + legend_padding, y, area.width() - 2 * legend_padding, 1000);
    QRectF used;
    painter.drawText(room, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, note, &used);
    y = used.bottom() + 2;
  }
}

void LegendTable::draw(QPainter& painter, const QRectF& area) const {
  std::vector<const LegendRow*> rows;
  for (const LegendRow& row : content_.rows) {
    if (!hidden_.contains(row.series)) rows.push_back(&row);
  }
  draw_rows(painter, area, rows, -1);
}

void LegendTable::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), plot_colors(palette()).background);
  painter.setRenderHint(QPainter::Antialiasing);
  std::vector<const LegendRow*> rows;
  const auto last = std::min(static_cast<std::size_t>(first_ + visible_rows()), content_.rows.size());
  for (auto row = static_cast<std::size_t>(first_); row < last; ++row) rows.push_back(&content_.rows[row]);
  draw_rows(painter, rect(), rows, hasFocus() ? current_ : -1);
}

void LegendTable::act_on(int row, bool toggle) {
  const QString series = content_.rows[static_cast<std::size_t>(row)].series;  // Copied, because the content changes.
  if (series.isEmpty()) return;
  toggle ? emit toggle_requested(series) : emit isolate_requested(series);
}

void LegendTable::mousePressEvent(QMouseEvent* event) {
  const int row = row_at(event->pos());
  if (row < 0 || event->button() != Qt::LeftButton) return event->ignore();
  current_ = row;
  act_on(row, event->modifiers().testFlag(Qt::ControlModifier));
}

void LegendTable::mouseMoveEvent(QMouseEvent* event) {
  const int row = row_at(event->pos());
  const bool acts = row >= 0 && !content_.rows[static_cast<std::size_t>(row)].series.isEmpty();
  setCursor(acts ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void LegendTable::wheelEvent(QWheelEvent* event) {
  const int most = std::max(0, static_cast<int>(content_.rows.size()) - visible_rows());
  first_ = std::clamp(first_ + (event->angleDelta().y() < 0 ? 1 : -1), 0, most);
  update();
}

void LegendTable::move_to(int row) {
  if (content_.rows.empty()) return;
  current_ = std::clamp(row, 0, static_cast<int>(content_.rows.size()) - 1);
  first_ = std::clamp(first_, current_ - visible_rows() + 1, current_);
  const LegendRow& now = content_.rows[static_cast<std::size_t>(current_)];
  setAccessibleDescription((QStringList{content_.corner, now.text} + now.cells).join(QStringLiteral(", ")));
  update();
}

void LegendTable::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
      return move_to(current_ + (event->key() == Qt::Key_Down ? 1 : -1));
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (current_ >= 0) act_on(current_, event->modifiers().testFlag(Qt::ControlModifier));
      return;
    case Qt::Key_Escape:
      emit show_all_requested();
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void LegendTable::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  move_to(std::max(0, current_));
}

bool LegendTable::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int row = row_at(help->pos());
  if (row < 0) {
    QToolTip::hideText();
    event->ignore();
    return true;
  }
  const LegendRow& now = content_.rows[static_cast<std::size_t>(row)];
  QString words = now.text;
  if (!now.series.isEmpty()) words += QLatin1Char('\n') + qtext(msg::curve_plot::legend_help{});
  QToolTip::showText(help->globalPos(), plain_tooltip(words), this);
  return true;
}

/// Reserves the space of the legend. Draws it into files; on screen, the widget covers the space.
class LegendPlot::Box : public QCPLayoutElement {
 public:
  Box(QCustomPlot* plot, const LegendTable& legend, PlotTarget target)
      : QCPLayoutElement(plot), legend_(legend), target_(target) {
    setLayer(QStringLiteral("legend"));
  }
  [[nodiscard]] bool is_on_screen() const { return target_ == PlotTarget::screen; }

 protected:
  void draw(QCPPainter* painter) override {
    if (!is_on_screen()) legend_.draw(*painter, rect());
  }

 private:
  const LegendTable& legend_;
  PlotTarget target_;
};

LegendPlot::LegendPlot(QWidget* parent) : PointPlot(parent), legend_(new LegendTable(this)) {
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  legend->setVisible(false);
  connect(legend_, &LegendTable::isolate_requested, this, &LegendPlot::isolate);
  connect(legend_, &LegendTable::toggle_requested, this, &LegendPlot::toggle);
  connect(legend_, &LegendTable::show_all_requested, this, &LegendPlot::show_all);
  connect(this, &QCustomPlot::afterLayout, this, &LegendPlot::place_legend);
  connect(this, &QCustomPlot::mouseWheel, this, &LegendPlot::handle_user_zoom);
  connect(this, &QCustomPlot::mouseMove, this, [this](const QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) handle_user_zoom();
  });
}

void LegendPlot::handle_user_zoom() {
  is_user_zoomed_ = true;
  pending_zoom_ = {};
}

QJsonObject LegendPlot::zoom() const {
  if (!is_user_zoomed_) return pending_zoom_;
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  return {{QStringLiteral("x"), QJsonArray{x.lower, x.upper}}, {QStringLiteral("y"), QJsonArray{y.lower, y.upper}}};
}

void LegendPlot::restore_zoom(const QJsonObject& zoom) {
  pending_zoom_ = zoom;
  is_user_zoomed_ = false;
}

void LegendPlot::apply_zoom(bool more) {
  if (pending_zoom_.isEmpty()) return;
  const auto x = range_of(pending_zoom_[QStringLiteral("x")], *xAxis);
  const auto y = range_of(pending_zoom_[QStringLiteral("y")], *yAxis);
  if (!more || !x || !y) pending_zoom_ = {};
  if (!x || !y) return;
  xAxis->setRange(*x);
  yAxis->setRange(*y);
  is_user_zoomed_ = true;
  replot(rpQueuedReplot);
}

void LegendPlot::draw_contents() {
  const QStringList all = series_keys();
  std::erase_if(hidden_, [&](const QString& series) { return !all.contains(series); });
}

void LegendPlot::update_legend() {
  legend_->set_content(legend_content(), hidden_);
}

void LegendPlot::lay_out(const QSize& size, PlotTarget target) {
  update_legend();
  PointPlot::lay_out(size, target);
  QCPLayoutGrid* layout = plotLayout();
  if (box_ != nullptr) {
    layout->remove(box_);
    box_ = nullptr;
    layout->simplify();
  }
  if (legend_->isHidden()) return;
  box_ = new Box(this, *legend_, target);
  const QSize room = legend_size(size, target);
  if (room.height() == 0) {
    box_->setMinimumSize(room.width(), 0);
    box_->setMaximumSize(room.width(), QWIDGETSIZE_MAX);
    layout->addElement(1, 1, box_);
    layout->setColumnStretchFactor(1, fixed_stretch);
    return;
  }
  box_->setMinimumSize(0, room.height());
  box_->setMaximumSize(QWIDGETSIZE_MAX, room.height());
  const int row = layout->rowCount();
  layout->addElement(row, 0, box_);
  layout->setRowStretchFactor(row, fixed_stretch);
}

QSize LegendPlot::legend_size(const QSize& size, PlotTarget target) const {
  const int wanted = std::min(legend_->natural_width(), static_cast<int>(most_legend_width * size.width()));
  if (size.width() - wanted >= min_axes_width) return {wanted, 0};
  const int height = legend_->height_for(size.width());
  const int most = static_cast<int>(most_legend_height * size.height());
  return {size.width(), target == PlotTarget::screen ? std::min(height, most) : height};
}

QSize LegendPlot::axes_size(const QSize& size, PlotTarget target) const {
  if (legend_->isHidden()) return size;
  const QSize room = legend_size(size, target);
  return room.height() == 0 ? size - QSize(room.width(), 0) : size - QSize(0, room.height());
}

void LegendPlot::place_legend() {
  if (box_ == nullptr || !box_->is_on_screen()) return;
  constexpr int frame = 3;  // Leaves the focus frame of the plot visible.
  QRect place = box_->rect();
  place.moveBottom(std::min(place.bottom(), rect().bottom() - frame));
  if (place.left() > frame) place.moveRight(std::min(place.right(), rect().right() - frame));
  if (legend_->geometry() != place) legend_->setGeometry(place);
}

void LegendPlot::toggle(const QString& series) {
  if (hidden_.erase(series) == 0) hidden_.insert(series);
  redraw();
}

void LegendPlot::isolate(const QString& series) {
  std::set<QString> others;
  for (const QString& each : series_keys()) {
    if (each != series) others.insert(each);
  }
  hidden_ = hidden_ == others ? std::set<QString>() : others;
  redraw();
}

void LegendPlot::show_all() {
  if (hidden_.empty()) return;
  hidden_.clear();
  redraw();
}

void LegendPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && !hidden_.empty()) return show_all();
  PointPlot::keyPressEvent(event);
}

void LegendPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  QCustomPlot::mouseDoubleClickEvent(event);
  pending_zoom_ = {};
  reset_view();
}

}  // namespace attnscope::ui
