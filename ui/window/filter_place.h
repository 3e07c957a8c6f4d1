// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QMainWindow;
class QWidget;
class QTabWidget;

namespace attnscope::ui {

class QueryBar;

/// Low windows have no row for the filter and no banner of the sample. The limit, 700 px, scales with the text.
[[nodiscard]] bool is_low_window(const QWidget& window);

/// Moves the filter between its row above the tabs and, in a low window, the end of the row of the tabs.
class FilterPlace : public QObject {
 public:
  FilterPlace(QMainWindow& window, QTabWidget& tabs, QueryBar& query);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  QMainWindow& window_;
  QTabWidget& tabs_;
  QueryBar& query_;
  bool low_ = false;
  bool waiting_ = false;
};

}  // namespace attnscope::ui
