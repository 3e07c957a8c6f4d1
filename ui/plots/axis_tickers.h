// SPDX-License-Identifier: GPL-3.0-or-later
// Where axes have ticks, and what they say.
#pragma once

#include <qcustomplot.h>

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

}  // namespace attnscope::ui
