// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/line_labels.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

constexpr int min_labeled_width = 300;  ///< Narrower axes have no labels.
constexpr int gap = 10;                 ///< Gap between curve end and label, in pixels.
constexpr double alike = 0.6;           ///< Curve ends closer than this many text lines share a label.
constexpr double merge_distance = 4;    ///< Horizontal distance in pixels below which labels are merged.

/// Last point within the axes; null if it is above or below them.
std::optional<QPointF> visible_end(const std::vector<QPointF>& points, const QCPRange& n, const QCPRange& value) {
  const auto last =
      std::find_if(points.rbegin(), points.rend(), [&](const QPointF& point) { return n.contains(point.x()); });
  if (last == points.rend() || !value.contains(last->y())) return std::nullopt;
  return *last;
}

/// Returns whether a polyline in pixels crosses a box.
bool passes(const QPolygonF& line, const QRectF& box) {
  const std::array edges{QLineF(box.topLeft(), box.topRight()), QLineF(box.topRight(), box.bottomRight()),
                         QLineF(box.bottomRight(), box.bottomLeft()), QLineF(box.bottomLeft(), box.topLeft())};
  for (qsizetype i = 0; i < line.size(); ++i) {
    if (box.contains(line[i])) return true;
    if (i == 0) continue;
    const QLineF part(line[i - 1], line[i]);
    if (std::ranges::any_of(
            edges, [&](const QLineF& edge) { return part.intersects(edge, nullptr) == QLineF::BoundedIntersection; })) {
      return true;
    }
  }
  return false;
}

}  // namespace

void LineLabels::set(const std::vector<Curve>& curves, std::size_t panel, const PlotColors& colors) {
  ends_.clear();
  items_.clear();
  for (const Curve& curve : curves) {
    const bool here = std::ranges::find(curve.panels, panel) != curve.panels.end();
    if (curve.kind != CurveKind::measured || curve.dashed || curve.merged || curve.points.empty() || !here) continue;
    analysis::SeriesName name = curve.name;
    name.device.clear();  // The panel's title has it.
    const QString words = to_qstring(owner_title(name));
    if (std::ranges::find(ends_, words, &CurveEnd::name) != ends_.end()) continue;
    CurveEnd end{.name = words, .points = {}};
    for (const CurvePoint& point : curve.points) end.points.emplace_back(point.n, point.value);
    ends_.push_back(std::move(end));
  }
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    auto* item = new QCPItemText(&plot_);
    item->setClipToAxisRect(false);
    item->setFont(small_font(plot_.font()));
    item->setColor(colors.text);
    item->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    item->position->setType(QCPItemPosition::ptAbsolute);
    item->setBrush(with_opacity(colors.background, 0.8));  // Curves behind a label stay visible.
    item->setText({});
    item->setVisible(false);
    items_.push_back(item);
  }
}

int LineLabels::required_width(int panel_width) const {
  const QFontMetrics metrics(small_font(plot_.font()));
  int widest = 0;
  for (const Label& label : merge_labels(metrics.height())) {
    if (!label.inside) widest = std::max(widest, metrics.horizontalAdvance(label.names.join(QStringLiteral(", "))));
  }
  const int width = widest + 2 * gap;
  return widest > 0 && panel_width - width >= min_labeled_width ? width : 0;
}

std::vector<LineLabels::Label> LineLabels::merge_labels(double line) const {
  std::vector<Label> labels;
  double last = 0;
  for (const CurveEnd& end : ends_) {
    const auto at =
        visible_end(end.points, panel_.axis(QCPAxis::atBottom)->range(), panel_.axis(QCPAxis::atLeft)->range());
    if (!at) continue;
    const QPointF pixel = to_pixels(panel_, *at);
    labels.push_back({.names = {end.name}, .end = pixel, .y = pixel.y()});
    last = std::max(last, pixel.x());
  }
  for (Label& label : labels) label.inside = label.end.x() < last - merge_distance;
  // Labels right of the axes from the top, then labels inside.
  std::ranges::stable_sort(labels, {}, [](const Label& label) { return std::pair(label.inside, label.y); });
  std::vector<Label> merged;
  for (Label& label : labels) {
    Label* before = merged.empty() ? nullptr : &merged.back();
    const bool one = before != nullptr && before->inside == label.inside &&
                     std::abs(label.end.x() - before->end.x()) <= merge_distance && label.y - before->y <= alike * line;
    one ? before->names.append(label.names) : merged.push_back(std::move(label));
  }
  return merged;
}

void LineLabels::place() {
  for (QCPItemText* item : items_) item->setVisible(false);
  const QRect area = panel_.rect();
  if (panel_.outerRect().right() - area.right() <= 2 * gap) return;
  const QFontMetrics metrics(small_font(plot_.font()));
  const double line = metrics.height();
  std::vector<Label> labels = merge_labels(line);
  const auto within = std::ranges::find_if(labels, &Label::inside);
  // Push each label below the previous one, then push those below the bottom back up.
  for (auto label = labels.begin(); label != within; ++label) {
    if (label != labels.begin()) label->y = std::max(label->y, std::prev(label)->y + line);
  }
  double floor = area.bottom();
  for (auto label = std::make_reverse_iterator(within); label != labels.rend(); ++label) {
    label->y = std::min(label->y, floor);
    floor = label->y - line;
  }
  auto item = items_.begin();
  const auto put = [&](const Label& label, double x) {
    (*item)->setText(label.names.join(QStringLiteral(", ")));
    (*item)->position->setCoords(x, label.y);
    (*item)->setVisible(true);
    ++item;
  };
  for (auto label = labels.begin(); label != within; ++label) {
    // If there are too many labels, drop the uppermost.
    if (label->y >= area.top()) put(*label, area.right() + gap);
  }
  // Inside the axes, a label is below or above the end where no curve crosses it; the legend has those without room.
  std::vector<QPolygonF> lines;
  for (const CurveEnd& end : ends_) {
    QPolygonF& pixels = lines.emplace_back();
    for (const QPointF& at : end.points) pixels << to_pixels(panel_, at);
  }
  std::vector<QRectF> taken;
  for (auto label = within; label != labels.end(); ++label) {
    const double width = metrics.horizontalAdvance(label->names.join(QStringLiteral(", ")));
    for (const double lower : {-0.5, 0.2, -1.2, 1.0}) {
      const QRectF box(label->end.x() + gap, label->end.y() + lower * line, width, line);
      const auto meets = [&](const QRectF& other) { return box.intersects(other); };
      if (!QRectF(area).contains(box) || std::ranges::any_of(taken, meets)) continue;
      if (std::ranges::any_of(lines, [&](const QPolygonF& each) { return passes(each, box); })) continue;
      taken.push_back(box);
      label->y = box.center().y();
      put(*label, box.x());
      break;
    }
  }
}

QStringList LineLabels::texts() const {
  QStringList all;
  for (const QCPItemText* item : items_) {
    if (item->visible()) all << item->text();
  }
  return all;
}

}  // namespace attnscope::ui
