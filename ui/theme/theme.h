// SPDX-License-Identifier: GPL-3.0-or-later
// Colors of the window and of plots, light and dark.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>
#include <string_view>

#include "profiler/metrics/point.h"

namespace attnscope::ui {

/// `contrast`: black background; contrast ratio at least 7:1 for text, 3:1 for lines.
enum class ThemeChoice { system, light, dark, contrast };
[[nodiscard]] QString to_string(ThemeChoice choice);
/// Returns `system` for an unknown name.
[[nodiscard]] ThemeChoice parse_theme(const QString& word);

/// Registers the icons and sets the style. Call once, after QApplication is created.
void initialize_style();
/// Returns the system's font size in points, as it was at initialize_style().
[[nodiscard]] double system_text_size();
/// Returns the font size relative to the system's, at least 1; scales elements next to text.
[[nodiscard]] double font_scale(const QFont& font);
/// Changes the application's palette; views follow through QEvent::PaletteChange.
void apply_theme(ThemeChoice choice);

/// Colors of plots, derived from a widget's palette, so that they match all themes.
struct PlotColors {
  QColor background;
  QColor text;
  QColor muted;  ///< secondary text, minor ticks
  QColor axis;
  QColor grid;
  QColor hatch;   ///< cells that cannot run
  QColor panel;   ///< background of hover boxes
  QColor accent;  ///< selection
  QColor wrong;   ///< incorrect or failed values
  bool dark = false;
};
[[nodiscard]] PlotColors plot_colors(const QPalette& palette);

/// Returns the color of an algorithm, equal in all views: Okabe-Ito colors in the registry's order, lighter on a dark
/// background. Algorithms outside of the registry (imported ones) have other colors, distinct while enough are left.
[[nodiscard]] QColor algorithm_color(std::string_view algorithm, bool dark);
inline constexpr std::size_t category_colors = 21;
/// Returns the color of the n-th category: seven hues, then their darker and paler shades; repeats after
/// category_colors.
[[nodiscard]] QColor category_color(std::size_t place, bool dark);
[[nodiscard]] QColor disposition_color(Disposition disposition, bool dark);
/// Returns a color of the perceptually uniform scale viridis; t in 0..1.
[[nodiscard]] QColor viridis(double t);
/// Returns a color from blue (better) over white (equal) to orange (worse); t in 0..1.
[[nodiscard]] QColor blue_to_orange(double t);
/// Returns black or white, whichever has more contrast on `background`.
[[nodiscard]] QColor contrasting_color(const QColor& background);

}  // namespace attnscope::ui
