// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/empty_state.h"

#include <algorithm>

#include "ui/format.h"

namespace attnscope::ui {
namespace {

QString run_words(const RunInfo& run) {
  const QString title = (run.title.isEmpty() ? run_title(run.summary) : run.title).toHtmlEscaped();
  const QString device = QString::fromStdString(run.summary.device_name).toHtmlEscaped();
  return device.isEmpty() ? title : EmptyState::tr("%1 on %2").arg(title, device);
}

bool is_running(const LoadedRun& run) {
  return run.visible && run.info->summary.state == StoredRunState::running;
}

}  // namespace

bool ticked_run_is_running(const Workspace& workspace) {
  return std::any_of(workspace.runs().begin(), workspace.runs().end(), is_running);
}

EmptyWords why_no_points(const Workspace& workspace) {
  const auto& runs = workspace.runs();
  if (const auto running = std::find_if(runs.begin(), runs.end(), is_running); running != runs.end()) {
    return {EmptyState::tr("%1 is being collected").arg(run_words(*running->info)),
            EmptyState::tr("None of its %1 points has ended yet; they appear here one by one.")
                .arg(running->info->summary.planned_points)};
  }
  if (runs.empty() && workspace.following()) {
    return {EmptyState::tr("A sweep is beginning"),
            EmptyState::tr("Its points appear here one by one, as soon as the first has ended.")};
  }
  if (runs.empty()) {
    return {
        EmptyState::tr("Nothing measured yet"),
        EmptyState::tr("Open a file, or choose a device and a preset in the Collect panel and press Start.<br>Without "
                       "a GPU, a simulated device does as well.")};
  }
  const auto ticked = std::find_if(runs.begin(), runs.end(), [](const LoadedRun& run) { return run.visible; });
  if (ticked != runs.end()) {
    return {EmptyState::tr("%1 has no points").arg(run_words(*ticked->info)),
            EmptyState::tr("It ended (%1) before the first. Tick another run in the list on the left.")
                .arg(to_qstring(to_string(ticked->info->summary.state)))};
  }
  return {EmptyState::tr("No run is shown"), EmptyState::tr("Tick a run in the list on the left.")};
}

EmptyState::EmptyState(QWidget* parent) : QLabel(parent) {
  setAlignment(Qt::AlignCenter);
  setWordWrap(true);
  setTextFormat(Qt::RichText);
  setMargin(24);
  setTextInteractionFlags(Qt::TextBrowserInteraction);
}

void EmptyState::set_words(const EmptyWords& words) {
  setText(QStringLiteral("<h3>%1</h3><p>%2</p>").arg(words.title, words.text));
}

}  // namespace attnscope::ui
