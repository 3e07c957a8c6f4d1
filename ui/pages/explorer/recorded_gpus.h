// SPDX-License-Identifier: GPL-3.0-or-later
// What open files tell of GPUs: limits of those in no table, and rates that were measured.
#pragma once

#include <QString>
#include <memory>
#include <string>

#include "ui/pages/explorer/choices.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// Of a GPU that is in no table and that runs of open files were measured on: what was recorded of it. Null where there
/// is none of that name, or what was recorded cannot be a GPU.
[[nodiscard]] std::shared_ptr<const DeviceLimits> recorded_gpu(const Workspace& workspace, const std::string& name);
/// Of the tables, else recorded. False where it is neither; the choices then stay.
bool take_device(ExplorerChoices& choices, const QString& name, const Workspace& workspace);
/// As far as a kernel of ours takes the point, on that GPU; `known`: whether it is one, else it is on `otherwise`.
[[nodiscard]] ExplorerChoices choices_of(const PointSpec& spec, const QString& gpu, const std::string& otherwise,
                                         const Workspace& workspace, bool& known);
/// Measured of such a GPU, in any open file; null where nobody measured one.
[[nodiscard]] std::shared_ptr<const StoredCeilings> rates_of(const ExplorerChoices& choices,
                                                             const Workspace& workspace);

}  // namespace attnscope::ui
