// SPDX-License-Identifier: GPL-3.0-or-later
// Line above the pages while the recorded sample is open: its origin and what to do next.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>

#include "ui/process/device_list.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

/// Low windows have no row for the filter and no banner of the sample. The limit, 700 px, scales with the text.
[[nodiscard]] bool is_low_window(const QWidget& window);

/// Its close button and a low window dismiss it for good.
class SampleBanner : public QFrame {
  Q_OBJECT
 public:
  /// `remember`: reads and saves whether it was dismissed.
  SampleBanner(const Workspace& workspace, const DeviceList& devices, bool remember, QWidget* parent);

  /// Returns "Recorded sample: NVIDIA H200, 2026-11-30."; empty if the sample is not open.
  [[nodiscard]] QString text() const { return origin_->text(); }

 signals:
  void measure_requested();
  void doctor_requested();
  void explorer_requested();
  void lesson_requested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void show_origin();
  void show_devices();
  void update_visibility();
  void dismiss();

  const Workspace& workspace_;
  const DeviceList& devices_;
  bool remember_;
  bool dismissed_ = false;
  QLabel* origin_ = nullptr;
  QPushButton* measure_ = nullptr;
  QLabel* no_gpu_ = nullptr;
  QPushButton* doctor_ = nullptr;
};

}  // namespace attnscope::ui
