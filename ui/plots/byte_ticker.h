// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks of the logarithmic axes: bytes and times in decades (1 MB, 10 MB), lengths in powers of two (1k = 1024).
#pragma once

#include <qcustomplot.h>

namespace attnscope::ui {

class ByteTicker : public QCPAxisTicker {
 protected:
  QVector<double> createTickVector(double tick_step, const QCPRange& range) override;
  QVector<double> createSubTickVector(int count, const QVector<double>& ticks) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

/// Plain numbers, in the same steps.
class NumberTicker : public ByteTicker {
 protected:
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

/// Nanoseconds, as milliseconds without their unit, which the axis title has.
class TimeTicker : public ByteTicker {
 protected:
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

class LengthTicker : public QCPAxisTicker {
 protected:
  QVector<double> createTickVector(double tick_step, const QCPRange& range) override;
  QVector<double> createSubTickVector(int count, const QVector<double>& ticks) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  bool whole_ = false;  ///< between powers of two "3584" stands beside "4096", not beside "4k"
};

/// Round values in the unit that is shown: a tick times `factor` is what is read.
class RoundTicker : public QCPAxisTicker {
 public:
  RoundTicker(double factor, bool logarithmic) : factor_(factor), logarithmic_(logarithmic) {}

 protected:
  QVector<double> createTickVector(double tick_step, const QCPRange& range) override;
  QVector<double> createSubTickVector(int /*count*/, const QVector<double>& /*ticks*/) override { return {}; }
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  double factor_;
  bool logarithmic_;
};

/// Bytes with their unit, in equal steps.
class LinearByteTicker : public RoundTicker {
 public:
  LinearByteTicker() : RoundTicker(1, false) {}

 protected:
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

}  // namespace attnscope::ui
