// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's context menu offers to say of it.
#pragma once

#include <QMenu>
#include <QStringList>
#include <functional>

#include "storage/run_store.h"

namespace attnscope::ui {

/// Adds Rename, Tags, Note, Hide and Delete. `edit` is called with the words of `attnscope edit` that do what was
/// chosen, where something is to be other.
void add_run_words(QMenu& menu, const RunSummary& run, std::function<void(const QStringList&)> edit);

/// The words that turn tags into those of a line; none where they are the same.
[[nodiscard]] QStringList words_for_tags(const std::vector<std::string>& before, const QString& line);

/// The words that take an edit back: `words` are those of `attnscope edit` for one run, `before` what was said of it.
[[nodiscard]] QStringList words_back(const QStringList& words, const RunWords& before);

}  // namespace attnscope::ui
