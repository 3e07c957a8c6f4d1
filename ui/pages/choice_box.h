// SPDX-License-Identifier: GPL-3.0-or-later
// A combo box of options.
#pragma once

#include <QComboBox>
#include <vector>

#include "ui/pages/option.h"

namespace attnscope::ui {

class ChoiceBox : public QComboBox {
  Q_OBJECT
 public:
  explicit ChoiceBox(QWidget* parent = nullptr);

  /// `current` is the place of the one that is chosen, -1: none.
  void show_options(const std::vector<Option>& options, int current);

 signals:
  /// By hand.
  void picked(const QString& id);

 private:
  std::vector<Option> options_;
};

}  // namespace attnscope::ui
