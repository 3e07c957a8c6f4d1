// SPDX-License-Identifier: GPL-3.0-or-later
// What one read of a file gives: all of it, or what came after an earlier one.
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

/// Points that the window keeps in memory, in sum over the open files.
inline constexpr std::size_t most_points = 500'000;

/// What was read of a file, by which a later read tells whether it still is that file.
struct KnownFile {
  FileStamp stamp = {};
  std::map<std::int64_t, std::string> runs = {};  ///< their uids by id
  std::int64_t last_point = 0;                    ///< its id
  std::set<std::int64_t> grows = {};  ///< runs of several rounds that ran: points that are known may have got rounds
  bool edited = false;                ///< it may say other things of its runs: all of it is read again

  /// Whether a file with this stamp and these runs goes on where this one was left. The runs are asked as well as the
  /// stamp: a new file may have got the inode of one that was removed.
  [[nodiscard]] bool goes_on_in(const FileStamp& there, const std::vector<RunSummary>& runs_there) const;
};

/// What one read of a file gave: `error` is one sentence, and then nothing else is set.
struct FileContents {
  QString path;
  FileStamp stamp;
  bool whole = true;                 ///< read from its first point on
  bool edited = false;               ///< the file that was known, of whose runs something else is said
  std::set<std::int64_t> anew = {};  ///< runs that were read from their first point on where the file was not
  std::vector<RunSummary> runs;
  std::map<std::int64_t, RunPoints> points;  ///< by run
  std::vector<StoredCeilings> ceilings;
  std::vector<StoredNoise> noise;
  QString skipped;  ///< rows and statements that were left out, in sentences; empty when there are none
  QString error;

  [[nodiscard]] std::size_t size() const;  ///< points
};
/// What comes after what is known of the file; all of it where nothing is known, or where another file has come in its
/// place. A file of more than `most` points is an error then. Blocking; opens read-only. Never throws.
[[nodiscard]] FileContents read_file(const QString& path, const std::optional<KnownFile>& known = {},
                                     std::optional<std::size_t> most = {});

/// Returns the error of a file with more points than the window has room for.
[[nodiscard]] QString too_many_points(const QString& path, std::size_t points, std::size_t room);

/// One sentence.
[[nodiscard]] QString out_of_memory(const QString& path);

}  // namespace attnscope::ui
