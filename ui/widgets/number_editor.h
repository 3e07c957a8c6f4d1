// SPDX-License-Identifier: GPL-3.0-or-later
// A whole number by a slider of round values and a spin box of all values.
#pragma once

#include <QSlider>
#include <QSpinBox>
#include <vector>

namespace attnscope::ui {

/// The wheel belongs to the page while the box has no focus: scrolling past changes nothing.
void leave_wheel_to_page(QWidget* editor);

class SteppingSpin;

class NumberEditor : public QObject {
  Q_OBJECT
 public:
  /// Widgets of `parent`, to be laid out by it. `stops`: ascending, what the slider offers.
  NumberEditor(const QString& name, int least, int most, int step, std::vector<int> stops, QWidget* parent);

  [[nodiscard]] QSlider* slider() const { return slider_; }
  [[nodiscard]] QSpinBox* spin() const;
  /// Shows a value, without a word to anybody.
  void show_value(int value);
  /// `alone`: there is nothing between them, and the arrows of the spin box step along them, too.
  void set_stops(std::vector<int> stops, bool alone = false);
  void set_range(int least, int most);

 signals:
  /// Chosen by hand. `sliding`: the slider is held, and more is to come.
  void chosen(int value, bool sliding);
  void released();

 private:
  void follow(int value);

  std::vector<int> stops_;
  QSlider* slider_;
  SteppingSpin* spin_;
};

/// 1, 2, 3, 4, 6, 8, 12, ... within these bounds; both of them as well.
[[nodiscard]] std::vector<int> round_stops(int least, int most);

}  // namespace attnscope::ui
