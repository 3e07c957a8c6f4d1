// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/background_comparer.h"

namespace attnscope::ui {

BackgroundComparer::BackgroundComparer(QObject* parent) : QObject(parent) {}

void BackgroundComparer::ask(const ComparisonAsk& ask) {
  background_.ask([ask](const BackgroundWork::Outdated& outdated) { return compare_sides(ask, outdated); },
                  [this](const std::shared_ptr<const ComparisonSet>& set) {
                    if (set) emit compared(set);
                  },
                  [this](const QString& reason) { emit failed(reason); });
}

}  // namespace attnscope::ui
