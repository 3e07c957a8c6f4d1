// SPDX-License-Identifier: GPL-3.0-or-later
// A predicted time, and beside it what the launch would take if it waited for one thing alone: a bar each, the bounding
// one marked. What a device measured of the same launch stands with it: its time, and how busy each unit was.
#pragma once

#include <QString>
#include <QWidget>
#include <array>
#include <optional>

#include "profiler/analysis/exploration.h"

namespace attnscope::ui {

/// "tensor cores", "L2": for people.
[[nodiscard]] QString term_title(TimeTerm term);

class TermBars : public QWidget {
  Q_OBJECT
 public:
  explicit TermBars(QWidget* parent = nullptr);

  /// What a device gave.
  struct Measured {
    double ns = 0;
    QString provenance;  ///< "measured", "simulated"
    /// Percent of its peak that the unit of a term was busy; empty where it was not counted, or the term has no unit.
    std::array<std::optional<double>, time_term_count> use_pct{};
  };
  struct Times {
    double ns = 0;  ///< predicted
    analysis::TimeTerms terms{};
    std::optional<Measured> measured{};  ///< of the same launch
  };
  /// Nothing: the configuration does not run.
  void set_times(const std::optional<Times>& times);

  [[nodiscard]] QRectF total_bar() const;
  [[nodiscard]] QRectF bar(TimeTerm term) const;
  /// What stands at the end of its bar: "12.3 µs", of the bounding one "12.3 µs, bounds".
  [[nodiscard]] QString words(TimeTerm term) const;
  [[nodiscard]] QString total_words() const;
  /// "1.2 ms"; empty while nothing is.
  [[nodiscard]] QString measured_words() const;
  /// "63% busy", measured; empty where it was not.
  [[nodiscard]] QString use_words(TimeTerm term) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// The measured time has a line of its own between the total and the terms.
  [[nodiscard]] int place_of(TimeTerm term) const;
  [[nodiscard]] int lines() const;
  [[nodiscard]] QRectF row(int place) const;
  [[nodiscard]] QRectF bar_of(int place, double ns) const;
  /// Of the columns beside the bars.
  struct Widths {
    double labels = 0;
    double words = 0;
    double uses = 0;  ///< 0: nothing was counted
  };
  [[nodiscard]] const Widths& widths() const;

  std::optional<Times> times_;
  mutable std::optional<Widths> widths_;  ///< as long as neither what was measured nor the font is another
};

}  // namespace attnscope::ui
