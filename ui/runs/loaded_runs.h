// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of all open files, and what tells them from one another.
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

/// A title each: run_title(). Where runs of one device share it, each property in which they differ is appended, from
/// the coarse to the fine, until all titles differ ("PyTorch · bwd", "PyTorch · fwd · n_q 1"); what is still alike then
/// gets a number.
[[nodiscard]] std::vector<QString> distinct_titles(const std::vector<LoadedRun>& runs);

/// Whether all that run `a` holds stands in `b` as well: they are one run, copied.
[[nodiscard]] bool is_copy(const LoadedRun& a, const LoadedRun& b);

/// By path: the file's name, with as many folders before it as set it apart from the others' ("a/sweep.attnscope").
[[nodiscard]] std::map<QString, QString> distinct_file_names(const QStringList& paths);

/// Of a run and its copies the one that holds most stands for all, of equal ones the first. The runs, as they were
/// given, outlive this.
class Originals {
 public:
  explicit Originals(const std::vector<LoadedRun>& runs);
  /// Its place, for the others.
  [[nodiscard]] std::optional<std::size_t> of(std::size_t copy, bool ticked_only) const;

 private:
  const std::vector<LoadedRun>& runs_;
  std::unordered_map<std::string, std::vector<std::size_t>> of_uid_;
};

}  // namespace attnscope::ui
