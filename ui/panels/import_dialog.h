// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of other programs, before they become runs: what each is read as, what its columns become, what has to be said
// that it does not say, and into which file they go. `attnscope import` looks at them and imports them.
#pragma once

#include <QDialog>
#include <QJsonArray>
#include <QJsonObject>
#include <QTimer>
#include <deque>
#include <vector>

#include "ui/process/json_program.h"
#include "ui/process/run_editor.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTabWidget;

namespace attnscope::ui {

class PathField;
class ResultModel;

/// Whether a file that is dropped on the window is a table: not a folder, nor what holds measurements of ours.
[[nodiscard]] bool is_to_import(const QString& file);

/// One file of the dialog.
class ImportPage : public QWidget {
  Q_OBJECT
 public:
  enum class State { waits, refused, ready };

  explicit ImportPage(QString file, QWidget* parent);

  [[nodiscard]] const QString& file() const { return file_; }
  [[nodiscard]] State state() const { return state_; }
  /// What is said of it: options of `attnscope import`.
  [[nodiscard]] QStringList words() const;
  /// What the preview found out.
  void take(const QJsonObject& said, const QString& why);
  void say(const QString& words);

 signals:
  /// Something else is said of it: it waits for another preview.
  void changed();

 private:
  void add_entries();
  void show_entries(bool of_ncu);
  void show_columns(const QJsonArray& rows);

  QString file_;
  State state_ = State::waits;
  QPlainTextEdit* words_ = nullptr;
  ResultModel* model_ = nullptr;
};

class ImportDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ImportDialog(const QStringList& files, QWidget* parent = nullptr);

  /// Stops an import that has begun: the file at hand leaves nothing, those before it stay.
  void reject() override;
  /// Whether something is being looked at or imported.
  [[nodiscard]] bool busy() const;

 signals:
  /// Runs were written into it; not before all that was asked for is done or has failed.
  void imported(const QString& file);

 private:
  void add_target();
  void choose_target();
  /// Looks at the files one by one, that in sight first.
  void look();
  void take_preview(const QJsonObject& said, const QString& why);
  void import();
  /// `failure`: empty where it went well.
  void take_imported(const QString& failure);
  void show_state(const QString& words = {});
  [[nodiscard]] std::vector<ImportPage*> pages(ImportPage::State state) const;
  [[nodiscard]] QString target() const;

  QTabWidget* tabs_ = nullptr;
  PathField* target_ = nullptr;
  QString usual_target_;
  QLabel* state_ = nullptr;
  QPushButton* import_ = nullptr;
  QPushButton* cancel_ = nullptr;  ///< stops what is imported, else closes
  QString cancel_words_;
  QTimer settle_;
  ImportPage* looked_at_ = nullptr;
  std::deque<ImportPage*> importing_;
  QString into_;
  bool wrote_ = false;
  bool stopped_ = false;
  JsonProgram preview_;
  RunEditor editor_;
};

}  // namespace attnscope::ui
