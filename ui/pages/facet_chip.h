// SPDX-License-Identifier: GPL-3.0-or-later
// User choices of a page: each has options, an editor and a saved id. The state of a page is its choices. The editor is
// a chip, a button with a menu: muted label, then value ("d 128"). Its width fits the widest possible value, so a
// choice never moves other controls.
#pragma once

#include <QAction>
#include <QJsonObject>
#include <QList>
#include <QMenu>
#include <QObject>
#include <QString>
#include <QToolButton>
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
  template <class Group>
  void add_group(const char* key, Group& group) {
    add_value(
        key, [&group] { return group.state(); },
        [&group](const QJsonValue& saved) { group.restore(saved.toObject()); });
  }
  /// `restore` is called only if the key was saved.
  void add_value(const char* key, std::function<QJsonValue()> save, std::function<void(const QJsonValue&)> restore);
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

class FacetChip : public QToolButton {
  Q_OBJECT
 public:
  FacetChip(const QString& label, const QString& help, QWidget* parent = nullptr)
      : FacetChip(label, help, new QMenu, parent) {}
  FacetChip(const QString& label, const QString& help, QMenu* menu, QWidget* parent);

  void set_max_value_width(int pixels);
  /// Paints the value only; the accessible name keeps the label.
  void hide_label();
  /// All values that may ever be shown; they determine the width.
  void set_texts(const QStringList& texts);
  /// Sets the options, which are all values that may be shown; `current` is the index of the chosen one, -1: none.
  /// Disabled with a single option.
  void show_options(std::vector<Option> options, int current);
  void set_automatic(bool automatic);
  [[nodiscard]] bool is_automatic() const { return automatic_; }
  void show_text(const QString& words);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  [[nodiscard]] QString label() const { return label_; }
  /// A folded chip is hidden, even after setVisible(true): its options are in another menu.
  void set_folded(bool folded);
  [[nodiscard]] bool is_folded() const { return folded_; }
  [[nodiscard]] bool is_set_visible() const { return wanted_; }
  void setVisible(bool visible) override;
  [[nodiscard]] QString value() const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  /// Emitted for user actions only, like item_toggled().
  void picked(const QString& id);

 protected:
  /// Called when the menu opens; options do not change while it is open.
  virtual void fill_menu();
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void pick(int place);
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] QFont value_font() const;

 private:
  void invalidate_size();
  void update_texts();
  [[nodiscard]] int label_width() const;

  QString label_;
  bool label_shown_ = true;
  bool wanted_ = true;
  bool folded_ = false;
  int widest_ = 150;  ///< A list may contain one very long value.
  QString help_;
  mutable QSize size_;  ///< Cached size hint; invalid: not measured.
  QStringList texts_;
  std::vector<Option> options_;
  int current_ = -1;
  bool automatic_ = false;
  QString words_;
};

/// All options side by side; a click picks one. Folded, it is a submenu like other chips.
class SegmentedChip : public FacetChip {
  Q_OBJECT
 public:
  using FacetChip::FacetChip;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] std::vector<QRect> segments() const;
};

/// Several switches as one chip ("FA1, FA2, FA3"), each a checkable menu entry.
class MultiChoiceChip : public FacetChip {
  Q_OBJECT
 public:
  struct Item {
    QString text;
    QString id;
    QString help;
    bool on = true;
    bool offered = true;  ///< false: disabled, no data.
    bool operator==(const Item&) const = default;
  };
  MultiChoiceChip(const QString& label, const QString& help, QWidget* parent = nullptr);

  void set_items(std::vector<Item> items);
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }

 signals:
  void item_toggled(const QString& id, bool on);

 protected:
  void fill_menu() override;

 private:
  std::vector<Item> items_;
};

}  // namespace attnscope::ui
