// SPDX-License-Identifier: GPL-3.0-or-later
// A field for a path, of which the beginning and the name are in sight while nobody writes in it; its tip has all of
// it.
#pragma once

#include <QLineEdit>
#include <QString>

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

}  // namespace attnscope::ui
