// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/point_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/registry.h"
#include "messages/details.h"
#include "messages/tile_map.h"
#include "profiler/metrics/manifest.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/impossible_values.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/models/curve_series.h"
#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::TileMap;

/// A point's place in the map of its problem's tiles, of which at least two have a time.
struct TileStanding {
  TileMap map;
  TileMap::Place place;
  analysis::FastestTiles best;

  [[nodiscard]] double slowdown() const { return analysis::slowdown(map, *map.at(place).value); }
  [[nodiscard]] bool is_fastest() const { return place == best.fastest; }
};

std::optional<TileStanding> standing_of(const ShownPoint& point, const PointSet& points) {
  const std::optional<Row> row = points.row_of(point);
  if (!row) return std::nullopt;
  TileMap map = analysis::build_map_around(points.table(), *row);
  const std::optional<TileMap::Place> place = map.empty() ? std::nullopt : map.index_of(*row);
  if (!place || !has_slowdowns(map) || !map.at(*place).value) return std::nullopt;
  const analysis::FastestTiles best = analysis::fastest_tiles(map);
  if (best.timed < 2) return std::nullopt;
  return TileStanding{std::move(map), *place, best};
}

QString comparison_sentence(const TileStanding& tile) {
  const int percent = static_cast<int>(std::lround(100 * analysis::plateau_share));
  const auto& [map, place, best] = tile;
  if (!tile.is_fastest()) {
    return qtext(
        msg::details::fastest_is{.tile = place_text(map, best.fastest), .time = text(Nanoseconds(*map.minimum))});
  }
  if (!best.next) return qtext(msg::details::is_fastest_alone{.percent = percent});
  return qtext(msg::details::is_fastest{.next = place_text(map, *best.next),
                                        .percent = percent,
                                        .slowdown = analysis::slowdown_text(slowdown(map, *map.at(*best.next).value))});
}

/// An imported name may be long.
QString short_name(const std::string& algorithm) {
  constexpr qsizetype most = 40;
  return shortened(short_title(algorithm), most);
}

QString problem_text(const ShownPoint& point, const PointRecord& record) {
  const PointSpec& spec = point.spec;
  QStringList words{short_name(spec.algorithm), QStringLiteral("N ") + format_lengths(spec.problem),
                    QStringLiteral("d %1").arg(spec.problem.d), to_qstring(to_string(spec.problem.pass)),
                    format_mask(spec.problem.mask)};
  PointSpec rest = spec;
  rest.problem.pass = Pass::fwd;  // already in the text
  words << non_default_settings(rest) << to_qstring(to_string(spec.problem.dtype))
        << qtext(msg::tile_map::heads{.heads = format_heads(spec.problem).toStdString()})
        << device_title(point.run->summary);
  if (record.disposition == Disposition::ok) words << to_qstring(record.origin());
  words.removeAll(QString());
  return words.join(QStringLiteral(" · "));
}

QString pin_sentence(const ShownPoint& point, const PointRecord& record, const PinnedPoint& pinned) {
  const auto time = evaluate(metric_key::time_median_ns, record);
  const auto base = evaluate(metric_key::time_median_ns, *pinned.record);
  const bool comparable = time && base && record.origin() == pinned.record->origin() &&
                          record.spec.problem == pinned.record->spec.problem && point.spec != pinned.record->spec;
  if (!comparable || !(base->value > 0)) return {};
  return qtext(msg::details::against_pin{.change = analysis::change_text(time->value / base->value),
                                         .time = text(Nanoseconds(base->value)),
                                         .title = pinned.title.toStdString()});
}

/// Bytes with their ratio to the model; nullopt if not known.
std::optional<PointSummary::Value> bytes_value(const QString& label, const std::optional<MetricValue>& bytes,
                                               const std::optional<MetricValue>& ratio, bool compulsory) {
  if (!bytes) return std::nullopt;
  PointSummary::Value value{.label = label, .value = format_metric(*bytes)};
  if (ratio) {
    value.note = compulsory ? qtext(msg::details::of_compulsory{.ratio = number_text(ratio->value, 3)})
                            : qtext(msg::details::of_model{.ratio = metric_text(*ratio)});
  }
  return value;
}

