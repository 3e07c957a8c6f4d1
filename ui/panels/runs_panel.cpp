// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/runs_panel.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QInputDialog>
#include <QMenu>
#include <QPainter>
#include <QRegularExpression>
#include <QStyledItemDelegate>
#include <algorithm>
#include <utility>

#include "messages/run_list.h"
#include "messages/window.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

namespace {

QString without_ellipsis(const Message& label) {
  return qtext(label).remove(QLatin1Char('&')).remove(QStringLiteral("…"));
}

/// Returns `--name=TEXT` as one argument, because a text may begin with a dash; `--no-name` if it is empty.
QStringList option_arguments(const QString& option, const QString& before, const QString& text) {
  if (text == before) return {};
  if (text.isEmpty()) return {QStringLiteral("--no-") + option};
  return {QStringLiteral("--%1=%2").arg(option, text)};
}

}  // namespace

QStringList tag_arguments(const std::vector<std::string>& before, const QString& line) {
  static const QRegularExpression between(QStringLiteral("[\\s,]+"));
  QStringList had;
  for (const std::string& tag : before) had << QString::fromStdString(tag);
  const QStringList wanted = line.split(between, Qt::SkipEmptyParts);
  QStringList words;
  for (const QString& tag : wanted) {
    if (!had.contains(tag)) words << QStringLiteral("--tag=") + tag;
  }
  for (const QString& tag : had) {
    if (!wanted.contains(tag)) words << QStringLiteral("--untag=") + tag;
  }
  return words;
}

void add_run_actions(QMenu& menu, const RunSummary& run, std::function<void(const QStringList&)> edit) {
  QWidget* parent = menu.parentWidget();
  const auto change = [run = QStringLiteral("--run=%1").arg(run.id), edit = std::move(edit)](const QStringList& words) {
    if (!words.isEmpty()) edit(QStringList{run} + words);
  };
  const auto ask = [parent](const Message& title, const Message& label, const QString& before) {
    bool accepted = false;
    const QString text =
        QInputDialog::getText(parent, without_ellipsis(title), qtext(label), QLineEdit::Normal, before, &accepted);
    return accepted ? std::optional(text.trimmed()) : std::nullopt;
  };
  menu.addAction(qtext(msg::run_list::rename{}), parent, [ask, change, name = run.annotations.name] {
    const QString before = QString::fromStdString(name);
    const auto now = ask(msg::run_list::rename{}, msg::run_list::name_of_run{}, before);
    if (now) change(option_arguments(QStringLiteral("name"), before, *now));
  });
  menu.addAction(qtext(msg::run_list::tags{}), parent, [ask, change, tags = run.annotations.tags] {
    QStringList before;
    for (const std::string& tag : tags) before << QString::fromStdString(tag);
    const auto now = ask(msg::run_list::tags{}, msg::run_list::tags_of_run{}, before.join(QLatin1Char(' ')));
    if (now) change(tag_arguments(tags, *now));
  });
  menu.addAction(qtext(msg::run_list::note{}), parent, [parent, change, note = run.annotations.note] {
    bool said = false;
    const QString before = QString::fromStdString(note);
    const QString now = QInputDialog::getMultiLineText(parent, without_ellipsis(msg::run_list::note{}),
                                                       qtext(msg::run_list::note_of_run{}), before, &said);
    if (said) change(option_arguments(QStringLiteral("note"), before, now.trimmed()));
  });
  const bool hidden = run.annotations.hidden;
  menu.addAction(hidden ? qtext(msg::run_list::unhide{}) : qtext(msg::run_list::hide{}), parent,
                 [change, hidden] { change({hidden ? QStringLiteral("--show") : QStringLiteral("--hide")}); });
  menu.addAction(qtext(msg::run_list::remove{}), parent, [change] { change({QStringLiteral("--delete")}); });
}

