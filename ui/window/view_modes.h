// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the window is plot: panels fold into a strip at its left edge, and all text is as large as the user
// wants it.
#pragma once

#include <QList>
#include <QMainWindow>
#include <QObject>
#include <QToolBar>
#include <vector>

class QDockWidget;
class QMenu;

namespace attnscope::ui {

class ViewModes : public QObject {
  Q_OBJECT
 public:
  /// A panel and the key that opens and folds it; its icon is ":/icons/panel-NAME.svg" by the dock's object name.
  struct Panel {
    QDockWidget* dock;
    QKeySequence key;
  };
  ViewModes(QMainWindow& window, std::vector<Panel> panels);

  /// The panels' and the text's.
  void add_actions(QMenu& menu);
  /// The menu's keys hold while the menu is hidden, too. After the menus are made.
  void keep_keys();
  /// In a window that is narrower, panels begin folded: its plot needs the room.
  void fold_below(int width);

  static constexpr double least_scale = 0.75;
  static constexpr double most_scale = 3;
  [[nodiscard]] double text_scale() const { return scale_; }
  /// Of the system's own size; held within the bounds.
  void set_text_scale(double scale);
  [[nodiscard]] QToolBar& strip() const { return *strip_; }

 private:
  void size_text();

  QMainWindow& window_;
  std::vector<Panel> panels_;
  QToolBar* strip_ = nullptr;
  double scale_ = 1;
};

}  // namespace attnscope::ui
