// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks and tick labels of plot axes.
#pragma once

#include <qcustomplot.h>
#include <QStringList>
#include <vector>

namespace attnscope::ui {

// Tickers of logarithmic axes: decades, with intermediate steps in short ranges.
[[nodiscard]] QSharedPointer<QCPAxisTicker> byte_ticker();
[[nodiscard]] QSharedPointer<QCPAxisTicker> number_ticker();
/// Values are nanoseconds, labels milliseconds without unit (the axis title has it).
[[nodiscard]] QSharedPointer<QCPAxisTicker> time_ticker();
/// Powers of two (1k = 1024), with intermediate steps in short ranges.
[[nodiscard]] QSharedPointer<QCPAxisTicker> length_ticker();

/// Round values in the displayed unit: label = tick value x `factor`.
[[nodiscard]] QSharedPointer<QCPAxisTicker> round_ticker(double factor, bool logarithmic);
/// Bytes with unit, in equal steps.
[[nodiscard]] QSharedPointer<QCPAxisTicker> linear_byte_ticker();

// Round values along a scale: 1, 2 and 5 times a power of ten.

/// Returns ascending ticks between `low` and `high`: at most `most`, at least two if two exist. Logarithmic ranges of a
/// decade or more use 1, 2, 5 times powers of ten, or powers of ten only; others use equal steps. Pre: low < high; low
/// > 0 if logarithmic.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int most, bool logarithmic);
/// Labels with equal decimals, as many as any tick needs. Ranges of more than two decades use the decimals that each
/// tick needs.
[[nodiscard]] QStringList tick_labels(const std::vector<double>& ticks);

}  // namespace attnscope::ui
