// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/choice_box.h"

#include <QSignalBlocker>

namespace attnscope::ui {

ChoiceBox::ChoiceBox(QWidget* parent) : QComboBox(parent) {
  connect(this, &QComboBox::activated, this,
          [this](int place) { emit picked(options_[static_cast<std::size_t>(place)].id); });
}

void ChoiceBox::show_options(const std::vector<Option>& options, int current) {
  const QSignalBlocker quiet(this);
  if (options != options_) {
    options_ = options;
    clear();
    for (const Option& option : options_) addItem(option.text, option.id);
  }
  setCurrentIndex(current);
}

}  // namespace attnscope::ui
