// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/run_edits.h"

#include <QFileDialog>
#include <QFileInfo>

#include "messages/command.h"
#include "messages/run_list.h"
#include "messages/window.h"
#include "ui/runs/samples.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr QLatin1String undo_word("--undo");
constexpr QLatin1String redo_word("--redo");

}  // namespace

RunEdits::RunEdits(Workspace& workspace, RunsPanel& runs, Banner& banner, QMenu& menu, QObject* parent)
    : QObject(parent), workspace_(workspace), runs_(runs), banner_(banner) {
  undo_ = menu.addAction(qtext(say::window::undo{}), this, [this] { step(undo_word, done_); });
  undo_->setShortcut(QKeySequence::Undo);
  redo_ = menu.addAction(qtext(say::window::redo{}), this, [this] { step(redo_word, undone_); });
  redo_->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+Z")));
  for (QAction* action : {undo_, redo_}) action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  answer_in(runs_);
  connect(&runs_, &RunsPanel::edit_wanted, this, [this](const QString& file, const QStringList& words) {
    banner_.clear(Banner::Topic::write);
    if (!refuses(file)) editor_.edit(file, words);
  });
  connect(&runs_, &RunsPanel::merge_wanted, this, &RunEdits::merge);
  connect(&editor_, &RunEditor::done, this, &RunEdits::take_done);
  connect(&editor_, &RunEditor::failed, this, &RunEdits::take_failed);
  connect(&workspace_, &Workspace::runs_changed, this, &RunEdits::show_what_can_be_done);
  show_what_can_be_done();
}

void RunEdits::answer_in(QWidget& widget) {
  widget.addAction(undo_);
  widget.addAction(redo_);
}

std::pair<QString, bool> RunEdits::file_to_step(QStringList& steps) const {
  while (!steps.isEmpty()) {
    if (QString file = steps.takeLast(); workspace_.files().contains(file)) return {file, true};
  }
  const QString selected = runs_.selected_file();
  return {selected.isEmpty() && workspace_.files().size() == 1 ? workspace_.files().first() : selected, false};
}

bool RunEdits::refuses(const QString& file) {
  const bool sample = is_recorded_sample(file);
  if (sample) banner_.add(Banner::Topic::write, qtext(say::window::sample_stays{.file = file.toStdString()}), file);
  return sample;
}

void RunEdits::step(const QString& word, QStringList& from) {
  banner_.clear(Banner::Topic::write);
  const auto [file, taken] = file_to_step(from);
  if (file.isEmpty()) return banner_.add(Banner::Topic::write, qtext(say::window::select_run{}));
  if (refuses(file)) return;
  taken_.push_back(taken);
  editor_.edit(file, {word});
}

void RunEdits::take_done(const QString& file, const QStringList& words, bool changed) {
  const bool undone = words.contains(undo_word);
  if (undone || words.contains(redo_word)) {
    taken_.pop_front();
  } else if (changed) {
    undone_.clear();
  }
  if (words.isEmpty()) {
    workspace_.open(file);  // merged
  } else if (changed) {
    (undone ? undone_ : done_) << file;
    workspace_.read_edited(file);
  }
  emit ended(true);
}

void RunEdits::take_failed(const QString& file, const QStringList& words, const QString& why) {
  banner_.add(Banner::Topic::write, why, file);
  const bool undo = words.contains(undo_word);
  if (undo || words.contains(redo_word)) {
    const bool taken = taken_.front();
    taken_.pop_front();
    const std::string name = file.toStdString();
    const QString no_step =
        undo ? qtext(say::command::nothing_to_undo{.file = name}) : qtext(say::command::nothing_to_redo{.file = name});
    if (taken && why != no_step) (undo ? done_ : undone_) << file;  // as before
  }
  emit ended(false);
}

void RunEdits::merge(const QStringList& files) {
  // A file that is there is refused by who writes it.
  QString path =
      QFileDialog::getSaveFileName(&runs_, qtext(say::run_list::merge_title{}), {},
                                   qtext(say::run_list::merge_filter{}), nullptr, QFileDialog::DontConfirmOverwrite);
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".attnscope");
  banner_.clear(Banner::Topic::write);
  editor_.merge(path, files);
}

void RunEdits::show_what_can_be_done() {
  for (QAction* action : {undo_, redo_}) action->setEnabled(!workspace_.files().isEmpty());
}

}  // namespace attnscope::ui
