// SPDX-License-Identifier: GPL-3.0-or-later
// Actions that export a page: copy or save its picture and values, and copy the command that measures the selected
// point. Used in the window's menus and in context menus.
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

class ExportActions : public QObject {
  Q_OBJECT
 public:
  /// `page`: returns the current page. `say`: shows a result, or an error with its topic.
  using ReportResult = std::function<void(const QString& done, const QString& error, Banner::Topic topic)>;
  ExportActions(std::function<Page*()> page, ReportResult say, QMainWindow* window);

  void add_copies(QMenu& menu);
  void add_saves(QMenu& menu);
  void add_all(QMenu& menu);

  /// Saves the current page's picture; the suffix sets the format.
  void save_to(const QString& path);

 private:
  /// Condition of an action and the message if it is not met.
  struct Kind {
    std::function<bool(const Page&)> there;
    QString otherwise;
  };
  QAction* add(const QString& text, const QString& key, const Kind& kind, std::function<void(Page&)> then);
  void copy(Page& page);
  void save(Page& page);
  void save_values(Page& page);
  /// Checks the condition again: the page may have changed while a file dialog was open.
  [[nodiscard]] bool recheck(Page& page, const Kind& kind);
  void add(QMenu& menu, const std::vector<QAction*>& actions);

  std::function<Page*()> page_;
  ReportResult report_result_;
  QMainWindow* window_;
  Kind plot_;
  Kind values_kind_;
  struct Entry {
    QAction* action;
    std::function<bool(const Page&)> can;
  };
  std::vector<Entry> entries_;
  std::vector<QAction*> copies_;
  std::vector<QAction*> saves_;
};

}  // namespace attnscope::ui
