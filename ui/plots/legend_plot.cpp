// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/legend_plot.h"

#include <QHelpEvent>
#include <QJsonArray>
#include <QToolTip>
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "messages/curve_plot.h"
#include "ui/plots/curve_style.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr QSize base_icon_size{34, 14};  ///< Icon size in pixels at the system's font size.
constexpr int legend_padding = 20;       ///< Gap in pixels between icon and text, and between columns.
constexpr int legend_margins = 24;       ///< Total left and right margin of the legend, in pixels.
constexpr double swatch_width = 4;
/// Minimum height of the axes; the legend is shortened if it leaves less.
constexpr int min_axes_height = 320;
/// On screen, rows of the short legend are dropped below this height.
constexpr int min_screen_axes_height = 312;
/// Minimum if the legend is the only explanation of some colors.
constexpr int min_axes_height_with_colors = 200;

QSize scaled_icon_size(const QFont& font) {
  return base_icon_size * font_scale(font);
}

/// Legend entry with a gray line and marker for all curves of a style.
class StyleItem : public QCPAbstractLegendItem {
 public:
  StyleItem(QCPLegend* legend, PlotLegend::Style style, const QColor& color, const QColor& background)
      : QCPAbstractLegendItem(legend), style_(std::move(style)) {
    style_.pen.setColor(color);
    style_.scatter.setPen(QPen(color, style_.scatter.pen().widthF()));
    const bool filled = style_.scatter.brush().style() != Qt::NoBrush && style_.scatter.brush().color() != background;
    if (filled) style_.scatter.setBrush(color);
    const double by = font_scale(mParentPlot->font());
    style_.pen.setWidthF(by * style_.pen.widthF());
    style_.pen.setCapStyle(Qt::FlatCap);  // A wide line must not overlap the text.
    style_.scatter.setSize(by * style_.scatter.size());
  }

 protected:
  /// The clip rectangle of QCustomPlot cuts off descenders.
  [[nodiscard]] QRect clipRect() const override { return mOuterRect.adjusted(0, 0, 0, 2); }
  void draw(QCPPainter* painter) override {
    const QSize size = scaled_icon_size(mParentPlot->font());
    const QRectF icon(QPointF(mRect.left(), mRect.top() + (mRect.height() - size.height()) / 2.0), size);
    painter->setPen(style_.pen);
    if (style_.pen.style() != Qt::NoPen)
      painter->drawLine(QLineF(icon.left(), icon.center().y(), icon.right(), icon.center().y()));
    if (!style_.scatter.isNone()) {
      style_.scatter.applyTo(painter, style_.pen);
      style_.scatter.drawShape(painter, icon.center());
    }
    painter->setFont(mFont);
    painter->setPen(mTextColor);
    const QRectF text(icon.right() + mParentLegend->iconTextPadding(), mRect.top(), mRect.width(), mRect.height());
    painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, style_.text);
  }
  [[nodiscard]] QSize minimumOuterSizeHint() const override {
    const QSize text = QFontMetrics(mFont).size(0, style_.text);
    const QSize icon = scaled_icon_size(mParentPlot->font());
    return {icon.width() + mParentLegend->iconTextPadding() + text.width() + legend_padding / 2,
            std::max(icon.height(), text.height())};
  }

 private:
  PlotLegend::Style style_;
};

/// Caches its size: the layout queries it three times per drawing, and a legend is rebuilt whenever a text changes.
class CurveItem : public QCPPlottableLegendItem {
 public:
  using QCPPlottableLegendItem::QCPPlottableLegendItem;

 protected:
  [[nodiscard]] QRect clipRect() const override { return mOuterRect.adjusted(0, 0, 0, 2); }
  [[nodiscard]] QSize minimumOuterSizeHint() const override {
    if (!size_.isValid() || font_ != mFont) {
      size_ = QCPPlottableLegendItem::minimumOuterSizeHint();
      font_ = mFont;
    }
    return size_;
  }

 private:
  mutable QSize size_;
  mutable QFont font_;
};

}  // namespace

void PlotLegend::add(const QString& group, QCPAbstractPlottable* plottable, const std::optional<Style>& style,
                     const QString& curve) {
  entries_.push_back({group, plottable, style, {}, curve.isEmpty() ? QStringList() : QStringList(curve)});
}

