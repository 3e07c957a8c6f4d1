// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string_view>

#include "profiler/metrics/point.h"
#include "profiler/points/point_table.h"
#include "profiler/tilemap/plot_list.h"
#include "profiler/units/number_format.h"
#include "storage/run_store.h"

namespace attnscope::ui {

// Text functions of profiler/units and of the metrics table, as QStrings.
[[nodiscard]] QString format_number(double value, int significant = 3);
[[nodiscard]] QString format_length(double n);
[[nodiscard]] QString format_value(double value, std::string_view unit);
[[nodiscard]] QString format_metric(const MetricValue& metric);
[[nodiscard]] QString metric_label(std::string_view key);

/// Lowercases a label for use within a sentence: "batch × heads", but "L2 at start".
[[nodiscard]] QString lowercase_label(QString label);

[[nodiscard]] QString to_qstring(std::string_view text);
/// Returns the title, "measured" or "simulated, extrapolated".
[[nodiscard]] QString to_qstring(Provenance provenance);

[[nodiscard]] QString shortened(const QString& text, qsizetype most);
/// Returns the first line with "error:" of a compiler output, otherwise the first line; adds an ellipsis if there are
/// more.
[[nodiscard]] QString compiler_error_line(const QString& text);
/// Returns the text on one line, with control characters escaped by printable().
[[nodiscard]] QString one_line(const QString& text);
/// Returns the device name on one line; empty if unknown.
[[nodiscard]] QString device_title(const RunSummary& run);
/// Returns the text of a tooltip, escaped so that Qt does not interpret it as rich text.
[[nodiscard]] QString plain_tooltip(const QString& text);
/// Returns the name, preset or import label of a run, on one line. RunInfo::title is unique, this is not.
[[nodiscard]] QString run_title(const RunSummary& run);
/// Returns local time, "2026-11-21 04:12", from ISO 8601 UTC.
[[nodiscard]] QString format_time(const std::string& iso);
/// Returns "batch 1 × 16 heads", with K/V heads if they differ.
[[nodiscard]] QString format_heads(const AttentionProblem& problem);
/// Returns the mask's text, "full", "causal", "window:256:0"; long lists are shortened.
[[nodiscard]] QString format_mask(const Mask& mask);
/// Returns "4096", or "1 × 65536" (n_q × n_k) if they differ.
[[nodiscard]] QString format_lengths(const AttentionProblem& problem);
/// Returns the tile with chosen knobs, "128 × 64, splits 8, warps 4"; "not stated" if an imported point has none.
[[nodiscard]] QString format_tile(const Config& config);
/// Returns "splits 8", "heads fastest".
[[nodiscard]] QString format_knob(std::string_view name, const KnobValue& value);
/// Returns "splits 8", "splits auto".
[[nodiscard]] QString format_swept(const analysis::KnobValueChoice& swept);
using analysis::has_tile;

}  // namespace attnscope::ui
