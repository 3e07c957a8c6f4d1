// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/law/law_page.h"

#include <QEvent>
#include <QHeaderView>
#include <QStyle>
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "messages/law_page.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/points/facets.h"
#include "ui/plots/axis_tickers.h"
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

QString family_title(const LawSet& set, const LawFamily& family) {
  QString title = QString::fromStdString(analysis::short_title(set.points->table().algorithms(), family.algorithm));
  const bool alone = std::ranges::none_of(set.families, [&](const LawFamily& other) {
    return &other != &family && other.algorithm == family.algorithm && other.level == family.level;
  });
  if (alone) return title;
  const RunInfo& run = set.points->run(family.run);
  return QStringLiteral("%1 (%2, %3, %4)")
      .arg(title, QString::fromStdString(analysis::device_title(set.points->table(), family.run)),
           to_qstring(run.summary.provenance), run.title);
}

QPixmap family_marker(const LawFamily& family) {
  return algorithm_marker(family.algorithm, family.provenance);
}

namespace {

using analysis::LawPoint;

constexpr std::array variables{LawVariable::n, LawVariable::d, LawVariable::m};
constexpr double faint = 0.4;          ///< Opacity of slices without fitted line.
constexpr double covered_rim = 0.5;    ///< Extra relative size of a covered mark.
constexpr double small_mark = 0.55;    ///< Relative size of marks outside the fitted slice.
constexpr double point_margin = 1.35;  ///< Margin beyond all points, as a factor.

/// Points that differ in one variable only, in ascending order.
using Slice = std::vector<std::size_t>;
std::vector<Slice> slices_of(const LawFamily& family, LawVariable along) {
  std::map<std::array<double, law_variable_count>, Slice> slices;
  for (std::size_t i = 0; i < family.points.size(); ++i) {
    auto others = family.points[i].at;
    others.at(static_cast<std::size_t>(along)) = 0;
    slices[others].push_back(i);
  }
  std::vector<Slice> result;
  for (auto& [others, slice] : slices) {
    std::ranges::sort(slice, {}, [&](std::size_t i) { return family.points[i].value(along); });
    result.push_back(std::move(slice));
  }
  return result;
}

/// Returns the middle one of the longest slices.
std::size_t main_slice(const std::vector<Slice>& slices) {
  const std::size_t longest = std::ranges::max_element(slices, {}, &Slice::size)->size();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].size() == longest) places.push_back(i);
  }
  return places[places.size() / 2];
}

}  // namespace

LawPlot::LawPlot(QWidget* parent) : PointPlot(parent), grid_(new QCPLayoutGrid) {
  setMinimumSize(320, 200);
  plotLayout()->remove(axisRect());
  plotLayout()->addElement(1, 0, grid_);
  add_key();
  grid_->setColumnSpacing(4);
  rebuild();
}

void LawPlot::set_laws(LawSet set, LawLevel level) {
  set_ = std::move(set);
  level_ = level;
  redraw();
}

QColor LawPlot::color_of(std::size_t family) const {
  return algorithm_color(set_.families[family].algorithm, plot_colors(palette()).dark);
}

bool LawPlot::is_further_family(std::size_t place) const {
  return std::ranges::any_of(drawn_, [&](std::size_t other) {
    const LawFamily& before = set_.families[other];
    const LawFamily& family = set_.families[place];
    return other < place && before.algorithm == family.algorithm &&
           is_simulated(before.provenance) == is_simulated(family.provenance);
  });
}

Extent LawPlot::extent_of(const std::function<double(const LawPoint&)>& value) const {
  Extent extent;
  for (const std::size_t family : drawn_) {
    for (const LawPoint& point : set_.families[family].points) extent.include(value(point));
  }
  return extent;
}

