// SPDX-License-Identifier: GPL-3.0-or-later
// Text that changes with every frame. It keeps the room that it was given, so that a frame lays out nothing else again:
// a label would make its whole page measure every paragraph anew.
#pragma once

#include <QString>
#include <QStringList>
#include <QTextDocument>
#include <QWidget>

namespace attnscope::ui {

class FrameText : public QWidget {
  Q_OBJECT
 public:
  explicit FrameText(QWidget* parent);

  /// Rich text.
  void set_text(const QString& html);
  [[nodiscard]] const QString& text() const { return html_; }
  /// From now on it is as tall as the tallest of these, at whatever width it has.
  void make_room(const QStringList& texts);
  /// Of its letters; invalid: the palette's.
  void set_ink(const QColor& ink);

  [[nodiscard]] QSize sizeHint() const override { return {200, minimumHeight()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void fit();

  QString html_;
  QStringList room_;
  QColor ink_;
  QTextDocument shown_;
};

}  // namespace attnscope::ui
