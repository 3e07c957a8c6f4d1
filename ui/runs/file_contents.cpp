// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/file_contents.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

#include "storage/known_statements.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

bool KnownFile::goes_on_in(const FileStamp& there, const std::vector<RunSummary>& runs_there) const {
  if (!stamp.same_file(there)) return false;
  return std::ranges::all_of(runs, [&](const auto& run) {
    const auto same = std::ranges::find(runs_there, run.first, &RunSummary::id);
    return same != runs_there.end() && same->uid == run.second;
  });
}

namespace {

/// Of a run that was deleted and is back, points are older than those that are known.
bool brings_back(const std::vector<RunSummary>& runs, const KnownFile& known) {
  return std::ranges::any_of(runs, [&](const RunSummary& run) {
    return !known.runs.contains(run.id) && known.runs.upper_bound(run.id) != known.runs.end();
  });
}

using SettingsOfRuns = std::map<std::int64_t, std::shared_ptr<RunSettings>>;

/// Runs of which points that are known may have got rounds since.
std::set<std::int64_t> grown_runs(const FileContents& contents, const KnownFile& known) {
  std::set<std::int64_t> grown;
  for (const RunSummary& run : contents.runs) {
    const bool grows = run.rounds > 1 && run.state == StoredRunState::running;
    if (known.runs.contains(run.id) && (grows || known.grows.contains(run.id))) grown.insert(run.id);
  }
  return grown;
}

/// Of a large file: of those whose rounds are through, and of the others not so often that reading does little else.
/// How a point ended may be another after each round.
std::set<std::int64_t> settings_to_read_anew(const FileContents& contents, const KnownFile& known) {
  constexpr int seldom = 20;
  std::set<std::int64_t> anew;
  for (const std::int64_t id : grown_runs(contents, known)) {
    const auto settings = known.settings.find(id);
    if (settings == known.settings.end() || settings->second->points.empty()) continue;
    const auto run = std::ranges::find(contents.runs, id, &RunSummary::id);
    const auto since = std::chrono::steady_clock::now() - settings->second->read_at;
    if (run->state != StoredRunState::running || since >= seldom * settings->second->took) anew.insert(id);
  }
  return anew;
}

/// Of a file that has more points than `most`: of all what comes after what is known without values, and with values
/// the latest of what is known for the first time.
void read_large(const RunStore& store, FileContents& contents, const std::optional<KnownFile>& known,
                ReadProgress& progress, std::size_t most) {
  const bool goes_on = !contents.whole;
  if (!goes_on) progress.total += std::min<std::size_t>(progress.total, most);
  const auto began = std::chrono::steady_clock::now();
  const std::set<std::int64_t> anew = goes_on ? settings_to_read_anew(contents, *known) : std::set<std::int64_t>();
  std::int64_t after = goes_on ? known->last_point : 0;
  for (const std::int64_t run : anew) after = std::min(after, known->settings.at(run)->points.first_id() - 1);
  SettingsOfRuns grown;
  std::vector<std::int64_t> ids;
  const auto begin_settings = [&] {
    grown.clear();
    ids.clear();
    progress.read = 0;
  };
  store.each_setting(after, begin_settings, [&](const StoredPoint& point) {
    const bool is_new = !goes_on || point.id > known->last_point;
    if (!is_new && !anew.contains(point.run_id)) return;
    std::shared_ptr<RunSettings>& run = grown[point.run_id];
    if (run == nullptr) {
      const bool grows = goes_on && known->settings.contains(point.run_id) && !anew.contains(point.run_id);
      run = grows ? std::make_shared<RunSettings>(*known->settings.at(point.run_id)) : std::make_shared<RunSettings>();
    }
    run->points.add(point);
    if (is_new) ids.push_back(point.id);
    ++progress.read;
  });
  if (goes_on) contents.settings = known->settings;
  for (auto& [id, run] : grown) {
    run->points.shrink();
    if (!goes_on || anew.contains(id)) {
      run->read_at = began;
      run->took = std::chrono::steady_clock::now() - began;
    }
    run->kinds.clear();
    const std::vector<Row> sorts = run->points.sorts();
    run->kinds.reserve(sorts.size());
    for (const Row row : sorts) run->kinds.push_back(run->points.columns().spec(row));
    contents.settings[id] = std::move(run);
  }
  if (!goes_on && ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(most));
  const std::size_t settings_read = progress.read;
  const auto begin_values = [&] {
    contents.points.clear();
    progress.read = settings_read;
  };
  store.each_point_of(ids, begin_values, [&](const StoredPoint& point) {
    contents.points[point.run_id].add(point);
    ++progress.read;
  });
}

/// The points of runs whose points may have got rounds since, or of a large file those of them that are in memory.
void read_grown(const RunStore& store, FileContents& contents, const KnownFile& known) {
  contents.anew = grown_runs(contents, known);
  for (const std::int64_t run : contents.anew) {
    const auto begin = [&] { contents.points[run] = RunPoints(); };
    const auto add = [&](const StoredPoint& point) { contents.points[run].add(point); };
    const auto loaded = known.loaded.find(run);
    if (loaded == known.loaded.end()) {
      store.each_point({{run}}, 0, begin, add);
      continue;
    }
    std::vector<std::int64_t> ids = loaded->second;
    if (const auto news = contents.points.find(run); news != contents.points.end()) {
      for (const Row row : news->second.rows()) ids.push_back(news->second.id(row));
    }
    store.each_point_of(ids, begin, add);
  }
}

/// Of what is there when it opens the file; false where another file came in its place meanwhile.
bool read_once(FileContents& contents, const std::optional<KnownFile>& known, ReadProgress& progress,
               std::optional<std::size_t> most) {
  const std::string file = contents.path.toStdString();
  contents.stamp = stamp_of(file);
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  // What is made of points knows their kernels.
  QStringList left_out;
  for (const Message& why : known_statements(store)) left_out << qtext(why);
  // Runs first: a run seen as ended has all of its points in the read that follows.
  contents.runs = store.runs();
  contents.ceilings = store.ceilings();
  contents.noise = store.noise();
  contents.whole = !known || known->edited || !known->goes_on_in(contents.stamp, contents.runs) ||
                   brings_back(contents.runs, *known);
  // A run that was deleted makes no other file of it.
  contents.edited = contents.whole && known && known->goes_on_in(contents.stamp, store.runs(true));
  const auto points = std::transform_reduce(contents.runs.begin(), contents.runs.end(), std::size_t{0}, std::plus<>(),
                                            [](const RunSummary& run) { return run.points; });
  progress.total = points;
  const bool large =
      contents.whole ? most && points > *most && store.schema_version() >= settings_since : !known->settings.empty();
  if (large) {
    read_large(store, contents, known, progress, most.value_or(most_points_loaded));
  } else {
    const auto begin = [&] {
      contents.points.clear();
      progress.read = 0;
    };
    store.each_point({}, contents.whole ? 0 : known->last_point, begin, [&](StoredPoint&& point) {
      contents.points[point.run_id].add(point);
      ++progress.read;
    });
  }
  if (known) contents.selection = known->selection;
  if (!contents.whole) read_grown(store, contents, *known);
  for (auto& [run, of_run] : contents.points) of_run.shrink();
  contents.skipped = (left_out << skipped_rows(QString::fromStdString(store.file().string()), store.bad_rows()))
                         .join(QLatin1Char(' '))
                         .trimmed();
  return stamp_of(file).same_file(contents.stamp);
}

}  // namespace

QString out_of_memory(const QString& path) {
  return qtext("{} needs more memory than there is: close other files or programs, then open it again.",
               path.toStdString());
}

FileContents read_file(const QString& path, const std::optional<KnownFile>& known, ReadProgress* progress,
                       std::optional<std::size_t> most) {
  constexpr int attempts = 4;
  ReadProgress unseen;
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
      if (read_once(contents, known, progress == nullptr ? unseen : *progress, most)) return contents;
    }
    fail(qtext("{} is replaced again and again while it is read: open it once it stays.", path.toStdString()));
  } catch (const std::bad_alloc&) {
    fail({});  // gives back what was read before anything is said
    contents.error = out_of_memory(path);
  } catch (const std::exception& error) {
    fail(QString::fromUtf8(error.what()));
  }
  return contents;
}

}  // namespace attnscope::ui
