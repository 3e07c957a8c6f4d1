// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of runs that the window asks for, and their undo, which is kept in memory.
#pragma once

#include <QAction>
#include <QMenu>
#include <QObject>
#include <QStringList>
#include <deque>
#include <vector>

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
  /// An edit of one file: words of `attnscope edit` that make it and that take it back.
  struct Step {
    QString file;
    QStringList edit;
    QStringList back;
  };
  struct Asked {
    enum class How { edit, undo, redo } how = How::edit;
    Step step;
  };

  /// A recorded sample is not edited; the banner says so.
  [[nodiscard]] bool refuses(const QString& file);
  void ask(Asked asked);
  void undo_or_redo(std::vector<Step>& from, Asked::How how);
  void take_done(const QString& file, const QStringList& words, bool changed);
  void take_failed(const QString& file, const QStringList& words, const QString& why);
  void merge(const QStringList& files);
  void show_what_can_be_done();

  Workspace& workspace_;
  RunsPanel& runs_;
  Banner& banner_;
  RunEditor editor_;
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  std::vector<Step> done_;
  std::vector<Step> undone_;
  std::deque<Asked> asked_;  ///< the edits that the editor has not finished
};

}  // namespace attnscope::ui
