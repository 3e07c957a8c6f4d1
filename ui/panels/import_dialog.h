// SPDX-License-Identifier: GPL-3.0-or-later
// A table of another program, before it becomes a run: what it is read as, what its columns become, what has to be said
// that it does not say, and into which file it goes. `attnscope import` looks at it and imports it.
#pragma once

#include <QDialog>
#include <QJsonArray>
#include <QJsonObject>
#include <QTimer>

#include "ui/process/json_program.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace attnscope::ui {

class ResultModel;

/// Whether a file that is dropped on the window is a table: not a folder, nor what holds measurements of ours.
[[nodiscard]] bool is_to_import(const QString& file);

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ImportDialog(const QString& file, QWidget* parent = nullptr);

  /// Stops an import that has begun; nothing of it is written.
  void reject() override;
  /// Whether the file is being looked at or imported.
  [[nodiscard]] bool busy() const { return settle_.isActive() || preview_.running() || import_.running(); }

 signals:
  void imported(const QString& file);

 private:
  void add_entries();
  void show_entries(bool of_ncu);
  void add_target();
  void choose_target();
  /// Options of `attnscope import` that the fields stand for, and the file.
  [[nodiscard]] QStringList arguments() const;
  void look();
  void take_preview(const QJsonObject& said, const QString& why);
  void show_columns(const QJsonArray& rows);
  void import();
  void say(const QString& words);
  void show_state(const QString& words = {});
  [[nodiscard]] QString target() const;

  QString file_;
  QPlainTextEdit* words_ = nullptr;
  ResultModel* model_ = nullptr;
  QLineEdit* target_ = nullptr;
  QString usual_target_;
  QLabel* state_ = nullptr;
  QPushButton* do_import_ = nullptr;
  QTimer settle_;
  bool ready_ = false;  ///< the preview found what can be imported
  JsonProgram preview_;
  JsonProgram import_;
};

}  // namespace attnscope::ui