void LawPlot::draw_contents() {
  points_ = set_.points;
  panels_.clear();
  grid_->clear();
  grid_->simplify();
  drawn_.clear();
  for (std::size_t i = 0; i < set_.families.size(); ++i) {
    if (set_.families[i].level == level_ && !set_.families[i].points.empty()) drawn_.push_back(i);
  }
  // Draw measured families above simulated ones; coinciding simulated marks remain visible as a rim.
  const auto simulated = [this](std::size_t place) { return is_simulated(set_.families.at(place).provenance); };
  // Not std::ranges: clang 14 rejects the subrange of GCC 12.
  std::stable_partition(drawn_.begin(), drawn_.end(), simulated);
  rim_ = !drawn_.empty() && simulated(drawn_.front()) && !simulated(drawn_.back());
  const std::string level = text(analysis::level_title(level_));
  const std::string problem = set_.problem.toStdString();
  title_text_ = qtext(msg::law_page::plot_title{.level = level, .problem = problem});
  if (drawn_.empty()) return;
  headline_text_ = headline_of_fit();
  key_text_ = qtext(msg::law_page::growth_key{});
  draw_growth();
}

QString LawPlot::headline_of_fit() const {
  for (const std::size_t place : drawn_) {
    const LawFamily& family = set_.families[place];
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || is_simulated(family.provenance)) continue;
    QStringList grown;
    for (std::size_t k = 0; k < variables.size(); ++k) {
      grown << QStringLiteral("%1^%2").arg(to_qstring(to_string(variables.at(k))), format_number(fit->exponents[k]));
    }
    return qtext(msg::law_page::headline{.algorithm = family_title(set_, family).toStdString(),
                                         .fit = grown.join(QLatin1Char(' ')).toStdString(),
                                         .law = family.law.text,
                                         .level = text(analysis::level_title(level_)),
                                         .title = family.law.title});
  }
  return {};
}

QCPAxisRect* LawPlot::add_panel(const QString& heading, const QString& x_label) {
  const PlotColors colors = plot_colors(palette());
  auto* words = new QCPTextElement(this, heading, small_font(font()));
  words->setTextColor(colors.text);
  auto* panel = new QCPAxisRect(this);
  const int column = static_cast<int>(panels_.size());
  grid_->addElement(0, column, words);
  grid_->addElement(1, column, panel);
  grid_->setRowStretchFactor(0, 0.001);
  for (QCPAxis* axis : panel->axes()) {
    axis->setLayer(QStringLiteral("axes"));
    axis->grid()->setLayer(QStringLiteral("grid"));
    style_axis(*axis, colors, font());
  }
  for (QCPAxis* axis : {panel->axis(QCPAxis::atBottom), panel->axis(QCPAxis::atLeft)}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
  }
  panel->axis(QCPAxis::atBottom)->setLabel(x_label);
  panels_.push_back(panel);
  return panel;
}

void LawPlot::draw_growth() {
  const Extent bytes = extent_of([](const LawPoint& point) { return point.bytes; });
  auto* together = new QCPMarginGroup(this);
  std::vector<LawFamily> families;
  for (const std::size_t place : drawn_) families.push_back(set_.families[place]);
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const LawVariable variable = variables.at(k);
    QStringList heading;
    for (const std::size_t place : drawn_) {
      const LawFamily& family = set_.families[place];
      const PowerLawFit* fit = family.reported_fit();
      if (fit == nullptr) continue;
      heading << qtext(msg::law_page::panel_of{.algorithm = family_title(set_, family).toStdString(),
                                               .exponent = number_text(fit->exponents[k]),
                                               .variable = to_string(variable)});
    }
    constexpr qsizetype most_named = 3;  // The table below lists all families.
    if (heading.size() > most_named) heading = heading.mid(0, most_named) << QStringLiteral("…");
    heading << qtext(msg::law_page::panel{.exponent = declared_exponents(families, variable)});
    QCPAxisRect* panel =
        add_panel(heading.join(QStringLiteral(" · ")),
                  variable == LawVariable::m ? qtext(msg::law_page::m_axis{}) : to_qstring(to_string(variable)));
    panel->setMarginGroup(QCP::msTop | QCP::msBottom, together);
    QCPAxis* x = panel->axis(QCPAxis::atBottom);
    QCPAxis* y = panel->axis(QCPAxis::atLeft);
    const Extent along = extent_of([&](const LawPoint& point) { return point.value(variable); });
    x->setTicker(length_ticker());
    x->setRange(along.low / point_margin, along.high * point_margin);
    y->setTicker(byte_ticker());
    y->setRange(bytes.low / point_margin, bytes.high * point_margin);
    if (k == 0) {
      y->setLabel(qtext(msg::law_page::bytes_axis{}));
    } else {
      y->setTickLabels(false);
    }
    for (const std::size_t family : drawn_) draw_growth_of(panel, variable, family);
  }
}

