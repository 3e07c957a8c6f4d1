// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "profiler/plan/fields.h"
#include "profiler/tilemap/tile_map.h"
#include "storage/compared_runs.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {

namespace {

std::vector<analysis::RunIndex> runs_by_age(const analysis::PointTable& table) {
  std::vector<analysis::RunIndex> runs(table.runs().size());
  std::iota(runs.begin(), runs.end(), analysis::RunIndex{0});
  std::ranges::stable_sort(runs, [&](auto a, auto b) { return analysis::is_newer(table, b, a); });
  return runs;
}

bool changes_problem(const analysis::PointAxis& axis) {
  static constexpr std::array<std::string_view, 3> configuration{"algorithm", "br", "bc"};
  return std::ranges::any_of(axis.names, [](const std::string& name) {
    return find_field(name) != nullptr && std::ranges::find(configuration, name) == configuration.end();
  });
}

SideAxis axis_of_points(const PointSet& points, const analysis::PointAxis& axis) {
  const analysis::CodeColumn& column = points.table().codes(*axis.facet);
  SideAxis sides{.key = QString::fromStdString(axis.key()),
                 .label = qtext(axis.facet->label),
                 .names = axis.names,
                 .codes = column.codes,
                 .values = {}};
  for (const analysis::FacetValue& value : column.values) {
    sides.values.push_back(value.full.empty() ? facet_value_text(*axis.facet, value)
                                              : QString::fromStdString(value.full));
  }
  return sides;
}

/// Returns the fields in which compared points must agree; tiles may differ.
std::vector<analysis::FacetPtr> fixed_facets(const SideAxis& sides) {
  const std::vector<analysis::PointAxis> known = analysis::point_axes();
  const analysis::PointAxis* own = analysis::find_axis(known, sides.key.toStdString());
  // Sides defined by a run property may also differ in the device.
  if (own == nullptr) own = analysis::find_axis(known, analysis::device_facet_key);
  std::vector<analysis::FacetPtr> facets =
      analysis::fixed_facets(own == nullptr ? std::vector<analysis::PointAxis>() : std::vector{*own});
  analysis::remove_tile_facets(facets);
  return facets;
}

}  // namespace

std::optional<std::uint32_t> SideAxis::side_named(const QString& name) const {
  const auto found = std::ranges::find(values, name);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - values.begin());
}

std::vector<SideAxis> side_axes(const PointSet& points) {
  std::vector<SideAxis> axes;
  if (points.empty()) return axes;
  const std::vector<analysis::RunIndex> runs = runs_by_age(points.table());
  QStringList files;
  for (const analysis::RunIndex run : runs) files << points.run(run).file;
  files.removeDuplicates();
  const std::map<QString, QString> file_names = distinct_file_names(files);
  // Adds an axis with one side per distinct text of a run.
  const auto add = [&](const char* key, const Message& label, auto text_of) {
    SideAxis axis{.key = QLatin1String(key), .label = qtext(label), .names = {}, .codes = {}, .values = {}};
    std::vector<std::uint32_t> code_of(runs.size());
    for (const analysis::RunIndex run : runs) {
      const QString text = one_line(text_of(points.run(run)));
      const QString value = text.isEmpty() ? qtext(msg::compare_page::unknown{}) : text;
      const auto known = std::ranges::find(axis.values, value);
      code_of[run] = static_cast<std::uint32_t>(known - axis.values.begin());
      if (known == axis.values.end()) axis.values.push_back(value);
    }
    if (axis.values.size() < 2) return;
    for (const Row row : points.table().rows()) axis.codes.push_back(code_of[points.table().run_index(row)]);
    axes.push_back(std::move(axis));
  };
  // Files come first, because users usually open two files to compare them.
  add("file", msg::compare_page::by_file{}, [&](const RunInfo& run) { return file_names.at(run.file); });
  add("run", msg::compare_page::by_run{}, [](const RunInfo& run) { return run.title; });
  add("program", msg::compare_page::by_program{},
      [](const RunInfo& run) { return to_qstring(run.summary.environment.app_version); });
  add("driver", msg::compare_page::by_driver{},
      [](const RunInfo& run) { return to_qstring(run.summary.environment.driver_version); });
  add("source", msg::compare_page::by_source{}, [](const RunInfo& run) { return to_qstring(run.summary.provenance); });
  const std::vector<Row> rows = points.table().rows();
  const std::vector<analysis::PointAxis> varying = analysis::varying_axes(points.table(), rows);
  for (const bool last : {false, true}) {
    for (const analysis::PointAxis& axis : varying) {
      if (changes_problem(axis) == last) axes.push_back(axis_of_points(points, axis));
    }
  }
  return axes;
}

