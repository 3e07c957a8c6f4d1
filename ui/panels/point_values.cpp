// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/point_values.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "messages/details.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/impossible_values.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

namespace {

/// Builds a table of labels and values. A value is followed by its provenance, muted, if it is not `usual`.
class HtmlTable {
 public:
  explicit HtmlTable(const QPalette& palette, QString usual = {})
      : colors_(plot_colors(palette)), usual_(std::move(usual)) {}

  /// Written before the next row; omitted if none follows.
  void heading(const QString& text) { heading_ = text; }
  void row(const QString& label, const QString& value, const QString& origin = {}) {
    open_table();
    ++rows_;
    constexpr qsizetype longest_line = 28;
    QString shown = value.toHtmlEscaped();
    if (!origin.isEmpty() && origin != usual_) {
      shown += QStringLiteral(" <span style='color:%1'>%2</span>").arg(colors_.muted.name(), origin.toHtmlEscaped());
    }
    // Short values stay on one line.
    if (value.size() <= longest_line) shown = QStringLiteral("<nobr>%1</nobr>").arg(shown);
    html_ += QStringLiteral("<tr><td>%1</td><td align='right' style='padding-left:12px'>%2</td></tr>")
                 .arg(label.toHtmlEscaped(), shown);
  }
  void paragraph(const QString& text, const QColor& color) {
    open_table();
    html_ += QStringLiteral("<tr><td colspan='2'><span style='color:%1'>%2</span></td></tr>")
                 .arg(color.name(), text.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
  }
  void title(const QString& text, const QColor& color) {
    html_ += QStringLiteral("<p style='margin:0 0 2px 0; font-size:large; color:%1'><b>%2</b></p>")
                 .arg(color.name(), text.toHtmlEscaped());
  }
  [[nodiscard]] const PlotColors& colors() const { return colors_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] QString take() {
    close_table();
    return std::move(html_);
  }

 private:
  void open_table() {
    if (!std::exchange(in_table_, true))
      html_ += QStringLiteral("<table width='100%' cellspacing='0' cellpadding='1'>");
    const QString heading = std::exchange(heading_, {});
    if (heading.isEmpty()) return;
    html_ +=
        QStringLiteral("<tr><td colspan='2' style='padding-top:10px'><b>%1</b></td></tr>").arg(heading.toHtmlEscaped());
  }
  void close_table() {
    if (std::exchange(in_table_, false)) html_ += QStringLiteral("</table>");
  }

  PlotColors colors_;
  QString usual_;
  QString html_;
  QString heading_;
  bool in_table_ = false;
  int rows_ = 0;
};

QString word_of(Provenance provenance) {
  return to_qstring(provenance);
}

QString label_of(const Metric& metric) {
  return qtext(metric.label()).replace(QStringLiteral("<->"), QStringLiteral("↔"));
}

void add_metric(HtmlTable& html, const PointRecord& record, std::string_view key, std::string_view kernel = "all") {
  const auto value = evaluate(key, record, kernel);
  if (!value) return;
  html.row(metric_label(key), format_metric(*value), word_of(value->provenance));
  // Quartiles of times are shown in separate rows.
  const Metric* metric = find_metric(key);
  const auto scatter = metric == nullptr || metric->depends_on_clock ? std::nullopt : quartiles(key, record, kernel);
  if (!scatter || !(scatter->q3 > scatter->q1)) return;
  MetricValue end = *value;
  const auto format_as = [&](double amount) {
    end.value = amount;
    return format_metric(end);
  };
  html.row(qtext(msg::details::between_rounds{}),
           format_as(scatter->q1) + QStringLiteral(" – ") + format_as(scatter->q3));
}

/// The units' utilization then includes the tensor cores'.
bool counts_units(const PointRecord& record) {
  return !analysis::unit_utilizations(record).empty();
}

void add_metrics(HtmlTable& html, const PointRecord& record, std::string_view kernel,
                 const std::function<bool(const Metric&)>& wanted) {
  for (const Metric& metric : metrics_table()) {
    // shown in the sections of add_why() or add_bound()
    const bool shown_separately = metric.why != CounterGroup::none || metric.predicted_utilization ||
                                  metric.key == metric_key::shared_conflict_share ||
                                  (metric.key == metric_key::tensor_pipe_pct && counts_units(record));
    if (!shown_separately && wanted(metric)) add_metric(html, record, metric.key, kernel);
  }
}

bool is_time(const Metric& metric) {
  return metric.depends_on_clock || metric.key == metric_key::time_spread;
}

bool is_bytes(const Metric& metric) {
  return metric.unit == "byte";
}

/// Returns true for counters requested by name, which no other section shows.
bool is_extra(const MetricValue& value) {
  // excludes predictions that older program versions stored
  return find_metric(value.name) == nullptr && value.provenance == Provenance::measured;
}

QString origin_of(const PointRecord& record) {
  return word_of(record.origin());
}

void add_title(HtmlTable& html, const std::string& name) {
  const Algorithm* algorithm = known_algorithms().find(name);
  html.title(algorithm == nullptr ? QString::fromStdString(name) : to_qstring(algorithm->facts().title),
             algorithm_color(name, html.colors().dark));
}

void add_setting(HtmlTable& html, const RunInfo& run, const PointRecord& record, std::span<const Field> settings) {
  const PointSpec& spec = record.spec;
  const AttentionProblem& problem = spec.problem;
  const PlotColors& colors = html.colors();
  add_title(html, spec.algorithm);
  html.paragraph(qtext(msg::details::origin{.device = run.summary.device_name, .provenance = title(record.origin())}),
                 colors.muted);
  if (!run.summary.l2_source.empty()) {
    html.paragraph(qtext(msg::details::l2_source{.gpu = run.summary.l2_source}), colors.muted);
  }
  if (!run.summary.rates_source.empty()) {
    html.paragraph(qtext(msg::details::rates_source{.from = run.summary.rates_source}), colors.muted);
  }
  if (record.origin() == Provenance::extrapolated) {
    html.paragraph(qtext(msg::details::extrapolated{}), colors.muted);
  }
  bool has_tile_row = false;
  for (const Field& setting : settings) {
    if (is_tile_setting(setting)) {  // all tile settings in one row
      if (!std::exchange(has_tile_row, true)) html.row(qtext(msg::details::tile{}), format_tile(spec.config()));
    } else if (setting.role != FieldRole::algorithm &&
               (setting.shown != FieldVisibility::if_set || is_set(setting, spec))) {
      const bool lengths = setting.parts.size() == 2 && problem.n_q != problem.n_k;
      html.row(lengths ? qtext(msg::details::lengths{}) : qtext(setting.label()), setting_value(setting, spec).text);
    }
  }

  if (record.disposition != Disposition::ok) {
    html.heading(qtext(title(record.disposition)));
    html.paragraph(qtext(record.reason), disposition_color(record.disposition, colors.dark));
  } else if (!record.reason.empty()) {
    html.paragraph(qtext(record.reason), colors.muted);
  }
}

void add_times(HtmlTable& html, const PointRecord& record) {
  html.heading(qtext(msg::details::time{}));
  add_metrics(html, record, "all", is_time);
  if (const KernelRecord* all = record.kernel("all"); all != nullptr && !all->samples_ns.empty()) {
    html.row(qtext(msg::details::samples{}), QString::number(all->samples_ns.size()), origin_of(record));
  }
  if (record.rounds.size() > 1) {
    html.row(qtext(msg::details::rounds{}), QString::number(record.rounds.size()), origin_of(record));
  }
}

/// Adds the counted utilization of each unit, all of one base, and the top stalls.
void add_why(HtmlTable& html, const PointRecord& record) {
  const std::vector<analysis::UnitUtilization> uses = analysis::unit_utilizations(record);
  const bool of_time = std::ranges::all_of(uses, &analysis::UnitUtilization::of_time);
  html.heading(of_time                                   ? qtext(msg::details::unit_utilization{})
               : analysis::is_relative_to_kernel(record) ? qtext(msg::details::unit_utilization_of_cycles{})
                                                         : qtext(msg::details::unit_utilization_of_range{}));
  for (const analysis::UnitUtilization& use : uses) {
    html.row(label_of(*use.metric), format_value(use.value, use.metric->unit), word_of(use.provenance));
  }
  if (const auto share = evaluate(metric_key::shared_conflict_share, record)) {
    html.row(metric_label(share->name), qtext(Share(share->value)), word_of(share->provenance));
  }
  html.heading(qtext(msg::details::stalls{}));
  for (const analysis::UnitUtilization& stall : analysis::top_stalls(record))
    add_metric(html, record, stall.metric->key);
  html.heading({});
}

/// Adds the predicted utilization of each unit and compares it with counters.
void add_bound(HtmlTable& html, const PointRecord& record) {
  const std::vector<analysis::UnitUtilization> predicted = analysis::predicted_utilizations(record);
  if (predicted.empty()) return;
  html.heading(qtext(msg::details::predicted_utilization{}));
  for (const analysis::UnitUtilization& use : predicted) add_metric(html, record, use.metric->key);
  if (const auto both = analysis::compare_bounds(record)) {
    html.paragraph(qtext(analysis::display_text(*both)), html.colors().muted);
  }
}

void add_counters(HtmlTable& html, const PointRecord& record) {
  const KernelRecord* all = record.kernel("all");
  if (all == nullptr) return;
  html.heading(qtext(msg::details::bytes{}));
  add_metrics(html, record, "all", is_bytes);
  if (const auto found = analysis::half_filled_sectors(record)) {
    html.paragraph(qtext(analysis::describe(*found)), html.colors().muted);
  }
  html.heading(qtext(msg::details::other_values{}));
  add_metrics(html, record, "all", [](const Metric& metric) { return !is_time(metric) && !is_bytes(metric); });
  if (!all->occupancy_limiter.empty()) {
    html.row(qtext(msg::details::limited_by{}), qtext(analysis::limiter_title(all->occupancy_limiter)));
  }
  add_why(html, record);
  add_bound(html, record);
  bool headed = false;
  for (const MetricValue& value : all->metrics) {
    if (!is_extra(value)) continue;
    if (!std::exchange(headed, true)) html.heading(qtext(msg::details::extra_counters{}));
    html.row(QString::fromStdString(value.name), format_value(value.value, value.unit), word_of(value.provenance));
  }
}

void add_kernels(HtmlTable& html, const PointRecord& record) {
  double apart = 0;
  std::size_t kernels = 0;
  for (const KernelRecord& kernel : record.kernels) {
    const auto time =
        kernel.kernel == "all" ? std::nullopt : evaluate(metric_key::time_median_ns, record, kernel.kernel);
    if (!time) continue;
    apart += time->value;
    ++kernels;
  }
  const auto together = evaluate(metric_key::time_median_ns, record);
  if (kernels > 1 && together && apart > together->value) {
    html.paragraph(qtext(msg::details::separate_kernel_times{}), html.colors().muted);
  }
  for (const KernelRecord& kernel : record.kernels) {
    if (kernel.kernel == "all") continue;
    html.heading(qtext(msg::details::kernel{.kernel = kernel.kernel}));
    add_metrics(html, record, kernel.kernel, [](const Metric&) { return true; });
  }
}

void add_facts(HtmlTable& html, const PointRecord& record, PointFact::FactSubject about) {
  for (const PointFact& fact : point_facts()) {
    const auto value = fact.about == about ? value_of(fact, record) : std::nullopt;
    if (value) html.row(qtext(fact.label()), format_metric(*value), word_of(value->provenance));
  }
}

void add_check(HtmlTable& html, const PointRecord& record) {
  if (!record.max_abs_error) return;
  html.heading(qtext(msg::details::verification{}));
  add_facts(html, record, PointFact::FactSubject::check);
}

void add_clocks(HtmlTable& html, const PointRecord& record) {
  if (!record.clocks) return;
  html.heading(qtext(msg::details::gpu{}));
  add_facts(html, record, PointFact::FactSubject::device);
}

void add_launches(HtmlTable& html, const PointRecord& record) {
  html.heading(qtext(msg::details::launch_section{}));
  for (const KernelRecord& kernel : record.kernels) {
    if (!kernel.launch) continue;
    const LaunchRecord& launch = *kernel.launch;
    QStringList options;
    for (const std::string& define : launch.defines) options << QString::fromStdString(define);
    html.row(QString::fromStdString(launch.kernel), QString::fromStdString(launch.entry),
             QString::fromStdString(launch.source_file));
    if (record.manifest && record.manifest->host_code) continue;  // host code launches its own kernels
    html.paragraph(qtext(msg::details::launch{.options = options.join(QLatin1Char(' ')).toStdString(),
                                              .threads = launch.threads,
                                              .x = launch.grid[0],
                                              .y = launch.grid[1],
                                              .z = launch.grid[2]}),
                   html.colors().muted);
  }
  if (record.manifest) {
    html.row(qtext(msg::details::manifest{}), QString::fromStdString(describe(*record.manifest)));
  }
}

}  // namespace

PointValues describe_point(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                           std::span<const Field> settings) {
  HtmlTable html(palette, origin_of(record));
  add_setting(html, run, record, settings);
  add_times(html, record);
  add_counters(html, record);
  add_kernels(html, record);
  add_check(html, record);
  add_clocks(html, record);
  add_launches(html, record);
  const int rows = html.rows();
  return {.html = html.take(), .count = rows};
}

QString describe_unreadable_point_html(const ShownPoint& point, const QString& why, const QPalette& palette) {
  HtmlTable html(palette);
  add_title(html, point.spec.algorithm);
  html.paragraph(QString::fromStdString(describe(point.spec)), html.colors().muted);
  html.heading(QStringLiteral("Cannot read the details"));
  html.paragraph(why, disposition_color(Disposition::crashed, html.colors().dark));
  return html.take();
}

}  // namespace attnscope::ui
