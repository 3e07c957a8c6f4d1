// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListView>
#include <QMenu>
#include <QStringList>
#include <functional>
#include <optional>

#include "storage/run_store.h"
#include "ui/models/runs_model.h"

namespace attnscope::ui {

/// Adds Rename, Tags, Note, Hide and Delete. `edit` is called with arguments of `attnscope edit` if something changes.
void add_run_actions(QMenu& menu, const RunSummary& run, std::function<void(const QStringList&)> edit);

/// Returns arguments that change the tags to those in `line`; empty if equal.
[[nodiscard]] QStringList tag_arguments(const std::vector<std::string>& before, const QString& line);

/// List of runs: check box, what was run on which device, and its state.
class RunsPanel : public QListView {
  Q_OBJECT
 public:
  explicit RunsPanel(Workspace& workspace, QWidget* parent = nullptr);

  /// Selects a run and scrolls to it once it has been read. `run` 0: does nothing.
  void reveal(const QString& file, std::int64_t run);
  [[nodiscard]] QString placeholder_text() const;

 signals:
  void edit_requested(const QString& file, const QStringList& words);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void reveal_pending();

  struct PendingRun {
    QString file;
    std::int64_t id;
  };
  Workspace& workspace_;
  std::optional<PendingRun> wanted_;
  RunsModel* model_ = nullptr;
};

}  // namespace attnscope::ui
