// SPDX-License-Identifier: GPL-3.0-or-later
// Banner with error messages below the pages. A message stays until it is dismissed or its cause is retried.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QString>
#include <QStringList>
#include <QToolButton>
#include <functional>
#include <vector>

namespace attnscope::ui {

class Banner : public QFrame {
  Q_OBJECT
 public:
  enum class Topic {
    open,
    replaced,
    rows,  ///< skipped rows of a file
    collect,
    write,
    choice,  ///< the current page cannot be exported
  };

  explicit Banner(QWidget* parent = nullptr);

  /// Adds a message. `about`: file that it refers to; replaces an earlier message of that topic about it.
  void add(Topic topic, const QString& message, const QString& about = {});
  void clear(Topic topic);
  /// Removes messages about a file, of one topic or of all.
  void remove_messages(Topic topic, const QString& about);
  void remove_messages(const QString& about);
  /// Removes messages about rows and replaced files unless their file is in `open`.
  void keep_for_open_files(const QStringList& open);
  void clear_all();
  /// Adds a message with a button that runs `act` once.
  void offer(Topic topic, const QString& message, const QString& about, const QString& action,
             std::function<void()> act);
  [[nodiscard]] QString text() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();

  struct Message {
    Topic topic;
    QString text;
    QString about = {};
    QString action = {};
    std::function<void()> act = {};
  };
  std::vector<Message> messages_;
  QLabel* label_ = nullptr;
  QToolButton* action_ = nullptr;
};

}  // namespace attnscope::ui
