// SPDX-License-Identifier: GPL-3.0-or-later
// The file that measurements go into: a path, and a button to choose it by.
#pragma once

#include <QLineEdit>
#include <QString>
#include <QWidget>

namespace attnscope::ui {

class PathField : public QLineEdit {
  Q_OBJECT
 public:
  /// `help` stands below the path in the tip.
  PathField(const QString& path, QString help, QWidget* parent = nullptr);

  /// What is in sight while it has no focus.
  [[nodiscard]] QString shown() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] QRect text_rect() const;

  QString help_;
};

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
