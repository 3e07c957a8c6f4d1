// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the window.
#pragma once

#include <QString>
#include <QStringList>
#include <string_view>

#include "profiler/metrics/point.h"
#include "profiler/points/point_table.h"
#include "profiler/tilemap/tile_choice.h"
#include "profiler/units/spelling.h"
#include "storage/run_store.h"

namespace attnscope::ui {

// What profiler/units and the table of metrics say, for Qt; qtext() has the quantities.
[[nodiscard]] QString format_number(double value, int significant = 3);
[[nodiscard]] QString format_length(double n);
[[nodiscard]] QString format_value(double value, std::string_view unit);
[[nodiscard]] QString format_metric(const MetricValue& metric);
/// A label of the metrics table in the window's typography.
[[nodiscard]] QString metric_label(std::string_view key);

/// "batch × heads", but "L2 at start": a label within a sentence.
[[nodiscard]] QString within_sentence(QString label);

[[nodiscard]] QString to_qstring(std::string_view text);
/// title(): "measured", "simulated, extrapolated".
[[nodiscard]] QString to_qstring(Provenance provenance);
/// "shared memory", "the grid": of an occupancy's limiter.
[[nodiscard]] QString limiter_words(std::string_view limiter);

/// At most that many characters; of a longer text the end is cut, with an ellipsis.
[[nodiscard]] QString shortened(const QString& text, qsizetype most);
/// Of a text of several lines, as compilers write them, the first that names an error, else the first, with an
/// ellipsis for the others.
[[nodiscard]] QString headline(const QString& text);
/// On one line: control characters are spelled out, as printable() has them.
[[nodiscard]] QString one_line(const QString& text);
/// The name of the run's device, on one line; empty where none is known.
[[nodiscard]] QString device_title(const RunSummary& run);
/// The text of a tooltip, as it is: Qt takes a tooltip that looks like markup for rich text, and what files say may.
[[nodiscard]] QString plain_tip(const QString& text);
/// The run's preset, or the label that it was imported under, on one line. RunInfo::title tells runs of one title
/// apart.
[[nodiscard]] QString run_title(const RunSummary& run);
/// "2026-11-21 04:12" from ISO 8601 UTC, in local time.
[[nodiscard]] QString format_time(const std::string& iso);
/// "batch 1 × 16 heads", with K/V heads where they differ.
[[nodiscard]] QString format_heads(const AttentionProblem& problem);
/// "full", "causal", "window:256:0": the mask's words, where mask=full reads "full" and a long list is shortened.
[[nodiscard]] QString format_mask(const Mask& mask);
/// "4096", or "1 × 65536" (n_q × n_k) where they differ.
[[nodiscard]] QString format_lengths(const AttentionProblem& problem);
/// "128 × 64", with whatever else of the tile was chosen: "128 × 64, splits 8, warps 4". "not stated" where an imported
/// point does not say.
[[nodiscard]] QString format_tile(const Config& config);
/// "splits 8", "heads fastest".
[[nodiscard]] QString format_knob(std::string_view name, const KnobValue& value);
/// "16", or "auto" for 0.
/// "splits 8", "splits auto".
[[nodiscard]] QString format_swept(const analysis::SweptValue& swept);
using analysis::tile_stated;

}  // namespace attnscope::ui
