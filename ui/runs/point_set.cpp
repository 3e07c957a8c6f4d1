// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_set.h"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>
#include <set>
#include <utility>

#include "storage/compared_runs.h"
#include "ui/text/format.h"

namespace attnscope::ui {

void RunPoints::add(const StoredPoint& point) {
  columns_.add(point.record, point.index, point.id);
  const Row row = columns_.size() - 1;
  const auto place_of = [this](Row each) { return columns_.place(each); };
  const auto place = std::ranges::lower_bound(order_, place_of(row), {}, place_of);
  if (place != order_.end() && place_of(*place) == place_of(row)) {
    *place = row;
  } else {
    order_.insert(place, row);
  }
}

bool RunPoints::is_subset_of(const RunPoints& other) const {
  return std::ranges::all_of(order_, [&](Row row) {
    const std::uint32_t place = columns_.place(row);
    const auto same =
        std::ranges::lower_bound(other.order_, place, {}, [&](Row each) { return other.columns_.place(each); });
    return same != other.order_.end() && other.columns_.place(*same) == place &&
           analysis::PointColumns::same(other.columns_, *same, columns_, row);
  });
}

analysis::Run analysis_run(const RunInfo& info) {
  analysis::Run run = attnscope::analysis_run(info.summary);
  run.label = run_title(info.summary).toStdString();
  run.title = info.title.isEmpty() ? run.label : info.title.toStdString();
  run.device = info.device;
  run.noise = info.noise;
  return run;
}

PointSet::PointSet(const std::vector<Part>& parts) {
  analysis::PointTableBuilder builder;
  for (const Part& part : parts) {
    if (part.points->empty()) continue;
    runs_.push_back(part.run);
    builder.add(builder.add_run(analysis_run(*part.run)), part.points->columns(), part.points->rows());
  }
  table_ = std::move(builder).finish();
}

PointSet::PointSet(const PointSet& all, std::span<const Row> rows) {
  analysis::TableSubset some = analysis::extract_rows(all.table(), rows);
  table_ = std::move(some.table);
  for (const analysis::RunIndex run : some.runs) runs_.push_back(all.runs_[run]);
}

std::optional<Row> PointSet::row_of(const ShownPoint& point) const {
  for (Row row = 0; row < size(); ++row) {
    if (id(row) != point.id) continue;
    const RunInfo& run = *run_of(row);
    if (run.file == point.run->file && run.summary.id == point.run->summary.id) return row;
  }
  return std::nullopt;
}

std::vector<RunPtr> PointSet::runs_of(std::span<const Row> rows) const {
  std::vector<RunPtr> found;
  for (const Row row : rows) {
    const RunPtr& run = run_of(row);
    if (std::ranges::find(found, run) == found.end()) found.push_back(run);
  }
  return found;
}

namespace {

QString device_text(const RunSummary& run) {
  QString name = device_title(run);
  if (run.provenance == Provenance::measured) return name;
  const QString origin = to_qstring(run.provenance);
  return name.isEmpty() ? origin : QStringLiteral("%1 %2").arg(origin, name);
}

QString day_of(const std::string& iso) {
  const QDateTime time = QDateTime::fromString(QString::fromStdString(iso), Qt::ISODate);
  return time.isValid() ? time.toLocalTime().date().toString(Qt::ISODate) : QString::fromStdString(iso);
}

QString shortened_list(const QStringList& words) {
  constexpr qsizetype most = 3;
  QString text = words.mid(0, most).join(QStringLiteral(", "));
  if (words.size() > most) text += QStringLiteral(", …");
  return text;
}

}  // namespace

QString source_note(const std::vector<RunPtr>& runs) {
  QStringList devices;
  QStringList days;
  QStringList files;
  for (const RunPtr& run : runs) {
    devices << device_text(run->summary);
    days << day_of(run->summary.started_at);
    files << one_line(QFileInfo(run->file).fileName());
  }
  devices.removeDuplicates();
  files.removeDuplicates();
  days.removeDuplicates();
  days.sort();
  const QString when = days.size() < 2 ? days.value(0) : days.first() + QStringLiteral(" – ") + days.last();
  QStringList parts{shortened_list(devices), when, shortened_list(files)};
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

std::vector<QString> distinct_titles(const std::vector<LoadedRun>& runs) {
  std::vector<QString> titles;
  std::set<std::pair<QString, std::string>> taken;
  for (const LoadedRun& run : runs) {
    const QString title = run_title(run.info->summary);
    titles.push_back(title);
    for (int n = 2; !taken.insert({titles.back(), run.info->summary.device_name}).second; ++n) {
      titles.back() = QStringLiteral("%1 (%2)").arg(title).arg(n);
    }
  }
  return titles;
}

RunCopies::RunCopies(const std::vector<LoadedRun>& runs) : runs_(runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) by_uid_[runs[i].info->summary.uid].push_back(i);
}

std::optional<std::size_t> RunCopies::of(std::size_t copy, bool checked_only) const {
  const LoadedRun& run = runs_[copy];
  if (run.info->summary.uid.empty()) return {};
  for (const std::size_t i : by_uid_.at(run.info->summary.uid)) {
    const LoadedRun& other = runs_[i];
    if (i == copy || (checked_only && !other.visible) || run.size() > other.size()) continue;
    if ((other.size() > run.size() || i < copy) && run.points.is_subset_of(other.points)) return i;
  }
  return {};
}

std::map<QString, QString> distinct_file_names(const QStringList& paths) {
  const auto tail = [](const QString& path, int folders) {
    return path.section(QLatin1Char('/'), -1 - folders, -1, QString::SectionSkipEmpty);
  };
  std::map<QString, QString> names;
  for (const QString& path : paths) {
    const auto depth = static_cast<int>(path.count(QLatin1Char('/')));
    int folders = 0;
    const auto taken = [&](const QString& other) {
      return other != path && tail(other, folders) == tail(path, folders);
    };
    while (folders < depth && std::any_of(paths.begin(), paths.end(), taken)) ++folders;
    names[path] = tail(path, folders);
  }
  return names;
}

}  // namespace attnscope::ui
