// SPDX-License-Identifier: GPL-3.0-or-later
// A report of runs that are open: which runs and sections, against which baseline, under which title and into which
// file. It is written aside, and opened in the browser.
#pragma once

#include <QDialog>
#include <functional>

#include "ui/panels/report_writer.h"
#include "ui/runs/workspace.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace attnscope::ui {

class ReportDialog : public QDialog {
  Q_OBJECT
 public:
  /// The runs that are open now; those that are drawn are ticked.
  explicit ReportDialog(const Workspace& workspace, QWidget* parent = nullptr);

  /// What opens a page that was written; by itself the desktop's browser. False: none could be started.
  void open_with(std::function<bool(const QString& path)> open) { open_ = std::move(open); }
  /// What stands below the fields: what is being done, what was written, or what went wrong.
  [[nodiscard]] QString state() const;
  [[nodiscard]] bool busy() const { return writer_.busy(); }

 private:
  struct Listed {
    std::filesystem::path file;
    std::int64_t run = 0;
  };
  void add_fields();
  void list_runs(const Workspace& workspace);
  void choose_file();
  void write();
  void show_written(const ReportOutcome& outcome);
  void say(const QString& words);
  /// Of the ticked runs, with all else; nothing, and said why, where something is missing.
  [[nodiscard]] std::optional<ReportWish> wish();

  std::string filter_;        ///< the window's, which leaves points out of the report too
  std::vector<Listed> runs_;  ///< in the order of the list
  QListWidget* list_ = nullptr;
  QListWidget* sections_ = nullptr;
  QComboBox* baseline_ = nullptr;
  QLineEdit* title_ = nullptr;
  QLineEdit* file_ = nullptr;
  QCheckBox* opens_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* write_ = nullptr;
  QString may_replace_;  ///< what is there and was asked about
  QString writing_;
  std::function<bool(const QString&)> open_;
  Live<ReportWish, ReportOutcome> writer_;
};

}  // namespace attnscope::ui
