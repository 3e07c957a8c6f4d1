// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows, handed over: picture and values to the clipboard or a file, and the command that measures
// the selected point again. The same entries stand in the window's menus and in those over pages.
#pragma once

#include <QMainWindow>
#include <QMenu>
#include <QObject>
#include <QString>
#include <functional>
#include <vector>

#include "ui/pages/page.h"
#include "ui/widgets/banner.h"

namespace attnscope::ui {

class TakeAlong : public QObject {
  Q_OBJECT
 public:
  /// `page`: the one that is shown. `say`: what was done, or an error and whether it is about what is chosen.
  using Say = std::function<void(const QString& done, const QString& error, Banner::Topic topic)>;
  TakeAlong(std::function<Page*()> page, Say say, QMainWindow* window);

  void add_copies(QMenu& menu);
  void add_saves(QMenu& menu);
  /// All of them below what the page offers itself.
  void add_all(QMenu& menu);

  /// Of the page that is shown, by the name's ending.
  void save_to(const QString& path);

 private:
  /// What can be handed over of a page, and what is said where it cannot.
  struct Kind {
    std::function<bool(const Page&)> there;
    QString otherwise;
  };
  QAction* add(const QString& text, const QString& key, const Kind& kind, std::function<void(Page&)> then);
  void copy(Page& page);
  void save(Page& page);
  void save_values(Page& page);
  /// While somebody chose a file, what the page showed may have gone.
  [[nodiscard]] bool still(Page& page, const Kind& kind);
  void add(QMenu& menu, const std::vector<QAction*>& actions);

  std::function<Page*()> page_;
  Say say_;
  QMainWindow* window_;
  Kind plot_;
  Kind values_there_;
  struct Entry {
    QAction* action;
    std::function<bool(const Page&)> can;
  };
  std::vector<Entry> entries_;
  std::vector<QAction*> copies_;
  std::vector<QAction*> saves_;
};

}  // namespace attnscope::ui
