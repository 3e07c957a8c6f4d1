// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <chrono>
#include <utility>

#include "messages/page.h"
#include "ui/plots/legend_plot.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

Page::Page(QWidget* parent) : QWidget(parent) {
  constexpr std::chrono::milliseconds patience(250);
  late_.setSingleShot(true);
  late_.setInterval(patience);
  connect(&late_, &QTimer::timeout, this, &Page::say_late);
}

void Page::watch(BackgroundWork& work) {
  watched_.push_back(&work);
  connect(&work, &BackgroundWork::asked, this, [this, &work] {
    failure_.clear();
    if (work.busy()) return begin_late();
    say_late();
  });
  connect(&work, &BackgroundWork::settled, this, &Page::take_answer);
  work.on_failure([this](const QString& reason) { failure_ = reason; });
}

void Page::take_answer() {
  if (waiting()) return;
  say_late();
  if (in_sight()) {
    const bool known = mark_shown_;
    mark_what_is_shown();
    if (mark_shown_ && !known) emit mark_found();
  }
  emit answered();
}

bool Page::waiting() const {
  return busy() || (workspace_ != nullptr && workspace_->gathering());
}

bool Page::settled() const {
  return !waiting() && std::ranges::none_of(waited_for_, &BackgroundWork::busy);
}

void Page::restore(const QJsonObject& state) {
  choices_.restore(state);
  show_choices();
}

void Page::begin_late() {
  if (!may_stay()) return say_late();
  if (!late_.isActive() && late_words().isEmpty()) late_.start();
}

void Page::say_late() {
  late_.stop();
  const bool late = waiting();
  if (!late && failure_.isEmpty()) {
    if (late_words_ != nullptr) late_words_->hide();
    return;
  }
  if (late_words_ == nullptr) {
    late_words_ = new QLabel(this);
    late_words_->setObjectName(QStringLiteral("late"));
    late_words_->setTextFormat(Qt::PlainText);
    late_words_->setWordWrap(true);
    late_words_->setFrameShape(QFrame::StyledPanel);
    late_words_->setAutoFillBackground(true);
    late_words_->setMargin(8);
  }
  late_words_->setText(late ? qtext(msg::page::filtering{})
                            : qtext(msg::page::failed{.reason = failure_.toStdString()}));
  place_late();
  late_words_->raise();
  late_words_->show();
}

void Page::place_late() {
  const QSize size = late_words_->sizeHint().boundedTo(rect().size());
  late_words_->setGeometry(QRect(QPoint((width() - size.width()) / 2, (height() - size.height()) / 2), size));
}

QString Page::late_words() const {
  return late_words_ == nullptr || late_words_->isHidden() ? QString() : late_words_->text();
}

void Page::settle() {
  if (workspace_ != nullptr) workspace_->settle();
  catch_up();
  // A result may start another request.
  while (busy()) std::ranges::for_each(watched_, &BackgroundWork::wait);
  std::ranges::for_each(waited_for_, &BackgroundWork::wait);
}

const PlainTable* Page::seen_table() const {
  for (const PlainTable* table : findChildren<PlainTable*>()) {
    if (table->isVisibleTo(this) && table->model()->rowCount() > 0) return table;
  }
  return nullptr;
}

ShownValues Page::values() const {
  const PlainTable* table = seen_table();
  return table == nullptr ? ShownValues() : table->values();
}

void Page::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill_menu(*menu);
  emit menu_opened(menu);
  menu->isEmpty() ? menu->deleteLater() : menu->popup(event->globalPos());
}

void Page::keep_up_with(Workspace& workspace) {
  workspace_ = &workspace;
  connect(&workspace, &Workspace::points_pending, this, [this] {
    if (in_sight()) begin_late();
  });
  connect(&workspace, &Workspace::points_changed, this, &Page::fall_behind);
}

void Page::fall_behind() {
  outdated_ = true;
  // Tabs hide the other pages. A page that was never hidden is about to be shown, or used without a window.
  if (in_sight()) catch_up();
}

void Page::catch_up() {
  if (std::exchange(outdated_, false)) {
    show_anew();
    mark_stale_ = true;
    if (!waiting() && failure_.isEmpty()) say_late();
  }
  // With a background update pending, the point is marked when it is done.
  if (!busy()) mark_what_is_shown();
}

void Page::mark_what_is_shown() {
  const bool stale = std::exchange(mark_stale_, false);
  if (std::exchange(mark_behind_, false)) return show_marked(true);
  if (stale) renew_mark();
}

void Page::mark(const ShownPoint& point) {
  marked_ = point;
  mark_shown_ = false;
  mark_behind_ = true;
  if (in_sight()) catch_up();
}

void Page::show_marked(bool moves) {
  const QScopedValueRollback quiet(marking_, true);
  mark_shown_ = show_mark(*marked_, moves);
}

void Page::renew_mark() {
  if (marked_ && !marking_) show_marked(false);
}

void Page::tell_selected(const ShownPoint& point) {
  if (marking_) return;
  marked_ = point;
  mark_behind_ = false;
  mark_shown_ = true;
  emit point_selected(point);
}

void Page::setVisible(bool visible) {
  if (visible) catch_up();
  QWidget::setVisible(visible);
}

void keep_zoom(Choices& choices, LegendPlot& plot) {
  choices.keep(
      [&plot](QJsonObject& state) {
        if (const QJsonObject zoom = plot.zoom(); !zoom.isEmpty()) state[zoom_key()] = zoom;
      },
      [&plot](const QJsonObject& state) { plot.restore_zoom(state[zoom_key()].toObject()); });
}

}  // namespace attnscope::ui
