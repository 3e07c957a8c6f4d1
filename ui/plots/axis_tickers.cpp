// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/axis_tickers.h"

#include <QMap>
#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using Label = QString (*)(double);

/// Returns `steps` x base^k within the range, plus one value beyond each end (the axis trims them).
QVector<double> scaled_steps(const QCPRange& range, double base, std::initializer_list<double> steps, int stride = 1) {
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
    if (decades < 1.2) return scaled_steps(range, 10, {1, 1.5, 2, 3, 4, 5, 6, 8});
    if (decades < 2.5) return scaled_steps(range, 10, {1, 2, 5});
    return scaled_steps(range, 10, {1}, decades > 12 ? 3 : 1);
  }
  QVector<double> createSubTickVector(int /*count*/, const QVector<double>& ticks) override {
    if (ticks.isEmpty()) return {};
    return scaled_steps({ticks.first(), ticks.last()}, 10, {2, 3, 4, 5, 6, 7, 8, 9});
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
    if (octaves < 0.8) return scaled_steps(range, 2, {1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875});
    if (octaves < 1.5) return scaled_steps(range, 2, {1, 1.25, 1.5, 1.75});
    return scaled_steps(range, 2, {1}, octaves > 14 ? 2 : 1);
  }
  QVector<double> createSubTickVector(int /*count*/, const QVector<double>& ticks) override {
    if (ticks.isEmpty()) return {};
    return scaled_steps({ticks.first(), ticks.last()}, 2, {1.25, 1.5, 1.75});
  }
  QString getTickLabel(double tick, const QLocale& /*locale*/, QChar /*format*/, int /*precision*/) override {
    return whole_ ? QString::number(tick, 'f', tick == std::floor(tick) ? 0 : 1) : format_length(tick);
  }

 private:
  bool whole_ = false;  ///< Show "3584" instead of "3.5k" if ticks lie between powers of two.
};

class RoundTicker : public QCPAxisTicker {
 public:
  RoundTicker(double factor, bool logarithmic, Label label)
      : factor_(factor), logarithmic_(logarithmic), label_(label) {}

 protected:
  QVector<double> createTickVector(double /*step*/, const QCPRange& range) override {
    constexpr int max_ticks = 9;
    const double low = logarithmic_ ? std::max(range.lower, range.upper * 1e-12) : range.lower;
    QVector<double> ticks;
    if (range.upper <= low) return ticks;
    const std::vector<double> shown = round_ticks(low * factor_, range.upper * factor_, max_ticks, logarithmic_);
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
  Label label_;  ///< Null if labels depend on neighboring ticks.
  QMap<double, QString> labels_;
};

constexpr double slack = 1e-9;  ///< Relative to a step, so that rounding errors do not drop a tick.

std::vector<double> step_ticks(double low, double high, double step) {
  constexpr double most = 64;  // limits the time for any range
  const double first = std::ceil(low / step - slack);
  const double last = std::min(std::floor(high / step + slack), first + most);
  std::vector<double> ticks;
  for (int i = 0; i <= last - first; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::vector<double> equal_step_ticks(double low, double high, int most) {
  if (!(high > low) || !std::isfinite(high - low)) return {};
  const double power = std::pow(10, std::floor(std::log10((high - low) / std::max(1, most))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    std::vector<double> ticks = step_ticks(low, high, factor * power);
    if (static_cast<int>(ticks.size()) <= most) return ticks;
  }
  return {};
}

std::vector<double> decade_ticks(double low, double high, const std::vector<double>& factors) {
  std::vector<double> ticks;
  for (double exponent = std::floor(std::log10(low)); exponent <= std::ceil(std::log10(high)); ++exponent) {
    for (const double factor : factors) {
      const double value = factor * std::pow(10, exponent);
      if (value >= low * (1 - slack) && value <= high * (1 + slack)) ticks.push_back(value);
    }
  }
  return ticks;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int most, bool logarithmic) {
  constexpr double decade = 10;
  if (!logarithmic || high < decade * low) return equal_step_ticks(low, high, most);
  for (const std::vector<double>& factors : {std::vector{1.0, 2.0, 5.0}, std::vector{1.0, 3.0}, std::vector{1.0}}) {
    std::vector<double> ticks = decade_ticks(low, high, factors);
    if (static_cast<int>(ticks.size()) <= most) return ticks;
  }
  std::vector<double> powers = decade_ticks(low, high, {1.0});
  std::vector<double> ticks;
  const std::size_t step = (powers.size() + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  for (std::size_t i = 0; i < powers.size(); i += step) ticks.push_back(powers[i]);
  return ticks;
}

QStringList tick_labels(const std::vector<double>& ticks) {
  constexpr int max_decimals = 6;
  constexpr double widest = 100;
  const auto decimals_of = [](double tick) {
    int decimals = 0;
    for (double rest = std::abs(tick); decimals < max_decimals; ++decimals, rest *= 10) {
      if (std::abs(rest - std::round(rest)) <= slack * rest) break;
    }
    return decimals;
  };
  int most = 0;
  double low = HUGE_VAL;
  double high = 0;
  for (const double tick : ticks) {
    most = std::max(most, decimals_of(tick));
    if (tick != 0) low = std::min(low, std::abs(tick));
    high = std::max(high, std::abs(tick));
  }
  const bool alike = high <= widest * low;
  QStringList labels;
  for (const double tick : ticks) {
    const int decimals = alike ? most : decimals_of(tick);
    labels << (decimals == 0 || decimals == max_decimals ? format_number(tick) : QString::number(tick, 'f', decimals));
  }
  return labels;
}

QSharedPointer<QCPAxisTicker> byte_ticker() {
  return QSharedPointer<DecadeTicker>::create([](double bytes) { return qtext(Bytes(bytes)); });
}

QSharedPointer<QCPAxisTicker> number_ticker() {
  return QSharedPointer<DecadeTicker>::create([](double number) { return format_number(number); });
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
