// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/samples.h"

#include <string>
#include <vector>

#include "storage/recorded_samples.h"

namespace attnscope::ui {

namespace {

QStringList as_strings(const std::vector<std::string>& files) {
  QStringList strings;
  for (const std::string& file : files) strings << QString::fromStdString(file);
  return strings;
}

}  // namespace

QString recorded_sample() {
  return QString::fromStdString(attnscope::recorded_sample(attnscope::main_sample).string());
}

QString second_sample() {
  return QString::fromStdString(attnscope::recorded_sample(attnscope::second_sample).string());
}

QStringList recorded_samples() {
  return as_strings(attnscope::shown_samples());
}

QStringList lesson_samples() {
  return as_strings(attnscope::lesson_samples());
}

}  // namespace attnscope::ui