std::optional<std::uint32_t> best_matched_side(const PointSet& points, const SideAxis& axis) {
  // For each row: code of the fields that are not on the axis, and side; sorted, without duplicates.
  const std::vector<std::uint64_t> beside = analysis::combined_codes(points.table(), fixed_facets(axis));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
  places.reserve(beside.size());
  for (std::size_t row = 0; row < beside.size(); ++row) places.emplace_back(beside[row], axis.codes[row]);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::size_t> shared(axis.values.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool has_partner = (i > 0 && places[i - 1].first == places[i].first) ||
                             (i + 1 < places.size() && places[i + 1].first == places[i].first);
    if (has_partner) ++shared[places[i].second];
  }
  const auto default_side = std::ranges::max_element(shared);
  if (default_side == shared.end() || *default_side == 0) return std::nullopt;
  return static_cast<std::uint32_t>(default_side - shared.begin());
}

namespace {

/// Aligns points by all fields except those that define the sides.
analysis::Alignment alignment_except(const analysis::PointTable& table, const SideAxis& axis,
                                     const std::vector<Row>& base, const std::vector<Row>& other,
                                     std::optional<analysis::ComparedTiles> tiles) {
  analysis::Alignment alignment = *analysis::parse_alignment({}, table, base, other, tiles);
  const auto is_side = [&](const std::string& name) { return std::ranges::find(axis.names, name) != axis.names.end(); };
  std::erase_if(alignment.fields, is_side);
  const auto is_knob = [](const std::string& name) { return find_field(name) == nullptr; };
  if (alignment.tiles == analysis::ComparedTiles::equal && std::ranges::any_of(axis.names, is_knob)) {
    std::set<std::string> knobs;
    for (const Knobs& given : table.points().knobs().values()) {
      for (const Knobs::Entry& entry : given) knobs.insert(entry.first);
    }
    std::erase_if(knobs, is_side);
    alignment.all_knobs = false;
    alignment.knobs.assign(knobs.begin(), knobs.end());
  }
  if (axis.key == QLatin1String(analysis::device_facet_key.data())) alignment.device = false;
  return alignment;
}

using analysis::ComparedPair;
using analysis::ComparedSide;
using analysis::Verdict;
using SidePtr = std::shared_ptr<const ComparedSide>;

constexpr auto not_compared_key = "not_compared";

QString verdict_key(const ComparedPair* pair) {
  return pair == nullptr ? QString::fromLatin1(not_compared_key)
                         : to_qstring(analysis::to_string(pair->verdict.verdict)).toLower();
}

}  // namespace

Provenance provenance_of(const analysis::PointTable& table, const ComparedPair& pair) {
  for (const Row row : {pair.other.front(), pair.base.front()}) {
    const Provenance origin = table.points().origin(row);
    if (origin != Provenance::measured) return origin;
  }
  return Provenance::derived;
}

std::optional<std::size_t> ComparisonSet::side_named(const QString& name) const {
  const auto side = std::ranges::find(view.sides, name.toStdString(), [](const SidePtr& each) { return each->name; });
  if (name.isEmpty() || side == view.sides.end()) return std::nullopt;
  return static_cast<std::size_t>(side - view.sides.begin());
}

