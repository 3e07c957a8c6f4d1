// SPDX-License-Identifier: GPL-3.0-or-later
// Path of the file for measurements, with a button to browse.
#pragma once

#include <QLineEdit>
#include <QString>
#include <QWidget>

namespace attnscope::ui {

class DatabaseField : public QWidget {
  Q_OBJECT
 public:
  /// Initial path: the command line's default file.
  explicit DatabaseField(QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit* path() const { return path_; }
  [[nodiscard]] QString problem() const;

 private:
  void choose();

  QLineEdit* path_ = nullptr;
};

}  // namespace attnscope::ui
