// SPDX-License-Identifier: GPL-3.0-or-later
// Which devices' ceilings there are to show.
#pragma once

#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// The ceilings of one device, as they were measured once; of one that was never measured, its datasheet's.
struct ShownCeilings {
  std::string device_name;
  std::string device_uuid;
  QString title;         ///< "NVIDIA H200 · 2026-11-21 04:12 · h200.attnscope"
  bool measured = true;  ///< false: all of them are the datasheet's
  std::vector<Ceiling> ceilings;
};
/// Of all open files: the sets that they keep, the newest first and each once, then the datasheets of devices that have
/// runs and no set.
[[nodiscard]] std::vector<ShownCeilings> ceilings_of(const Workspace& workspace);

}  // namespace attnscope::ui
