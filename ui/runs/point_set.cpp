// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_set.h"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "storage/compared_runs.h"
#include "ui/text/format.h"

namespace attnscope::ui {

void RunPoints::add(const StoredPoint& point) {
  columns_.add(point.record, point.index, point.id);
  last_id_ = std::max(last_id_, point.id);
  add_to_order(columns_.size() - 1);
}

void RunPoints::add(RunPoints later) {
  if (columns_.empty()) {
    *this = std::move(later);
    return;
  }
  Row next = columns_.size();
  columns_.add(later.columns_, later.rows());
  while (next < columns_.size()) add_to_order(next++);
  last_id_ = std::max(last_id_, later.last_id_);
}

void RunPoints::add_to_order(Row row) {
  const auto place_of = [this](Row each) { return columns_.place(each); };
  const auto place = std::ranges::lower_bound(order_, place_of(row), {}, place_of);
  if (place != order_.end() && place_of(*place) == place_of(row)) {
    *place = row;
  } else {
    order_.insert(place, row);
  }
}

void RunPoints::release_unused_memory() {}

std::vector<Row> RunPoints::distinct_settings() const {
  constexpr std::array<std::string_view, 3> excluded_fields{"n_k", "br", "bc"};
  std::vector<const analysis::FieldColumn*> columns;
  for (const Field& field : point_fields()) {
    if (std::ranges::count(excluded_fields, field.name) == 0) columns.push_back(&columns_.field(field.name));
  }
  const analysis::FieldColumn& n_q = columns_.field("n_q");
  const analysis::FieldColumn& n_k = columns_.field("n_k");
  std::set<std::vector<std::uint64_t>> known;
  std::vector<Row> rows;
  std::vector<std::uint64_t> sort;
  std::vector<std::uint64_t> before;
  for (const Row row : order_) {
    sort.clear();
    for (const analysis::FieldColumn* column : columns) {
      const bool is_n = column == &n_q && n_q.number(row) == n_k.number(row);
      sort.push_back(is_n ? ~std::uint64_t{0} : column->key(row));
    }
    sort.push_back(columns_.knobs().code(row));
    if (sort == before) continue;  // consecutive points are mostly equal
    before = sort;
    if (known.insert(sort).second) rows.push_back(row);
  }
  return rows;
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
    builder.add(builder.add_run(part.run_entry ? *part.run_entry : analysis_run(*part.run)), part.points->columns(),
                part.points->rows());
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

}  // namespace attnscope::ui
