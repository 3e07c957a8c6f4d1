// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/line_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "messages/curves.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr int min_plot_width = 520;   ///< Narrower plots have no labels.
constexpr int max_name_chars = 48;    ///< Approximate maximum length of a name.
constexpr int gap = 8;                ///< Gap between curve end and label, in pixels.
constexpr double alike = 0.6;         ///< Curve ends closer than this many text lines share a label.
constexpr double merge_distance = 4;  ///< Distance in pixels below which labels are merged.
constexpr double spacing = 1.0;       ///< Minimum distance between labels, in text lines.

/// Last point within the axes; null if it is above or below them.
std::optional<QPointF> visible_end(const std::vector<QPointF>& points, const QCPRange& n, const QCPRange& value) {
  const auto last =
      std::find_if(points.rbegin(), points.rend(), [&](const QPointF& point) { return n.contains(point.x()); });
  if (last == points.rend() || !value.contains(last->y())) return std::nullopt;
  return *last;
}

std::size_t devices_of(const std::vector<Curve>& curves) {
  std::set<std::string> devices;
  for (const Curve& curve : curves) {
    if (curve.kind == CurveKind::measured) devices.insert(curve.name.device);
  }
  return devices.size();
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

int LineLabels::max_name_width(const QFontMetrics& metrics) {
  return max_name_chars * metrics.averageCharWidth();
}

QString LineLabels::names_of(const Label& label, bool brief) const {
  const QString comma = QStringLiteral(", ");
  std::set<QString> devices;
  for (const CurveEnd& end : ends_) devices.insert(end.owner.device);
  const auto first_word = [](const QString& device) { return device.section(QLatin1Char(' '), 0, 0); };
  const auto words = [&](const QString& device) {
    const auto alike = std::ranges::count(devices, first_word(device), first_word);
    return brief && alike == 1 ? first_word(device) : device;
  };
  // Names without a device come last, so that no device seems to apply to them.
  QStringList everywhere;
  std::vector<std::pair<QStringList, QStringList>> groups;  // Names and their common devices.
  QStringList of_label;
  for (const Owner& owner : label.owners) {
    if (!of_label.contains(owner.device)) of_label << owner.device;
  }
  const auto is_everywhere = [&](const Owner& owner) {
    return std::ranges::all_of(devices, [&](const QString& device) {
      return std::ranges::find(label.owners, Owner{owner.name, device}) != label.owners.end();
    });
  };
  for (const QString& device : of_label) {
    QStringList names;
    for (const Owner& owner : label.owners) {
      if (owner.device != device) continue;
      if (!is_everywhere(owner) && !device.isEmpty()) {
        names << owner.name;
      } else if (!everywhere.contains(owner.name)) {
        everywhere << owner.name;
      }
    }
    if (names.isEmpty()) continue;
    const auto same = std::ranges::find(groups, names, &std::pair<QStringList, QStringList>::first);
    if (same == groups.end()) {
      groups.push_back({names, {words(device)}});
    } else {
      same->second << words(device);
    }
  }
  QStringList all;
  for (const auto& [names, of] : groups) {
    all << qtext(
        msg::curves::on_device{.device = of.join(comma).toStdString(), .what = names.join(comma).toStdString()});
  }
  return (all + everywhere).join(comma);
}

QString LineLabels::text_of(const Label& label, const QFontMetrics& metrics, int room) const {
  const QString suffix = label.quantity.isEmpty() ? QString() : QStringLiteral(" · ") + label.quantity;
  const int left = std::max(0, room - metrics.horizontalAdvance(suffix));
  const QString whole = names_of(label, false);
  if (metrics.horizontalAdvance(whole) <= left) return whole + suffix;
  return metrics.elidedText(names_of(label, true), Qt::ElideRight, left) + suffix;
}

void LineLabels::set(const std::vector<Curve>& curves, const PlotColors& colors) {
  ends_.clear();
  items_.clear();
  neutral_ = colors.text;
  QStringList quantities;
  const bool one_device = devices_of(curves) < 2;
  for (const Curve& curve : curves) {
    if (curve.kind != CurveKind::measured || curve.name.age > 0 || curve.points.empty()) continue;
    // Curves colored by device or run need no device name.
    const bool shows_full_name = curve.hue < 0 || !curve.name.group.empty();
    analysis::SeriesName name = curve.name;
    Owner owner{.name = short_title(name.algorithm), .device = {}};
    if (shows_full_name) {
      // Name the device if the open files have several, even without a curve here.
      if (!one_device) owner.device = QString::fromStdString(name.device);
      name.device.clear();
      owner.name = to_qstring(owner_title(name));
    }
    const QString quantity = to_qstring(quantity_title(curve));
    const bool named = std::ranges::any_of(
        ends_, [&](const CurveEnd& end) { return end.owner == owner && end.quantity == quantity && curve.hue < 0; });
    if (named) continue;
    if (!quantities.contains(quantity)) quantities << quantity;
    CurveEnd end{.owner = owner, .quantity = quantity, .color = curve_color(curve, colors), .points = {}};
    for (const CurvePoint& point : curve.points) end.points.emplace_back(point.n, point.value);
    ends_.push_back(std::move(end));
  }
  if (quantities.size() < 2) {
    for (CurveEnd& end : ends_) end.quantity.clear();
  }
  const QFont font = small_font(plot_.font());
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    auto* item = new QCPItemText(&plot_);
    item->setClipToAxisRect(false);
    item->setFont(font);
    item->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    item->setTextAlignment(Qt::AlignLeft);
    item->position->setType(QCPItemPosition::ptAbsolute);
    item->setText({});
    item->setBrush(
        with_opacity(colors.background, 200 / 255.0));  // Translucent, so that curves behind a label stay visible.
    item->setVisible(false);
    items_.push_back(item);
  }
}