void PlotLegend::add_color(const QString& text, const QColor& color, bool shown_in_controls, const QString& curve) {
  const auto known = std::ranges::find(colors_, text, &Color::text);
  if (known == colors_.end()) {
    colors_.push_back({text, color, shown_in_controls, {curve}});
  } else {
    known->curves << curve;
  }
}

void PlotLegend::set_hidden(std::set<QString> curves, const QString& words) {
  hidden_ = std::move(curves);
  hidden_text_ = words;
}

bool PlotLegend::is_hidden(const Entry& entry) const {
  return !entry.curves.empty() &&
         std::ranges::all_of(entry.curves, [this](const QString& curve) { return hidden_.contains(curve); });
}

const PlotLegend::ShownEntry* PlotLegend::shown(const QCPAbstractLegendItem* item) const {
  const auto found = items_.find(item);
  return found == items_.end() ? nullptr : &found->second;
}

std::vector<PlotLegend::ShownEntry> PlotLegend::shown() const {
  std::vector<ShownEntry> all;
  for (const auto& [item, entry] : items_) all.push_back(entry);
  return all;
}

void PlotLegend::remove() {
  items_.clear();
  if (box_ == nullptr) return;
  plot_.plotLayout()->remove(box_);
  plot_.plotLayout()->simplify();
  box_ = nullptr;
}

QCPLegend* PlotLegend::add_box() {
  auto* box = new QCPLegend;
  box->setBorderPen(Qt::NoPen);
  box->setBrush(Qt::NoBrush);
  box->setIconSize(scaled_icon_size(plot_.font()));
  box->setRowSpacing(1);
  box->setColumnSpacing(8);
  box->setMargins({12, 2, 8, 6});
  QCPLayoutGrid* layout = plot_.plotLayout();
  layout->addElement(layout->rowCount(), 0, box);
  box->setLayer(QStringLiteral("legend"));
  layout->setRowStretchFactor(layout->rowCount() - 1, 0.001);
  return box;
}

QSize PlotLegend::size_of(const QString& text) const {
  const QRect words = QFontMetrics(small_font(plot_.font())).boundingRect(0, 0, 0, 0, Qt::TextDontClip, text);
  const QSize icon = scaled_icon_size(plot_.font());
  return {words.width() + icon.width() + legend_padding, std::max(icon.height(), words.height()) + 1};
}

std::vector<PlotLegend::Entry> PlotLegend::short_entries(PlotTarget target) const {
  std::vector<Entry> entries;
  for (const Color& color : colors_) {
    if (target == PlotTarget::screen && color.shown_in_controls) continue;
    // The model curve common to all devices has the color of one of them.
    const bool named = color.shown_in_controls && std::ranges::any_of(colors_, [&](const Color& other) {
                         return !other.shown_in_controls && other.color == color.color;
                       });
    if (named) continue;
    entries.push_back(
        {color.text, nullptr, Style{color.text, QPen(color.color, swatch_width)}, color.color, color.curves});
  }
  std::map<QString, std::size_t> place_of;  // Index of the entry of each style text.
  for (const Entry& entry : entries_) {
    const auto known = entry.style ? place_of.find(entry.style->text) : place_of.end();
    if (known != place_of.end()) {
      entries[known->second].curves << entry.curves;
      continue;
    }
    if (entry.style) place_of.emplace(entry.style->text, entries.size());
    entries.push_back(entry);
  }
  return entries;
}

std::vector<PlotLegend::Entry> PlotLegend::entries(bool short_form, PlotTarget target) const {
  std::vector<Entry> all = short_form ? short_entries(target) : entries_;
  // A file shows drawn curves only. On screen, hidden ones stay available.
  if (target == PlotTarget::file) std::erase_if(all, [this](const Entry& entry) { return is_hidden(entry); });
  if (target == PlotTarget::screen && !hidden_text_.isEmpty()) {
    all.push_back(Entry{{}, nullptr, Style{hidden_text_, QPen(Qt::NoPen)}, {}, {hidden_.begin(), hidden_.end()}});
  }
  return all;
}

std::vector<int> PlotLegend::max_columns(const std::vector<Entry>& entries, int available, bool short_form) const {
  for (std::size_t columns = entries.size(); columns > 1; --columns) {
    std::vector<int> widths(columns, 0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      int& width = widths[i % columns];
      width = std::max(width, size_of(entries[i].text(short_form)).width());
    }
    if (std::accumulate(widths.begin(), widths.end(), 0) <= available) return widths;
  }
  return {available};
}