std::vector<PointSummary::Value> five_values(const ShownPoint& point, const PointRecord& record,
                                             const std::optional<TileStanding>& tile) {
  std::vector<PointSummary::Value> values;
  const auto add = [&](std::optional<PointSummary::Value> value) {
    if (value) values.push_back(std::move(*value));
  };
  if (const auto time = evaluate(metric_key::time_median_ns, record)) {
    PointSummary::Value value{.label = qtext(msg::details::time{}), .value = format_metric(*time)};
    if (tile) {
      value.note = tile->is_fastest()
                       ? qtext(msg::details::fastest{})
                       : qtext(msg::details::against_fastest{.slowdown = analysis::slowdown_text(tile->slowdown())});
    }
    add(std::move(value));
  }
  if (const auto rate = evaluate(metric_key::tflops, record)) {
    add(PointSummary::Value{.label = qtext(msg::details::rate{}), .value = format_metric(*rate)});
  }
  add(bytes_value(qtext(msg::details::dram{}), dram_traffic(record), evaluate(metric_key::dram_over_compulsory, record),
                  true));
  if (const auto occupancy = analysis::launch_occupancy(record, point.run->summary.limits)) {
    add(PointSummary::Value{
        .label = qtext(msg::details::warps{}),
        .value = qtext(msg::details::warps_of{.most = occupancy->max_warps_per_sm, .warps = occupancy->warps_per_sm}),
        .note = qtext(msg::details::limited_by_note{.limiter = analysis::limiter_title(occupancy->limiter)})});
  }
  if (const auto bound = analysis::counted_bound(record)) {
    const std::string percent = fmt::format("{:.0f}", bound->busiest.value);
    const QString busiest = qtext(msg::details::busiest{.percent = percent, .unit = analysis::unit_text(*bound)});
    add(PointSummary::Value{.label = qtext(msg::details::bottleneck{}),
                            .value = bound->binds ? busiest : qtext(msg::details::latency_bound{}),
                            .note = bound->binds ? QString() : busiest});
  } else {
    add(bytes_value(qtext(msg::details::sm_l2{}), evaluate(metric_key::l2_sm_bytes, record),
                    evaluate(metric_key::l2_sm_over_model, record), false));
  }
  return values;
}

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

QString label_of(const Metric& metric) {
  return qtext(metric.label()).replace(QStringLiteral("<->"), QStringLiteral("↔"));
}