std::shared_ptr<const ComparisonSet> compare_sides(const SideComparisonRequest& ask, const StaleCheck& cancelled) {
  const analysis::PointTable& table = ask.points->table();
  const std::vector<QString>& names = ask.axis.values;
  std::vector<std::vector<Row>> rows(names.size());
  for (const Row row : table.rows()) rows[ask.axis.codes[row]].push_back(row);
  analysis::ViewRequest request{.sides = {}, .margin = ask.margin, .hide_unmatched = true, .cancelled = cancelled};
  for (std::size_t run = 0; run < table.runs().size(); ++run) {
    const RunSummary& summary = ask.points->run(static_cast<analysis::RunIndex>(run)).summary;
    request.conditions.push_back(run_conditions(summary));
    request.looks = std::max(request.looks, interim_analysis_count(summary));
  }
  for (std::uint32_t code = 0; code < rows.size(); ++code) {
    if (code == ask.base || rows[code].empty()) continue;
    request.sides.push_back({.base_name = names[ask.base].toStdString(),
                             .name = names[code].toStdString(),
                             .base = rows[ask.base],
                             .other = rows[code],
                             .alignment = alignment_except(table, ask.axis, rows[ask.base], rows[code], ask.tiles)});
  }
  const auto set = make_background_deleted<ComparisonSet>(ComparisonSet{ask, analysis::view_of(table, request)});
  return cancelled && cancelled() ? nullptr : set;
}

std::vector<VerdictCount> verdict_counts(const analysis::ComparisonView& view) {
  std::vector<VerdictCount> counts;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    counts.push_back({.key = to_qstring(analysis::to_string(verdict)).toLower(),
                      .title = qtext(analysis::verdict_title(verdict)),
                      .count = view.count(verdict)});
  }
  if (view.left_out > 0) {
    counts.push_back({.key = QString::fromLatin1(not_compared_key),
                      .title = qtext(msg::compare::not_compared{}),
                      .count = view.left_out});
  }
  return counts;
}

ComparisonTable::ComparisonTable(std::shared_ptr<const ComparisonSet> set, std::optional<std::size_t> side,
                                 RowFilter filter)
    : set_(std::move(set)),
      side_(side),
      filter_(std::move(filter)),
      view_(side ? set_->view.select_side(*side) : set_->view) {
  lines_ = view_.lines(analysis::ComparisonView::Lines::all);
  apply_filter();
  line_by_row_.assign(set_->points()->size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto take = [&](const std::vector<Row>& rows) {
      for (const Row row : rows) {
        if (line_by_row_[row] == 0) line_by_row_[row] = static_cast<std::uint32_t>(i + 1);
      }
    };
    const auto& [ignored, pair, left, member] = lines_[i];
    if (pair == nullptr) {
      take(left->rows);
    } else {
      take(pair->base);
      take(pair->other);
    }
  }
  make_table();
}

void ComparisonTable::apply_filter() {
  if (filter_.empty()) return;
  std::vector<bool> in_group(lines_.size(), filter_.group.isEmpty());
  for (const analysis::StripGroup& group : analysis::strip_groups(view_, lines_, true)) {
    if (group.label != filter_.group.toStdString()) continue;
    for (const std::size_t line : group.lines) in_group[line] = true;
  }
  std::vector<analysis::ComparisonLine> shown;
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    const bool has_verdict = filter_.verdict.isEmpty() || verdict_key(lines_[line].pair) == filter_.verdict;
    if (in_group[line] && has_verdict) shown.push_back(lines_[line]);
  }
  lines_ = std::move(shown);
}

std::optional<ShownPoint> ComparisonTable::point(std::size_t line, bool of_other) const {
  const std::optional<Row> row = lines_[line].point(of_other);
  return row ? std::optional((*set_->points())[*row]) : std::nullopt;
}

std::optional<std::size_t> ComparisonTable::line_of(Row point) const {
  if (point >= line_by_row_.size() || line_by_row_[point] == 0) return std::nullopt;
  return line_by_row_[point] - 1;
}

