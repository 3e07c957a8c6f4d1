// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// Ceilings of one device: one measured set, or the datasheet values of a device without one.
struct ShownCeilings {
  std::string device_name;
  std::string device_uuid;
  QString title;         ///< "NVIDIA H200 · 2026-11-21 04:12 · h200.attnscope"
  bool measured = true;  ///< false: datasheet values
  std::vector<Ceiling> ceilings;
};
/// Returns the sets of all open files, newest first, without duplicates, then the datasheets of devices that have runs
/// but no set.
[[nodiscard]] std::vector<ShownCeilings> ceilings_of(const Workspace& workspace);

}  // namespace attnscope::ui
