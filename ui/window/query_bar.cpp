// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/query_bar.h"

#include <QAbstractItemView>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QTextCharFormat>
#include <algorithm>
#include <chrono>

#include "messages/query.h"
#include "profiler/points/point_query.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// Between the last key and what it asks for: every page is drawn anew.
constexpr std::chrono::milliseconds pause{150};
constexpr int narrowest = 240;
constexpr int widest = 520;
constexpr qsizetype most_named = 4;

analysis::QueryCompletion completion_of(const Workspace& workspace, const QString& text, int cursor) {
  const auto bytes = static_cast<std::size_t>(text.left(cursor).toUtf8().size());
  return analysis::complete(text.toStdString(), bytes, workspace.ticked()->table());
}

Message why_empty(const Workspace& workspace) {
  if (!workspace.visible()->empty()) return {};
  return analysis::why_none_fits(workspace.query().toStdString(), workspace.ticked()->table());
}

}  // namespace

QueryBar::QueryBar(Workspace& workspace, QWidget* parent) : QWidget(parent), workspace_(workspace) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(10, 3, 10, 2);
  row->setSpacing(10);
  field_ = new QLineEdit(this);
  field_->setPlaceholderText(qtext(say::query::hint{}));
  field_->setToolTip(plain_tip(qtext(say::query::help{})));
  field_->setAccessibleName(qtext(say::query::name{}));
  field_->setClearButtonEnabled(true);
  field_->setMaxLength(static_cast<int>(analysis::longest_query));
  field_->setMinimumWidth(narrowest);
  field_->setMaximumWidth(widest);
  field_->installEventFilter(this);
  count_ = new QLabel(this);
  note_ = new ElidedLabel(this);
  note_->setTextFormat(Qt::PlainText);
  row->addWidget(field_, 3);
  row->addWidget(count_);
  row->addWidget(note_, 3);
  mute();
  add_completer();

  typing_.setSingleShot(true);
  typing_.setInterval(pause);
  connect(&typing_, &QTimer::timeout, this, &QueryBar::apply_typed);
  connect(field_, &QLineEdit::textChanged, this, [this] { typing_.start(); });
  connect(field_, &QLineEdit::textEdited, this, [this] { show_candidates(false); });
  connect(field_, &QLineEdit::editingFinished, this, [this] {
    if (half_) apply();
  });
  connect(field_, &QLineEdit::returnPressed, this, [this] {
    completer_->popup()->hide();
    apply();
  });
  connect(&workspace_, &Workspace::query_changed, this, [this] {
    if (typing_.isActive() || field_->text().trimmed() == workspace_.query()) return;
    const QSignalBlocker quiet(field_);
    field_->setText(workspace_.query());
    note_->clear();
  });
  connect(&workspace_, &Workspace::points_changed, this, &QueryBar::show_state);
  connect(&workspace_, &Workspace::points_awaited, this, &QueryBar::show_state);
  show_state();
}

void QueryBar::add_completer() {
  candidates_ = new QStringListModel(this);
  completer_ = new QCompleter(candidates_, this);
  completer_->setWidget(field_);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->popup()->setAccessibleName(qtext(say::query::candidates{}));
  completer_->popup()->installEventFilter(this);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &QueryBar::take);
}

void QueryBar::mute() {
  QPalette muted = note_->palette();
  muted.setColor(QPalette::WindowText, plot_colors(palette()).muted);
  note_->setPalette(muted);
  count_->setPalette(muted);
}

void QueryBar::begin() {
  field_->setFocus(Qt::ShortcutFocusReason);
  field_->selectAll();
}

void QueryBar::set_text(const QString& text) {
  field_->setText(text);
  apply();
}

QString QueryBar::half_written() const {
  if (!field_->hasFocus()) return {};
  const QString text = field_->text();
  const analysis::QueryCompletion completion = completion_of(workspace_, text, field_->cursorPosition());
  if (!completion.begun) return {};
  const std::string bytes = text.toStdString();
  const std::size_t length = completion.end - completion.begin;
  QStringList whole;
  for (const std::string& candidate : completion.texts) {
    if (candidate.size() > length) whole << QString::fromStdString(candidate);
  }
  if (whole.isEmpty()) return {};
  const PointSet& all = *workspace_.ticked();
  const auto query = analysis::PointQuery::parse(bytes, all.table());
  const bool leaves_some = query && (all.empty() || !query.value().rows(all.table()).empty());
  if (leaves_some) return {};
  return qtext(say::query::half{.word = bytes.substr(completion.begin, length),
                                .candidates = whole.mid(0, most_named).join(QStringLiteral(", ")).toStdString()});
}

