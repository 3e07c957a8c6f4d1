// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/law_page.h"

#include <QEvent>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "messages/law_page.h"
#include "profiler/analysis/facets.h"
#include "ui/runs/source_note.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/scrolled.h"

namespace attnscope::ui {
namespace {

/// Sweeps that try the law share all that curves share but d, which it speaks of.
ProblemFilter law_filter() {
  std::vector<analysis::FacetPtr> facets = analysis::curve_facets();
  std::erase_if(facets, [](const analysis::FacetPtr& facet) { return facet->key == "d" || facet->key == "n_q"; });
  return {std::move(facets), analysis::tile_facet()};
}

}  // namespace

LawPage::LawPage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, law_filter, parent),
      level_([this] { refresh(); },
             {{LawLevel::sm_l2, {.text = level_words(LawLevel::sm_l2), .id = QStringLiteral("sm_l2")}},
              {LawLevel::dram, {.text = level_words(LawLevel::dram), .id = QStringLiteral("dram")}}}),
      view_([this] { refresh(); },
            {{LawView::growth, {.text = qtext(say::law_page::growth{}), .id = QStringLiteral("growth")}},
             {LawView::collapse, {.text = qtext(say::law_page::collapse{}), .id = QStringLiteral("collapse")}}}) {
  facets().add_combo(level_, qtext(say::law_page::level{}), qtext(say::law_page::level_help{}));
  facets().add_combo(view_, qtext(say::law_page::view{}), qtext(say::law_page::view_help{}));
  choices().keep("level", level_);
  choices().keep("view", view_);
  add_content();
  refresh();
}

void LawPage::add_content() {
  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  auto* both = new QWidget(content);
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  plot_ = new LawPlot(both);
  model_ = new LawModel(this);
  table_ = new PlainTable(model_, qtext(say::law_page::title{}), both);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setStretchLastSection(true);
  column->addWidget(plot_, 1);
  column->addWidget(table_);
  empty_ = new EmptyState(content, &workspace());
  shown_ = scrolled(both, plot_, content);
  stack_->addWidget(shown_);
  stack_->addWidget(empty_);
  static_cast<QVBoxLayout*>(layout())->addWidget(content, 1);
  note_ = new ErrorNote(workspace().simulation_errors(), this);
  layout()->addWidget(note_);
  connect(plot_, &LawPlot::point_clicked, this, &LawPage::tell_selected);
}

bool LawPage::show_mark(const ShownPoint& point, bool /*moves*/) {
  return plot_->select(point) && has_plot();
}

bool LawPage::has_plot() const {
  return stack_->currentWidget() == shown_;
}

QString LawPage::words() const {
  return has_plot() ? QString() : empty_->text();
}

QString LawPage::file_stem() const {
  return QStringLiteral("law-%1-%2%3").arg(view_.id(), level_.id(), QString::fromStdString(filter().stem()));
}

QString LawPage::save_plot(const QString& path, const QSize& size) {
  std::vector<Row> rows;
  for (const LawFamily& family : laws_.families) {
    if (family.level != level_.value()) continue;
    for (const analysis::LawPoint& point : family.points) rows.push_back(point.row);
  }
  plot_->set_source(source_note(points()->runs_of(rows)));
  return plot_->save(path, size);
}

void LawPage::refresh() {
  // Points that came later may try the law where those shown do not.
  if (std::ranges::none_of(laws_.families, [](const LawFamily& family) { return family.fit && !family.refusal; })) {
    forget_taken();
  }
  const auto report = std::make_shared<std::optional<analysis::LawReport>>();
  look_through(
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
  model_->set_laws(laws_);
  plot_->set_laws(laws_, level_.value(), view_.value());
  fit_table();
  const bool of_level =
      std::ranges::any_of(laws_.families, [&](const LawFamily& family) { return family.level == level_.value(); });
  if (of_level) {
    note_->show_for(simulated_parts(*points(), filter().rows()), ErrorNote::First::bytes);
    stack_->setCurrentWidget(shown_);
    return;
  }
  note_->show_for({}, ErrorNote::First::bytes);
  if (points()->empty()) {
    empty_->set_words(why_no_points(workspace()));
  } else if (laws_.families.empty()) {
    empty_->set_words({qtext(say::law_page::none{}), qtext(say::law_page::none_help{})});
  } else {
    empty_->set_words({qtext(say::law_page::none_here{}), qtext(say::law_page::none_here_help{})});
  }
  stack_->setCurrentWidget(empty_);
}

void LawPage::fit_table() {
  table_->clearSpans();
  for (int row = 0; row < model_->rowCount(); ++row) {
    if (model_->is_withheld(row))
      table_->setSpan(row, LawModel::n_column, 1, LawModel::miss_column - LawModel::n_column + 1);
  }
  // Of more rows than two fifths of the page hold, the table scrolls: the plot keeps its room.
  constexpr int fewest_rows = 5;
  const int row_height = table_->verticalHeader()->defaultSectionSize();
  const auto height_of = [&](int rows) {
    return table_->horizontalHeader()->sizeHint().height() + row_height * rows + 2 * table_->frameWidth() + 2;
  };
  const int most = std::max(height_of(fewest_rows), height() * 2 / 5);
  table_->setFixedHeight(std::min(height_of(model_->rowCount()), most));
}

void LawPage::changeEvent(QEvent* event) {
  ProblemPage::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_table();
}

void LawPage::resizeEvent(QResizeEvent* event) {
  ProblemPage::resizeEvent(event);
  fit_table();
}

}  // namespace attnscope::ui
