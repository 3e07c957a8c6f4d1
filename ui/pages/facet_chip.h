// SPDX-License-Identifier: GPL-3.0-or-later
// A choice as a button with a menu: muted label, then value ("d 128"). Its width fits the widest possible value, so a
// choice never moves other controls.
#pragma once

#include <QMenu>
#include <QToolButton>
#include <vector>

#include "ui/pages/choice.h"

namespace attnscope::ui {

class FacetChip : public QToolButton {
  Q_OBJECT
 public:
  FacetChip(const QString& label, const QString& help, QWidget* parent = nullptr)
      : FacetChip(label, help, new QMenu, parent) {}
  FacetChip(const QString& label, const QString& help, QMenu* menu, QWidget* parent);

  /// Maximum width in pixels; longer values are elided.
  void set_max_value_width(int pixels);
  /// Paints the value only; the accessible name keeps the label.
  void hide_label();
  /// All values that may ever be shown; they determine the width.
  void set_texts(const QStringList& texts);
  /// Sets the options, which are all values that may be shown; `current` is the index of the chosen one, -1: none.
  /// Disabled with a single option.
  void show_options(std::vector<Option> options, int current);
  /// Marks the shown option as chosen by the program.
  void set_automatic(bool automatic);
  [[nodiscard]] bool is_automatic() const { return automatic_; }
  /// Shown instead of a chosen option.
  void show_text(const QString& words);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  [[nodiscard]] QString label() const { return label_; }
  /// A folded chip is hidden, even after setVisible(true): its options are in another menu.
  void set_folded(bool folded);
  [[nodiscard]] bool is_folded() const { return folded_; }
  /// Last argument of setVisible().
  [[nodiscard]] bool is_set_visible() const { return wanted_; }
  void setVisible(bool visible) override;
  [[nodiscard]] QString value() const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  /// Emitted for user actions only.
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
  /// Updates text, accessible description and tooltip.
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
  /// Emitted for user actions only. `isolate_requested`: switch all others off.
  void item_toggled(const QString& id, bool on);
  void isolate_requested(const QString& id);

 protected:
  void fill_menu() override;

 private:
  std::vector<Item> items_;
};

}  // namespace attnscope::ui
