// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/legend_plot.h"

#include <QJsonArray>
#include <algorithm>
#include <optional>

namespace attnscope::ui {
namespace {

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
