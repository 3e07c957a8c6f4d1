// SPDX-License-Identifier: GPL-3.0-or-later
// Choices of the explorer and the model's results for them.
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
#include "profiler/predict/published_errors.h"
#include "profiler/predict/tile_rule.h"
#include "storage/run_store.h"
#include "ui/pages/explorer/cards.h"
#include "ui/runs/point_record_reader.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

struct ExplorerChoices {
  analysis::ExploredPoint point;
  std::string device;  ///< DeviceLimits::name
  /// Shared memory of a block in bytes, from which the paper's rule picks the tile. Null: the user chose the tile.
  std::optional<std::int64_t> m_bytes = {};
  WhatIf what_if = {};
  /// Limits of a GPU from a file or a recorded run; null for a listed GPU.
  std::shared_ptr<const DeviceLimits> custom_limits = {};

  /// Rates measured on this GPU, from an open file; null: rates of the table. Not compared, because they are not a
  /// choice.
  std::shared_ptr<const StoredCeilings> rates = {};

  bool operator==(const ExplorerChoices& other) const {
    return point == other.point && device == other.device && m_bytes == other.m_bytes && what_if == other.what_if &&
           custom_limits == other.custom_limits;
  }
};

/// Forward pass with default settings on the first listed GPU, with its default tile.
[[nodiscard]] ExplorerChoices default_choices();
/// Returns the choices for another algorithm with its default tile, and the problem as near as the algorithm supports
/// it. Unknown algorithms change nothing.
[[nodiscard]] ExplorerChoices with_algorithm(const ExplorerChoices& choices, const std::string& algorithm);
/// Limits of the device times its what-if factors; the first listed GPU if the name is unknown.
[[nodiscard]] DeviceLimits limits_of(const ExplorerChoices& choices);

[[nodiscard]] QJsonObject to_json(const ExplorerChoices& choices);
/// Ignores unknown entries and invalid values.
void apply_json(const QJsonObject& json, ExplorerChoices& choices);

/// Applies an edit. `name`: a field or knob, "algorithm", "device", "m" or "padding" (bytes; "m" 0: tile chosen by the
/// user), "what_if_shared", "what_if_l2" or "what_if_dram" (percent). Dependent choices follow: unsupported knobs are
/// dropped, equal lengths and heads stay equal. On error the choices are unchanged.
[[nodiscard]] Result<std::monostate, Message> choose(ExplorerChoices& choices, const QString& name,
                                                     const QString& text);

struct ExplorerResult {
  ExplorerChoices asked;
  ExplorerChoices choices;                 ///< Choices with the tile of the rule if M is set.
  std::optional<analysis::RuleTile> rule;  ///< Null if M is not set or the rule does not apply to the algorithm.
  analysis::Exploration exploration;
};
[[nodiscard]] ExplorerResult compute_result(ExplorerChoices choices);

struct WhatIfFactor {
  std::string_view name;
  double WhatIf::*factor;
  MessageFunction label;
  MessageFunction help;
};
[[nodiscard]] std::span<const WhatIfFactor> all_what_if_factors();

/// "FA2 128 × 64", for a column heading.
[[nodiscard]] QString short_title(const ExplorerChoices& choices);

// Unlisted GPUs of open files: limits and measured rates.

/// Returns the limits of an unlisted GPU, recorded by runs of open files. Null if the name is unknown or the recorded
/// limits are invalid.
[[nodiscard]] std::shared_ptr<const DeviceLimits> recorded_gpu(const Workspace& workspace, const std::string& name);
/// Returns rates measured on such a GPU, from any open file. Null: none.
[[nodiscard]] std::shared_ptr<const StoredCeilings> rates_measured_on(const ExplorerChoices& choices,
                                                                      const Workspace& workspace);
/// Returns the latest point of open files with exactly this configuration, measured on such a GPU; null: none.
[[nodiscard]] std::shared_ptr<const PointRecord> recorded_point(const Workspace& workspace, PointRecordReader& records,
                                                                const ExplorerChoices& choices);

// Texts and bars about a configuration.

/// Time and bottleneck if the configuration runs; else the reason, and the nearest one that runs.
[[nodiscard]] QString verdict_text(const analysis::Exploration& exploration);
/// Tile that the paper's rule picks for M, and the limit on its size; empty if M is not set.
[[nodiscard]] QString rule_text(const ExplorerResult& explored);
[[nodiscard]] QString occupancy_text(const analysis::ExploredKernel& kernel);
/// Bars of a launch: predicted time (null: unknown), measured time of a kernel of `record` (null: none), utilization of
/// each unit. Without per-unit counters: tensor pipe active cycles, and DRAM bytes over peak rate.
[[nodiscard]] std::vector<BarLine> time_bars(const LaunchTime* predicted, const PointRecord* record,
                                             const std::string& kernel, const DeviceLimits& limits);
/// Bytes of each matrix, stored ones paler; none for an infeasible configuration.
[[nodiscard]] std::vector<BarLine> operand_bars(const analysis::Exploration& exploration);
[[nodiscard]] QString rates_note(const ExplorerResult& explored);
/// Published errors of predicted times of such points; null: none.
[[nodiscard]] const analysis::ErrorRow* published_errors(const ExplorerResult& explored);
[[nodiscard]] QString prediction_text(const ExplorerResult& explored);

}  // namespace attnscope::ui
