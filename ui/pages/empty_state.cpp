// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/empty_state.h"

#include <algorithm>

#include "messages/empty_page.h"
#include "ui/format.h"
#include "ui/said.h"

namespace attnscope::ui {
namespace {

QString run_words(const RunInfo& run) {
  const QString title = (run.title.isEmpty() ? run_title(run.summary) : run.title).toHtmlEscaped();
  const QString device = QString::fromStdString(run.summary.device_name).toHtmlEscaped();
  return device.isEmpty() ? title
                          : said(say::empty_page::run_on{.run = title.toStdString(), .device = device.toStdString()});
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
    const std::size_t planned = running->info->summary.planned_points;
    return {said(say::empty_page::collecting{.run = run_words(*running->info).toStdString()}),
            planned == 1 ? said(say::empty_page::only_point_runs{})
                         : said(say::empty_page::no_point_ended{.points = planned})};
  }
  if (runs.empty() && workspace.following()) {
    return {said(say::empty_page::beginning{}), said(say::empty_page::beginning_help{})};
  }
  if (runs.empty()) {
    return {said(say::empty_page::nothing{}), said(say::empty_page::nothing_help{})};
  }
  const auto ticked = std::find_if(runs.begin(), runs.end(), [](const LoadedRun& run) { return run.visible; });
  if (ticked != runs.end()) {
    return {said(say::empty_page::no_points{.run = run_words(*ticked->info).toStdString()}),
            said(say::empty_page::no_points_help{.state = to_string(ticked->info->summary.state)})};
  }
  return {said(say::empty_page::no_run{}), said(say::empty_page::no_run_help{})};
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
