// SPDX-License-Identifier: GPL-3.0-or-later
// Editor for an integer: a slider with round values and a spin box with all values.
#pragma once

#include <QSlider>
#include <QSpinBox>
#include <vector>

namespace attnscope::ui {

/// Ignores wheel events while `editor` has no focus, so that scrolling the page changes nothing.
void ignore_unfocused_wheel(QWidget* editor);

class SteppingSpin;

class NumberEditor : public QObject {
  Q_OBJECT
 public:
  /// Creates the widgets as children of `parent`, which lays them out. `stops`: slider values, ascending.
  NumberEditor(const QString& name, int least, int most, int step, std::vector<int> stops, QWidget* parent);

  [[nodiscard]] QSlider* slider() const { return slider_; }
  [[nodiscard]] QSpinBox* spin() const;
  /// Shows a value without emitting value_chosen().
  void show_value(int value);
  /// Sets the slider's stops. `alone`: only the stops are valid, and the spin box steps along them, too.
  void set_stops(std::vector<int> stops, bool alone = false);
  void set_range(int least, int most);

 signals:
  /// The user chose a value. `sliding`: the slider is still being dragged.
  void value_chosen(int value, bool sliding);
  void released();

 private:
  void follow(int value);

  std::vector<int> stops_;
  QSlider* slider_;
  SteppingSpin* spin_;
};

/// Returns 1, 2, 3, 4, 6, 8, 12, ... within these bounds, and the bounds.
[[nodiscard]] std::vector<int> slider_stops(int least, int most);

}  // namespace attnscope::ui
