// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/samples.h"

#include <QFileInfo>
#include <string>
#include <vector>

#include "profiler/files/file_system.h"
#include "profiler/files/recorded_samples.h"

namespace attnscope::ui {

namespace {

constexpr QLatin1String sample_prefix("sample:");

QStringList as_strings(const std::vector<std::string>& files) {
  QStringList strings;
  for (const std::string& file : files) strings << QString::fromStdString(file);
  return strings;
}

}  // namespace

QString find_sample(std::string_view name) {
  return QString::fromStdString(attnscope::sample_path(name).string());
}

QString to_sample_name(const QString& path) {
  const QString name = QFileInfo(path).completeBaseName();
  return path == find_sample(name.toStdString()) && !path.isEmpty() ? sample_prefix + name : path;
}

QString from_sample_name(const QString& word) {
  if (!word.startsWith(sample_prefix)) return word;
  const std::string name = word.sliced(sample_prefix.size()).toStdString();
  QString sample = find_sample(name);
  if (!sample.isEmpty()) return sample;
  return QString::fromStdString((sample_folders(executable_path).front() / (name + ".attnscope")).string());
}

bool is_recorded_sample(const QString& file) {
  const QFileInfo sample(sample_path());
  return sample.exists() && sample.canonicalPath() == QFileInfo(file).canonicalPath();
}

QString sample_path() {
  return find_sample(attnscope::main_sample);
}

QString second_sample() {
  return find_sample(attnscope::second_sample);
}

QStringList sample_paths() {
  return as_strings(attnscope::default_samples());
}

QStringList lesson_samples() {
  return as_strings(attnscope::lesson_samples());
}

}  // namespace attnscope::ui
