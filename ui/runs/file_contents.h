// SPDX-License-Identifier: GPL-3.0-or-later
// Result of one read of a file: all of it, or the runs that changed since an earlier read.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profiler/files/file_system.h"
#include "storage/run_store.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// Maximum points in memory, over all open files.
inline constexpr std::size_t most_points = 500'000;

/// State of an earlier read, used to detect changes.
struct KnownFile {
  FileStamp stamp = {};
  std::map<std::int64_t, RunSummary> runs = {};  ///< key: run id

  /// Returns true if the file is the same and still has all known runs, which are compared, too, because a new file may
  /// reuse an inode.
  [[nodiscard]] bool is_continued_by(const FileStamp& there, const std::vector<RunSummary>& current_runs) const;
};

/// Result of one read. If `error` (one sentence) is set, nothing else is.
struct FileContents {
  QString path;
  FileStamp stamp;
  bool whole = true;  ///< nothing was known, or the file was replaced
  std::vector<RunSummary> runs;
  std::map<std::int64_t, RunPoints> points;  ///< key: run id; all points of the runs that may have changed
  std::vector<StoredCeilings> ceilings;
  std::vector<StoredNoise> noise;
  QString skipped;  ///< sentences about skipped rows and manifests and RunStore::warnings(); empty if none
  QString error;
};
/// Reads the runs that changed since `known`; all if nothing is known or the file was replaced. Fails if a whole file
/// has more than `most` points. Blocking, read-only, never throws.
[[nodiscard]] FileContents read_file(const QString& path, const std::optional<KnownFile>& known = {},
                                     std::optional<std::size_t> most = {});

[[nodiscard]] QString too_many_points_error(const QString& path, std::size_t points, std::size_t room);

[[nodiscard]] QString out_of_memory_error(const QString& path);

}  // namespace attnscope::ui
