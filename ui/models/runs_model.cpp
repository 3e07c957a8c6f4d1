// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/runs_model.h"

#include <algorithm>

#include "messages/run_list.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

std::size_t throttled_points(const LoadedRun& run) {
  const auto is_throttled = [&](Row row) { return run.points.columns().throttled(row); };
  return static_cast<std::size_t>(std::ranges::count_if(run.points.rows(), is_throttled));
}

}  // namespace

RunsModel::RunsModel(Workspace& workspace, QObject* parent) : QAbstractListModel(parent), workspace_(workspace) {
  synchronize();
  connect(&workspace_, &Workspace::runs_changed, this, &RunsModel::synchronize);
}

void RunsModel::synchronize() {
  std::vector<RunPtr> now;
  for (const LoadedRun& run : workspace_.runs()) now.push_back(run.info);
  const auto same_run = [](const RunPtr& a, const RunPtr& b) {
    return a->file == b->file && a->summary.id == b->summary.id;
  };
  const bool grown = now.size() >= shown_.size() && std::equal(shown_.begin(), shown_.end(), now.begin(), same_run);
  if (!grown) {
    beginResetModel();
    shown_ = std::move(now);
    endResetModel();
    return;
  }
  const int before = static_cast<int>(shown_.size());
  const int after = static_cast<int>(now.size());
  if (after > before) {
    beginInsertRows({}, before, after - 1);
    shown_ = std::move(now);
    endInsertRows();
  } else {
    shown_ = std::move(now);
  }
  if (before > 0) emit dataChanged(index(0), index(before - 1));
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto row = static_cast<std::size_t>(index.row());
  const RunSummary& summary = shown_[row]->summary;
  const QString title = shown_[row]->title;
  switch (role) {
    case Qt::DisplayRole:
    case title_role:
      return title;
    case Qt::CheckStateRole:
      return workspace_.runs()[row].visible ? Qt::Checked : Qt::Unchecked;
    case detail_role: {
      Message points = points_text(summary.points);
      if (summary.points < summary.planned_points) {
        points = msg::run_list::points_of{.planned = summary.planned_points, .points = summary.points};
      }
      if (summary.ok_points < summary.points) {
        points = msg::run_list::points_ok{.ok = summary.ok_points, .points = points};
      }
      QStringList parts;
      for (const std::string& tag : summary.annotations.tags) parts << one_line(QString::fromStdString(tag));
      if (!parts.isEmpty()) parts = QStringList{QStringLiteral("#") + parts.join(QStringLiteral(" #"))};
      if (!summary.device_name.empty()) parts << device_title(summary);
      return (parts << qtext(points)).join(QStringLiteral(" · "));
    }
    case file_role:
      return workspace_.file_name(shown_[row]->file) + QStringLiteral(" · ") + format_time(summary.started_at);
    case origin_role:
      return summary.provenance == Provenance::measured ? QString() : to_qstring(summary.provenance);
    case state_role:
      return summary.state == StoredRunState::complete ? QString() : qtext(attnscope::title(summary.state));
    case Qt::ToolTipRole: {
      QString argv;
      for (const std::string& word : summary.argv) argv += one_line(QString::fromStdString(word)) + QLatin1Char(' ');
      QString text = qtext(msg::run_list::about{.device = device_title(summary).toStdString(),
                                                .file = one_line(shown_[row]->file).toStdString(),
                                                .ok = summary.ok_points,
                                                .points = points_text(summary.points),
                                                .run = title.toStdString(),
                                                .state = attnscope::title(summary.state),
                                                .time = format_time(summary.started_at).toStdString()});
      if (const std::size_t throttled = throttled_points(workspace_.runs()[row]); throttled > 0) {
        text += QLatin1Char('\n') +
                qtext(msg::run_list::throttled{.points = workspace_.runs()[row].size(), .throttled = throttled});
      }
      if (!summary.environment.driver_version.empty()) {
        text += QLatin1Char('\n') + qtext(msg::run_list::versions{.cupti = summary.environment.cupti_version,
                                                                  .driver = summary.environment.driver_version});
      }
      if (!summary.annotations.note.empty())
        text += QLatin1Char('\n') + QString::fromStdString(summary.annotations.note);
      if (!argv.isEmpty()) text += QLatin1Char('\n') + argv.trimmed();
      return plain_tooltip(text);
    }
    case Qt::AccessibleTextRole: {
      const QString origin = data(index, origin_role).toString();
      return QStringLiteral("%1, %2, %3%4")
          .arg(title, data(index, detail_role).toString(), data(index, file_role).toString(),
               origin.isEmpty() ? QString() : QStringLiteral(", ") + origin);
    }
    default:
      return {};
  }
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || !checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
  workspace_.set_run_visible(static_cast<std::size_t>(index.row()), value.toInt() == Qt::Checked);
  emit dataChanged(index, index, {Qt::CheckStateRole});
  return true;
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemNeverHasChildren;
}

}  // namespace attnscope::ui
