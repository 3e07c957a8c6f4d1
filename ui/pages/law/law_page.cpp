// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/law/law_page.h"

#include <QEvent>
#include <QHeaderView>
#include <QStyle>
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "messages/law_page.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/points/facets.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// Facets of curves except d and N, which the law varies.
ProblemFilter make_law_filter() {
  std::vector<analysis::FacetPtr> facets = analysis::curve_facets();
  std::erase_if(facets, [](const analysis::FacetPtr& facet) { return facet->key == "d" || facet->key == "n_q"; });
  return {std::move(facets), analysis::tile_facet()};
}

}  // namespace

LawPage::LawPage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, make_law_filter, parent),
      level_([this] { refresh(); },
             {{LawLevel::sm_l2, {.text = qtext(analysis::level_title(LawLevel::sm_l2)), .id = QStringLiteral("sm_l2")}},
              {LawLevel::dram, {.text = qtext(analysis::level_title(LawLevel::dram)), .id = QStringLiteral("dram")}}}) {
  facets().add_chip(level_, msg::law_page::level{}, msg::law_page::level_help{});
  choices().add("level", level_);
  plot_ = new LawPlot(this);
  model_ = new ResultModel(this);
  auto* both = new QWidget(this);
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  table_ = new PlainTable(model_, qtext(msg::law_page::title{}), both);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  column->addWidget(plot_, 1);
  column->addWidget(table_);
  set_content(make_scroll_area(both, plot_, this));
  connect(plot_, &LawPlot::point_clicked, this, &LawPage::emit_selected);
  refresh();
}

void LawPage::fit_table() {
  constexpr int min_rows = 5;
  const auto height_of = [this](int rows) {
    return table_->horizontalHeader()->sizeHint().height() + table_->verticalHeader()->defaultSectionSize() * rows +
           2 * table_->frameWidth() + 2;
  };
  // Leave room for the horizontal scroll bar.
  const bool wide = table_->horizontalHeader()->length() > table_->width();
  const int bar = wide ? style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, table_) : 0;
  table_->setFixedHeight(
      std::min(height_of(model_->rowCount()) + bar, std::max(height_of(min_rows), height() * 2 / 5)));
}

void LawPage::changeEvent(QEvent* event) {
  ProblemPage::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_table();
}

void LawPage::resizeEvent(QResizeEvent* event) {
  ProblemPage::resizeEvent(event);
  fit_table();
}

ProblemPage::Collection LawPage::collection() const {
  return {.preset = QStringLiteral("law"), .free_axes = {"algorithm", "N", "n_q", "n_k", "d", "br", "bc"}};
}

QString LawPage::file_stem() const {
  return QStringLiteral("law-%1%2").arg(level_.id(), QString::fromStdString(filter().stem()));
}

PlotPicture LawPage::picture() const {
  std::vector<Row> rows;
  for (const LawFamily& family : laws_.families) {
    if (family.level != level_.value()) continue;
    for (const analysis::LawPoint& point : family.points) rows.push_back(point.row);
  }
  return picture_of(*plot_, points()->runs_of(rows));
}

void LawPage::refresh() {
  // If the shown problem has no fit, new points may allow one for another problem.
  if (std::ranges::none_of(laws_.families, &LawFamily::reported_fit)) {
    reset_automatic();
  }
  const auto report = std::make_shared<std::optional<analysis::LawReport>>();
  search_points(
      {},
      [report](const analysis::PointTable& table) {
        *report = analysis::fit_law_exponents(table, table.rows());
        std::set<Row> tried;
        for (const LawFamily& family : (*report)->families) {
          for (const analysis::LawPoint& point : family.points) tried.insert(point.row);
        }
        return std::vector<Row>(tried.begin(), tried.end());
      },
      [this, report] {
        if (*report) families_ = std::move((*report)->families);
        show_laws();
      });
}

void LawPage::show_laws() {
  const std::set<Row> shown(filter().rows().begin(), filter().rows().end());
  std::vector<LawFamily> families;
  std::ranges::copy_if(families_, std::back_inserter(families), [&](const LawFamily& family) {
    return !family.points.empty() && shown.contains(family.points.front().row);
  });
  laws_ = {points(), std::move(families), QString::fromStdString(filter().summary())};
  show_table();
  plot_->set_laws(laws_, level_.value());
  fit_table();
  const bool of_level =
      std::ranges::any_of(laws_.families, [&](const LawFamily& family) { return family.level == level_.value(); });
  if (of_level) return show_content(simulated_groups(*points(), filter().rows()));
  if (auto absent = absent_text(msg::law_page::what{})) return show_text(*absent);
  show_text(points()->empty()        ? no_points_text(workspace())
            : laws_.families.empty() ? EmptyStateText{qtext(msg::law_page::no_data{}),
                                                      qtext(msg::law_page::no_data_help{}), attnscope::law_sample}
                                     : EmptyStateText{qtext(msg::law_page::no_points_at_level{}),
                                                      qtext(msg::law_page::no_points_at_level_help{})});
}

void LawPage::show_table() {
  struct Kept {
    LawSet laws;  // Owns the data that the table refers to.
    analysis::Table table = {};
  };
  const auto kept = std::make_shared<Kept>(Kept{laws_});
  const std::vector<LawFamily>& families = kept->laws.families;
  if (kept->laws.points) kept->table = analysis::law_table(kept->laws.points->table(), families);
  kept->table.drop("problem");  // The page shows the problem above the plot.
  model_->set_table({kept, &kept->table}, [kept, lines = analysis::law_lines(families)](int row) {
    const analysis::LawLine& line = lines[static_cast<std::size_t>(row)];
    return line.kind == analysis::LawLine::Kind::found ? family_marker(*line.family) : QPixmap();
  });
}

}  // namespace attnscope::ui
