// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <algorithm>
#include <chrono>
#include <map>

#include "messages/empty_page.h"
#include "messages/page.h"
#include "messages/prediction.h"
#include "messages/window.h"
#include "ui/models/curve_series.h"
#include "ui/plots/legend_plot.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

Page::Page(QWidget* parent) : QWidget(parent) {
  constexpr std::chrono::milliseconds patience(250);
  overlay_timer_.setSingleShot(true);
  overlay_timer_.setInterval(patience);
  connect(&overlay_timer_, &QTimer::timeout, this, &Page::update_overlay);
}

void Page::add_content(QBoxLayout& column, QWidget* content, Workspace& workspace) {
  auto* both = new QWidget(this);
  stack_ = new QStackedLayout(both);
  stack_->setContentsMargins(0, 0, 0, 0);
  empty_ = new EmptyState(both, workspace);
  stack_->addWidget(content);
  stack_->addWidget(empty_);
  column.addWidget(both, 1);
}

void Page::add_error_note(QBoxLayout& column) {
  note_ = new ErrorNote(this);
  column.addWidget(note_);
}

void Page::show_content(const std::set<SimulatedGroup>& simulated) {
  if (note_ != nullptr) note_->show_errors(simulated);
  stack_->setCurrentIndex(0);
}

void Page::show_text(const EmptyStateText& words) {
  if (note_ != nullptr) note_->show_errors({});
  empty_->set_text(words);
  stack_->setCurrentWidget(empty_);
}

QString Page::replacement_text() const {
  return stack_ != nullptr && stack_->currentWidget() == empty_ ? empty_->text() : QString();
}

void Page::watch(BackgroundWork& work) {
  watched_work_.push_back(&work);
  connect(&work, &BackgroundWork::requested, this, [this, &work] {
    failure_.clear();
    if (work.is_busy()) return schedule_overlay();
    update_overlay();
  });
  connect(&work, &BackgroundWork::finished, this, [this] {
    if (is_waiting()) return;
    update_overlay();
    if (is_on_screen()) update_mark();
  });
  work.on_failure([this](const QString& reason) { failure_ = reason; });
}

bool Page::is_waiting() const {
  return is_busy() || (workspace_ != nullptr && workspace_->is_gathering());
}

bool Page::is_up_to_date() const {
  return !is_waiting() && std::ranges::none_of(awaited_work_, &BackgroundWork::is_busy);
}

void Page::restore(const QJsonObject& state) {
  choices_.restore(state);
  show_choices();
}

void Page::reset_view() {
  choices_.restore(defaults_);
  reset_choices();
  for (LegendPlot* plot : findChildren<LegendPlot*>()) plot->show_all();
  show_choices();
}

void Page::schedule_overlay() {
  if (!can_stay_visible()) return update_overlay();
  if (!overlay_timer_.isActive() && overlay_text().isEmpty()) overlay_timer_.start();
}

void Page::update_overlay() {
  overlay_timer_.stop();
  const bool late = is_waiting();
  if (!late && failure_.isEmpty()) {
    if (overlay_label_ != nullptr) overlay_label_->hide();
    return;
  }
  if (overlay_label_ == nullptr) {
    overlay_label_ = wrapped_label(this);
    overlay_label_->setObjectName(QStringLiteral("late"));
    overlay_label_->setFrameShape(QFrame::StyledPanel);
    overlay_label_->setAutoFillBackground(true);
    overlay_label_->setMargin(8);
  }
  overlay_label_->setText(late ? qtext(msg::page::filtering{})
                               : qtext(msg::page::failed{.reason = failure_.toStdString()}));
  const QSize size = overlay_label_->sizeHint().boundedTo(rect().size());
  overlay_label_->setGeometry(QRect(QPoint((width() - size.width()) / 2, (height() - size.height()) / 2), size));
  overlay_label_->raise();
  overlay_label_->show();
}

QString Page::overlay_text() const {
  return overlay_label_ == nullptr || overlay_label_->isHidden() ? QString() : overlay_label_->text();
}

void Page::wait_until_idle() {
  if (workspace_ != nullptr) workspace_->wait_until_idle();
  refresh_if_outdated();
  // A result may start another request.
  while (is_busy()) std::ranges::for_each(watched_work_, &BackgroundWork::wait);
  std::ranges::for_each(awaited_work_, &BackgroundWork::wait);
}

const PlainTable* Page::first_visible_table() const {
  for (const PlainTable* table : findChildren<PlainTable*>()) {
    if (table->isVisibleTo(this) && table->model()->rowCount() > 0) return table;
  }
  return nullptr;
}

