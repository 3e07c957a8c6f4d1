// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted time as bars: utilization of each unit, launch overhead, idle SMs and the remainder, next to measured
// values of the same launch.
#pragma once

#include <QString>
#include <QWidget>
#include <array>
#include <optional>
#include <vector>

#include "profiler/predict/speed_of_light.h"

namespace attnscope::ui {

class UnitBars : public QWidget {
  Q_OBJECT
 public:
  explicit UnitBars(QWidget* parent = nullptr);

  struct MeasuredValues {
    double ns = 0;
    QString provenance;                            ///< "measured", "simulated"
    std::array<QString, gpu_units.size()> uses{};  ///< "63% counted"; empty if not counted.
    UnitValues shares{};                           ///< Same as `uses`, 0 to 1.
  };
  struct Times {
    double ns = 0;  ///< Predicted; 0: only `measured` is shown.
    analysis::SpeedOfLight light{};
    std::optional<MeasuredValues> measured{};  ///< Measured values of the same launch.
  };
  /// Null: shows the reason `why` instead.
  void set_times(const std::optional<Times>& times, const QString& why = {});

  [[nodiscard]] QRectF total_bar() const;
  [[nodiscard]] QRectF bar(GpuUnit unit) const;
  /// Label at the end of the bar: "78%".
  [[nodiscard]] QString counted_text(GpuUnit unit) const;
  [[nodiscard]] QString total_text() const;
  /// "1.2 ms"; empty if not measured.
  [[nodiscard]] QString measured_text() const;
  /// "63% counted"; empty if not counted.
  [[nodiscard]] QString utilization_text(GpuUnit unit) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Line {
    QString title;
    double ns = 0;
    QString words{};
    QString counted{};
    bool bound = false;
    bool unit = false;
  };
  void build_lines();
  [[nodiscard]] QRectF row(std::size_t place) const;
  [[nodiscard]] QRectF bar_of(std::size_t place) const;
  [[nodiscard]] std::size_t index_of(GpuUnit unit) const;
  struct Widths {
    double labels = 0;
    double words = 0;
    double counted = 0;  ///< 0: nothing was counted.
  };
  void fit_columns();

  QString why_;
  std::optional<Times> times_;
  Widths widths_;
  std::vector<Line> lines_;  ///< Total, measured time, units, then the remainder.
};

}  // namespace attnscope::ui
