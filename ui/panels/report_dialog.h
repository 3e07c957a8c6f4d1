// SPDX-License-Identifier: GPL-3.0-or-later
// Dialog that writes a report of open runs in the background and opens it in the browser.
#pragma once

#include <QDialog>
#include <QString>
#include <cstdint>
#include <filesystem>
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

struct ReportOptions {
  std::vector<RunSource> sources;  ///< with run ids
  /// File, as in `sources`, and id of the baseline run.
  std::optional<std::pair<std::filesystem::path, std::int64_t>> baseline;
  std::string filter = {};  ///< query of the query bar; empty: all points
  std::string title;        ///< empty: generated from the content
  std::filesystem::path output;
};

struct ReportOutcome {
  QString error;    ///< one line; empty on success
  QString warning;  ///< one line; empty if the report is complete
};
/// Thread-safe. Never throws.
[[nodiscard]] ReportOutcome try_write_report(const ReportOptions& report_options);

class ReportDialog : public QDialog {
  Q_OBJECT
 public:
  /// Lists the runs that are open now; visible ones are checked.
  explicit ReportDialog(const Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] bool is_busy() const { return writer_.is_busy(); }

 private:
  struct ListedRun {
    std::filesystem::path file;
    std::int64_t run = 0;
  };
  void add_fields();
  void list_runs(const Workspace& workspace);
  void choose_file();
  void write();
  void show_written(const ReportOutcome& outcome);
  /// Returns the request from the fields; on missing or invalid input shows the error and returns nullopt.
  [[nodiscard]] std::optional<ReportOptions> report_options();

  std::string filter_;  ///< filter of the window, also applied to the report
  std::vector<ListedRun> runs_;
  QListWidget* list_ = nullptr;
  QComboBox* baseline_ = nullptr;
  QLineEdit* title_ = nullptr;
  QLineEdit* file_ = nullptr;
  QCheckBox* open_after_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* write_ = nullptr;
  QString confirmed_path_;  ///< existing file that the user agreed to replace
  QString target_path_;
  BackgroundTask<ReportOptions, ReportOutcome> writer_;
};

}  // namespace attnscope::ui