ShownValues Page::values() const {
  const PlainTable* table = first_visible_table();
  return table == nullptr ? ShownValues() : table->values();
}

void Page::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill_menu(*menu);
  emit menu_opened(menu);
  menu->isEmpty() ? menu->deleteLater() : menu->popup(event->globalPos());
}

void Page::follow_visible_points(Workspace& workspace) {
  workspace_ = &workspace;
  connect(&workspace, &Workspace::points_pending, this, [this] {
    if (is_on_screen()) schedule_overlay();
  });
  connect(&workspace, &Workspace::points_changed, this, &Page::mark_stale);
}

void Page::mark_stale() {
  outdated_ = true;
  // Tabs hide the other pages. A page that was never hidden is about to be shown, or used without a window.
  if (is_on_screen()) refresh_if_outdated();
}

void Page::refresh_if_outdated() {
  if (std::exchange(outdated_, false)) {
    rebuild_page();
    mark_outdated_ = true;
    if (!is_waiting() && failure_.isEmpty()) update_overlay();
  }
  // With a background update pending, the point is marked when it is done.
  if (!is_busy()) update_mark();
}

void Page::update_mark() {
  const bool stale = std::exchange(mark_outdated_, false);
  if (std::exchange(mark_pending_, false)) {
    if (std::exchange(follow_pending_, false)) follow(*marked_);
    return show_marked(true);
  }
  if (stale) restore_mark();
}

void Page::mark(const ShownPoint& point, bool follow) {
  marked_ = point;
  follow_pending_ = follow;
  mark_shown_ = false;
  mark_pending_ = true;
  if (is_on_screen()) refresh_if_outdated();
}

void Page::show_marked(bool moves) {
  const QScopedValueRollback quiet(marking_, true);
  mark_shown_ = show_mark(*marked_, moves);
}

void Page::restore_mark() {
  if (marked_ && !marking_) show_marked(false);
}

void Page::emit_selected(const ShownPoint& point) {
  if (marking_) return;
  marked_ = point;
  mark_pending_ = false;
  mark_shown_ = true;
  emit point_selected(point);
}

void Page::setVisible(bool visible) {
  if (visible) refresh_if_outdated();
  QWidget::setVisible(visible);
}

QLabel* wrapped_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  return label;
}

void register_zoom(Choices& choices, LegendPlot& plot) {
  choices.add(
      [&plot](QJsonObject& state) {
        if (const QJsonObject zoom = plot.zoom(); !zoom.isEmpty()) state[zoom_key()] = zoom;
      },
      [&plot](const QJsonObject& state) { plot.restore_zoom(state[zoom_key()].toObject()); });
}

