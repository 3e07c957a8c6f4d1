// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/format.h"

#include <QDateTime>
#include <QLocale>
#include <QTextDocument>
#include <array>
#include <cmath>
#include <span>

#include "messages/common.h"
#include "messages/curves.h"
#include "profiler/analysis/facets.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

struct Step {
  double size;
  const char* suffix;
};

QString scaled(double value, std::span<const Step> steps) {
  for (const Step& step : steps) {
    // 0.9995 of a step already reads "1.00" of it.
    if (std::abs(value) >= 0.9995 * step.size) {
      return format_number(value / step.size) + QLatin1Char(' ') + QString::fromUtf8(step.suffix);
    }
  }
  return format_number(value / steps.back().size) + QLatin1Char(' ') + QString::fromUtf8(steps.back().suffix);
}

constexpr std::array<Step, 6> si_bytes{{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
constexpr std::array<Step, 5> iec_bytes{
    {{1099511627776., "TiB"}, {1073741824., "GiB"}, {1048576., "MiB"}, {1024., "KiB"}, {1, "B"}}};
constexpr std::array<Step, 4> durations{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
constexpr std::array<Step, 5> flop_rates{
    {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}}};
constexpr std::array<Step, 3> operation_rates{{{1e12, "Top/s"}, {1e9, "Gop/s"}, {1, "op/s"}}};
constexpr std::array<Step, 4> frequencies{{{1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}, {1, "Hz"}}};
constexpr std::array<Step, 5> byte_rates{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};

/// The unit of that many; those of the metrics table alone that are words.
QString unit_word(std::string_view unit, double value) {
  if (unit == "cycle") return value == 1 ? qtext(say::common::one_cycle{}) : qtext(say::common::cycles{});
  if (unit == "register") return value == 1 ? qtext(say::common::one_register{}) : qtext(say::common::registers{});
  return to_qstring(unit);
}

std::span<const Step> steps_of(std::string_view unit) {
  if (unit == "byte") return si_bytes;
  if (unit == "ns") return durations;
  if (unit == "flop/s") return flop_rates;
  if (unit == "op/s") return operation_rates;
  if (unit == "byte/s") return byte_rates;
  if (unit == "hertz") return frequencies;
  return {};
}

}  // namespace

QString format_number(double value, int significant) {
  if (value == 0) return QStringLiteral("0");
  if (!std::isfinite(value)) return QStringLiteral("–");
  const double magnitude = std::abs(value);
  if (magnitude < 1e-3 || magnitude >= 1e9) return QString::number(value, 'g', significant);
  const auto digits_before_point = [](double size) { return static_cast<int>(std::floor(std::log10(size))) + 1; };
  // 0.99999 has no digit before its point, but reads 1.00.
  const double grain = std::pow(10, digits_before_point(magnitude) - significant);
  int decimals = std::max(0, significant - digits_before_point(std::round(magnitude / grain) * grain));
  if (std::abs(value - std::round(value)) < 1e-9 * magnitude) decimals = 0;
  QLocale locale = QLocale::c();
  locale.setNumberOptions(magnitude < 10'000 ? QLocale::OmitGroupSeparator : QLocale::DefaultNumberOptions);
  return locale.toString(value, 'f', decimals);
}

QString format_bytes(double bytes) {
  return scaled(bytes, si_bytes);
}

QString format_capacity(double bytes) {
  return scaled(bytes, iec_bytes);
}

QString format_duration(double nanoseconds) {
  return scaled(nanoseconds, durations);
}

QString format_wait(double seconds) {
  const auto whole = static_cast<qint64>(std::ceil(seconds));
  if (whole < 60) return QStringLiteral("%1 s").arg(whole);
  if (whole < 3600) return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
  return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60, 2, 10, QLatin1Char('0'));
}

QString format_length(double n) {
  const auto whole = [](double x) { return x >= 1 && std::abs(x - std::round(x)) < 1e-9; };
  const double k = n / 1024;
  if (whole(k / 1024)) return QStringLiteral("%1M").arg(std::llround(k / 1024));
  if (whole(k)) return QStringLiteral("%1k").arg(std::llround(k));
  return QString::number(std::llround(n));
}

UnitScale unit_scale(double largest, std::string_view unit) {
  if (const auto steps = steps_of(unit); !steps.empty()) {
    for (const Step& step : steps) {
      if (std::abs(largest) >= step.size) return {1 / step.size, QString::fromUtf8(step.suffix)};
    }
    return {1 / steps.back().size, QString::fromUtf8(steps.back().suffix)};
  }
  if (unit == "percent") return {1, QStringLiteral("%")};
  if (unit == "Tflop/s") return {1, QStringLiteral("TFLOP/s")};
  if (unit == "1" || unit.empty()) return {1, QString()};
  return {1, unit_word(unit, 2)};
}

QString format_value(double value, std::string_view unit) {
  if (const auto steps = steps_of(unit); !steps.empty()) return scaled(value, steps);
  if (unit == "percent") return format_number(value) + QStringLiteral(" %");
  if (unit == "Tflop/s") return format_number(value) + QStringLiteral(" TFLOP/s");
  if (unit == "1" || unit.empty()) return format_number(value);
  if (unit == "celsius") return format_number(value) + QStringLiteral(" °C");
  if (unit == "watt") return format_number(value) + QStringLiteral(" W");
  const int digits = unit == "cycle" || unit == "register" ? 12 : 3;
  return format_number(value, digits) + QLatin1Char(' ') + unit_word(unit, value);
}

QString format_metric(const MetricValue& metric) {
  if (metric.name == metric_key::shared_bytes || metric.name == metric_key::local_bytes) {
    return format_capacity(metric.value);
  }
  // One digit more: a model met to a percent is the point of the comparison.
  if (metric.name == metric_key::l2_sm_over_model) return QString::number(metric.value, 'f', 4);
  return format_value(metric.value, metric.unit);
}

QString metric_label(std::string_view key) {
  const Metric* metric = find_metric(key);
  return (metric == nullptr ? to_qstring(key) : qtext(metric->label()))
      .replace(QStringLiteral("<->"), QStringLiteral("↔"));
}

Message counted_points(std::size_t points, int rounds) {
  Message words = say::common::one_point{};
  if (points != 1) words = say::common::points{.points = points};
  if (rounds > 1) words = say::common::points_in_rounds{.points = words, .rounds = rounds};
  return words;
}

QString shortened(const QString& text, qsizetype most) {
  return text.size() <= most ? text : text.left(most - 1) + QStringLiteral("…");
}

QString one_line(const QString& text) {
  return QString::fromStdString(printable(text.toStdString()));
}

QString device_title(const RunSummary& run) {
  return QString::fromStdString(printable(run.device_name));
}

QString plain_tip(const QString& text) {
  if (!Qt::mightBeRichText(text)) return text;
  return QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(text.toHtmlEscaped());
}

QString within_sentence(QString label) {
  if (label.size() > 1 && label[1].isLower()) label[0] = label[0].toLower();
  return label;
}

QString to_qstring(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString to_qstring(Provenance provenance) {
  return qtext(title(provenance));
}

QString format_time(const std::string& iso) {
  QDateTime time = QDateTime::fromString(QString::fromStdString(iso), Qt::ISODate);
  if (!time.isValid()) return QString::fromStdString(iso);
  return time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm"));
}

QString format_heads(const AttentionProblem& problem) {
  return QString::fromStdString(analysis::heads_text(problem));
}

QString format_mask(const Mask& mask) {
  return QString::fromStdString(mask_text(mask));
}

QString run_title(const RunSummary& run) {
  if (run.preset.empty()) return qtext(say::common::custom{});
  QString title = QString::fromStdString(printable(run.preset));
  // Whoever shows it says by other means that the run is imported.
  const QString mark = QStringLiteral("import:");
  if (run.provenance == Provenance::imported && title.startsWith(mark)) title.remove(0, mark.size());
  return title;
}

QString format_lengths(const AttentionProblem& problem) {
  return QString::fromStdString(analysis::lengths_text(problem));
}

QString format_swept(const analysis::SweptValue& swept) {
  const Message value =
      swept.value > 0 ? Message::verbatim(std::to_string(swept.value)) : Message(say::common::chosen{});
  return qtext(say::curves::swept{.knob = swept.knob, .value = value});
}

QString format_knob(std::string_view name, const KnobValue& value) {
  const QString words = to_qstring(attnscope::to_string(value)).replace(QLatin1Char('_'), QLatin1Char(' '));
  const bool number = std::holds_alternative<std::int64_t>(value);
  return number ? QStringLiteral("%1 %2").arg(to_qstring(name), words) : words;
}

QString format_tile(const Config& config) {
  const TileShape& tile = config.tile;
  QString text =
      tile_stated(tile) ? QStringLiteral("%1 × %2").arg(tile.br).arg(tile.bc) : qtext(say::common::not_stated{});
  for (const auto& [name, value] : config.knobs) text += QStringLiteral(", ") + format_knob(name, value);
  return text;
}

}  // namespace attnscope::ui