void QueryBar::apply_typed() {
  const QString half = half_written();
  half_ = !half.isEmpty();
  if (!half_) return apply();
  mark({});
  tell(half);
  count_->setText(count_words(workspace_.ticked_points()));
}

void QueryBar::apply() {
  typing_.stop();
  half_ = false;
  const Message error = workspace_.set_query(field_->text());
  mark(error.empty() ? Workspace::Word() : workspace_.wrong_word(field_->text()));
  tell(error.empty() ? QString() : qtext(error));
  count_->setText(count_words(workspace_.ticked_points()));
  explain_ = error.empty();
  explain();
}

void QueryBar::mark(Workspace::Word wrong) {
  const QColor red = plot_colors(palette()).wrong;
  QTextCharFormat format;
  format.setForeground(red);
  format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
  format.setUnderlineColor(red);
  // A line of text takes formats as an input method has them, which count from the cursor.
  const auto begin = static_cast<int>(wrong.begin) - field_->cursorPosition();
  QList<QInputMethodEvent::Attribute> attributes;
  if (wrong.length > 0) {
    attributes << QInputMethodEvent::Attribute(QInputMethodEvent::TextFormat, begin, static_cast<int>(wrong.length),
                                               format);
  }
  QInputMethodEvent event({}, attributes);
  QCoreApplication::sendEvent(field_, &event);
}

bool QueryBar::holds_another() const {
  return !workspace_.query().isEmpty() && field_->text().trimmed() != workspace_.query() && !typing_.isActive();
}

void QueryBar::tell(const QString& words) {
  note_->setText(words);
  note_->setToolTip(plain_tip(words));
  field_->setAccessibleDescription(words);
}

void QueryBar::explain() {
  if (!explain_ || workspace_.gathering()) return;
  explain_ = false;
  const Message none = why_empty(workspace_);
  if (!none.empty()) tell(qtext(none));
}

QString QueryBar::count_words(std::size_t all) const {
  if (workspace_.gathering()) return qtext(say::query::selecting{.all = all});
  const bool filtered = !workspace_.query().isEmpty();
  const Message points =
      filtered ? Message(say::query::shown{.shown = workspace_.visible()->size(), .all = all}) : counted_points(all);
  if (!holds_another()) return qtext(points);
  return qtext(say::query::holds{.filter = workspace_.query().toStdString(), .points = points});
}

void QueryBar::show_state() {
  const std::size_t all = workspace_.ticked_points();
  const QString longest = qtext(say::query::shown{.shown = all, .all = all});
  // As wide as it ever gets with these points: the line beside it stays where it is.
  count_->setMinimumWidth(count_->fontMetrics().horizontalAdvance(longest) + 2);
  count_->setText(count_words(all));
  explain();
  // What was wrong may be right with other points: their files have knobs of their own.
  if (!note_->text().isEmpty() && !half_ && !typing_.isActive()) typing_.start();
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

void QueryBar::take(const QString& candidate) {
  const QString text = field_->text();
  const analysis::QueryCompletion completion = completion_of(workspace_, text, field_->cursorPosition());
  QByteArray bytes = text.toUtf8();
  const auto begin = static_cast<qsizetype>(completion.begin);
  bytes.replace(begin, static_cast<qsizetype>(completion.end) - begin, candidate.toUtf8());
  field_->setText(QString::fromUtf8(bytes));
  field_->setCursorPosition(static_cast<int>(QString::fromUtf8(bytes.left(begin)).size() + candidate.size()));
  completer_->popup()->hide();
  // Behind a field come its values; once the popup that was chosen from is gone.
  if (candidate.endsWith(QLatin1Char(':'))) {
    QMetaObject::invokeMethod(
        this, [this] { show_candidates(true); }, Qt::QueuedConnection);
  } else {
    apply();
  }
}

bool QueryBar::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  QAbstractItemView* popup = completer_->popup();
  if (watched == popup && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab)) {
    // The line would take the key for its own.
    // A list that is shown makes its first line the current one by itself: only what is marked was chosen.
    const QModelIndexList chosen = popup->selectionModel()->selectedIndexes();
    popup->hide();
    if (!chosen.isEmpty() || key == Qt::Key_Tab) {
      take(chosen.isEmpty() ? candidates_->stringList().value(0) : chosen.front().data().toString());
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

void QueryBar::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && note_ != nullptr) mute();
}

}  // namespace attnscope::ui