void add_metric(HtmlTable& html, const PointRecord& record, std::string_view key, std::string_view kernel = "all") {
  const auto value = evaluate(key, record, kernel);
  if (!value) return;
  html.row(metric_label(key), format_metric(*value), to_qstring(value->provenance));
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
    html.row(qtext(msg::details::samples{}), QString::number(all->samples_ns.size()), to_qstring(record.origin()));
  }
  if (record.rounds.size() > 1) {
    html.row(qtext(msg::details::rounds{}), QString::number(record.rounds.size()), to_qstring(record.origin()));
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
    html.row(label_of(*use.metric), format_value(use.value, use.metric->unit), to_qstring(use.provenance));
  }
  if (const auto share = evaluate(metric_key::shared_conflict_share, record)) {
    html.row(metric_label(share->name), qtext(Share(share->value)), to_qstring(share->provenance));
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
    html.row(QString::fromStdString(value.name), format_value(value.value, value.unit), to_qstring(value.provenance));
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

void add_facts(HtmlTable& html, const PointRecord& record, PointFact::FactSubject about, const Message& heading) {
  html.heading(qtext(heading));
  for (const PointFact& fact : point_facts()) {
    const auto value = fact.about == about ? value_of(fact, record) : std::nullopt;
    if (value) html.row(qtext(fact.label()), format_metric(*value), to_qstring(value->provenance));
  }
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

QString occupancy_sentence(const PointSet& points, const TileMap& map, TileMap::Place a, TileMap::Place b,
                           PointRecordReader& records) {
  const auto named = [&](TileMap::Place place) -> std::optional<analysis::NamedOccupancy> {
    const ShownPoint point = points[map.at(place).row];
    const std::shared_ptr<const PointRecord> record = records.read(point).record;
    if (record == nullptr) return std::nullopt;
    auto occupancy = analysis::launch_occupancy(*record, point.run->summary.limits);
    if (!occupancy) return std::nullopt;
    return analysis::NamedOccupancy{place_text(map, place), std::move(*occupancy)};
  };
  const auto first = named(a);
  const auto second = first ? named(b) : std::nullopt;
  return second ? qtext(analysis::compare_occupancy(*first, *second)) : QString();
}

QString headline_causes(const PointSet& points, const TileMap& map, PointRecordReader& records) {
  if (!has_slowdowns(map)) return {};
  const auto [fastest, next, timed] = analysis::fastest_tiles(map);
  QStringList sentences;
  if (next) sentences << occupancy_sentence(points, map, fastest, *next, records);
  if (const auto record = records.read(points[map.at(fastest).row]).record; record != nullptr) {
    const Message cause = analysis::bottleneck_text(*record);
    if (!cause.empty()) sentences << qtext(msg::tile_map::cause_of{.cause = cause, .tile = place_text(map, fastest)});
  }
  sentences.removeAll(QString());
  return sentences.join(QLatin1Char(' '));
}

PointSummary summarize_point(const ShownPoint& point, const PointRecord& record, const PointSet& points,
                             PointRecordReader& records, const std::optional<PinnedPoint>& pinned) {
  PointSummary summary;
  const std::optional<TileStanding> tile = standing_of(point, points);
  QStringList title{has_tile(point.spec.tile) ? format_tile(point.spec.config()) : short_name(point.spec.algorithm)};
  if (const auto time = evaluate(metric_key::time_median_ns, record)) title << format_metric(*time);
  if (record.disposition != Disposition::ok) title << qtext(attnscope::title(record.disposition));
  if (tile) {
    title << (tile->is_fastest() ? qtext(msg::details::fastest{})
                                 : to_qstring(analysis::slowdown_text(tile->slowdown())));
    summary.sentences << comparison_sentence(*tile);
    const std::optional<TileMap::Place> other = tile->is_fastest() ? tile->best.next : tile->best.fastest;
    if (other) summary.sentences << occupancy_sentence(points, tile->map, tile->place, *other, records);
  }
  if (record.disposition != Disposition::ok) summary.sentences << qtext(record.reason);
  summary.sentences << qtext(analysis::bottleneck_text(record));
  if (pinned && pinned->record != nullptr) summary.sentences << pin_sentence(point, record, *pinned);
  const std::optional<Row> row = points.row_of(point);
  if (row && points.table().is_throttling_unusual(*row)) {
    const bool throttled = points.table().throttled(*row);
    summary.sentences << (throttled ? qtext(msg::details::throttled{
                                          .reasons = describe_throttle_reasons(record.clocks->throttle_reasons)})
                                    : qtext(msg::details::not_throttled{}));
  }
  summary.sentences.removeAll(QString());
  summary.title = title.join(QStringLiteral("   "));
  summary.problem = problem_text(point, record);
  summary.values = five_values(point, record, tile);
  return summary;
}

PointValues describe_point(const RunInfo& run, const PointRecord& record, const QPalette& palette,
                           std::span<const Field> settings) {
  HtmlTable html(palette, to_qstring(record.origin()));
  add_setting(html, run, record, settings);
  add_times(html, record);
  add_counters(html, record);
  add_kernels(html, record);
  if (record.max_abs_error) add_facts(html, record, PointFact::FactSubject::check, msg::details::verification{});
  if (record.clocks) add_facts(html, record, PointFact::FactSubject::device, msg::details::gpu{});
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
