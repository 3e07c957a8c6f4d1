// SPDX-License-Identifier: GPL-3.0-or-later
// What went wrong, above the pages: every message stays until it is dismissed, or until what it was about is done anew.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QString>
#include <QToolButton>
#include <functional>
#include <vector>

namespace attnscope::ui {

class Banner : public QFrame {
  Q_OBJECT
 public:
  enum class Topic { open, write, collect };

  explicit Banner(QWidget* parent = nullptr);

  /// Adds a line to those that are there.
  void add(Topic topic, const QString& message);
  /// Forgets the messages of a topic: it is being tried again, or has succeeded.
  void clear(Topic topic);
  void clear_all();
  /// A line with a button beside it that does something about it, once.
  void offer(Topic topic, const QString& message, const QString& action, std::function<void()> act);
  /// All messages, a line each; empty when the banner is hidden.
  [[nodiscard]] QString text() const;

 private:
  void refresh();

  struct Message {
    Topic topic;
    QString text;
    QString action = {};
    std::function<void()> act = {};
  };
  std::vector<Message> messages_;
  QLabel* label_ = nullptr;
  QToolButton* action_ = nullptr;
};

}  // namespace attnscope::ui
