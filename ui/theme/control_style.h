// SPDX-License-Identifier: GPL-3.0-or-later
// Style of all controls: Fusion with flat surfaces, 28 px high controls, rounded corners and sizes that scale with
// text.
#pragma once

class QStyle;

namespace attnscope::ui {

/// Height of buttons, fields and chips in pixels, at the system's font size.
inline constexpr int control_height = 28;

[[nodiscard]] QStyle* make_control_style();

}  // namespace attnscope::ui
