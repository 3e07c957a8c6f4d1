// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plot_table_page.h"

#include <QEvent>
#include <QHeaderView>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

void PlotTablePage::set_plot_and_table(QWidget* plot, QAbstractItemModel& model, const QString& name, int spacing,
                                       QWidget* below) {
  plot_ = plot;
  auto* both = new QWidget(this);
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(spacing);
  table_ = new PlainTable(&model, name, both);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  column->addWidget(plot, 1);
  column->addWidget(table_);
  set_content(make_scroll_area(both, plot, this), below);
}

void PlotTablePage::fit_table() {
  const auto height_of = [this](int rows) {
    return table_->horizontalHeader()->sizeHint().height() + table_->verticalHeader()->defaultSectionSize() * rows +
           2 * table_->frameWidth() + 2;
  };
  // Leave room for the horizontal scroll bar.
  const bool wide = table_->horizontalHeader()->length() > table_->width();
  const int bar = wide ? style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, table_) : 0;
  const int most = std::max(height_of(min_rows_), max_table_height());
  table_->setFixedHeight(std::min(height_of(table_->model()->rowCount()) + bar, most));
}

void PlotTablePage::changeEvent(QEvent* event) {
  ProblemPage::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_table();
}

void PlotTablePage::resizeEvent(QResizeEvent* event) {
  ProblemPage::resizeEvent(event);
  fit_table();
}

}  // namespace attnscope::ui
