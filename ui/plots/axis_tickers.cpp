// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/axis_tickers.h"

#include <QMap>
#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/plots/round_ticks.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using Label = QString (*)(double);

/// Values of `steps` x base^k within the range, with one beyond each end (the axis trims them).
QVector<double> ladder(const QCPRange& range, double base, std::initializer_list<double> steps, int stride = 1) {
  QVector<double> values;
  if (range.lower <= 0) return values;
  const int first = static_cast<int>(std::floor(std::log(range.lower) / std::log(base)));
  const int last = static_cast<int>(std::ceil(std::log(range.upper) / std::log(base)));
  for (int k = first; k <= last; ++k) {
    if ((k % stride + stride) % stride != 0) continue;
    for (const double step : steps) values.append(step * std::pow(base, k));
  }
  return values;
}

class DecadeTicker : public QCPAxisTicker {
 public:
  explicit DecadeTicker(Label label) : label_(label) {}

 protected:
  QVector<double> createTickVector(double /*step*/, const QCPRange& range) override {
    const double decades = std::log10(range.upper / range.lower);
    if (decades < 1.2) return ladder(range, 10, {1, 1.5, 2, 3, 4, 5, 6, 8});
    if (decades < 2.5) return ladder(range, 10, {1, 2, 5});
    return ladder(range, 10, {1}, decades > 12 ? 3 : 1);
  }
  QVector<double> createSubTickVector(int /*count*/, const QVector<double>& ticks) override {
    if (ticks.isEmpty()) return {};
    return ladder({ticks.first(), ticks.last()}, 10, {2, 3, 4, 5, 6, 7, 8, 9});
  }
  QString getTickLabel(double tick, const QLocale& /*locale*/, QChar /*format*/, int /*precision*/) override {
    return label_(tick);
  }

 private:
  Label label_;
};

class LengthTicker : public QCPAxisTicker {
 protected:
  QVector<double> createTickVector(double /*step*/, const QCPRange& range) override {
    const double octaves = std::log2(range.upper / range.lower);
    constexpr double longest_whole = 1e5;
    whole_ = octaves < 1.5 && range.upper < longest_whole;
    if (octaves < 0.8) return ladder(range, 2, {1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875});
    if (octaves < 1.5) return ladder(range, 2, {1, 1.25, 1.5, 1.75});
    return ladder(range, 2, {1}, octaves > 14 ? 2 : 1);
  }
  QVector<double> createSubTickVector(int /*count*/, const QVector<double>& ticks) override {
    if (ticks.isEmpty()) return {};
    return ladder({ticks.first(), ticks.last()}, 2, {1.25, 1.5, 1.75});
  }
  QString getTickLabel(double tick, const QLocale& /*locale*/, QChar /*format*/, int /*precision*/) override {
    return whole_ ? QString::number(tick, 'f', tick == std::floor(tick) ? 0 : 1) : format_length(tick);
  }

 private:
  bool whole_ = false;  ///< between powers of two "3584" stands beside "4096", not beside "4k"
};

class RoundTicker : public QCPAxisTicker {
 public:
  RoundTicker(double factor, bool logarithmic, Label label)
      : factor_(factor), logarithmic_(logarithmic), label_(label) {}

 protected:
  QVector<double> createTickVector(double /*step*/, const QCPRange& range) override {
    constexpr int most_ticks = 9;
    const double low = logarithmic_ ? std::max(range.lower, range.upper * 1e-12) : range.lower;
    QVector<double> ticks;
    if (range.upper <= low) return ticks;
    const std::vector<double> shown = round_ticks(low * factor_, range.upper * factor_, most_ticks, logarithmic_);
    for (const double tick : shown) ticks.append(tick / factor_);
    labels_.clear();
    const QStringList labels = tick_labels(shown);
    for (qsizetype i = 0; i < ticks.size(); ++i) labels_[ticks[i]] = labels[i];
    return ticks;
  }
  QVector<double> createSubTickVector(int /*count*/, const QVector<double>& /*ticks*/) override { return {}; }
  QString getTickLabel(double tick, const QLocale& /*locale*/, QChar /*format*/, int /*precision*/) override {
    return label_ == nullptr ? labels_.value(tick) : label_(tick * factor_);
  }

 private:
  double factor_;
  bool logarithmic_;
  Label label_;  ///< null: those of the ticks beside it decide
  QMap<double, QString> labels_;
};

}  // namespace

QSharedPointer<QCPAxisTicker> byte_ticker() {
  return QSharedPointer<DecadeTicker>::create([](double bytes) { return qtext(Bytes(bytes)); });
}

QSharedPointer<QCPAxisTicker> number_ticker() {
  return QSharedPointer<DecadeTicker>::create([](double number) { return format_number(number); });
}

QSharedPointer<QCPAxisTicker> element_ticker() {
  return QSharedPointer<DecadeTicker>::create([](double elements) { return qtext(Elements(elements)); });
}

QSharedPointer<QCPAxisTicker> time_ticker() {
  return QSharedPointer<DecadeTicker>::create([](double ns) { return QString::number(ns * 1e-6, 'g', 6); });
}

QSharedPointer<QCPAxisTicker> length_ticker() {
  return QSharedPointer<LengthTicker>::create();
}

QSharedPointer<QCPAxisTicker> round_ticker(double factor, bool logarithmic) {
  return QSharedPointer<RoundTicker>::create(factor, logarithmic, nullptr);
}

QSharedPointer<QCPAxisTicker> linear_byte_ticker() {
  return QSharedPointer<RoundTicker>::create(1, false, [](double bytes) { return qtext(Bytes(bytes)); });
}

}  // namespace attnscope::ui
