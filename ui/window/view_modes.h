// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the window is plot: panels fold into a strip at its left edge, a presenter's view has none of them, and
// all text is as large as somebody in the last row needs it.
#pragma once

#include <QList>
#include <QMainWindow>
#include <QObject>
#include <QToolBar>
#include <vector>

class QAction;
class QDockWidget;
class QMenu;
class QShortcut;

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

  /// The panels', the presenter's and the text's.
  void add_actions(QMenu& menu);
  /// The menu's keys hold while the menu is hidden, too. After the menus are made.
  void keep_keys();
  /// In a window that is narrower, panels begin folded: its plot needs the room.
  void fold_below(int width);

  [[nodiscard]] bool presenting() const { return presenting_; }
  void set_presenting(bool on);

  static constexpr double least_scale = 0.75;
  static constexpr double most_scale = 3;
  [[nodiscard]] double text_scale() const { return scale_; }
  /// Of the system's own size; held within the bounds. A presenter's view has it larger, by the window's height.
  void set_text_scale(double scale);
  [[nodiscard]] QToolBar& strip() const { return *strip_; }

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void size_text();

  QMainWindow& window_;
  std::vector<Panel> panels_;
  QToolBar* strip_ = nullptr;
  QAction* present_ = nullptr;
  QShortcut* leave_ = nullptr;
  bool presenting_ = false;
  bool was_full_ = false;
  std::vector<QWidget*> hidden_;  ///< by the presenter's view: they come back
  double scale_ = 1;
};

}  // namespace attnscope::ui
