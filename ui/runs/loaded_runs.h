// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of all open files and their unique titles.
#pragma once

#include <QString>
#include <QStringList>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ui/runs/point_set.h"

namespace attnscope::ui {

struct LoadedRun {
  RunPtr info;
  RunPoints points;
  bool visible = true;

  [[nodiscard]] std::size_t size() const { return points.size(); }
};

/// Returns unique titles, starting from run_title(). Runs of one device with equal titles get the properties in which
/// they differ ("PyTorch · bwd", "PyTorch · fwd · n_q 1"), then a number.
[[nodiscard]] std::vector<QString> distinct_titles(const std::vector<LoadedRun>& runs);

/// Returns true if run `b` contains all points of `a`: both are copies of one run.
[[nodiscard]] bool is_copy(const LoadedRun& a, const LoadedRun& b);

/// Returns, by path, the file name with as many folders as needed to be unique ("a/sweep.attnscope").
[[nodiscard]] std::map<QString, QString> distinct_file_names(const QStringList& paths);

/// Finds the copy of a run with the most points (the first if equal), which represents all copies. `runs` must outlive
/// this.
class RunCopies {
 public:
  explicit RunCopies(const std::vector<LoadedRun>& runs);
  /// Returns the index of the copy that represents `copy`; nullopt if it represents itself.
  [[nodiscard]] std::optional<std::size_t> of(std::size_t copy, bool checked_only) const;

 private:
  const std::vector<LoadedRun>& runs_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_uid_;
};

}  // namespace attnscope::ui
