// SPDX-License-Identifier: GPL-3.0-or-later
// How far what was submitted to a cluster is: what `attnscope jobs` says, of one submission or of all.
#pragma once

#include <QDialog>
#include <QJsonArray>
#include <QStringList>
#include <QTimer>

#include "kernels/model/message.h"
#include "ui/models/result_model.h"
#include "ui/process/json_program.h"

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;

namespace attnscope::ui {

class EmptyState;
class PlainTable;

class SubmissionsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SubmissionsDialog(QWidget* parent = nullptr);
  /// What was asked of the queue is waited for.
  ~SubmissionsDialog() override { action_.finish(); }

  /// Offers submissions that stand in the folders of these files; shows the first, unless the user has chosen another.
  void look_beside(const QStringList& files);
  /// One, by its result or its folder; of an empty name all that were submitted from here.
  void choose(const QString& name);
  void refresh();

  [[nodiscard]] const ResultModel& model() const { return *model_; }
  /// What stands below the table: what the queue said, or what went wrong.
  [[nodiscard]] QString state() const;

 signals:
  /// The table is what `attnscope jobs` said, or why there is none is said.
  void refreshed();
  void open_wanted(const QString& file);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void add_choice();
  void add_table();
  void add_buttons();
  void offer_files(const QStringList& files);
  void show_answer(const QJsonObject& said, const QString& why);
  void show_rows(const QJsonArray& rows);
  /// The result of the submission that is shown; empty: all are.
  [[nodiscard]] QString file() const;
  /// What the buttons are about: the one that is shown, or the selected one of all, and its rows.
  [[nodiscard]] QString target() const;
  [[nodiscard]] QJsonArray rows_of_target() const;
  void offer();
  void ask_first(const Message& title, const Message& question, const QString& option);

  JsonProgram jobs_;
  JsonProgram action_;  ///< it cancels, or submits again
  QTimer again_{this};
  QJsonArray rows_;
  QString said_;  ///< by the latest action
  bool chosen_ = false;
  QComboBox* choice_ = nullptr;
  ResultModel* model_ = nullptr;
  PlainTable* table_ = nullptr;
  EmptyState* empty_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QLabel* state_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QPushButton* resubmit_ = nullptr;
  QPushButton* open_ = nullptr;
};

}  // namespace attnscope::ui
