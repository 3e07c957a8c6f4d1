// SPDX-License-Identifier: GPL-3.0-or-later
// A report of runs that are open: which runs, against which baseline, under which title and into which
// file. It is written aside, and opened in the browser.
#pragma once

#include <QDialog>
#include <QString>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/loaded_runs.h"
#include "ui/runs/workspace.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace attnscope::ui {

struct ReportWish {
  std::vector<RunSource> sources;  ///< with the runs of each
  /// The run that all others are held to: its file, as `sources` has it, and its number there.
  std::optional<std::pair<std::filesystem::path, std::int64_t>> baseline;
  std::string filter = {};  ///< as the window's query bar takes it; empty: all points
  std::string title;        ///< empty: made of what was measured
  std::filesystem::path output;
};

struct ReportOutcome {
  QString error;    ///< one line; empty: it is written
  QString warning;  ///< what it lacks, where it is written; one line
};
/// In any thread. Never throws.
[[nodiscard]] ReportOutcome write_report_of(const ReportWish& wish);

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
