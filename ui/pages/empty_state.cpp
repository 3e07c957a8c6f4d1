// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/empty_state.h"

#include <algorithm>
#include <map>

#include "messages/empty_page.h"
#include "messages/window.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr char clear_link[] = "clear";  // Link target used in the messages.
constexpr char collect_link[] = "collect";
constexpr char show_link[] = "show:";  // Followed by the index in EmptyStateText::nearest.

QString link_to(const QString& target, const QString& text) {
  return QStringLiteral("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), text.toHtmlEscaped());
}

QString run_text(const RunInfo& run) {
  constexpr qsizetype most = 80;
  const QString title = shortened(run.title, most).toHtmlEscaped();
  const QString device = shortened(device_title(run.summary), most).toHtmlEscaped();
  return device.isEmpty() ? title
                          : qtext(msg::empty_page::run_on{.device = device.toStdString(), .run = title.toStdString()});
}

bool is_running(const LoadedRun& run) {
  return run.visible && run.info->summary.state == StoredRunState::running;
}

}  // namespace

bool has_active_run(const Workspace& workspace) {
  return std::any_of(workspace.runs().begin(), workspace.runs().end(), is_running);
}

EmptyStateText no_points_text(const Workspace& workspace) {
  if (const std::size_t hidden = workspace.checked_points(); hidden > 0) {
    constexpr qsizetype most = 60;
    const QString filter = shortened(workspace.query(), most).toHtmlEscaped();
    return {qtext(msg::empty_page::all_filtered{.points = points_text(hidden)}),
            qtext(msg::empty_page::all_filtered_help{.filter = filter.toStdString()})};
  }
  const auto& runs = workspace.runs();
  if (const auto running = std::find_if(runs.begin(), runs.end(), is_running); running != runs.end()) {
    const std::size_t planned = running->info->summary.planned_points;
    return {qtext(msg::empty_page::collecting{.run = run_text(*running->info).toStdString()}),
            planned == 0   ? qtext(msg::empty_page::sweep_starting_help{})  // An interactive session has no plan.
            : planned == 1 ? qtext(msg::empty_page::point_running{})
                           : qtext(msg::empty_page::points_running{.points = planned})};
  }
  if (runs.empty() && workspace.is_following()) {
    return {qtext(msg::empty_page::sweep_starting{}), qtext(msg::empty_page::sweep_starting_help{})};
  }
  if (const QString opening = workspace.opening(); runs.empty() && !opening.isEmpty()) {
    const std::string files = shortened(opening, 200).toHtmlEscaped().toStdString();
    return {qtext(msg::window::opening{.files = files}), qtext(msg::empty_page::opening_help{})};
  }
  if (runs.empty()) {
    return {qtext(msg::empty_page::no_measurements{}), qtext(msg::empty_page::no_measurements_help{})};
  }
  const auto checked = std::find_if(runs.begin(), runs.end(), [](const LoadedRun& run) { return run.visible; });
  const auto damaged = std::find_if(runs.begin(), runs.end(), [](const LoadedRun& run) {
    return run.visible && run.info->summary.points > 0 && run.size() == 0;
  });
  if (damaged != runs.end()) {
    return {qtext(msg::empty_page::all_damaged{.run = run_text(*damaged->info).toStdString()}),
            qtext(msg::empty_page::all_damaged_help{.points = points_text(damaged->info->summary.points)})};
  }
  if (checked != runs.end()) {
    return {qtext(msg::empty_page::no_points{.run = run_text(*checked->info).toStdString()}),
            qtext(msg::empty_page::no_points_help{.state = title(checked->info->summary.state)})};
  }
  return {qtext(msg::empty_page::no_run{}), qtext(msg::empty_page::no_run_help{})};
}

std::optional<EmptyStateText> none_ran_text(const analysis::PointTable& table) {
  struct End {
    std::size_t points = 0;
    analysis::Row first = 0;
  };
  std::map<Disposition, End> ends;
  for (analysis::Row row = 0; row < table.size(); ++row) {
    const Disposition disposition = table.disposition(row);
    if (disposition == Disposition::ok || disposition == Disposition::no_counters) return std::nullopt;
    if (ends[disposition].points++ == 0) ends[disposition].first = row;
  }
  if (ends.empty()) return std::nullopt;
  constexpr qsizetype longest_reason = 400;
  QStringList lines;
  for (const auto& [disposition, end] : ends) {
    const Message& reason = table.reason(end.first);
    const Message points = points_text(end.points);
    lines << (reason.empty() ? qtext(msg::empty_page::no_result_line{.outcome = title(disposition), .points = points})
                             : qtext(msg::empty_page::no_result_reason{
                                   .outcome = title(disposition),
                                   .points = points,
                                   .why = shortened(qtext(reason), longest_reason).toHtmlEscaped().toStdString()}));
  }
  return EmptyStateText{qtext(msg::empty_page::no_result{.points = points_text(table.size())}),
                        lines.join(QStringLiteral("<br>"))};
}

EmptyState::EmptyState(QWidget* parent, Workspace& workspace) : QLabel(parent), workspace_(workspace) {
  setAlignment(Qt::AlignCenter);
  setWordWrap(true);
  setTextFormat(Qt::RichText);
  setMargin(24);
  setTextInteractionFlags(Qt::TextBrowserInteraction);
  connect(this, &QLabel::linkActivated, this, &EmptyState::follow_link);
}

void EmptyState::follow_link(const QString& link) {
  const EmptyStateText shown = shown_;  // Copied, because the action may change the text.
  if (link == QLatin1String(clear_link)) {
    (void)workspace_.set_query({});
  } else if (link == QLatin1String(collect_link)) {
    shown.collect();
  } else if (link.startsWith(QLatin1String(show_link))) {
    shown.nearest[link.mid(QLatin1String(show_link).size()).toUInt()].run();
  } else {
    workspace_.open(link);
  }
}

void EmptyState::set_text(const EmptyStateText& words) {
  shown_ = words;
  QString text = QStringLiteral("<h3>%1</h3><p>%2</p>").arg(words.title, words.text);
  for (std::size_t i = 0; i < words.nearest.size(); ++i) {
    text += QStringLiteral("<p>%1&nbsp;&nbsp;%2</p>")
                .arg(words.nearest[i].text.toHtmlEscaped(),
                     link_to(QLatin1String(show_link) + QString::number(i), qtext(msg::empty_page::show{})));
  }
  if (words.collect) {
    text += QStringLiteral("<p>%1</p>").arg(link_to(QLatin1String(collect_link), qtext(msg::empty_page::collect{})));
  }
  const Row left = workspace_.visible()->size();
  const std::size_t all = workspace_.checked_points();
  const QString sample = words.sample.empty() ? QString() : find_sample(words.sample);
  if (!sample.isEmpty() && !workspace_.files().contains(sample)) {
    text +=
        QStringLiteral("<p>%1</p>").arg(link_to(sample, qtext(msg::empty_page::open_sample{.sample = words.sample})));
  }
  if (left > 0 && left < all)
    text += QStringLiteral("<p>%1</p>").arg(qtext(msg::empty_page::some_filtered{.all = all, .shown = left}));
  setText(text);
}

}  // namespace attnscope::ui
