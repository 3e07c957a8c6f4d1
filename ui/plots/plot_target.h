// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace attnscope::ui {

/// What a plot is drawn for.
enum class PlotTarget {
  screen,  ///< a reader can hover, enlarge, and sees the controls around the plot
  file     ///< a picture in a file: what it does not say, nothing says
};

}  // namespace attnscope::ui
