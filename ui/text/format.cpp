// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/format.h"

#include <QDateTime>
#include <QTextDocument>
#include <algorithm>

#include "messages/common.h"
#include "messages/curves.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/facets.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QString format_number(double value, int significant) {
  return QString::fromStdString(number_text(value, significant));
}

QString format_length(double n) {
  return QString::fromStdString(length_text(n));
}

QString format_value(double value, std::string_view unit) {
  return QString::fromStdString(value_text(value, unit));
}

QString format_metric(const MetricValue& metric) {
  return QString::fromStdString(metric_text(metric));
}

QString metric_label(std::string_view key) {
  return QString::fromStdString(metric_title(key));
}

QString shortened(const QString& text, qsizetype most) {
  return text.size() <= most ? text : text.left(most - 1) + QStringLiteral("…");
}

QString compiler_error_line(const QString& text) {
  const QStringList lines = text.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  if (lines.size() < 2) return text.trimmed();
  const auto error =
      std::ranges::find_if(lines, [](const QString& line) { return line.contains(QLatin1String("error:")); });
  return (error == lines.end() ? lines.front() : *error).trimmed() + QStringLiteral(" …");
}

QString one_line(const QString& text) {
  return QString::fromStdString(printable(text.toStdString()));
}

QString device_title(const RunSummary& run) {
  return QString::fromStdString(printable(run.device_name));
}

QString plain_tooltip(const QString& text) {
  if (!Qt::mightBeRichText(text)) return text;
  return QStringLiteral("<p style='white-space:pre-wrap'>%1</p>").arg(text.toHtmlEscaped());
}

QString lowercase_label(QString label) {
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
  if (!run.annotations.name.empty()) return QString::fromStdString(printable(run.annotations.name));
  if (run.preset.empty()) return qtext(msg::common::custom{});
  QString title = QString::fromStdString(printable(run.preset));
  // The prefix is redundant: views mark imported runs separately.
  const QString mark = QStringLiteral("import:");
  if (run.provenance == Provenance::imported && title.startsWith(mark)) title.remove(0, mark.size());
  return title;
}

QString format_lengths(const AttentionProblem& problem) {
  return QString::fromStdString(analysis::lengths_text(problem));
}

QString format_swept(const analysis::KnobValueChoice& swept) {
  const Message value =
      swept.value > 0 ? Message::verbatim(std::to_string(swept.value)) : Message(msg::common::chosen{});
  return qtext(msg::curves::swept{.knob = swept.knob, .value = value});
}

QString format_knob(std::string_view name, const KnobValue& value) {
  return to_qstring(analysis::knob_label(name, value));
}

QString format_tile(const Config& config) {
  return to_qstring(analysis::tile_description(config));
}

}  // namespace attnscope::ui
