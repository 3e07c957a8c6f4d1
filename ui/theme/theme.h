// SPDX-License-Identifier: GPL-3.0-or-later
// Palette and style of the window, and colors of plots, from profiler/style/tokens.h.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>
#include <QWidget>
#include <string_view>

#include "profiler/metrics/point.h"
#include "profiler/style/tokens.h"

namespace attnscope::ui {

/// `contrast`: black background; contrast ratio at least 7:1 for text, 3:1 for lines.
enum class ThemeChoice { system, light, dark, contrast };
[[nodiscard]] QString to_string(ThemeChoice choice);
[[nodiscard]] ThemeChoice parse_theme(const QString& word);

/// Registers the icons and sets the style. Call once, after QApplication is created.
void initialize_style();
/// Returns the system's font size in points, as it was at initialize_style().
[[nodiscard]] double system_text_size();
/// Returns the font size relative to the system's, at least 1; scales elements next to text.
[[nodiscard]] double font_scale(const QFont& font);
/// Text size of the program relative to the system's, which the user chooses; clamped to these bounds.
inline constexpr double min_text_scale = 0.75;
inline constexpr double max_text_scale = 3;
[[nodiscard]] double text_scale();
/// 1 if not positive.
void set_text_scale(double scale);
/// Changes the application's palette; views follow through QEvent::PaletteChange.
void apply_theme(ThemeChoice choice);

inline constexpr double corner_radius = 4;
/// Height of buttons, fields and chips in pixels, at the system's font size.
inline constexpr int control_height = 28;
void draw_focus_ring(QPaintDevice& on, const QWidget& around);
/// Returns true for palettes with white on black, set by this program or the system. Black on white is a common default
/// and does not count.
[[nodiscard]] bool is_high_contrast(const QPalette& palette);

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

[[nodiscard]] QColor token_color(style::Token token, bool dark);
[[nodiscard]] QColor identity_color(style::PlotIdentity identity, bool dark);
[[nodiscard]] QColor algorithm_color(std::string_view algorithm, bool dark);
[[nodiscard]] QColor disposition_color(Disposition disposition, bool dark);
/// `opacity`: 0 (transparent) to 1 (opaque).
[[nodiscard]] QColor with_opacity(QColor color, double opacity);
/// Returns black or white, whichever has more contrast on `background`.
[[nodiscard]] QColor contrasting_color(const QColor& background);

}  // namespace attnscope::ui
