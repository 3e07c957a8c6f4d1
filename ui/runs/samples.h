// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded samples (profiler/files/recorded_samples.h) as QStrings.
#pragma once

#include <QString>
#include <QStringList>
#include <string_view>

namespace attnscope::ui {

/// Returns the file with H200 measurements that ships with the program; empty if not installed.
[[nodiscard]] QString sample_path();
[[nodiscard]] bool is_recorded_sample(const QString& file);
/// Returns a recorded sample by name, "h200-law"; empty if it does not exist.
[[nodiscard]] QString find_sample(std::string_view name);
/// Converts the path of a recorded sample to "sample:h200", and back; other paths are unchanged. For an unknown name
/// the result is a path that does not exist.
[[nodiscard]] QString to_sample_name(const QString& path);
[[nodiscard]] QString from_sample_name(const QString& word);
/// Returns the file with the same points on an H100.
[[nodiscard]] QString second_sample();
[[nodiscard]] QStringList sample_paths();
[[nodiscard]] QStringList lesson_samples();

}  // namespace attnscope::ui
