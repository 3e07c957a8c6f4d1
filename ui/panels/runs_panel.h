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

/// Adds Rename, Tags, Note, Hide and Delete. `edit` is called with the words of `attnscope edit` that do what was
/// chosen, where something is to be other.
void add_run_words(QMenu& menu, const RunSummary& run, std::function<void(const QStringList&)> edit);

/// The words that turn tags into those of a line; none where they are the same.
[[nodiscard]] QStringList words_for_tags(const std::vector<std::string>& before, const QString& line);

/// The list of runs at the left: a check box, what was run where, and how it ended.
class RunsPanel : public QListView {
  Q_OBJECT
 public:
  explicit RunsPanel(Workspace& workspace, QWidget* parent = nullptr);

  /// Selects a run and scrolls to it, as soon as it has been read; 0 is no run.
  void reveal(const QString& file, std::int64_t run);
  /// What stands in the place of runs while there are none.
  [[nodiscard]] QString words_when_empty() const;

 signals:
  /// Words of `attnscope edit` for a run of that file.
  void edit_wanted(const QString& file, const QStringList& words);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void reveal_wanted();

  struct WantedRun {
    QString file;
    std::int64_t id;
  };
  Workspace& workspace_;
  std::optional<WantedRun> wanted_;
  RunsModel* model_ = nullptr;
};

}  // namespace attnscope::ui
