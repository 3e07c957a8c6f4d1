// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_legend.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "ui/plots/curve_style.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr int icon_width = 34;
constexpr int icon_height = 14;
constexpr int padding = 20;  ///< between icon and text, and between columns
constexpr int margins = 24;  ///< of the whole legend, both sides

}  // namespace

void PlotLegend::remove() {
  if (box_ == nullptr) return;
  plot_.plotLayout()->remove(box_);
  plot_.plotLayout()->simplify();
  box_ = nullptr;
}

QCPLegend* PlotLegend::add_box() {
  auto* box = new QCPLegend;
  box->setBorderPen(Qt::NoPen);
  box->setBrush(Qt::NoBrush);
  box->setIconSize(icon_width, icon_height);
  box->setRowSpacing(1);
  box->setColumnSpacing(8);
  box->setMargins({12, 2, 8, 6});
  QCPLayoutGrid* layout = plot_.plotLayout();
  layout->addElement(layout->rowCount(), 0, box);
  box->setLayer(QStringLiteral("legend"));
  layout->setRowStretchFactor(layout->rowCount() - 1, 0.001);
  return box;
}

void PlotLegend::lay_out(int width) {
  remove();
  if (entries_.empty()) return;
  box_ = add_box();
  const QFont font = small_font(plot_.font());
  const QFontMetrics metrics(font);
  std::vector<QString> groups;
  std::vector<int> group_widths;
  int widest = 0;
  for (const Entry& entry : entries_) {
    const int entry_width =
        metrics.boundingRect(0, 0, 0, 0, Qt::TextDontClip, entry.plottable->name()).width() + icon_width + padding;
    widest = std::max(widest, entry_width);
    const auto place = static_cast<std::size_t>(std::find(groups.begin(), groups.end(), entry.group) - groups.begin());
    if (place == groups.size()) {
      groups.push_back(entry.group);
      group_widths.push_back(0);
    }
    group_widths[place] = std::max(group_widths[place], entry_width);
  }
  const int available = width - margins;
  const int columns = std::max(1, available / std::max(1, widest));
  const bool column_per_group =
      groups.size() > 1 && std::accumulate(group_widths.begin(), group_widths.end(), 0) <= available;
  const QColor ink = plot_colors(plot_.palette()).text;
  std::map<QString, int> next_row;
  int placed = 0;
  for (const Entry& entry : entries_) {
    auto* item = new QCPPlottableLegendItem(box_, entry.plottable);
    item->setFont(font);
    item->setTextColor(ink);
    if (column_per_group) {
      const auto column = std::find(groups.begin(), groups.end(), entry.group) - groups.begin();
      box_->addElement(next_row[entry.group]++, static_cast<int>(column), item);
    } else {
      box_->addElement(placed / columns, placed % columns, item);
      ++placed;
    }
  }
  if (!column_per_group) return;
  for (std::size_t i = 0; i < groups.size(); ++i) box_->setColumnStretchFactor(static_cast<int>(i), group_widths[i]);
}

}  // namespace attnscope::ui
