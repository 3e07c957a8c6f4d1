// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/tone_bar.h"

#include <QApplication>
#include <QEvent>

#include "ui/theme/theme.h"

namespace attnscope::ui {

ToneBar::ToneBar(const QString& name, Tone tone, QWidget* parent) : QFrame(parent), tone_(tone) {
  setObjectName(name);
  color();
}

void ToneBar::color() {
  const bool warm = tone_ == Tone::warm;
  const bool dark = plot_colors(QApplication::palette()).dark;
  const char* background = dark ? (warm ? "#3a2f1a" : "#1c2b45") : (warm ? "#fdecd2" : "#dbe7fb");
  const char* text = dark ? (warm ? "#f0d9a8" : "#cfdff8") : (warm ? "#4a3200" : "#12294f");
  const char* border = dark ? (warm ? "#8a6a2a" : "#48699f") : (warm ? "#d9a441" : "#6f97d6");
  const QString sheet = QStringLiteral(
                            "QFrame#%1 { background: %2; border-top: 1px solid %4; } QFrame#%1 QLabel { color: %3; } "
                            "QFrame#%1 QToolButton { color: %3; border: none; } "
                            "QFrame#%1 QToolButton#action { border: 1px solid %4; padding: 2px 8px; }")
                            .arg(objectName(), QLatin1String(background), QLatin1String(text), QLatin1String(border));
  // Setting it tells of a palette again.
  if (sheet != styleSheet()) setStyleSheet(sheet);
}

void ToneBar::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::ApplicationPaletteChange || event->type() == QEvent::PaletteChange) color();
}

}  // namespace attnscope::ui
