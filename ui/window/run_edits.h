// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of runs that the window asks for, the menu that undoes them, and what is said of those that fail.
#pragma once

#include <QAction>
#include <QMenu>
#include <QObject>
#include <QStringList>
#include <deque>
#include <utility>

#include "ui/panels/runs_panel.h"
#include "ui/process/run_editor.h"
#include "ui/runs/workspace.h"
#include "ui/widgets/banner.h"

namespace attnscope::ui {

class RunEdits : public QObject {
  Q_OBJECT
 public:
  /// Adds its actions to `menu`. Their keys are those of the run list and of the widgets that are named to answer():
  /// a text field and a page with steps of its own keep theirs.
  RunEdits(Workspace& workspace, RunsPanel& runs, Banner& banner, QMenu& menu, QObject* parent);

  void answer_in(QWidget& widget);
  [[nodiscard]] bool running() const { return editor_.running(); }

 signals:
  void ended(bool well);

 private:
  /// A recorded sample is not edited, and an older one not brought to today's schema either; the banner says so.
  [[nodiscard]] bool refuses(const QString& file);
  void step(const QString& word, QStringList& from);
  void take_done(const QString& file, const QStringList& words, bool changed);
  void take_failed(const QString& file, const QStringList& words, const QString& why);
  void merge(const QStringList& files);
  /// Of the last edit that is not taken back, with true; else of the run that is selected, or of the only file.
  [[nodiscard]] std::pair<QString, bool> file_to_step(QStringList& steps) const;
  void show_what_can_be_done();

  Workspace& workspace_;
  RunsPanel& runs_;
  Banner& banner_;
  RunEditor editor_;
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  // Files, one for each step that was made from here: a file's own log knows what the step was.
  QStringList done_;
  QStringList undone_;
  std::deque<bool> taken_;  ///< of each step that is asked for: whether one of these was taken for it
};

}  // namespace attnscope::ui
