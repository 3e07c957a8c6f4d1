// SPDX-License-Identifier: GPL-3.0-or-later
// One choice as a button with a menu: what is chosen, muted, then its value ("d 128"). Its width is that of the widest
// value that it ever shows, so that nothing around it moves when another one is chosen.
#pragma once

#include <QMenu>
#include <QString>
#include <QStringList>
#include <QToolButton>
#include <vector>

#include "ui/pages/choice.h"

namespace attnscope::ui {

class FacetChip : public QToolButton {
  Q_OBJECT
 public:
  FacetChip(const QString& label, const QString& help, QWidget* parent = nullptr)
      : FacetChip(label, help, new QMenu, parent) {}
  /// `menu` becomes the chip's own.
  FacetChip(const QString& label, const QString& help, QMenu* menu, QWidget* parent);

  /// Longer values are shortened: in pixels.
  void set_widest(int pixels);
  /// Only the value is painted; the label is what the chip is called all the same.
  void hide_label();
  /// All that it may show, whatever is chosen elsewhere: the width follows from these alone.
  void set_texts(const QStringList& texts);
  /// What is offered now; `current` is its place, -1: none. With one option there is nothing to choose.
  void offer(std::vector<Option> options, int current);
  /// The same, and these are all that it may show.
  void show_options(const std::vector<Option>& options, int current);
  /// In place of a value that was chosen of options.
  void show_words(const QString& words);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  [[nodiscard]] QString label() const { return label_; }
  /// Its choices stand elsewhere, in a menu that has more of the kind: it is not seen, whatever setVisible() says.
  void set_folded(bool folded);
  [[nodiscard]] bool folded() const { return folded_; }
  /// What setVisible() was told last.
  [[nodiscard]] bool wanted() const { return wanted_; }
  void setVisible(bool visible) override;
  /// What is shown as chosen; empty when nothing is.
  [[nodiscard]] QString value() const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  /// By hand.
  void picked(const QString& id);

 protected:
  /// When the menu opens: while one of its entries is being chosen, they stay.
  virtual void fill_menu();
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void forget_size();
  void pick(int place);
  void name_value();
  [[nodiscard]] QFont value_font() const;

  [[nodiscard]] int label_width() const;

  QString label_;
  bool label_shown_ = true;
  bool wanted_ = true;
  bool folded_ = false;
  int widest_ = 150;  ///< a list may hold one very long value
  QString help_;
  mutable QSize size_;  ///< asked for at every layout of the page; invalid: not measured
  QStringList texts_;
  std::vector<Option> options_;
  int current_ = -1;
  QString words_;
};

/// Several that are shown or not as one chip ("FA1, FA2, FA3"), with a switch for each in its menu.
class SetChip : public FacetChip {
  Q_OBJECT
 public:
  struct Item {
    QString text;
    QString id;
    QString help;
    bool on = true;
    bool offered = true;  ///< false: there is nothing of it to show
    bool operator==(const Item&) const = default;
  };
  SetChip(const QString& label, const QString& help, QWidget* parent = nullptr);

  void set_items(std::vector<Item> items);
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }

 signals:
  /// By hand. `alone`: that one and no other.
  void switched(const QString& id, bool on);
  void alone_wanted(const QString& id);

 protected:
  void fill_menu() override;

 private:
  std::vector<Item> items_;
};

}  // namespace attnscope::ui