void ComparisonTable::make_table() {
  analysis::FactoredTable factored = comparison_table(view_, lines_);
  table_ = std::move(factored.table);
  common_ = std::move(factored.common);
  // The tooltip of an UNDECIDED verdict says what would decide it; the menu offers the command.
  const auto verdict = std::ranges::find(table_.columns, "verdict", &analysis::Column::key);
  verdict->tip = [this, words = verdict->tip](std::size_t line) {
    const ComparedPair* of = pair(line);
    const Message decision_text = of == nullptr ? Message() : undecided_note(set_->table(), *of, view_.margin);
    return decision_text.empty() ? words(line) : text(decision_text) + '\n' + words(line);
  };
}

bool CompareRequest::has_same_sides(const CompareRequest& request) const {
  return points == request.points && axis == request.axis && base == request.base && margin == request.margin &&
         tiles == request.tiles;
}

namespace {

/// Chooses axis and baseline by their keys, else the first axis whose sides share points and its best matched side.
void choose_sides(CompareResult& result) {
  const std::vector<SideAxis>& axes = *result.axes;
  const PointSet& points = *result.asked.points;
  const auto wanted = std::ranges::find(axes, result.asked.axis, &SideAxis::key);
  std::optional<std::uint32_t> matched;
  if (wanted != axes.end()) {
    result.axis = static_cast<std::size_t>(wanted - axes.begin());
  } else {
    for (std::size_t i = 0; i < axes.size() && !matched; ++i) {
      matched = best_matched_side(points, axes[i]);
      if (matched) result.axis = i;
    }
  }
  const SideAxis& axis = axes[result.axis];
  const std::optional<std::uint32_t> named = axis.side_named(result.asked.base);
  if (!named && !matched) matched = best_matched_side(points, axis);
  result.baseline = named ? *named : matched.value_or(0);
}

}  // namespace

CompareResult compare(const CompareRequest& asked, const StaleCheck& outdated) {
  CompareResult found{.asked = asked, .axes = {}};
  const auto known = std::exchange(found.asked.known, nullptr);
  const bool has_axes = known != nullptr && known->asked.points == asked.points;
  found.axes = has_axes ? known->axes : std::make_shared<const std::vector<SideAxis>>(side_axes(*asked.points));
  if (found.axes->empty()) return found;
  if (known != nullptr && known->set != nullptr && known->asked.has_same_sides(asked)) {
    found.axis = known->axis;
    found.baseline = known->baseline;
    found.set = known->set;
  } else {
    choose_sides(found);
    found.set =
        compare_sides({asked.points, (*found.axes)[found.axis], found.baseline, asked.margin, asked.tiles}, outdated);
  }
  if (found.set == nullptr) return found;  // Cancelled.
  const ComparisonSet& set = *found.set;
  const std::optional<std::size_t> side = set.side_named(asked.other);
  const auto table_of = [&](const std::shared_ptr<const ComparisonTable>& old, const RowFilter& filter) {
    const bool fits = old != nullptr && old->set() == found.set && old->side() == side && old->filter() == filter;
    return fits ? old : std::make_shared<const ComparisonTable>(found.set, side, filter);
  };
  found.all = table_of(known == nullptr ? nullptr : known->all, {});
  found.table = asked.filter.empty() ? found.all : table_of(known == nullptr ? nullptr : known->table, asked.filter);
  if (found.table->table().rows == 0) found.table = found.all;  // The rows of the filter are gone.
  const analysis::Table& table = found.table->table();
  found.rows = table.ordered(static_cast<std::size_t>(std::max(0, find_column_index(table, asked.sorted_by))),
                             asked.order == Qt::DescendingOrder);
  std::vector<Row> candidates;
  for (const SidePtr& each : found.all->view().sides) {
    for (const ComparedPair& pair : each->result.pairs) candidates.push_back(pair.other.front());
  }
  found.partners = !candidates.empty() ||
                   std::ranges::any_of(set.view.sides, [](const SidePtr& each) { return has_match(each->result); });
  if (!found.partners) return found;
  found.simulated = simulated_groups(*set.points(), candidates);
  return found;
}

