// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/run_edits.h"

#include <QFileDialog>
#include <QFileInfo>
#include <utility>

#include "messages/run_list.h"
#include "messages/window.h"
#include "ui/panels/runs_panel.h"
#include "ui/runs/samples.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
RunEdits::RunEdits(Workspace& workspace, RunsPanel& runs, Banner& banner, QMenu& menu, QObject* parent)
    : QObject(parent), workspace_(workspace), runs_(runs), banner_(banner) {
  undo_ = menu.addAction(qtext(say::window::undo{}), this, [this] { undo_or_redo(done_, Asked::How::undo); });
  undo_->setShortcut(QKeySequence::Undo);
  redo_ = menu.addAction(qtext(say::window::redo{}), this, [this] { undo_or_redo(undone_, Asked::How::redo); });
  redo_->setShortcut(QKeySequence(QStringLiteral("Ctrl+Shift+Z")));
  for (QAction* action : {undo_, redo_}) action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  answer_in(runs_);
  connect(&runs_, &RunsPanel::edit_wanted, this, [this](const QString& file, const QStringList& words) {
    banner_.clear(Banner::Topic::write);
    if (refuses(file)) return;
    Step step{file, words, {}};
    for (const LoadedRun& run : workspace_.runs()) {
      const RunSummary& summary = run.info->summary;
      if (run.info->file == file && words.contains(QStringLiteral("--run=%1").arg(summary.id))) {
        step.back = words_back(words, summary.words);
      }
    }
    ask({Asked::How::edit, std::move(step)});
  });
  connect(&runs_, &RunsPanel::merge_wanted, this, &RunEdits::merge);
  connect(&editor_, &RunEditor::done, this, &RunEdits::take_done);
  connect(&editor_, &RunEditor::failed, this, &RunEdits::take_failed);
  connect(&workspace_, &Workspace::runs_changed, this, &RunEdits::show_what_can_be_done);
  // Steps name runs by their number, which is another run's in another file.
  connect(&workspace_, &Workspace::file_replaced, this, [this](const QString& file) {
    for (auto* steps : {&done_, &undone_}) {
      std::erase_if(*steps, [&](const Step& step) { return step.file == file; });
    }
    show_what_can_be_done();
  });
  show_what_can_be_done();
}

void RunEdits::answer_in(QWidget& widget) {
  widget.addAction(undo_);
  widget.addAction(redo_);
}

bool RunEdits::refuses(const QString& file) {
  const bool sample = is_recorded_sample(file);
  if (sample)
    banner_.add(Banner::Topic::write,
                qtext("{} is a recorded sample and stays as it was recorded: open a copy of it, and edit that",
                      file.toStdString()),
                file);
  return sample;
}

void RunEdits::ask(Asked asked) {
  editor_.edit(asked.step.file, asked.how == Asked::How::undo ? asked.step.back : asked.step.edit);
  asked_.push_back(std::move(asked));
}

void RunEdits::undo_or_redo(std::vector<Step>& from, Asked::How how) {
  banner_.clear(Banner::Topic::write);
  if (from.empty()) return;
  Step step = std::move(from.back());
  from.pop_back();
  ask({how, std::move(step)});
  show_what_can_be_done();
}

void RunEdits::take_done(const QString& file, const QStringList& words, bool changed) {
  if (words.isEmpty()) {
    workspace_.open(file);  // merged
  } else {
    Asked asked = std::move(asked_.front());
    asked_.pop_front();
    if (asked.how == Asked::How::edit && changed) undone_.clear();
    if (asked.how != Asked::How::edit || (changed && !asked.step.back.isEmpty())) {
      (asked.how == Asked::How::undo ? undone_ : done_).push_back(std::move(asked.step));
    }
    if (changed) workspace_.read_edited(file);
    show_what_can_be_done();
  }
  emit ended(true);
}

void RunEdits::take_failed(const QString& file, const QStringList& words, const QString& why) {
  banner_.add(Banner::Topic::write, why, file);
  if (!words.isEmpty()) {
    Asked asked = std::move(asked_.front());
    asked_.pop_front();
    if (asked.how != Asked::How::edit) {
      (asked.how == Asked::How::undo ? done_ : undone_).push_back(std::move(asked.step));
    }
    show_what_can_be_done();
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
  for (auto* steps : {&done_, &undone_}) {
    std::erase_if(*steps, [this](const Step& step) { return !workspace_.wanted_files().contains(step.file); });
  }
  undo_->setEnabled(!done_.empty());
  redo_->setEnabled(!undone_.empty());
}

}  // namespace attnscope::ui
