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

QString sample_named(std::string_view name) {
  return QString::fromStdString(attnscope::recorded_sample(name).string());
}

QString recorded_sample() {
  return sample_named(attnscope::main_sample);
}

QString second_sample() {
  return sample_named(attnscope::second_sample);
}

QStringList recorded_samples() {
  return as_strings(attnscope::shown_samples());
}

QStringList lesson_samples() {
  return as_strings(attnscope::lesson_samples());
}

}  // namespace attnscope::ui
