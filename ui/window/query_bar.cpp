// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/query_bar.h"

#include <QAbstractItemView>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "messages/query.h"
#include "profiler/points/point_query.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr int narrowest_query = 240;
constexpr int widest_query = 520;

analysis::QueryCompletion completion_of(const Workspace& workspace, const QString& text, int cursor) {
  const auto bytes = static_cast<std::size_t>(text.left(cursor).toUtf8().size());
  return analysis::complete(text.toStdString(), bytes, workspace.checked()->table());
}

}  // namespace

QueryBar::QueryBar(Workspace& workspace, QWidget* parent) : QWidget(parent), workspace_(workspace) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(10, 3, 10, 2);
  row->setSpacing(10);
  field_ = new QLineEdit(this);
  field_->setPlaceholderText(qtext(msg::query::hint{}));
  field_->setToolTip(plain_tooltip(qtext(msg::query::help{})));
  field_->setAccessibleName(qtext(msg::query::name{}));
  field_->setClearButtonEnabled(true);
  field_->setMaxLength(static_cast<int>(analysis::longest_query));
  field_->setMinimumWidth(narrowest_query);
  field_->setMaximumWidth(widest_query);
  field_->installEventFilter(this);
  count_ = new QLabel(this);
  note_ = new ElidedLabel(this);
  note_->setTextFormat(Qt::PlainText);
  row->addWidget(field_, 3);
  row->addWidget(count_);
  row->addWidget(note_, 3);
  for (QLabel* label : {count_, static_cast<QLabel*>(note_)}) label->setForegroundRole(QPalette::PlaceholderText);
  add_completer();

  connect(field_, &QLineEdit::textEdited, this, [this] { show_candidates(false); });
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (text.isEmpty()) return apply();
    show_state();
  });
  connect(field_, &QLineEdit::returnPressed, this, [this] {
    completer_->popup()->hide();
    apply();
  });
  connect(&workspace_, &Workspace::query_changed, this, [this] {
    if (field_->text().trimmed() != workspace_.query()) field_->setText(workspace_.query());
  });
  connect(&workspace_, &Workspace::points_changed, this, [this] {
    // A rejected query may be valid now: newly opened files may have its knobs.
    if (!note_->text().isEmpty()) apply();
    show_state();
  });
  connect(&workspace_, &Workspace::points_pending, this, &QueryBar::show_state);
  show_state();
}

void QueryBar::add_completer() {
  candidates_ = new QStringListModel(this);
  completer_ = new QCompleter(candidates_, this);
  completer_->setWidget(field_);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->popup()->setAccessibleName(qtext(msg::query::candidates{}));
  completer_->popup()->installEventFilter(this);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &QueryBar::insert_candidate);
}

void QueryBar::set_compact(int width) {
  if (std::exchange(compact_width_, width) == width) return;
  const bool compact = width > 0;
  layout()->setContentsMargins(compact ? 4 : 10, compact ? 0 : 3, compact ? 6 : 10, compact ? 0 : 2);
  field_->setMinimumWidth(compact ? 0 : narrowest_query);
  count_->setHidden(compact);
  note_->setHidden(compact);
  updateGeometry();
}

QSize QueryBar::sizeHint() const {
  const QSize all = QWidget::sizeHint();
  if (compact_width_ == 0) return all;
  return {field_->hasFocus() ? std::max(compact_width_, narrowest_query) : compact_width_, all.height()};
}

void QueryBar::focus_field() {
  field_->setFocus(Qt::ShortcutFocusReason);
  field_->selectAll();
}

void QueryBar::set_text(const QString& text) {
  field_->setText(text);
  apply();
}

void QueryBar::apply() {
  const Message error = workspace_.set_query(field_->text());
  const QString words = error.empty() ? QString() : qtext(error);
  note_->setText(words);
  note_->setToolTip(plain_tooltip(words));
  field_->setAccessibleDescription(words);
  const bool unseen = note_->isHidden() && !words.isEmpty();
  if (unseen) QToolTip::showText(field_->mapToGlobal(field_->rect().bottomLeft()), plain_tooltip(words), field_);
  show_state();
}

