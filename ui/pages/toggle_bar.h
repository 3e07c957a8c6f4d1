// SPDX-License-Identifier: GPL-3.0-or-later
// Named on-off choices above a plot: a check box each where there is room, one menu button where there is not.
#pragma once

#include <QAction>
#include <QJsonObject>
#include <QString>
#include <QWidget>
#include <vector>

class QCheckBox;
class QToolButton;

namespace attnscope::ui {

class FlowLayout;

class ToggleBar : public QWidget {
  Q_OBJECT
 public:
  explicit ToggleBar(QWidget* parent = nullptr);

  /// `name` is what it is known by in settings. Lives as long as the bar.
  QAction* add(const QString& name, const QString& text, const QString& help, bool on);
  /// Stands before the toggles, in the order of these calls.
  void add_widget(QWidget* widget);
  /// True: the menu button stands for the check boxes.
  void set_compact(bool compact);
  /// The toggles by name.
  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state);

 private:
  void refresh();

  struct Toggle {
    QAction* action;
    QCheckBox* box;
  };
  FlowLayout* flow_ = nullptr;
  QToolButton* menu_button_ = nullptr;
  std::vector<Toggle> toggles_;
  int widgets_ = 0;
  bool compact_ = false;
};

}  // namespace attnscope::ui
