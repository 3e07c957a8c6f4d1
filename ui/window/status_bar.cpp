// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/status_bar.h"

#include <map>
#include <set>

#include "messages/window.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
QString open_file_names(const Workspace& workspace) {
  QStringList names;
  for (const QString& file : workspace.files()) names << workspace.file_name(file);
  return names.join(QStringLiteral(", "));
}

StatusBar::StatusBar(Workspace& workspace, QWidget* parent) : QStatusBar(parent), workspace_(workspace) {
  files_ = new ElidedLabel(this);
  files_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // takes the width left by values_
  selected_ = new ElidedLabel(this);
  selected_->setObjectName(QStringLiteral("selected-point"));
  selected_->hide();
  values_ = new ElidedLabel(this);
  values_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  addWidget(files_, 1);
  addPermanentWidget(selected_, 2);
  addPermanentWidget(values_, 1);
  connect(&workspace_, &Workspace::points_changed, this, &StatusBar::refresh);
  connect(&workspace_, &Workspace::opened, this, &StatusBar::refresh);
  connect(&workspace_, &Workspace::opening_changed, this, &StatusBar::refresh);
  refresh();
}

void StatusBar::show_selected(const std::optional<ShownPoint>& point) {
  selected_->setVisible(point.has_value());
  if (!point) return;
  const QString text = qtext(msg::window::selected{.device = device_title(point->run->summary).toStdString(),
                                                   .point = describe(point->spec),
                                                   .run = point->run->title.toStdString()});
  selected_->setText(text);
  selected_->setToolTip(plain_tooltip(text));
}

void StatusBar::refresh() {
  QStringList names{open_file_names(workspace_)};
  if (const QString opening = workspace_.opening(); !opening.isEmpty()) {
    names << qtext(msg::window::opening{.files = opening.toStdString()});
  }
  names.removeAll(QString());
  files_->setText(names.isEmpty() ? qtext(msg::window::no_file{}) : names.join(QStringLiteral(" · ")));
  QStringList paths;
  for (const QString& file : workspace_.files()) paths << one_line(file);
  files_->setToolTip(plain_tooltip(paths.join(QLatin1Char('\n'))));

  std::map<Provenance, std::size_t> count;
  std::set<QString> devices;
  const auto add = [&](const RunSummary& run, std::size_t points) {
    count[run.provenance] += points;
    if (const QString name = device_title(run); !name.isEmpty()) devices.insert(name);
  };
  std::size_t copied = 0;
  if (workspace_.query().isEmpty()) {
    const std::vector<LoadedRun>& runs = workspace_.runs();
    const RunCopies originals(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i].visible) continue;
      if (originals.of(i, true)) {
        copied += runs[i].size();
      } else {
        add(runs[i].info->summary, runs[i].size());
      }
    }
  } else {  // copies are not counted if a filter is set
    const std::shared_ptr<const PointSet> points = workspace_.visible();
    std::map<analysis::RunIndex, std::size_t> of_run;
    for (Row row = 0; row < points->size(); ++row) ++of_run[points->table().run_index(row)];
    for (const auto& [run, rows] : of_run) add(points->run(run).summary, rows);
  }
  QStringList parts;
  for (const auto& [origin, points] : count) {
    Message of_origin = msg::window::points_of{.origin = title(origin), .points = points};
    if (points == 1) of_origin = msg::window::one_point_of{.origin = title(origin)};
    parts << qtext(of_origin);
  }
  if (copied > 0) parts << qtext(msg::window::duplicates_counted_once{.points = copied});
  if (!parts.isEmpty()) parts << QStringList(devices.begin(), devices.end()).join(QStringLiteral(", "));
  values_->setText(parts.join(QStringLiteral(" · ")));
  values_->setToolTip(plain_tooltip(values_->text()));
}

}  // namespace attnscope::ui