void QueryBar::show_state() {
  const std::size_t all = workspace_.checked_points();
  const QString longest = qtext(msg::query::shown{.all = all, .shown = all});
  // Reserves the maximum width, so that the error text does not move.
  count_->setMinimumWidth(count_->fontMetrics().horizontalAdvance(longest) + 2);
  if (workspace_.is_gathering()) return count_->setText(qtext(msg::query::selecting{.all = all}));
  if (workspace_.query().isEmpty()) return count_->setText(qtext(points_text(all)));
  const Message points = msg::query::shown{.all = all, .shown = workspace_.visible()->size()};
  const bool holds = field_->text().trimmed() == workspace_.query();
  const std::string filter = workspace_.query().toStdString();
  count_->setText(qtext(holds ? points : Message(msg::query::still_active{.filter = filter, .points = points})));
}

void QueryBar::show_candidates(bool asked_for) {
  const QString text = field_->text();
  const analysis::QueryCompletion completion = completion_of(workspace_, text, field_->cursorPosition());
  QStringList candidates;
  for (const std::string& each : completion.texts) candidates << QString::fromStdString(each);
  const QByteArray bytes = text.toUtf8();
  const QByteArray there =
      bytes.mid(static_cast<qsizetype>(completion.begin), static_cast<qsizetype>(completion.end - completion.begin));
  const bool whole =
      candidates.size() == 1 && candidates.front().compare(QString::fromUtf8(there), Qt::CaseInsensitive) == 0;
  if (candidates.isEmpty() || whole || (!completion.begun && !asked_for)) return completer_->popup()->hide();
  candidates_->setStringList(candidates);
  QAbstractItemView* popup = completer_->popup();
  QRect below = field_->inputMethodQuery(Qt::ImCursorRectangle).toRect();
  below.setWidth(std::max(140, popup->sizeHintForColumn(0) + popup->verticalScrollBar()->sizeHint().width() + 12));
  completer_->complete(below);
}

void QueryBar::insert_candidate(const QString& candidate) {
  const QString text = field_->text();
  const analysis::QueryCompletion completion = completion_of(workspace_, text, field_->cursorPosition());
  QByteArray bytes = text.toUtf8();
  const auto focus_field = static_cast<qsizetype>(completion.begin);
  bytes.replace(focus_field, static_cast<qsizetype>(completion.end) - focus_field, candidate.toUtf8());
  field_->setText(QString::fromUtf8(bytes));
  field_->setCursorPosition(static_cast<int>(QString::fromUtf8(bytes.left(focus_field)).size() + candidate.size()));
  completer_->popup()->hide();
  // After a field name, complete its values; queued until the popup is closed.
  if (candidate.endsWith(QLatin1Char(':'))) {
    QMetaObject::invokeMethod(
        this, [this] { show_candidates(true); }, Qt::QueuedConnection);
  } else {
    apply();
  }
}

bool QueryBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched == field_ && (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)) updateGeometry();
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  QAbstractItemView* popup = completer_->popup();
  if (watched == popup && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab)) {
    // Otherwise the line edit would handle the key. The popup's current row is set automatically, so use only the
    // selected row.
    const QModelIndexList chosen = popup->selectionModel()->selectedIndexes();
    popup->hide();
    if (!chosen.isEmpty() || key == Qt::Key_Tab) {
      insert_candidate(chosen.isEmpty() ? candidates_->stringList().value(0) : chosen.front().data().toString());
    } else {
      apply();
    }
    return true;
  }
  if (watched == field_ && key == Qt::Key_Down && !popup->isVisible()) {
    show_candidates(true);
    return true;
  }
  if (watched == field_ && key == Qt::Key_Escape && !popup->isVisible() && !field_->text().isEmpty()) {
    set_text({});
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace attnscope::ui
