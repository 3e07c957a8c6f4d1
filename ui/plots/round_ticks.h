// SPDX-License-Identifier: GPL-3.0-or-later
// Values that read well along a scale: 1, 2 and 5 times a power of ten.
#pragma once

#include <QStringList>
#include <vector>

namespace attnscope::ui {

/// Between `low` and `high`, ascending, `most` at the most; two at least where there are two. On a logarithmic scale of
/// a decade or more 1, 2 and 5 of each, or powers of ten alone; on all others in equal steps. Pre: low < high, and of a
/// logarithmic scale low > 0.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int most, bool logarithmic);
/// What stands at them: all with the decimals that one of them needs, but over more than two powers of ten each its
/// own.
[[nodiscard]] QStringList tick_labels(const std::vector<double>& ticks);

}  // namespace attnscope::ui