PlotLegend::Grid PlotLegend::arrange(const std::vector<Entry>& entries, int width, bool short_form) const {
  std::vector<QString> groups;
  std::vector<int> group_widths;
  for (const Entry& entry : entries) {
    const int entry_width = size_of(entry.text(short_form)).width();
    const auto place = static_cast<std::size_t>(std::find(groups.begin(), groups.end(), entry.group) - groups.begin());
    if (place == groups.size()) {
      groups.push_back(entry.group);
      group_widths.push_back(0);
    }
    group_widths[place] = std::max(group_widths[place], entry_width);
  }
  const int available = width - legend_margins;
  Grid grid;
  const bool by_group =
      !short_form && groups.size() > 1 && std::accumulate(group_widths.begin(), group_widths.end(), 0) <= available;
  grid.column_widths = by_group ? group_widths : max_columns(entries, available, short_form);
  const int columns = static_cast<int>(grid.column_widths.size());
  std::map<int, int> row_heights;
  std::map<QString, int> next_row;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const auto group = std::find(groups.begin(), groups.end(), entry.group) - groups.begin();
    const int row = by_group ? next_row[entry.group]++ : static_cast<int>(i) / columns;
    const int column = by_group ? static_cast<int>(group) : static_cast<int>(i) % columns;
    grid.cells.push_back({entry, row, column});
    row_heights[row] = std::max(row_heights[row], size_of(entry.text(short_form)).height());
  }
  for (const auto& [row, height] : row_heights) grid.height += height;
  return grid;
}

void PlotLegend::shorten(Grid& grid, int room) const {
  std::map<int, int> heights;
  for (const Grid::Cell& cell : grid.cells) {
    heights[cell.row] = std::max(heights[cell.row], size_of(cell.entry.text(short_)).height());
  }
  int kept = 0;
  int height = 0;
  for (const auto& [row, its] : heights) {
    if (kept > 0 && height + its > room) break;
    height += its;
    ++kept;
  }
  const auto in_sight = [&](const Grid::Cell& cell) { return cell.row < kept; };
  const auto last = std::find_if(grid.cells.rbegin(), grid.cells.rend(), in_sight);
  const auto hidden = std::count_if(grid.cells.begin(), grid.cells.end(), std::not_fn(in_sight));
  if (hidden == 0 || last == grid.cells.rend()) return;
  QString more = qtext(msg::curve_plot::more_entries{.entries = hidden + 1});
  if (!hidden_text_.isEmpty()) more = hidden_text_ + QStringLiteral(" · ") + more;
  last->entry = {last->entry.group, nullptr, Style{more, QPen(Qt::NoPen)}, {}, {hidden_.begin(), hidden_.end()}};
  std::erase_if(grid.cells, std::not_fn(in_sight));
  grid.height = height;
}

QString PlotLegend::entry_texts() const {
  QStringList lines;
  for (const Entry& entry : entries_) {
    lines << QString(entry.text(false)).replace(QLatin1Char('\n'), QLatin1Char(' '));
  }
  lines.removeDuplicates();
  if (!hidden_text_.isEmpty()) lines << hidden_text_;
  return lines.join(QLatin1Char('\n'));
}

bool PlotLegend::contains(const QPoint& position) const {
  return box_ != nullptr && box_->outerRect().contains(position);
}

