// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of the window and of everything drawn in it: one place, light and dark.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>
#include <string_view>

#include "profiler/metrics/point.h"

namespace attnscope::ui {

/// `contrast`: on black, text at 7:1 and lines at 3:1 at least.
enum class ThemeChoice { system, light, dark, contrast };
[[nodiscard]] QString to_string(ThemeChoice choice);
/// `system` for an unknown word.
[[nodiscard]] ThemeChoice parse_theme(const QString& word);

/// Registers the icons and sets the style; call once, after QApplication is made.
void initialize_style();
/// In points, as it was then.
[[nodiscard]] double system_text_size();
/// How much larger than the system's a font is, 1 at least: what has its size beside text grows by it.
[[nodiscard]] double enlargement(const QFont& font);
/// Changes the application's palette; views follow through QEvent::PaletteChange.
void apply_theme(ThemeChoice choice);

/// What plots draw with, derived from a widget's palette so that both themes and the system's own colours work.
struct PlotColors {
  QColor background;
  QColor text;
  QColor muted;  ///< secondary text, minor ticks
  QColor axis;   ///< axis lines
  QColor grid;
  QColor hatch;   ///< cells that cannot run
  QColor panel;   ///< background of hover boxes
  QColor accent;  ///< selection
  QColor wrong;   ///< what cannot be
  bool dark = false;
};
[[nodiscard]] PlotColors plot_colors(const QPalette& palette);

/// The algorithm's own colour, the same in every view: the Okabe-Ito colours in the registry's order, lightened for a
/// dark background. Algorithms that the registry lacks (imported ones) have colours apart from those, each its own
/// while there are enough.
[[nodiscard]] QColor algorithm_color(std::string_view algorithm, bool dark);
inline constexpr std::size_t category_colors = 21;
/// Of the n-th device, run or the like: seven hues, then their darker and paler shades; after category_colors they
/// begin again.
[[nodiscard]] QColor category_color(std::size_t place, bool dark);
[[nodiscard]] QColor disposition_color(Disposition disposition, bool dark);
/// Perceptually even colours (viridis), t in 0..1.
[[nodiscard]] QColor viridis(double t);
/// From blue over white to orange, t in 0..1: what is better, alike and worse.
[[nodiscard]] QColor blue_to_orange(double t);
/// Black or white, whichever reads better on `background`.
[[nodiscard]] QColor ink_on(const QColor& background);

}  // namespace attnscope::ui
