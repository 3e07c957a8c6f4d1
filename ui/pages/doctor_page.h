// SPDX-License-Identifier: GPL-3.0-or-later
// What of GPU, driver, compiler and counters is here and what to do about the rest, as `attnscope doctor` says it; and
// what is measured of a GPU itself.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTimer>
#include <vector>

#include "ui/pages/page.h"
#include "ui/pages/page_roles.h"
#include "ui/process/collector_process.h"
#include "ui/process/device_list.h"
#include "ui/process/doctor_check.h"
#include "ui/widgets/database_field.h"

namespace attnscope::ui {

class DoctorPage : public Page, public DeviceProgress {
  Q_OBJECT
 public:
  explicit DoctorPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return again_; }
  void show_progress(const QString& words, bool busy) override;
  /// Waits for doctor's answer.
  void pose() override;

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  /// All of it as text: what "Copy all" copies.
  [[nodiscard]] QString as_text() const;
  /// What stands above the findings.
  [[nodiscard]] QString summary() const { return summary_->text(); }
  [[nodiscard]] QString progress() const { return progress_->text(); }
  /// Of which GPUs the files are, where they are not of this machine's.
  [[nodiscard]] QString others() const { return others_->text(); }

 signals:
  /// Findings, or why there are none, are shown.
  void looked();

 protected:
  void show_choices() override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void add_head(QLayout& column);
  void add_measuring(QLayout& column);
  void look();
  void show_devices();
  void show_findings();
  void show_words(const QString& words);
  /// That there is no answer yet, and what may be the matter; once more each time that long.
  void say_late();
  /// The wait for an answer is over.
  void end_wait();
  /// That what is shown of files is of other GPUs than this machine's.
  void show_others();
  /// Says which measurements can begin, and why others cannot.
  void offer();
  void measure(DeviceWork::Kind kind);
  /// Of a GPU that is measured; null: there is none.
  [[nodiscard]] const ListedDevice* device() const;

  Workspace& workspace_;
  DoctorCheck check_;
  QTimer late_{this};
  int waited_s_ = 0;
  DeviceList devices_;
  std::vector<Finding> findings_;
  QString file_;  ///< that results go into
  QString told_;  ///< how far a measurement is, or how it ended
  bool looked_ = false;
  bool busy_ = false;
  QComboBox* choice_ = nullptr;
  QPushButton* again_ = nullptr;
  QPushButton* stop_looking_ = nullptr;
  QPushButton* copy_all_ = nullptr;
  QLabel* summary_ = nullptr;
  QLabel* others_ = nullptr;
  QScrollArea* area_ = nullptr;
  DatabaseField* database_ = nullptr;
  QPushButton* ceilings_ = nullptr;
  QPushButton* noise_ = nullptr;
  QPushButton* stop_ = nullptr;
  QLabel* progress_ = nullptr;
};

}  // namespace attnscope::ui
