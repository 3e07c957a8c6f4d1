// SPDX-License-Identifier: GPL-3.0-or-later
// Dialog that imports another program's table: shows the detected format, how columns are imported, fields for missing
// information, and the target file. Runs `attnscope import`.
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

/// Returns true if a dropped file is a table, not a folder or an .attnscope file.
[[nodiscard]] bool is_importable(const QString& file);

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ImportDialog(const QString& file, QWidget* parent = nullptr);

  void reject() override;
  [[nodiscard]] bool is_busy() const {
    return debounce_timer_.isActive() || preview_.is_running() || import_.is_running();
  }

 signals:
  void imported(const QString& file);

 private:
  void add_option_fields();
  void show_option_fields(bool ncu_only);
  void add_target();
  void choose_target();
  [[nodiscard]] QStringList arguments() const;
  void preview_file();
  void show_preview(const QJsonObject& said, const QString& why);
  void show_columns(const QJsonArray& rows);
  void import();
  void show_text(const QString& words);
  void show_state(const QString& words = {});
  [[nodiscard]] QString target() const;

  QString file_;
  QPlainTextEdit* words_ = nullptr;
  ResultModel* model_ = nullptr;
  QLineEdit* target_ = nullptr;
  QString default_target_;
  QLabel* state_ = nullptr;
  QPushButton* import_button_ = nullptr;
  QTimer debounce_timer_;
  bool ready_ = false;  ///< the preview found importable data
  JsonProgram preview_;
  JsonProgram import_;
};

}  // namespace attnscope::ui
