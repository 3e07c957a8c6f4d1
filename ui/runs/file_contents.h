// SPDX-License-Identifier: GPL-3.0-or-later
// Result of one read of a file: all of it, or what was added since an earlier read.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
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
  std::map<std::int64_t, std::string> runs = {};  ///< uid by run id
  std::int64_t last_point = 0;
  std::set<std::int64_t> grows = {};  ///< running runs with several rounds, whose points may get more
  bool edited = false;                ///< texts or flags of runs may have changed: reread everything

  /// Returns true if the file is the same and was only appended to. Runs are compared, too, because a new file may
  /// reuse an inode.
  [[nodiscard]] bool was_only_appended(const FileStamp& there, const std::vector<RunSummary>& current_runs) const;
};

/// Result of one read. If `error` (one sentence) is set, nothing else is.
struct FileContents {
  QString path;
  FileStamp stamp;
  bool whole = true;                  ///< read from the first point on
  bool edited = false;                ///< same file, but texts or flags of runs changed
  std::set<std::int64_t> fresh = {};  ///< runs that were reread from their first point, although the file was not
  std::vector<RunSummary> runs;
  std::map<std::int64_t, RunPoints> points;  ///< keyed by run id
  std::vector<StoredCeilings> ceilings;
  std::vector<StoredNoise> noise;
  QString skipped;  ///< sentences about skipped rows and manifests and RunStore::warnings(); empty if none
  QString error;

  [[nodiscard]] std::size_t size() const;
};
/// Reads what was added since `known`; everything if nothing is known or the file was replaced. Fails if it would have
/// more than `most` points. Blocking, read-only, never throws.
[[nodiscard]] FileContents read_file(const QString& path, const std::optional<KnownFile>& known = {},
                                     std::optional<std::size_t> most = {});

/// Returns the error of a file with more points than the window has room for.
[[nodiscard]] QString too_many_points_error(const QString& path, std::size_t points, std::size_t room);

[[nodiscard]] QString out_of_memory_error(const QString& path);

}  // namespace attnscope::ui
