// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/sample_note.h"

#include <iterator>
#include <utility>

#include "messages/window.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

void say_what_the_sample_is(Workspace& workspace, Banner& banner, std::function<void()> collect) {
  const QString sample = recorded_sample();
  const auto say = [&workspace, &banner, collect = std::move(collect), sample](const QString& opened) {
    if (opened != sample) return;
    for (const LoadedRun& run : workspace.runs()) {
      if (run.info->file != sample) continue;
      const Message words =
          say::window::recorded_sample{.file = workspace.file_name(sample).toStdString(),
                                       .gpu = device_title(run.info->summary).toStdString(),
                                       .date = run.info->summary.started_at.substr(0, std::size("2026-11-27") - 1)};
      return banner.offer(Banner::Topic::sample, qtext(words), sample, qtext(say::window::collect_here{}), collect);
    }
  };
  QObject::connect(&workspace, &Workspace::opened, &banner, say);
}

}  // namespace attnscope::ui
