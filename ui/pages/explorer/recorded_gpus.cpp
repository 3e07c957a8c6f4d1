// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/recorded_gpus.h"

#include <utility>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/gpu_values.h"
#include "storage/run_store.h"

namespace attnscope::ui {

std::shared_ptr<const DeviceLimits> recorded_gpu(const Workspace& workspace, const std::string& name) {
  for (const LoadedRun& run : workspace.runs()) {
    if (run.info->summary.device_name != name) continue;
    // A file may say anything: what no GPU can have is not worked with.
    if (!wrong_gpu(own_gpu_like(run.info->summary.limits, "recorded")).empty()) continue;
    DeviceLimits limits = run.info->summary.limits;
    limits.name = name;
    return std::make_shared<const DeviceLimits>(std::move(limits));
  }
  return nullptr;
}

bool take_device(ExplorerChoices& choices, const QString& name, const Workspace& workspace) {
  if (choose(choices, QStringLiteral("device"), name).ok()) return true;
  const std::shared_ptr<const DeviceLimits> recorded = recorded_gpu(workspace, name.toStdString());
  if (recorded == nullptr) return false;
  choices.device = recorded->name;
  choices.own = recorded;
  return true;
}

ExplorerChoices choices_of(const PointSpec& spec, const QString& gpu, const std::string& otherwise,
                           const Workspace& workspace, bool& known) {
  // By way of their texts: a point of a file may hold what none of ours takes.
  const ExplorerChoices point{.point = {.spec = spec}, .device = otherwise};
  ExplorerChoices choices = default_choices();
  choices.device = point.device;
  take_json(to_json(point), choices);
  known = take_device(choices, gpu, workspace);
  return choices;
}

std::shared_ptr<const StoredCeilings> rates_of(const ExplorerChoices& choices, const Workspace& workspace) {
  std::vector<StoredCeilings> sets;
  for (const FileCeilings& each : workspace.ceilings()) sets.push_back(each.set);
  ExplorerChoices itself = choices;
  itself.what_if = {};
  const StoredCeilings* newest = newest_rates(sets, limits_of(itself));
  if (newest == nullptr) return nullptr;
  StoredCeilings rates = *newest;
  for (Ceiling& each : rates.ceilings) {
    const bool of_dram = each.name == ceiling_key::dram_read || each.name == ceiling_key::dram_copy;
    if (of_dram) each.value *= choices.what_if.dram_rate;
  }
  return std::make_shared<const StoredCeilings>(std::move(rates));
}

}  // namespace attnscope::ui
