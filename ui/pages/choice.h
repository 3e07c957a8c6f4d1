// SPDX-License-Identifier: GPL-3.0-or-later
// What is chosen on a page. A choice knows what it offers, its editor, and by which word it is saved; the state of a
// page is its choices.
#pragma once

#include <QAction>
#include <QJsonObject>
#include <QList>
#include <QObject>
#include <QString>
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

class QAction;
class QDoubleSpinBox;

namespace attnscope::ui {

struct Option {
  QString text;
  QString id;          ///< what it is known by, and saved
  QString full = {};   ///< where `text` is shortened, or more is to be said of it
  QString group = {};  ///< the submenu that it stands in
  bool operator==(const Option&) const = default;
};

/// By an id. One that is not offered now is kept until it is.
class IdChoice {
 public:
  /// `changed`: what follows from another choice, by hand or by choose(). `can_be`: which ids there may ever be; where
  /// it is empty, all.
  explicit IdChoice(std::function<void()> changed, QString first = {}, std::function<bool(const QString&)> can_be = {});

  [[nodiscard]] const QString& id() const { return id_; }
  [[nodiscard]] std::string key() const { return id_.toStdString(); }
  [[nodiscard]] bool empty() const { return id_.isEmpty(); }
  /// Does nothing for an id that cannot be.
  void choose(const QString& id);
  /// The same, and nothing follows from it.
  void set_id(const QString& id);

  /// What there is to choose now. Where the id is none of it, the one at `otherwise` is shown as chosen; -1: none.
  void offer(std::vector<Option> options, int otherwise = 0);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// The one that is shown as chosen, which another id may have been chosen for; null where none is.
  [[nodiscard]] const Option* shown() const;
  /// Its place; -1 where there is none.
  [[nodiscard]] int place() const;
  /// What shows the options from now on, and chooses by `picked`, else by choose().
  template <class Editor>
  Editor* edit_with(Editor* editor, std::function<void(const QString&)> picked = {}) {
    show_ = [editor](const std::vector<Option>& options, int place) { editor->show_options(options, place); };
    if (!picked) picked = [this](const QString& id) { choose(id); };
    QObject::connect(editor, &Editor::picked, editor, std::move(picked));
    show();
    return editor;
  }

 private:
  void show() const;

  std::function<void()> changed_;
  std::function<bool(const QString&)> can_be_;
  QString id_;
  std::vector<Option> options_;
  int otherwise_ = 0;
  std::function<void(const std::vector<Option>&, int)> show_;
};

/// Of a few values that are always offered, each with its option; the first one is chosen at first.
template <class T>
class Choice : public IdChoice {
 public:
  struct Value {
    T value;
    Option option;
  };
  Choice(std::function<void()> changed, std::vector<Value> values)
      : IdChoice(std::move(changed), values.front().option.id,
                 [values](const QString& id) {
                   return std::ranges::any_of(values, [&](const Value& each) { return each.option.id == id; });
                 }),
        values_(std::move(values)) {
    std::vector<Option> options;
    for (const Value& each : values_) options.push_back(each.option);
    offer(std::move(options));
  }

  [[nodiscard]] T value() const {
    return std::ranges::find(values_, id(), [](const Value& each) { return each.option.id; })->value;
  }
  using IdChoice::choose;
  void choose(T value) { choose(std::ranges::find(values_, value, &Value::value)->option.id); }

 private:
  std::vector<Value> values_;
};

/// All that is chosen on a page, each under its key. Unknown and missing entries, and what cannot be, leave things as
/// they are; nothing follows from what is restored.
class Choices {
 public:
  void keep(const char* key, IdChoice& choice);
  void keep(const char* key, QString& word);
  void keep(const char* key, QAction& toggle);
  void keep(const char* key, QDoubleSpinBox& number);
  /// What has a state() of its own and a restore().
  template <class Group>
  void keep_all_of(const char* key, Group& group) {
    keep([key, &group](QJsonObject& state) { state[QLatin1String(key)] = group.state(); },
         [key, &group](const QJsonObject& state) { group.restore(state[QLatin1String(key)].toObject()); });
  }
  using Save = std::function<void(QJsonObject&)>;
  using Restore = std::function<void(const QJsonObject&)>;
  void keep(Save save, Restore restore) { kept_.emplace_back(std::move(save), std::move(restore)); }

  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state) const;

 private:
  std::vector<std::pair<Save, Restore>> kept_;
};

/// What of a plot is shown or not: switches by name, as entries of a menu.
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
