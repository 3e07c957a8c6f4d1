// SPDX-License-Identifier: GPL-3.0-or-later
// Several that are shown or not as one chip ("FA1, FA2, FA3"), with a switch for each in its menu.
#pragma once

#include <vector>

#include "ui/pages/facet_chip.h"

namespace attnscope::ui {

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
