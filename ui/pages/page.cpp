// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <chrono>

#include "messages/page.h"
#include "ui/plots/legend_plot.h"
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
    emit update_finished();
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
    overlay_label_ = new QLabel(this);
    overlay_label_->setObjectName(QStringLiteral("late"));
    overlay_label_->setTextFormat(Qt::PlainText);
    overlay_label_->setWordWrap(true);
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

void register_zoom(Choices& choices, LegendPlot& plot) {
  choices.add(
      [&plot](QJsonObject& state) {
        if (const QJsonObject zoom = plot.zoom(); !zoom.isEmpty()) state[zoom_key()] = zoom;
      },
      [&plot](const QJsonObject& state) { plot.restore_zoom(state[zoom_key()].toObject()); });
}

}  // namespace attnscope::ui
