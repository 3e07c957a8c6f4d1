// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/export_table.h"

#include <algorithm>
#include <map>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

#include "ui/process/save_file.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// What one file has of the table.
struct Part {
  std::vector<RunPtr> runs;
  std::vector<std::int64_t> points;
};

std::map<QString, Part> parts_of(const PointSet& points) {
  std::map<QString, Part> parts;
  const auto add = [&](Row row) {
    const RunPtr& run = points.run_of(row);
    Part& part = parts[run->file];
    if (std::ranges::find(part.runs, run) == part.runs.end()) part.runs.push_back(run);
    part.points.push_back(points.id(row));
  };
  for (Row row = 0; row < points.size(); ++row) add(row);
  return parts;
}

/// A run of the part that is not in the file at its path; null when all are.
RunPtr replaced_run(const Part& part, const RunStore& store) {
  const std::vector<RunSummary> there = store.runs();
  for (const RunPtr& run : part.runs) {
    const bool same_run = std::ranges::any_of(there, [&](const RunSummary& summary) {
      return summary.id == run->summary.id && summary.uid == run->summary.uid;
    });
    if (!same_run || !stamp_of(store.file()).same_file(run->stamp)) return run;
  }
  return nullptr;
}

SavedTable file_replaced(const RunPtr& run) {
  return {.error = qtext("Nothing was written: {} was replaced by another file since it was read. It is read anew; "
                         "look at it and export again.",
                         run->file.toStdString()),
          .replaced = run};
}

/// That the table lacks rows that are damaged; empty when it does not.
QString lacking(const std::vector<RunStore>& stores) {
  for (const RunStore& store : stores) {
    const std::vector<BadRow> skipped = store.bad_rows();
    if (skipped.empty()) continue;
    const std::string file = store.file().string();
    return qtext("{} is damaged: numbers in the table may be missing or wrong.", file);
  }
  return {};
}

SavedTable save_parts(const std::map<QString, Part>& parts, const QStringList& files, const QString& path) {
  std::vector<RunStore> stores;
  std::vector<ExportSource> sources;
  std::vector<const Part*> of_source;
  stores.reserve(parts.size());  // sources point into it
  std::size_t wanted = 0;
  for (const QString& file : files) {
    const auto part = parts.find(file);
    if (part == parts.end()) continue;
    stores.push_back(RunStore::open(file.toStdString(), RunStore::Mode::read_only));
    if (const RunPtr run = replaced_run(part->second, stores.back())) return file_replaced(run);
    std::vector<std::int64_t> runs;
    for (const RunPtr& run : part->second.runs) runs.push_back(run->summary.id);
    sources.push_back({&stores.back(), std::move(runs), part->second.points});
    of_source.push_back(&part->second);
    wanted += part->second.points.size();
  }
  std::ostringstream table;
  SavedTable saved{.written = export_csv(sources, table)};
  // It may have been replaced while it was read, too.
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (const RunPtr run = replaced_run(*of_source[i], stores[i])) return file_replaced(run);
  }
  const QString lacks = lacking(stores);
  if (saved.written.points != wanted && lacks.isEmpty()) return file_replaced(of_source.front()->runs.front());
  const QByteArray text = QByteArray::fromStdString(std::move(table).str());
  saved.error = save_file(path, [&](QIODevice& out) { return write_all(out, text); });
  if (saved.error.isEmpty()) saved.error = lacks;
  return saved;
}

}  // namespace

SavedTable save_shown_points(const Workspace& workspace, const QString& path) {
  try {
    const auto ticked = [](const LoadedRun& run) { return run.visible; };
    if (std::ranges::none_of(workspace.runs(), ticked)) {
      return {.error = QStringLiteral("There is nothing to export: no run is ticked."), .nothing_to_write = true};
    }
    const std::size_t ticked_points = workspace.ticked_points();
    if (ticked_points == 0)
      return {.error = QStringLiteral("There is nothing to export: the ticked runs have no points."),
              .nothing_to_write = true};
    const std::shared_ptr<const PointSet> points = workspace.visible();
    if (points->empty()) {
      return {.error = qtext("There is nothing to export: the filter “{}” hides all {}.",
                             workspace.query().toStdString(), counted_points(ticked_points)),
              .nothing_to_write = true};
    }
    return save_parts(parts_of(*points), workspace.files(), path);
  } catch (const std::bad_alloc&) {
    return {.error =
                qtext("There is not enough memory to write {}: tick fewer runs, or close files.", path.toStdString())};
  } catch (const std::exception& error) {
    return {.error = QString::fromUtf8(error.what())};
  }
}

}  // namespace attnscope::ui
