// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace attnscope::ui {

/// The database of measurements of an H200 that ships with the program; empty when there is none.
[[nodiscard]] QString recorded_sample();
/// The same points on an H100.
[[nodiscard]] QString second_sample();
/// What a window opens that is given nothing: the sample, and what a GPU of its kind was measured to be capable of.
[[nodiscard]] QStringList recorded_samples();

}  // namespace attnscope::ui
