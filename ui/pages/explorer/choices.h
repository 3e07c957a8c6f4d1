// SPDX-License-Identifier: GPL-3.0-or-later
// What is chosen in the explorer, and what theory says of it.
#pragma once

#include <QJsonObject>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/model/gpu_values.h"
#include "profiler/predict/exploration.h"
#include "profiler/predict/tile_rule.h"
#include "storage/run_store.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

struct ExplorerChoices {
  analysis::ExploredPoint point;
  std::string device;  ///< DeviceLimits::name
  /// Shared memory of a block, in bytes: the paper's rule then picks the tile. Empty: the tile is chosen by hand.
  std::optional<std::int64_t> m_bytes = {};
  WhatIf what_if = {};
  /// The values of a GPU of a file or of a recorded run; null for a public one.
  std::shared_ptr<const DeviceLimits> own = {};

  /// Measured of such a GPU, in an open file: rates of the predicted times; null: by table. Nothing that is chosen.
  std::shared_ptr<const StoredCeilings> rates = {};

  bool operator==(const ExplorerChoices& other) const {
    return point == other.point && device == other.device && m_bytes == other.m_bytes && what_if == other.what_if &&
           own == other.own;
  }
};

/// A usual forward pass on the first known GPU, with the tile that is best there.
[[nodiscard]] ExplorerChoices default_choices();
/// The same of another algorithm, with its own tile: the problem as near as the algorithm takes it. What is of that
/// algorithm and runs stays, and unknown algorithms change nothing.
[[nodiscard]] ExplorerChoices turned_to(const ExplorerChoices& choices, const std::string& algorithm);
/// Of the device, with its multiples; those of the first known GPU for a name that is none.
[[nodiscard]] DeviceLimits limits_of(const ExplorerChoices& choices);

/// By the names of fields and knobs, each as text.
[[nodiscard]] QJsonObject to_json(const ExplorerChoices& choices);
/// Entries that are unknown or cannot be leave what stands there.
void take_json(const QJsonObject& json, ExplorerChoices& choices);

/// What an editor calls for: a field or knob by name, "algorithm", "device", "m" or "padding" (bytes, 0 of "m": the
/// tile by hand), "what_if_shared", "what_if_l2" or "what_if_dram" (percent). The other choices follow where they have
/// to: knobs that an algorithm does not state go, and equal lengths and heads stay equal. The error is one sentence;
/// the choices are left as they were.
[[nodiscard]] Result<std::monostate, Message> choose(ExplorerChoices& choices, const QString& name,
                                                     const QString& text);

struct Explored {
  ExplorerChoices asked;                   ///< as they were given
  ExplorerChoices choices;                 ///< with the rule's tile, where M picks it
  std::optional<analysis::RuleTile> rule;  ///< where M is chosen and the rule speaks of the algorithm
  analysis::Exploration exploration;
};
[[nodiscard]] Explored work_out(ExplorerChoices choices);

/// The multiples by the names that choose() takes.
struct WhatIfChoice {
  std::string_view name;
  double WhatIf::*factor;
};
[[nodiscard]] std::span<const WhatIfChoice> what_if_choices();

/// "FA2 128 × 64", for the heading of a column.
[[nodiscard]] QString short_title(const ExplorerChoices& choices);

// GPUs of open files: limits of unlisted GPUs, and measured rates.

/// Limits of an unlisted GPU that runs of open files recorded. Null for an unknown name, or if the recorded limits are
/// invalid.
[[nodiscard]] std::shared_ptr<const DeviceLimits> recorded_gpu(const Workspace& workspace, const std::string& name);
/// Measured of such a GPU, in any open file; null where nobody measured one.
[[nodiscard]] std::shared_ptr<const StoredCeilings> rates_of(const ExplorerChoices& choices,
                                                             const Workspace& workspace);

// Sentences about a configuration.

/// Whether it runs, how long and bound by what, or why it does not and what does.
[[nodiscard]] QString verdict_words(const analysis::Exploration& exploration);
/// Which tile the paper's rule picks of M, and why not a larger one; empty where the tile is chosen by hand.
[[nodiscard]] QString rule_words(const Explored& explored);
[[nodiscard]] QString occupancy_words(const analysis::ExploredKernel& kernel, bool predicts_time);
/// Explains the shares and the origin of the rates.
[[nodiscard]] QString rates_note(const Explored& explored);
/// How far predictions of such points were off.
[[nodiscard]] QString prediction_words(const Explored& explored);

}  // namespace attnscope::ui
