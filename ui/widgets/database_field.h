// SPDX-License-Identifier: GPL-3.0-or-later
// The file that measurements go into: a path, and a button to choose it by.
#pragma once

#include <QLineEdit>
#include <QString>
#include <QWidget>

namespace attnscope::ui {

class DatabaseField : public QWidget {
  Q_OBJECT
 public:
  /// Begins with the file that the command line collects into, too.
  explicit DatabaseField(QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit* path() const { return path_; }
  /// Why nothing can be written there; empty where it can.
  [[nodiscard]] QString problem() const;

 private:
  void choose();

  QLineEdit* path_ = nullptr;
};

}  // namespace attnscope::ui
