// SPDX-License-Identifier: GPL-3.0-or-later
// Where axes have ticks, and what they say.
#pragma once

#include <qcustomplot.h>
#include <QStringList>
#include <vector>

namespace attnscope::ui {

// Of logarithmic axes: decades, and in short ranges steps between them.
[[nodiscard]] QSharedPointer<QCPAxisTicker> byte_ticker();
[[nodiscard]] QSharedPointer<QCPAxisTicker> number_ticker();
/// "10 M"
[[nodiscard]] QSharedPointer<QCPAxisTicker> element_ticker();
/// Nanoseconds, as milliseconds without their unit, which the axis title has.
[[nodiscard]] QSharedPointer<QCPAxisTicker> time_ticker();
/// Powers of two (1k = 1024), and in short ranges steps between them.
[[nodiscard]] QSharedPointer<QCPAxisTicker> length_ticker();

/// Round values in the unit that is shown: a tick times `factor` is what is read.
[[nodiscard]] QSharedPointer<QCPAxisTicker> round_ticker(double factor, bool logarithmic);
/// Bytes with their unit, in equal steps.
[[nodiscard]] QSharedPointer<QCPAxisTicker> linear_byte_ticker();

// Values that read well along a scale: 1, 2 and 5 times a power of ten.

/// Between `low` and `high`, ascending, `most` at the most; two at least where there are two. On a logarithmic scale of
/// a decade or more 1, 2 and 5 of each, or powers of ten alone; on all others in equal steps. Pre: low < high, and of a
/// logarithmic scale low > 0.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int most, bool logarithmic);
/// What stands at them: all with the decimals that one of them needs, but over more than two powers of ten each its
/// own.
[[nodiscard]] QStringList tick_labels(const std::vector<double>& ticks);

}  // namespace attnscope::ui
