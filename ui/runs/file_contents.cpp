// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/file_contents.h"

#include <QStringList>
#include <algorithm>
#include <exception>
#include <new>
#include <span>

#include "ui/text/qtext.h"

namespace attnscope::ui {

bool KnownFile::is_continued_by(const FileStamp& there, const std::vector<RunSummary>& current_runs) const {
  if (!stamp.same_file(there)) return false;
  return std::ranges::all_of(runs, [&](const auto& run) {
    const auto same = std::ranges::find(current_runs, run.first, &RunSummary::id);
    return same != current_runs.end() && same->uid == run.second.uid;
  });
}

namespace {

bool may_have_changed(const KnownFile& known, const RunSummary& run) {
  const auto before = known.runs.find(run.id);
  return before == known.runs.end() || run.state == StoredRunState::running || before->second.state != run.state ||
         before->second.finished_at != run.finished_at || before->second.points != run.points;
}

QString skipped_rows(const QString& path, std::span<const InvalidRow> rows) {
  if (rows.empty()) return {};
  const InvalidRow& first = rows.front();
  const std::string file = path.toStdString();
  if (rows.size() == 1) {
    return qtext("{} is damaged: {}: {}", file, first.where, first.why);
  }
  return qtext("{} is damaged in {} places, first {}: {}", file, rows.size(), first.where, first.why);
}

/// Thrown if the file has more points than the window can hold.
struct TooManyPoints {
  std::size_t points = 0;
};

/// Reads the file once; returns false if it was replaced while reading.
bool read_once(FileContents& contents, const std::optional<KnownFile>& known, std::optional<std::size_t> most) {
  const std::string file = contents.path.toStdString();
  contents.stamp = file_stamp(file);
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  // Register the file's user-defined kernels before reading its points.
  QStringList left_out;
  for (const Message& why : register_manifests(store)) left_out << qtext(why);
  // Read runs first: all points of a run seen as finished are then in the next read.
  contents.runs = store.runs();
  contents.ceilings = store.ceilings();
  contents.noise = store.noise();
  contents.whole = !known || !known->is_continued_by(contents.stamp, store.runs(true));
  std::size_t points = 0;
  std::vector<std::int64_t> changed;
  for (const RunSummary& run : contents.runs) {
    points += run.points;
    if (contents.whole || may_have_changed(*known, run)) changed.push_back(run.id);
  }
  if (contents.whole && most && points > *most) throw TooManyPoints{points};
  const auto begin = [&] {
    for (const std::int64_t run : changed) contents.points[run] = RunPoints();
  };
  if (!changed.empty()) {
    store.visit_points(changed, 0, begin, [&](StoredPoint&& point) { contents.points[point.run_id].add(point); });
  }
  for (const Message& warning : store.warnings()) left_out << qtext(warning);
  contents.skipped = (left_out << skipped_rows(QString::fromStdString(store.file().string()), store.invalid_rows()))
                         .join(QLatin1Char(' '))
                         .trimmed();
  return file_stamp(file).same_file(contents.stamp);
}

}  // namespace

QString too_many_points_error(const QString& path, std::size_t points, std::size_t room) {
  return qtext(
      "{0} has {1} points, but only {2} more fit into memory (close files, or delete runs: 'attnscope edit {0} --run N "
      "--delete')",
      path.toStdString(), points, room);
}

QString out_of_memory_error(const QString& path) {
  return qtext("{}: out of host memory (close other files or programs, then reopen it)", path.toStdString());
}

FileContents read_file(const QString& path, const std::optional<KnownFile>& known, std::optional<std::size_t> most) {
  constexpr int attempts = 4;
  FileContents contents;
  const auto fail = [&](const QString& error) {
    contents = {};
    contents.path = path;
    contents.error = error;
  };
  try {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      contents = {};
      contents.path = path;
      if (read_once(contents, known, most)) return contents;
    }
    fail(qtext("{} was replaced repeatedly while it was read (open it again later)", path.toStdString()));
  } catch (const TooManyPoints& many) {
    fail(too_many_points_error(path, many.points, *most));
  } catch (const std::bad_alloc&) {
    fail({});  // frees memory before creating the message
    contents.error = out_of_memory_error(path);
  } catch (const std::exception& error) {
    fail(QString::fromUtf8(error.what()));
  }
  return contents;
}

}  // namespace attnscope::ui
