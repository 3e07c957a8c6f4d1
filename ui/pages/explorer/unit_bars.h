// SPDX-License-Identifier: GPL-3.0-or-later
// A predicted time, and beside it what it is spent on: for how much of it each unit of the GPU is busy, what launching
// and idle SMs take, and what none of these explain. What a device counted of the same launch stands with it.
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

  /// What a device gave.
  struct Measured {
    double ns = 0;
    QString provenance;                            ///< "measured", "simulated"
    std::array<QString, gpu_units.size()> uses{};  ///< "63% counted"; empty where nothing of a unit was
    UnitValues shares{};                           ///< the same, 0 to 1
  };
  struct Times {
    double ns = 0;  ///< predicted; 0: nothing is, and the bars are of what was measured
    analysis::SpeedOfLight light{};
    std::optional<Measured> measured{};  ///< of the same launch
  };
  /// Nothing: in its place stands why.
  void set_times(const std::optional<Times>& times, const QString& why = {});

  [[nodiscard]] QRectF total_bar() const;
  [[nodiscard]] QRectF bar(GpuUnit unit) const;
  /// What stands at the end of its bar: "78%".
  [[nodiscard]] QString words(GpuUnit unit) const;
  [[nodiscard]] QString total_words() const;
  /// "1.2 ms"; empty while nothing is.
  [[nodiscard]] QString measured_words() const;
  /// "63% counted"; empty where it was not.
  [[nodiscard]] QString use_words(GpuUnit unit) const;

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
  [[nodiscard]] std::size_t place_of(GpuUnit unit) const;
  /// Of the columns beside the bars.
  struct Widths {
    double labels = 0;
    double words = 0;
    double counted = 0;  ///< 0: nothing was
  };
  void fit_columns();

  QString why_;
  std::optional<Times> times_;
  Widths widths_;
  std::vector<Line> lines_;  ///< the total first, then what was measured, the units, and what is left
};

}  // namespace attnscope::ui
