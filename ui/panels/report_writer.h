// SPDX-License-Identifier: GPL-3.0-or-later
// Writes reports in a thread of its own, from the files, as `attnscope report` does.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/report_files.h"

namespace attnscope::ui {

struct ReportWish {
  std::vector<ReportSource> sources;  ///< with the runs of each
  /// The run that all others are held to: its file, as `sources` has it, and its number there.
  std::optional<std::pair<std::filesystem::path, std::int64_t>> baseline;
  std::vector<std::string> sections;  ///< keys
  std::string title;                  ///< empty: made of what was measured
  std::filesystem::path output;
};

struct ReportOutcome {
  QString error;    ///< one line; empty: it is written
  QString warning;  ///< what it lacks, where it is written; one line
};
/// Blocking. Never throws.
[[nodiscard]] ReportOutcome write_report_now(const ReportWish& wish);

class ReportWriter : public QObject {
  Q_OBJECT
 public:
  explicit ReportWriter(QObject* parent = nullptr);
  /// Waits for what is being written.
  ~ReportWriter() override;

  /// Ends in written(). Nothing while it is busy.
  void write(const ReportWish& wish);
  [[nodiscard]] bool busy() const { return busy_; }

 signals:
  void written(const attnscope::ui::ReportOutcome& outcome);

 private:
  bool busy_ = false;
  QThreadPool pool_;
};

}  // namespace attnscope::ui
