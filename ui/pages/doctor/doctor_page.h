// SPDX-License-Identifier: GPL-3.0-or-later
// Results of `attnscope doctor`, and measurement of a GPU's ceilings.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <vector>

#include "ui/pages/page.h"
#include "ui/process/collector_process.h"
#include "ui/process/device_list.h"
#include "ui/process/json_program.h"
#include "ui/widgets/database_field.h"

namespace attnscope::ui {

struct CheckRow {
  QString name;  ///< "driver"
  bool ok = false;
  QString detail;
  QString fix;
};

class DoctorPage : public Page {
  Q_OBJECT
 public:
  explicit DoctorPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return again_; }
  void show_progress(const QString& words, bool busy) override;
  void prepare_screenshot() override { program_.finish(); }

  [[nodiscard]] const std::vector<CheckRow>& checks() const { return checks_; }
  [[nodiscard]] QString as_text() const;
  [[nodiscard]] QString summary() const { return summary_->text(); }
  [[nodiscard]] QString progress() const { return progress_->text(); }

 signals:
  /// Emitted when the checks, or the reason why there are none, are shown.
  void checks_finished();

 protected:
  void show_choices() override { database_->path()->setText(file_); }
  void showEvent(QShowEvent* event) override;

 private:
  void add_head(QLayout& column);
  void add_ceilings_controls(QLayout& column);
  void run_checks();
  void read(const QJsonObject& answer, const QString& why);
  void show_devices();
  void show_checks(std::vector<CheckRow> checks, const QString& summary);
  /// Enables the measurements that can start; sets the reason for others as tooltip.
  void update_measure_buttons();
  void measure();
  [[nodiscard]] const ListedDevice* device() const;

  JsonProgram program_;
  DeviceList devices_;
  std::vector<CheckRow> checks_;
  QString file_;
  QString progress_text_;
  bool checks_requested_ = false;
  bool busy_ = false;
  QComboBox* choice_ = nullptr;
  QPushButton* again_ = nullptr;
  QPushButton* copy_all_ = nullptr;
  QLabel* summary_ = nullptr;
  QScrollArea* area_ = nullptr;
  DatabaseField* database_ = nullptr;
  QPushButton* ceilings_ = nullptr;
  QPushButton* stop_ = nullptr;
  QLabel* progress_ = nullptr;
};

}  // namespace attnscope::ui
