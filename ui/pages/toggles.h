// SPDX-License-Identifier: GPL-3.0-or-later
// What of a plot is shown or not: switches by name, as entries of a menu.
#pragma once

#include <QAction>
#include <QJsonObject>
#include <QList>

namespace attnscope::ui {

class Toggles : public QObject {
 public:
  using QObject::QObject;

  /// `name` is what it is saved by. Lives as long as these.
  QAction* add(const QString& name, const QString& text, const QString& help, bool on);
  [[nodiscard]] const QList<QAction*>& all() const { return all_; }
  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state);

 private:
  QList<QAction*> all_;
};

}  // namespace attnscope::ui
