// SPDX-License-Identifier: GPL-3.0-or-later
// A line across the window, in the colours of the theme.
#pragma once

#include <QFrame>

namespace attnscope::ui {

class ToneBar : public QFrame {
  Q_OBJECT
 public:
  /// Warm: what is to be known. Cool: what is supposed.
  enum class Tone { warm, cool };
  ToneBar(const QString& name, Tone tone, QWidget* parent);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void color();

  Tone tone_;
};

}  // namespace attnscope::ui