namespace {

constexpr char clear_link[] = "clear";  // Link target used in the messages.
constexpr char collect_link[] = "collect";
constexpr char show_link[] = "show:";  // Followed by the index in EmptyStateText::nearest.

QString link_to(const QString& target, const QString& text) {
  return QStringLiteral("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), text.toHtmlEscaped());
}

QString run_text(const RunInfo& run) {
  constexpr qsizetype most = 80;
  const QString title = shortened(run.title, most).toHtmlEscaped();
  const QString device = shortened(device_title(run.summary), most).toHtmlEscaped();
  return device.isEmpty() ? title
                          : qtext(msg::empty_page::run_on{.device = device.toStdString(), .run = title.toStdString()});
}

bool is_running(const LoadedRun& run) {
  return run.visible && run.info->summary.state == StoredRunState::running;
}

}  // namespace

bool has_active_run(const Workspace& workspace) {
  return std::any_of(workspace.runs().begin(), workspace.runs().end(), is_running);
}

EmptyStateText no_points_text(const Workspace& workspace) {
  if (const std::size_t hidden = workspace.checked_points(); hidden > 0) {
    constexpr qsizetype most = 60;
    const QString filter = shortened(workspace.query(), most).toHtmlEscaped();
    return {qtext(msg::empty_page::all_filtered{.points = points_text(hidden)}),
            qtext(msg::empty_page::all_filtered_help{.filter = filter.toStdString()})};
  }
  const auto& runs = workspace.runs();
  if (const auto running = std::find_if(runs.begin(), runs.end(), is_running); running != runs.end()) {
    const std::size_t planned = running->info->summary.planned_points;
    return {qtext(msg::empty_page::collecting{.run = run_text(*running->info).toStdString()}),
            planned == 0   ? qtext(msg::empty_page::sweep_starting_help{})  // An interactive session has no plan.
            : planned == 1 ? qtext(msg::empty_page::point_running{})
                           : qtext(msg::empty_page::points_running{.points = planned})};
  }
  if (runs.empty() && workspace.is_following()) {
    return {qtext(msg::empty_page::sweep_starting{}), qtext(msg::empty_page::sweep_starting_help{})};
  }
  if (const QString opening = workspace.opening(); runs.empty() && !opening.isEmpty()) {
    const std::string files = shortened(opening, 200).toHtmlEscaped().toStdString();
    return {qtext(msg::window::opening{.files = files}), qtext(msg::empty_page::opening_help{})};
  }
  if (runs.empty()) {
    return {qtext(msg::empty_page::no_measurements{}), qtext(msg::empty_page::no_measurements_help{})};
  }
  const auto checked = std::find_if(runs.begin(), runs.end(), [](const LoadedRun& run) { return run.visible; });
  const auto damaged = std::find_if(runs.begin(), runs.end(), [](const LoadedRun& run) {
    return run.visible && run.info->summary.points > 0 && run.size() == 0;
  });
  if (damaged != runs.end()) {
    return {qtext(msg::empty_page::all_damaged{.run = run_text(*damaged->info).toStdString()}),
            qtext(msg::empty_page::all_damaged_help{.points = points_text(damaged->info->summary.points)})};
  }
  if (checked != runs.end()) {
    return {qtext(msg::empty_page::no_points{.run = run_text(*checked->info).toStdString()}),
            qtext(msg::empty_page::no_points_help{.state = title(checked->info->summary.state)})};
  }
  return {qtext(msg::empty_page::no_run{}), qtext(msg::empty_page::no_run_help{})};
}

std::optional<EmptyStateText> none_ran_text(const analysis::PointTable& table) {
  struct End {
    std::size_t points = 0;
    analysis::Row first = 0;
  };
  std::map<Disposition, End> ends;
  for (analysis::Row row = 0; row < table.size(); ++row) {
    const Disposition disposition = table.disposition(row);
    if (disposition == Disposition::ok || disposition == Disposition::no_counters) return std::nullopt;
    if (ends[disposition].points++ == 0) ends[disposition].first = row;
  }
  if (ends.empty()) return std::nullopt;
  constexpr qsizetype longest_reason = 400;
  QStringList lines;
  for (const auto& [disposition, end] : ends) {
    const Message& reason = table.reason(end.first);
    const Message points = points_text(end.points);
    lines << (reason.empty() ? qtext(msg::empty_page::no_result_line{.outcome = title(disposition), .points = points})
                             : qtext(msg::empty_page::no_result_reason{
                                   .outcome = title(disposition),
                                   .points = points,
                                   .why = shortened(qtext(reason), longest_reason).toHtmlEscaped().toStdString()}));
  }
  return EmptyStateText{qtext(msg::empty_page::no_result{.points = points_text(table.size())}),
                        lines.join(QStringLiteral("<br>"))};
}

EmptyState::EmptyState(QWidget* parent, Workspace& workspace) : QLabel(parent), workspace_(workspace) {
  setAlignment(Qt::AlignCenter);
  setWordWrap(true);
  setTextFormat(Qt::RichText);
  setMargin(24);
  setTextInteractionFlags(Qt::TextBrowserInteraction);
  connect(this, &QLabel::linkActivated, this, &EmptyState::follow_link);
}

void EmptyState::follow_link(const QString& link) {
  const EmptyStateText shown = shown_;  // Copied, because the action may change the text.
  if (link == QLatin1String(clear_link)) {
    (void)workspace_.set_query({});
  } else if (link == QLatin1String(collect_link)) {
    shown.collect();
  } else if (link.startsWith(QLatin1String(show_link))) {
    shown.nearest[link.mid(QLatin1String(show_link).size()).toUInt()].run();
  } else {
    workspace_.open(link);
  }
}

void EmptyState::set_text(const EmptyStateText& words) {
  shown_ = words;
  QString text = QStringLiteral("<h3>%1</h3><p>%2</p>").arg(words.title, words.text);
  for (std::size_t i = 0; i < words.nearest.size(); ++i) {
    text += QStringLiteral("<p>%1&nbsp;&nbsp;%2</p>")
                .arg(words.nearest[i].text.toHtmlEscaped(),
                     link_to(QLatin1String(show_link) + QString::number(i), qtext(msg::empty_page::show{})));
  }
  if (words.collect) {
    text += QStringLiteral("<p>%1</p>").arg(link_to(QLatin1String(collect_link), qtext(msg::empty_page::collect{})));
  }
  const Row left = workspace_.visible()->size();
  const std::size_t all = workspace_.checked_points();
  const QString sample = words.sample.empty() ? QString() : find_sample(words.sample);
  if (!sample.isEmpty() && !workspace_.files().contains(sample)) {
    text +=
        QStringLiteral("<p>%1</p>").arg(link_to(sample, qtext(msg::empty_page::open_sample{.sample = words.sample})));
  }
  if (left > 0 && left < all)
    text += QStringLiteral("<p>%1</p>").arg(qtext(msg::empty_page::some_filtered{.all = all, .shown = left}));
  setText(text);
}

namespace {

using analysis::ErrorRow;
using analysis::PublishedErrors;

/// Below this number of problems the 95th percentile is unknown.
constexpr std::size_t min_problems_for_p95 = 3;

std::string short_gpu(const std::string& name) {
  return QString::fromStdString(name).remove(QStringLiteral("NVIDIA ")).toStdString();
}

/// "DRAM ±0.4% (p95 1.4%)"
QString figure(const ErrorRow& row, const Message& quantity) {
  const std::string median = text(Share(row.median));
  if (row.problems < min_problems_for_p95) {
    return qtext(msg::prediction::of_few_problems{.median = median, .problems = row.problems, .quantity = quantity});
  }
  return qtext(msg::prediction::figure{.median = median, .p95 = text(Share(row.p95)), .quantity = quantity});
}

/// Returns "FA3" or "FA3 fp8" for a result of error_group().
QString algorithm_short_label(std::string_view judged) {
  const std::size_t end = std::min(judged.find(' '), judged.size());
  return short_title(judged.substr(0, end)) + QString::fromUtf8(judged.substr(end));
}

/// "FA2 DRAM ±0.4% (p95 1.4%), time ±56% (p95 75%)"
QString error_figures(const PublishedErrors& errors, const SimulatedGroup& part) {
  QStringList figures;
  if (const ErrorRow* dram = errors.find(part.algorithm, part.pass, "dram_bytes")) {
    figures << figure(*dram, msg::prediction::dram{});
  }
  if (const ErrorRow* time = errors.find(part.algorithm, part.pass, "time")) {
    figures << figure(*time, msg::prediction::time{});
  }
  const QString title = algorithm_short_label(part.algorithm);
  if (figures.isEmpty()) return qtext(msg::prediction::not_validated{.what = title.toStdString()});
  return title + QLatin1Char(' ') + figures.join(QStringLiteral(", "));
}

QString line_of(const std::set<SimulatedGroup>& parts) {
  std::map<std::string, QStringList> figures;  // Keyed by the GPU of the validation.
  QStringList others;
  for (const SimulatedGroup& part : parts) {
    const std::string gpu = short_gpu(part.gpu);
    if (part.errors != nullptr) {
      figures[part.errors->device] << error_figures(*part.errors, part);
    } else {
      others << qtext(msg::prediction::not_validated{.what = gpu});
    }
    if (!part.l2_source.empty()) {
      others << qtext(msg::prediction::l2_source{.gpu = short_gpu(part.l2_source), .what = gpu});
    }
  }
  QStringList lines;
  for (const auto& [gpu, of_gpu] : figures) {
    lines << qtext(
        msg::prediction::line{.figures = of_gpu.join(QStringLiteral(" · ")).toStdString(), .gpu = short_gpu(gpu)});
  }
  others.removeDuplicates();
  return (lines + others).join(QStringLiteral(" · "));
}

}  // namespace

std::set<SimulatedGroup> simulated_groups(const PointSet& points, std::span<const Row> rows) {
  std::set<SimulatedGroup> parts;
  std::map<const analysis::Run*, const PublishedErrors*> errors;
  const analysis::PointTable& table = points.table();
  for (const Row row : rows) {
    const analysis::Run& run = table.run(row);
    if (run.provenance != Provenance::simulated) continue;
    const AttentionProblem problem = table.problem(row);
    const auto [known, first] = errors.try_emplace(&run);
    if (first) known->second = analysis::validated_errors(run.limits);
    parts.insert({analysis::error_group(table.algorithm(row), problem.dtype), problem.pass, run.device_name,
                  run.l2_source, known->second});
  }
  return parts;
}

ErrorNote::ErrorNote(QWidget* parent) : ElidedLabel(parent) {
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  hide();
}

void ErrorNote::show_errors(const std::set<SimulatedGroup>& parts) {
  const QString line = line_of(parts);
  setText(line);
  setToolTip(plain_tooltip(line));
  setVisible(!parts.empty());
}

}  // namespace attnscope::ui
