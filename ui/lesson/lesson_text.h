// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson's lines as rich text, and blocks of them as widgets.
#pragma once

#include <QLabel>
#include <QWidget>
#include <string_view>

#include "profiler/analysis/lesson/document.h"
#include "profiler/analysis/lesson/values.h"
#include "ui/lesson/lesson_data.h"

namespace attnscope::ui {

/// A paragraph that wraps. Reads the font and colours of `parent`: it is made again where those change.
class LessonText : public QLabel {
  Q_OBJECT
 public:
  LessonText(const LessonData& about, const lesson::Setting& setting, std::string_view line, QWidget* parent,
             double scale = 1);
};

/// A line with its formulas and values as rich text, in the font and colours of `on`.
[[nodiscard]] QString line_rich(const LessonData& about, const lesson::Setting& setting, std::string_view line,
                                const QWidget& on);

/// A paragraph, heading, list, code or formula; null for a picture or a question.
[[nodiscard]] QWidget* text_block(const LessonData& about, const lesson::Setting& setting, const lesson::Block& block,
                                  QWidget* parent);

/// In the colour of what is said beside: legible from a first row, which a disabled label is not.
void mute(QLabel& label);

/// The font of `widget`, so many times as large.
[[nodiscard]] QFont scaled_font(const QWidget& widget, double scale);

}  // namespace attnscope::ui
