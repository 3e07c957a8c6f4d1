// SPDX-License-Identifier: GPL-3.0-or-later
// profiler/files/recorded_samples.h in the window's strings.
#pragma once

#include <QString>
#include <QStringList>
#include <string_view>

namespace attnscope::ui {

/// The database of measurements of an H200 that ships with the program; empty when there is none.
[[nodiscard]] QString recorded_sample();
/// Whether the file lies where they do.
[[nodiscard]] bool is_recorded_sample(const QString& file);
/// A recorded one by its name, "h200-law"; empty when it is not there.
[[nodiscard]] QString sample_named(std::string_view name);
/// "sample:h200" for a recorded one, wherever it is shipped; any other path as it is. And back: where none of that name
/// is there, a path that says so.
[[nodiscard]] QString without_sample_folder(const QString& path);
[[nodiscard]] QString with_sample_folder(const QString& word);
/// The same points on an H100.
[[nodiscard]] QString second_sample();
/// What a window opens that is given nothing.
[[nodiscard]] QStringList recorded_samples();
/// What the lesson is of that is given nothing.
[[nodiscard]] QStringList lesson_samples();

}  // namespace attnscope::ui
