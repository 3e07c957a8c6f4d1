// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/samples.h"

#include <QFileInfo>
#include <string>
#include <vector>

#include "profiler/files/file_system.h"
#include "profiler/files/recorded_samples.h"

namespace attnscope::ui {

namespace {

constexpr QLatin1String sample_word("sample:");

QStringList as_strings(const std::vector<std::string>& files) {
  QStringList strings;
  for (const std::string& file : files) strings << QString::fromStdString(file);
  return strings;
}

}  // namespace

QString sample_named(std::string_view name) {
  return QString::fromStdString(attnscope::sample_path(name).string());
}

QString without_sample_folder(const QString& path) {
  const QString name = QFileInfo(path).completeBaseName();
  return path == sample_named(name.toStdString()) && !path.isEmpty() ? sample_word + name : path;
}

QString with_sample_folder(const QString& word) {
  if (!word.startsWith(sample_word)) return word;
  const std::string name = word.sliced(sample_word.size()).toStdString();
  QString sample = sample_named(name);
  if (!sample.isEmpty()) return sample;
  return QString::fromStdString((sample_folders(executable_path).front() / (name + ".attnscope")).string());
}

bool is_recorded_sample(const QString& file) {
  const QFileInfo sample(sample_path());
  return sample.exists() && sample.canonicalPath() == QFileInfo(file).canonicalPath();
}

QString sample_path() {
  return sample_named(attnscope::main_sample);
}

QString second_sample() {
  return sample_named(attnscope::second_sample);
}

QStringList sample_paths() {
  return as_strings(attnscope::default_samples());
}

QStringList lesson_samples() {
  return as_strings(attnscope::lesson_samples());
}

}  // namespace attnscope::ui