void LawPlot::draw_growth_of(QCPAxisRect* panel, LawVariable variable, std::size_t place) {
  const LawFamily& family = set_.families[place];
  const QColor color = color_of(place);
  const std::vector<Slice> slices = slices_of(family, variable);
  const std::size_t strong = main_slice(slices);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    QPen pen = series_pen(with_opacity(color, i == strong ? 1 : faint), family.provenance, is_further_family(place));
    if (i != strong) pen.setWidthF(1);
    QCPGraph* line = add_line(*panel, pen);
    for (const std::size_t point : slices[i]) {
      line->addData(family.points[point].value(variable), family.points[point].bytes);
    }
    if (i != strong) draw_marks(panel, place, slices[i], false);
  }
  draw_marks(panel, place, slices[strong], true);
  const PowerLawFit* fit = family.reported_fit();
  if (fit == nullptr) return;
  // Line of the fit through the emphasized slice, extended beyond its points.
  QCPGraph* fitted = add_line(*panel, series_pen(color, Provenance::modeled, false));
  auto at = family.points[slices[strong].front()].at;
  double& x = at.at(static_cast<std::size_t>(variable));
  const double last = family.points[slices[strong].back()].value(variable) * point_margin;
  x /= point_margin;
  fitted->addData(x, fit->at(at));
  x = last;
  fitted->addData(x, fit->at(at));
}

void LawPlot::draw_marks(QCPAxisRect* panel, std::size_t place, const std::vector<std::size_t>& points, bool strong) {
  const LawFamily& family = set_.families[place];
  const QColor color = with_opacity(color_of(place), strong ? 1 : 0.7);
  const QColor background = plot_colors(palette()).background;
  MarkerGraphs graphs(*panel, [&](const Sample& sample, double shift) {
    QCPScatterStyle style = scatter_of(sample, color, background, shift);
    double scale = strong ? 1 : small_mark;
    // Simulated marks remain visible around measured ones.
    if (rim_ && sample.kind == SampleKind::hollow) scale += covered_rim;
    style.setSize(scale * style.size());
    return style;
  });
  const style::PlotIdentity identity = style::identity_of(family.algorithm);
  const std::size_t k = static_cast<std::size_t>(std::ranges::find(panels_, panel) - panels_.begin());
  for (const std::size_t i : points) {
    const LawPoint& point = family.points[i];
    add_mark(graphs.of(sample_of(point.provenance, identity)),
             {panel, point.at.at(k), point.bytes, place, i, {point.row}});
  }
}

HoverContent LawPlot::read_out(const Mark& mark) const {
  const LawFamily& family = set_.families[mark.series];
  const LawPoint& point = family.points[mark.point];
  const QColor color = color_of(mark.series);
  const style::PlotIdentity identity = style::identity_of(family.algorithm);
  const Sample line{SampleKind::line, identity};
  HoverContent content;
  content.title = QStringLiteral("%1 · %2").arg(
      family_title(set_, family),
      qtext(msg::law_page::at{.d = static_cast<std::int64_t>(point.value(LawVariable::d)),
                              .m = static_cast<std::int64_t>(point.value(LawVariable::m)),
                              .n = static_cast<std::int64_t>(point.value(LawVariable::n))}));
  content.rows.push_back(
      {color, sample_of(point.provenance, identity),
       QStringLiteral("%1 %2 · %3")
           .arg(qtext(analysis::level_title(level_)), qtext(msg::law_page::bytes{}), to_qstring(point.provenance)),
       qtext(Bytes(point.bytes))});
  if (point.model_bytes) {
    content.rows.push_back({color, line, qtext(msg::law_page::closed{}), qtext(Bytes(*point.model_bytes))});
  }
  if (const PowerLawFit* fit = family.reported_fit()) {
    content.rows.push_back({color, line, qtext(msg::law_page::fitted{}), qtext(Bytes(fit->at(point.at)))});
  }
  content.rows.push_back({color, Sample{}, qtext(msg::law_page::ratio{}), format_number(point.ratio())});
  const std::string tile = format_tile(points_->table().tile_of(point.row)).toStdString();
  content.notes << qtext(msg::law_page::tile{.tile = tile}) << run_text(point.row);
  return content;
}

}  // namespace attnscope::ui