int LineLabels::required_width(int plot_width) const {
  if (plot_width < min_plot_width || ends_.empty()) return 0;
  const QFontMetrics metrics(small_font(plot_.font()));
  int widest = 0;
  for (const Label& label : merge_labels(metrics.height())) {
    if (label.inside) continue;
    widest = std::max(widest, metrics.horizontalAdvance(text_of(label, metrics, max_name_width(metrics))));
  }
  constexpr double max_width_fraction = 0.3;
  return std::min({widest + 2 * gap, max_name_width(metrics), static_cast<int>(max_width_fraction * plot_width)});
}

std::vector<LineLabels::Label> LineLabels::merge_labels(double line) const {
  std::vector<Label> labels;
  double last = 0;
  for (const CurveEnd& end : ends_) {
    const auto at = visible_end(end.points, plot_.xAxis->range(), plot_.yAxis->range());
    if (!at) continue;
    const QPointF pixel = to_pixels(*plot_.axisRect(), *at);
    labels.push_back(
        {.owners = {end.owner}, .quantity = end.quantity, .color = end.color, .end = pixel, .y = pixel.y()});
    last = std::max(last, pixel.x());
  }
  for (Label& label : labels) label.inside = label.end.x() < last - merge_distance;
  // Labels right of the axes from the top, then labels inside.
  std::ranges::stable_sort(labels, {}, [](const Label& label) { return std::pair(label.inside, label.y); });
  std::vector<Label> one_each;
  for (Label& label : labels) {
    Label* before = one_each.empty() ? nullptr : &one_each.back();
    const bool one = before != nullptr && before->quantity == label.quantity && before->inside == label.inside &&
                     std::abs(label.end.x() - before->end.x()) <= merge_distance && label.y - before->y <= alike * line;
    if (!one) {
      one_each.push_back(std::move(label));
      continue;
    }
    if (before->color != label.color) before->color = neutral_;
    if (std::ranges::find(before->owners, label.owners.front()) == before->owners.end()) {
      before->owners.push_back(label.owners.front());
    }
  }
  return one_each;
}

void LineLabels::place() {
  for (QCPItemText* item : items_) item->setVisible(false);
  const QRect area = plot_.axisRect()->rect();
  const int room = plot_.axisRect()->outerRect().right() - area.right();
  if (room <= 2 * gap) return;
  const QFontMetrics metrics(small_font(plot_.font()));
  const double line = metrics.height();
  std::vector<Label> labels = merge_labels(line);
  const auto within = std::ranges::find_if(labels, &Label::inside);
  // Push each label below the previous one, then push those below the bottom back up.
  for (auto label = labels.begin(); label != within; ++label) {
    if (label != labels.begin()) label->y = std::max(label->y, std::prev(label)->y + spacing * line);
  }
  double floor = area.bottom();
  for (auto label = std::make_reverse_iterator(within); label != labels.rend(); ++label) {
    label->y = std::min(label->y, floor);
    floor = label->y - spacing * line;
  }
  auto item = items_.begin();
  const auto put = [&](const Label& label, const QString& text, double x) {
    (*item)->setText(text);
    (*item)->setColor(label.color);
    (*item)->position->setCoords(x, label.y);
    (*item)->setVisible(true);
    ++item;
  };
  for (auto label = labels.begin(); label != within; ++label) {
    // If there are too many labels, drop the uppermost.
    if (label->y >= area.top()) put(*label, text_of(*label, metrics, room - gap), area.right() + gap);
  }
  // Inside the axes, try positions below or above the end where no curve crosses the label, else directly below the
  // end; drop it without room.
  std::vector<QPolygonF> lines;
  for (const CurveEnd& end : ends_) {
    QPolygonF& pixels = lines.emplace_back();
    for (const QPointF& at : end.points) pixels << to_pixels(*plot_.axisRect(), at);
  }
  std::vector<QRectF> taken;
  for (auto label = within; label != labels.end(); ++label) {
    const double x = label->end.x() + gap;
    const QString text = text_of(*label, metrics, area.right() - static_cast<int>(x));
    const QRectF below(x, label->end.y(), metrics.horizontalAdvance(text), line);
    const auto is_free = [&](const QRectF& place) {
      return QRectF(area).contains(place) &&
             std::ranges::none_of(taken, [&](const QRectF& other) { return place.intersects(other); });
    };
    QRectF box = below;
    for (const QRectF& other : taken) {
      if (box.intersects(other)) box.moveTop(other.bottom() + 1);
    }
    for (const double lower : {0.0, 0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0, -3.0}) {
      const QRectF place = below.translated(0, lower * line);
      if (!is_free(place) || std::ranges::any_of(lines, [&](const QPolygonF& each) { return passes(each, place); })) {
        continue;
      }
      box = place;
      break;
    }
    if (!QRectF(area).contains(box) || text.startsWith(QChar(0x2026))) continue;
    taken.push_back(box);
    label->y = box.center().y();
    put(*label, text, x);
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