namespace {

constexpr int row_margin = 6;

/// Draws three lines per run, with badges for "simulated" or "imported" and for a state other than complete.
class RunDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {160, 3 * option.fontMetrics.height() + 2 * row_margin + 4};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    item.text.clear();
    const QStyle* style = item.widget != nullptr ? item.widget->style() : QApplication::style();
    // Draws only the check box, aligned with the first line.
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &item, painter, item.widget);
    const int line = option.fontMetrics.height();
    QStyleOptionViewItem check = item;
    check.rect = check_rect(option);
    check.state &= ~QStyle::State_HasFocus;
    check.state |= index.data(Qt::CheckStateRole).toInt() == Qt::Checked ? QStyle::State_On : QStyle::State_Off;
    style->drawPrimitive(QStyle::PE_IndicatorItemViewItemCheck, &check, painter, item.widget);

    const PlotColors colors = plot_colors(option.palette);
    const bool selected = (option.state & QStyle::State_Selected) != 0;
    const QColor text = selected ? option.palette.color(QPalette::HighlightedText) : colors.text;
    const QColor muted = selected ? text : colors.muted;
    const int left = check.rect.right() + 8;
    int right = option.rect.right() - row_margin;
    const int top = option.rect.top() + row_margin;

    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const auto badge = [&](const QString& word, const QColor& color) {
      const int width = option.fontMetrics.horizontalAdvance(word) + 10;
      const QRectF box(right - width, top, width, line);
      painter->setPen(QPen(color, 1, Qt::DotLine));
      painter->setBrush(Qt::NoBrush);
      painter->drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
      painter->setPen(color);
      painter->drawText(box, Qt::AlignCenter, word);
      right -= width + 4;
    };
    const QString state = index.data(RunsModel::state_role).toString();
    if (!state.isEmpty()) badge(state, selected ? text : disposition_color(Disposition::no_counters, colors.dark));
    if (const QString origin = index.data(RunsModel::origin_role).toString(); !origin.isEmpty()) badge(origin, muted);

    QFont bold = option.font;
    bold.setBold(true);
    painter->setFont(bold);
    painter->setPen(text);
    const auto write = [&](int row, int end, const QString& words) {
      const QRect rect(left, top + row * (line + 2), std::max(0, end - left), line);
      painter->drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
                        painter->fontMetrics().elidedText(words, Qt::ElideMiddle, rect.width()));
    };
    write(0, right, index.data(RunsModel::title_role).toString());
    painter->setFont(option.font);
    painter->setPen(muted);
    const int end = option.rect.right() - row_margin;
    write(1, end, index.data(RunsModel::detail_role).toString());
    write(2, end, index.data(RunsModel::file_role).toString());
    painter->restore();
  }

  bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override {
    if (event->type() == QEvent::MouseButtonRelease || event->type() == QEvent::MouseButtonDblClick) {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->button() != Qt::LeftButton || !check_rect(option).adjusted(-6, -6, 6, 6).contains(mouse->pos())) {
        return false;
      }
      return toggle(model, index);
    }
    if (event->type() == QEvent::KeyPress) {
      const int key = static_cast<QKeyEvent*>(event)->key();
      if (key == Qt::Key_Space || key == Qt::Key_Select) return toggle(model, index);
    }
    return false;
  }

 private:
  static QRect check_rect(const QStyleOptionViewItem& option) {
    const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
    const int size = style->pixelMetric(QStyle::PM_IndicatorWidth, &option, option.widget);
    const int line = option.fontMetrics.height();
    return {option.rect.left() + row_margin, option.rect.top() + row_margin + (line - size) / 2, size, size};
  }
  static bool toggle(QAbstractItemModel* model, const QModelIndex& index) {
    const bool on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
  }
};

}  // namespace

RunsPanel::RunsPanel(Workspace& workspace, QWidget* parent)
    : QListView(parent), workspace_(workspace), model_(new RunsModel(workspace, this)) {
  setModel(model_);
  setItemDelegate(new RunDelegate(this));
  setUniformItemSizes(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  setAccessibleName(qtext(msg::run_list::name{}));
  setMouseTracking(true);
  connect(&workspace_, &Workspace::runs_changed, this, &RunsPanel::reveal_pending);
  connect(&workspace_, &Workspace::opening_changed, viewport(), qOverload<>(&QWidget::update));
}

void RunsPanel::reveal(const QString& file, std::int64_t run) {
  if (run <= 0) return;
  wanted_ = PendingRun{file, run};
  reveal_pending();
}

void RunsPanel::reveal_pending() {
  if (!wanted_) return;
  const auto place = workspace_.index_of(wanted_->file, wanted_->id);
  if (!place) return;
  const QModelIndex index = model_->index(static_cast<int>(*place));
  if (!index.isValid()) return;
  setCurrentIndex(index);
  scrollTo(index);
  wanted_.reset();
}

void RunsPanel::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex index = indexAt(event->pos());
  if (!index.isValid()) return;
  const auto row = static_cast<std::size_t>(index.row());
  QMenu menu(this);
  menu.addAction(qtext(msg::run_list::show_only{}), this, [this, row] { workspace_.show_only(row); });
  menu.addAction(qtext(msg::run_list::show_all{}), this, [this] {
    for (std::size_t i = 0; i < workspace_.runs().size(); ++i) workspace_.set_run_visible(i, true);
    viewport()->update();
  });
  menu.addSeparator();
  const QString file = workspace_.runs()[row].info->file;
  add_run_actions(menu, workspace_.runs()[row].info->summary,
                  [this, file](const QStringList& words) { emit edit_requested(file, words); });
  menu.addSeparator();
  menu.addAction(qtext(msg::run_list::close_file{}), this, [this, file] { workspace_.close(file); });
  menu.exec(event->globalPos());
}

QString RunsPanel::placeholder_text() const {
  const QString opening = workspace_.opening();
  return opening.isEmpty() ? qtext(msg::run_list::empty{})
                           : qtext(msg::window::opening{.files = opening.toStdString()});
}

void RunsPanel::paintEvent(QPaintEvent* event) {
  QListView::paintEvent(event);
  if (model_->rowCount() > 0) return;
  QPainter painter(viewport());
  painter.setPen(plot_colors(palette()).muted);
  painter.drawText(viewport()->rect().adjusted(12, 12, -12, -12), Qt::AlignTop | Qt::AlignHCenter | Qt::TextWordWrap,
                   placeholder_text());
}

}  // namespace attnscope::ui
