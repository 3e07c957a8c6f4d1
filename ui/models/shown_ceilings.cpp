// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/shown_ceilings.h"

#include <algorithm>
#include <set>

#include "messages/ceilings_page.h"
#include "profiler/metrics/point.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

std::vector<ShownCeilings> ceilings_of(const Workspace& workspace) {
  std::vector<ShownCeilings> shown;
  std::set<std::string> uids;
  std::set<std::string> measured;
  std::vector<const FileCeilings*> sets;
  for (const FileCeilings& each : workspace.ceilings()) sets.push_back(&each);
  std::stable_sort(sets.begin(), sets.end(),
                   [](const auto* a, const auto* b) { return a->set.measured_at > b->set.measured_at; });
  for (const FileCeilings* each : sets) {
    const StoredCeilings& set = each->set;
    measured.insert(set.device_uuid);
    if (!uids.insert(set.uid).second) continue;
    shown.push_back({set.device_name, set.device_uuid,
                     QStringLiteral("%1 · %2 · %3")
                         .arg(QString::fromStdString(set.device_name), format_time(set.measured_at),
                              workspace.file_name(each->file)),
                     true, set.ceilings});
  }
  for (const LoadedRun& run : workspace.runs()) {
    const RunSummary& summary = run.info->summary;
    if (summary.provenance == Provenance::imported || !measured.insert(summary.device_uuid).second) continue;
    std::vector<Ceiling> datasheet = datasheet_ceilings(summary.limits);
    if (datasheet.empty()) continue;
    // A GPU and its simulation have the same name.
    std::string device = summary.device_name;
    if (summary.provenance == Provenance::simulated)
      device.append(" (").append(text(title(summary.provenance))).append(")");
    shown.push_back({summary.device_name, summary.device_uuid,
                     qtext(msg::ceilings_page::of_datasheet{.device = device}), false, std::move(datasheet)});
  }
  return shown;
}

}  // namespace attnscope::ui
