// SPDX-License-Identifier: GPL-3.0-or-later
// User choices of a page: each has options, an editor and a saved id. The state of a page is its choices.
#pragma once

#include <QAction>
#include <QJsonObject>
#include <QList>
#include <QObject>
#include <QString>
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/messages/message.h"

class QDoubleSpinBox;

namespace attnscope::ui {

class FacetChip;

struct Option {
  QString text;
  QString id;             ///< Saved; identifies the option.
  QString full = {};      ///< Full text if `text` is shortened; shown as a tooltip.
  QString group = {};     ///< Title of the submenu that contains the option; empty: none.
  bool available = true;  ///< False: no points with the other choices.
  bool operator==(const Option&) const = default;
};

/// A choice of one option by its id. Keeps an id that is currently not offered until it is offered again.
class IdChoice {
 public:
  /// `changed` is called after each change, by the user or by choose(). `is_valid_id` returns whether an id is valid;
  /// empty: every id is.
  explicit IdChoice(std::function<void()> changed, QString first = {},
                    std::function<bool(const QString&)> is_valid_id = {});

  [[nodiscard]] const QString& id() const { return id_; }
  [[nodiscard]] std::string key() const { return id_.toStdString(); }
  [[nodiscard]] bool empty() const { return id_.isEmpty(); }
  /// Ignores an invalid id.
  void choose(const QString& id);
  /// Like choose(), without calling `changed`.
  void set_id(const QString& id);

  /// Sets the options that are offered now. If the chosen id is not among them, the option at index `otherwise` is
  /// shown; -1: none.
  void offer(std::vector<Option> options, int otherwise = 0);
  /// Like offer(), for values that the data determine: a chosen id that is not among the options stays chosen, as an
  /// option that is not available. Without a choice the first option is shown, and marked as automatic.
  void offer_available(std::vector<Option> options);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// The option that is shown; differs from the chosen id if that is not offered. Null: none.
  [[nodiscard]] const Option* shown() const;
  /// Index of the shown option; -1: none.
  [[nodiscard]] int shown_index() const;
  /// Connects the chip that shows the options; a pick calls choose().
  FacetChip* attach_editor(FacetChip* chip);

 private:
  void show() const;

  std::function<void()> changed_;
  std::function<bool(const QString&)> is_valid_id_;
  QString id_;
  QString text_;  ///< Text of the chosen option when it was last available.
  std::vector<Option> options_;
  int fallback_ = 0;
  bool from_data_ = false;
  FacetChip* chip_ = nullptr;
};

/// A choice among fixed values, each with its option. Default: the first.
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

/// All choices of a page, by key. restore() ignores unknown keys, missing keys and invalid values, and calls no
/// `changed`.
class Choices {
 public:
  void add(const char* key, IdChoice& choice);
  void add(const char* key, QString& word);
  void add(const char* key, QAction& toggle);
  void add(const char* key, QDoubleSpinBox& number);
  void add(const char* key, std::set<QString>& words);
  /// Keeps an object that has state() and restore().
  template <class Group>
  void add_group(const char* key, Group& group) {
    add([key, &group](QJsonObject& state) { state[QLatin1String(key)] = group.state(); },
        [key, &group](const QJsonObject& state) { group.restore(state[QLatin1String(key)].toObject()); });
  }
  using Save = std::function<void(QJsonObject&)>;
  using Restore = std::function<void(const QJsonObject&)>;
  void add(Save save, Restore restore) { kept_.emplace_back(std::move(save), std::move(restore)); }

  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state) const;

 private:
  std::vector<std::pair<Save, Restore>> kept_;
};

/// Switches for parts of a plot, as checkable menu entries.
class Toggles : public QObject {
 public:
  using QObject::QObject;

  /// `name` is the key in the saved state. The action is owned by this object.
  QAction* add(const QString& name, const Message& text, const Message& help, bool on);
  [[nodiscard]] const QList<QAction*>& all() const { return all_; }
  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state);

 private:
  QList<QAction*> all_;
};

}  // namespace attnscope::ui