namespace {

constexpr int max_verdicts = 5;
constexpr int count_spacing = 6;

QLabel* text_label(QWidget* parent) {
  QLabel* label = wrapped_label(parent);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

ComparisonSummary::ComparisonSummary(QWidget* parent)
    : QWidget(parent),
      answer_(text_label(this)),
      counts_(new QWidget(this)),
      detectable_(new QLabel(counts_)),
      copy_(new QToolButton(counts_)),
      more_(new QToolButton(counts_)),
      differences_(new ElidedLabel(this)),
      details_(text_label(this)) {
  auto* row = new FlowLayout(counts_, count_spacing);
  for (int i = 0; i < max_verdicts; ++i) {
    auto* button = new QToolButton(counts_);
    button->setCheckable(true);
    button->setToolTip(qtext(msg::compare_page::filter_help{}));
    connect(button, &QToolButton::clicked, this,
            [this, button] { emit verdict_clicked(button->isChecked() ? button->objectName() : QString()); });
    verdict_buttons_.push_back(button);
    row->addWidget(button);
  }
  detectable_->setToolTip(qtext(msg::compare::detectable_help{}));
  copy_->setText(qtext(msg::compare_page::copy_deciding{}));
  connect(copy_, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(command_); });
  more_->setCheckable(true);
  more_->setText(qtext(msg::compare_page::method{}));
  connect(more_, &QToolButton::toggled, this, &ComparisonSummary::fold);
  for (QWidget* widget :
       {static_cast<QWidget*>(detectable_), static_cast<QWidget*>(copy_), static_cast<QWidget*>(more_)})
    row->addWidget(widget);
  differences_->setTextFormat(Qt::PlainText);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  for (QWidget* widget :
       {static_cast<QWidget*>(answer_), counts_, static_cast<QWidget*>(differences_), static_cast<QWidget*>(details_)})
    column->addWidget(widget);
  style();
}

void ComparisonSummary::set_result(const CompareResult& found) {
  const analysis::ComparisonView& view = found.all->view();
  answer_->setText(qtext(view.answer));
  show_counts(verdict_counts(view), found.table->filter().verdict);
  const bool has_detectable = !view.answers.empty() && view.answers.front().detectable > 0;
  detectable_->setText(has_detectable ? qtext(view.evidence.front()) : QString());
  detectable_->setVisible(has_detectable);
  command_ = QString::fromStdString(view.command);
  copy_->setVisible(!command_.isEmpty());
  copy_->setToolTip(qtext(view.decide));
  differences_->setText(view.differences.empty() ? qtext(msg::compare::nothing_differs{}) : qtext(view.differences));
  differences_->setToolTip(differences_->text());
  QStringList details;
  if (!view.differences.empty()) details << differences_->text();
  for (std::size_t i = has_detectable ? 1 : 0; i < view.evidence.size(); ++i) details << qtext(view.evidence[i]);
  if (!view.decide.empty()) details << qtext(view.decide);
  for (const std::vector<Message>* words : {&view.spreads, &view.method}) {
    for (const Message& each : *words) details << qtext(each);
  }
  details_->setText(details.join(QLatin1Char('\n')));
  fold();
}

void ComparisonSummary::show_counts(const std::vector<VerdictCount>& counts, const QString& shown) {
  for (std::size_t i = 0; i < verdict_buttons_.size(); ++i) {
    QToolButton* button = verdict_buttons_[i];
    button->setVisible(i < counts.size());
    if (i >= counts.size()) continue;
    button->setObjectName(counts[i].key);
    button->setText(QStringLiteral("%1 %2").arg(counts[i].title).arg(counts[i].count));
    button->setEnabled(counts[i].count > 0);
    button->setChecked(counts[i].key == shown);
  }
}

void ComparisonSummary::fold() {
  differences_->setVisible(!more_->isChecked());
  details_->setVisible(more_->isChecked());
}

void ComparisonSummary::style() {
  answer_->setFont(bold(font()));
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, plot_colors(palette()).muted);
  for (QLabel* label : {static_cast<QLabel*>(differences_), details_}) label->setPalette(muted);
}

void ComparisonSummary::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) style();
}

}  // namespace attnscope::ui
