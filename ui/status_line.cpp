// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/status_line.h"

#include <map>
#include <set>

#include "messages/window.h"
#include "ui/format.h"
#include "ui/said.h"

namespace attnscope::ui {

QString open_files_in_words(const Workspace& workspace) {
  QStringList names;
  for (const QString& file : workspace.files()) names << workspace.file_name(file);
  return names.join(QStringLiteral(", "));
}

StatusLine::StatusLine(Workspace& workspace, QWidget* parent) : QStatusBar(parent), workspace_(workspace) {
  files_ = new QLabel(this);
  values_ = new QLabel(this);
  addWidget(files_, 1);
  addPermanentWidget(values_);
  connect(&workspace_, &Workspace::points_changed, this, &StatusLine::refresh);
  connect(&workspace_, &Workspace::opened, this, &StatusLine::refresh);
  refresh();
}

void StatusLine::refresh() {
  const QString names = open_files_in_words(workspace_);
  files_->setText(names.isEmpty() ? said(say::window::no_file{}) : names);
  files_->setToolTip(workspace_.files().join(QLatin1Char('\n')));

  std::map<Provenance, std::size_t> count;
  std::set<QString> devices;
  for (const LoadedRun& run : workspace_.runs()) {
    if (!run.visible) continue;
    count[run.info->summary.provenance] += run.points.size();
    if (const std::string& name = run.info->summary.device_name; !name.empty()) {
      devices.insert(QString::fromStdString(name));
    }
  }
  QStringList parts;
  for (const auto& [origin, points] : count) {
    if (points == 1) parts << said(say::window::one_point_of{.origin = attnscope::to_string(origin)});
    if (points > 1) parts << said(say::window::points_of{.points = points, .origin = attnscope::to_string(origin)});
  }
  if (!parts.isEmpty()) parts << QStringList(devices.begin(), devices.end()).join(QStringLiteral(", "));
  values_->setText(parts.join(QStringLiteral(" · ")));
}

}  // namespace attnscope::ui
