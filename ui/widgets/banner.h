// SPDX-License-Identifier: GPL-3.0-or-later
// What went wrong, above the pages: every message stays until it is dismissed, or until what it was about is done anew.
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
    open,      ///< a file that could not be opened
    replaced,  ///< a file that another one has come in the place of
    rows,      ///< rows that are left out of what is shown of a file
    collect,
    sample,    ///< that it is recorded
    write,     ///< what could not be written
    choice,    ///< what could not be written of what is shown now
    language,  ///< another was chosen for the next start
  };

  explicit Banner(QWidget* parent = nullptr);

  /// Adds a line to those that are there. `about`: the file that it is about.
  void add(Topic topic, const QString& message, const QString& about = {});
  /// Forgets the messages of a topic: it is being tried again, or has succeeded.
  void clear(Topic topic);
  /// Those that are about a file: of a topic, or all.
  void forget(Topic topic, const QString& about);
  void forget(const QString& about);
  /// Those of rows and replaced files that are about others than these: they are closed.
  void forget_all_but(const QStringList& open);
  void clear_all();
  /// A line with a button beside it that does something about it, once.
  void offer(Topic topic, const QString& message, const QString& about, const QString& action,
             std::function<void()> act);
  /// All messages, a line each; empty when the banner is hidden.
  [[nodiscard]] QString text() const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void color();

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
