// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/run_editor.h"

#include <utility>

namespace attnscope::ui {

RunEditor::RunEditor(QObject* parent) : QObject(parent) {
  connect(&program_, &JsonProgram::ended, this, &RunEditor::end);
}

RunEditor::~RunEditor() {
  blockSignals(true);  // receivers may be gone
  while (program_.is_running()) program_.finish();
}

void RunEditor::edit(const QString& file, const QStringList& words) {
  edits_.push_back({file, words});
  if (edits_.size() == 1) start();
}

void RunEditor::start() {
  const Edit& edit = edits_.front();
  program_.start(QStringList{QStringLiteral("edit"), QStringLiteral("--json")} + edit.words + QStringList{edit.file});
}

void RunEditor::end(const QJsonObject& said, const QString& why) {
  const Edit edit = std::move(edits_.front());
  edits_.pop_front();
  // Start the next edit before emitting, because receivers may request more edits.
  if (!edits_.empty()) start();
  // The edit was made even if damaged rows were found; readers of the file report them.
  if (why.isEmpty() || said.contains(QLatin1String("rows"))) {
    emit done(edit.file, edit.words);
  } else {
    emit failed(edit.file, why);
  }
}

}  // namespace attnscope::ui