void PlotLegend::lay_out(const QSize& size, PlotTarget target) {
  remove();
  short_ = false;
  if (entries_.empty()) return;
  const int line = QFontMetrics(plot_.font()).height();
  const int around_axes = 4 * line + 30;  // Height of title, tick labels and axis label.
  Grid grid = arrange(entries(false, target), size.width(), false);
  // Reserve the row for hidden curves in advance: if a click changed the layout, a second click at the same position
  // would hit another entry.
  const bool none_hidden = target == PlotTarget::screen && hidden_text_.isEmpty();
  const int reserved_height = none_hidden ? size_of(QStringLiteral("0")).height() : 0;
  if (size.height() - grid.height - reserved_height - around_axes < min_axes_height) {
    Grid shorter = arrange(entries(true, target), size.width(), true);
    short_ = shorter.height < grid.height;
    if (short_) grid = std::move(shorter);
    const bool colors =
        std::ranges::any_of(grid.cells, [](const Grid::Cell& cell) { return cell.entry.color.has_value(); });
    const int smallest = short_ && colors ? min_axes_height_with_colors : min_screen_axes_height;
    if (target == PlotTarget::screen) shorten(grid, size.height() - around_axes - smallest);
  }
  box_ = add_box();
  const PlotColors colors = plot_colors(plot_.palette());
  const QFont font = small_font(plot_.font());
  for (const Grid::Cell& cell : grid.cells) {
    QCPAbstractLegendItem* item = nullptr;
    if (cell.entry.uses_style(short_)) {
      item = new StyleItem(box_, *cell.entry.style, cell.entry.color.value_or(colors.muted), colors.background);
    } else if (cell.entry.style && !cell.entry.style->scatter.isNone()) {
      // Curves that are covered have larger markers and wider lines, too large for a legend entry.
      const PlotLegend::Style& style = *cell.entry.style;
      item = new StyleItem(box_, {cell.entry.plottable->name(), style.pen, style.scatter}, style.scatter.pen().color(),
                           colors.background);
    } else {
      item = new CurveItem(box_, cell.entry.plottable);
    }
    const bool is_hidden_note =
        cell.entry.uses_style(short_) && !hidden_text_.isEmpty() && cell.entry.style->text.startsWith(hidden_text_);
    const bool hidden = !is_hidden_note && is_hidden(cell.entry);
    QFont words = font;
    words.setStrikeOut(hidden);
    item->setFont(words);
    item->setTextColor(hidden ? colors.muted : colors.text);
    if (!cell.entry.curves.empty()) items_.emplace(item, ShownEntry{cell.entry.text(short_), cell.entry.curves});
    box_->addElement(cell.row, cell.column, item);
  }
  for (std::size_t i = 0; i < grid.column_widths.size(); ++i) {
    box_->setColumnStretchFactor(static_cast<int>(i), grid.column_widths[i]);
  }
}

namespace {

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

LegendPlot::LegendPlot(QWidget* parent) : PointPlot(parent) {
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  legend->setVisible(false);
  // Handle a double click as two clicks.
  for (const auto clicked : {&QCustomPlot::legendClick, &QCustomPlot::legendDoubleClick}) {
    connect(this, clicked, this, [this](QCPLegend* /*box*/, QCPAbstractLegendItem* item, const QMouseEvent* event) {
      click_legend(item, event->modifiers());
    });
  }
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
  legend_.clear();
  const QStringList all = names();
  std::erase_if(hidden_, [&](const QString& name) { return !all.contains(name); });
}

void LegendPlot::lay_out(const QSize& size, PlotTarget target) {
  PointPlot::lay_out(size, target);
  legend_.lay_out(size, target);
}

void LegendPlot::click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers) {
  const PlotLegend::ShownEntry* entry = legend_.shown(item);
  if (entry == nullptr) return;
  const QStringList names = entry->curves;  // Copied, because the legend is rebuilt.
  modifiers.testFlag(Qt::ControlModifier) ? isolate(names) : toggle(names);
}

void LegendPlot::toggle(const QStringList& names) {
  const bool show = std::ranges::all_of(names, [this](const QString& name) { return is_hidden(name); });
  for (const QString& name : names) {
    if (show) {
      hidden_.erase(name);
    } else {
      hidden_.insert(name);
    }
  }
  redraw();
}

void LegendPlot::isolate(const QStringList& names) {
  std::set<QString> others;
  for (const QString& name : this->names()) {
    if (!names.contains(name)) others.insert(name);
  }
  hidden_ = hidden_ == others ? std::set<QString>() : others;
  redraw();
}

bool LegendPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
  // The tooltip lists all entries, including those that did not fit.
  const auto* help = static_cast<QHelpEvent*>(event);
  if (legend_.contains(help->pos())) {
    const QString words = legend_.entry_texts() + QStringLiteral("\n\n") + qtext(msg::curve_plot::legend_help{});
    QToolTip::showText(help->globalPos(), plain_tooltip(words), this);
  } else {
    QToolTip::hideText();
    event->ignore();
  }
  return true;
}

void LegendPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  const bool on_legend = legend_.contains(event->pos());  // Tested first, because the click rebuilds the legend.
  QCustomPlot::mouseDoubleClickEvent(event);
  if (on_legend) return;
  pending_zoom_ = {};
  reset_view();
}

}  // namespace attnscope::ui
