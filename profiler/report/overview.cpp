// SPDX-License-Identifier: Apache-2.0
// First page of a report without a compared row: the answer in one paragraph, and a table of at most eight points.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "messages/compare.h"
#include "messages/report.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/curves/curves.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/impossible_values.h"
#include "profiler/report/report_parts.h"
#include "profiler/roofline/roofline.h"
#include "profiler/tilemap/tile_map.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::Plot;
using analysis::PlotKind;
using analysis::Row;

constexpr std::size_t max_table_rows = 8;

/// Points of the first page, and what they are: "At N 4096".
struct Overview {
  std::vector<Row> rows;  ///< in the order of the table
  Message caption;
};

/// Returns sentences on impossible values, linked to the worst point of each limit; empty without such values.
Paragraph impossible_values(const Input& input) {
  struct Kind {
    std::size_t count = 0;
    analysis::ImpossibleValue worst;
    Row row = 0;
  };
  std::map<analysis::BrokenLimit, Kind> kinds;
  std::size_t points = 0;
  for (const Row row : input.table.rows()) {
    const auto found = analysis::impossible_value(input.table, row);
    if (!found) continue;
    ++points;
    Kind& kind = kinds[found->limit];
    const bool is_low = found->limit == analysis::BrokenLimit::compulsory_bytes;
    const bool worse = is_low ? found->ratio() < kind.worst.ratio() : found->ratio() > kind.worst.ratio();
    if (kind.count++ == 0 || worse) std::tie(kind.worst, kind.row) = std::tie(*found, row);
  }
  if (points == 0) return {};
  Paragraph words = plain_paragraph(msg::report::impossible{.all = input.table.size(), .points = points});
  for (const auto& [limit, kind] : kinds) {
    const std::string percent = text(Share(kind.worst.ratio()));
    const std::size_t count = kind.count;
    Message each = msg::report::above_dram_rate{.percent = percent, .points = count};
    if (limit == analysis::BrokenLimit::flop_rate) {
      each = msg::report::above_flop_rate{.percent = percent, .points = count};
    } else if (limit == analysis::BrokenLimit::compulsory_bytes) {
      each = msg::report::below_compulsory{.percent = percent, .points = count};
    }
    words.append(sentence(text(each), {{percent, kind.row}}));
    if (kind.worst.is_likely_unit_error()) words.append(plain_paragraph(msg::report::unit_error{}));
  }
  return words;
}

std::string where_of(const Context& context, const ComparablePoint& point) {
  return gpu_of(context, context.table().run_index(*point.point.row));
}

/// Returns "Naive moves 64.5 times the DRAM bytes of FA2 at N 4096 on H200 (8.73 GB, 135 MB)."; empty if no series
/// differ significantly.
Paragraph bytes_sentence(const Context& context) {
  const Plot* plot = context.plot(PlotKind::bytes);
  if (plot == nullptr) return {};
  const analysis::CurveSet set = curves_of(context, *plot);
  const std::vector<ComparablePoint> rivals = comparable_points(context, set, analysis::Quantity::dram);
  if (rivals.empty()) return {};
  const ComparablePoint& most = rivals.front();
  const ComparablePoint& least = rivals.back();
  if (!(least.point.value > 0) ||
      !differs_significantly(context.table(), most.point, least.point, analysis::Quantity::dram))
    return {};
  const std::string more = text(Bytes(most.point.value));
  const std::string less = text(Bytes(least.point.value));
  const Message words = msg::report::most_bytes{.device = where_of(context, most),
                                                .least = series_without_device(context, least.name),
                                                .least_bytes = less,
                                                .most = series_without_device(context, most.name),
                                                .most_bytes = more,
                                                .place = analysis::position_text(set, most.point.n),
                                                .ratio = number_text(most.point.value / least.point.value)};
  return sentence(text(words), {{more, most.point.row}, {less, least.point.row}});
}

/// Returns "FA3 is the fastest at N 4096 on H200: 498 µs, 4.81 times as fast as Naive (2.39 ms).".
Paragraph time_sentence(const Context& context, const std::vector<ComparablePoint>& rivals, const std::string& place) {
  const ComparablePoint& slowest = rivals.front();
  const ComparablePoint& fastest = rivals.back();
  const std::string device = where_of(context, fastest);
  const auto is_slower = [&](const ComparablePoint& rival) {
    return fastest.point.value > 0 &&
           differs_significantly(context.table(), rival.point, fastest.point, analysis::Quantity::time);
  };
  if (!is_slower(slowest)) return plain_paragraph(msg::report::no_difference{.device = device, .place = place});
  std::vector<std::string> tied;
  for (auto rival = rivals.rbegin(); rival != rivals.rend() && !is_slower(*rival); ++rival)
    tied.push_back(series_without_device(context, rival->name));
  const std::string series = fmt::format("{}", fmt::join(tied, ", "));
  const std::string slow = series_without_device(context, slowest.name);
  const std::string least = text(Nanoseconds(fastest.point.value));
  const std::string most = text(Nanoseconds(slowest.point.value));
  const std::string ratio = number_text(slowest.point.value / fastest.point.value);
  Message words = msg::report::fastest{.device = device,
                                       .place = place,
                                       .ratio = ratio,
                                       .series = series,
                                       .slowest = slow,
                                       .slowest_time = most,
                                       .time = least};
  if (tied.size() > 1) {
    words = msg::report::fastest_tied{.device = device,
                                      .place = place,
                                      .ratio = ratio,
                                      .series = series,
                                      .slowest = slow,
                                      .slowest_time = most,
                                      .time = least};
  }
  return sentence(text(words), {{least, fastest.point.row}, {most, slowest.point.row}});
}

/// Series at the longest N that two of them cover, fastest first.
Overview series_overview(const Context& context, Paragraph& answer) {
  const Plot* plot = context.plot(PlotKind::time);
  answer.append(bytes_sentence(context));
  if (plot == nullptr) return {};
  const analysis::CurveSet set = curves_of(context, *plot);
  const std::vector<ComparablePoint> rivals = comparable_points(context, set, analysis::Quantity::time);
  if (rivals.empty()) return {};
  answer.append(time_sentence(context, rivals, analysis::position_text(set, rivals.front().point.n)));
  Overview overview{.rows = {}, .caption = msg::report::series_caption{}};
  for (auto rival = rivals.rbegin(); rival != rivals.rend(); ++rival) overview.rows.push_back(*rival->point.row);
  return overview;
}

/// The longest N of the series with the most points.
Overview length_overview(const Context& context, Paragraph& answer) {
  const Plot* plot = context.plot(PlotKind::time);
  if (plot == nullptr) return {};
  const analysis::Curve* longest = nullptr;
  const analysis::CurveSet set = curves_of(context, *plot);
  for (const analysis::Curve& curve : set.curves) {
    if (curve.kind != analysis::CurveKind::measured || curve.name.age > 0) continue;
    if (longest == nullptr || curve.points.size() > longest->points.size()) longest = &curve;
  }
  if (longest == nullptr) return {};
  Overview overview{.rows = {}, .caption = msg::report::lengths_caption{}};
  for (auto point = longest->points.rbegin(); point != longest->points.rend(); ++point) {
    if (point->row) overview.rows.push_back(*point->row);
  }
  if (overview.rows.empty()) return {};
  const Row row = overview.rows.front();
  const analysis::ValueColumn& rates = context.table().values(metric_key::tflops);
  if (analysis::impossible_value(context.table(), row) || !rates.has(row)) return overview;
  const std::string time = text(Nanoseconds(context.table().values(metric_key::time_median_ns).value(row)));
  const Message words = msg::report::reaches{.device = gpu_of(context, context.table().run_index(row)),
                                             .n = analysis::lengths_text(context.table().problem(row)),
                                             .rate = number_text(rates.value(row)),
                                             .series = series_without_device(context, longest->name),
                                             .time = time};
  answer.append(sentence(text(words), {{time, row}}));
  return overview;
}

/// The fastest tiles of the largest map of times.
Overview tile_overview(const Context& context, Paragraph& answer) {
  const Plot* plot = context.plot(PlotKind::maps);
  const analysis::ValueColumn& times = context.table().values(metric_key::time_median_ns);
  if (plot == nullptr) return {};
  Overview overview{.rows = {}, .caption = msg::report::tiles_caption{}};
  // One point per tile: the map omits repeated measurements.
  const std::vector<Row> tiles =
      analysis::build_tile_map(context.table(), plot->filter.rows(), metric_key::time_median_ns).rows();
  std::ranges::copy_if(tiles, std::back_inserter(overview.rows),
                       [&](Row row) { return times.has(row) && !analysis::impossible_value(context.table(), row); });
  if (overview.rows.size() < 2) return {};
  std::ranges::stable_sort(overview.rows, {}, [&](Row row) { return times.value(row); });
  const Row fastest = overview.rows.front();
  const Row slowest = overview.rows.back();
  const std::string least = text(Nanoseconds(times.value(fastest)));
  const std::string most = text(Nanoseconds(times.value(slowest)));
  const std::string n = analysis::lengths_text(context.table().problem(fastest));
  const std::string series = analysis::short_title(context.table().algorithms(), context.table().algorithm(fastest));
  const Message words = msg::report::fastest_tile{.device = gpu_of(context, context.table().run_index(fastest)),
                                                  .n = n,
                                                  .ratio = number_text(times.value(slowest) / times.value(fastest)),
                                                  .series = series,
                                                  .slowest = describe(context.table().spec(slowest).tile),
                                                  .slowest_time = most,
                                                  .tile = describe(context.table().spec(fastest).tile),
                                                  .tiles = overview.rows.size(),
                                                  .time = least};
  answer.append(sentence(text(words), {{least, fastest}, {most, slowest}}));
  return overview;
}

/// Nearest roofs of points by row: "mma.sync 62%".
std::unordered_map<Row, std::string> nearest_roofs(const Context& context) {
  std::unordered_map<Row, std::string> roofs;
  const Plot* plot = context.plot(PlotKind::time);
  if (plot == nullptr) return roofs;
  for (const DeviceRoofline& device : make_rooflines(context, *plot)) {
    for (const analysis::RooflineSeries& series : device.report.series) {
      for (const analysis::RooflinePoint& point : series.points) {
        if (point.shares.empty() || !point.intensity(analysis::RooflineLevel::dram)) continue;
        roofs[point.row] =
            fmt::format("{} {}", analysis::to_string(point.shares.front().bound), text(Share(point.roof_share())));
      }
    }
  }
  return roofs;
}

/// Adds a value and its ratio to the least of all rows.
void add_relative(analysis::TableBuilder<Row>& table, const analysis::ValueColumn& values, const std::string& key,
                  const Message& title, const Message& relative, std::function<std::string(Row, double)> words) {
  double least = std::numeric_limits<double>::infinity();
  for (const Row row : table.lines()) {
    if (values.has(row) && values.value(row) > 0) least = std::min(least, values.value(row));
  }
  table.add({.key = key, .title = text(title), .kind = analysis::ColumnKind::number},
            [&values, words = std::move(words)](Row row) {
              if (!values.has(row)) return analysis::Cell{};
              return analysis::Cell{.text = words(row, values.value(row)), .number = values.value(row), .row = row};
            });
  table.add({.key = key + "_ratio", .title = text(relative), .kind = analysis::ColumnKind::number}, [&values,
                                                                                                     least](Row row) {
    if (!values.has(row)) return analysis::Cell{};
    const double ratio = values.value(row) / least;
    return analysis::Cell{.text = fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0), .number = ratio};
  });
}

Table overview_table(const Context& context, const Overview& overview) {
  const analysis::PointTable& points = context.table();
  std::vector<Row> rows = overview.rows;
  rows.resize(std::min(rows.size(), max_table_rows));
  analysis::SplitSettings settings = analysis::split_settings(points, rows);
  analysis::TableBuilder<Row> table(rows);
  for (const Field& setting : settings.varying) {
    table.add(analysis::settings_column(points, setting, rows.front()), [&points, setting](Row row) {
      return analysis::Cell{.text = analysis::setting_text(points, setting, row)};
    });
  }
  const auto distinct = [&](auto of_row) {
    std::set<std::string> names;
    for (const Row row : rows) names.insert(of_row(row));
    return names.size() > 1;
  };
  const auto device = [&](Row row) { return gpu_of(context, points.run_index(row)); };
  const auto run = [&](Row row) { return points.run(row).title; };
  if (distinct(device)) table.add({.key = "device", .title = text(msg::report::fact_gpu{})}, device);
  if (distinct(run)) table.add({.key = "run", .title = text(msg::report::column_run{})}, run);
  const auto origin = [&](Row row) { return origin_text(points.points().origin(row)); };
  std::string common = settings.common;
  if (distinct(origin)) {
    table.add({.key = "origin", .title = text(msg::report::column_origin{})}, origin);
  } else if (points.points().origin(rows.front()) != Provenance::measured) {
    common += fmt::format("{}{}", common.empty() ? "" : ", ", origin(rows.front()));
  }
  add_relative(table, points.values(metric_key::time_median_ns), "time", msg::report::median_time{},
               msg::report::over_fastest{}, [&points](Row row, double ns) {
                 const std::string time = text(Nanoseconds(ns));
                 return points.throttled(row) ? text(msg::report::throttled_time{.time = time}) : time;
               });
  const analysis::ValueColumn& rates = points.values(metric_key::tflops);
  table.add({.key = "tflops", .title = "TFLOP/s", .kind = analysis::ColumnKind::number}, [&rates](Row row) {
    if (!rates.has(row)) return analysis::Cell{};
    return analysis::Cell{.text = number_text(rates.value(row)), .number = rates.value(row)};
  });
  add_relative(table, points.dram_traffic(), "dram", msg::report::dram_bytes{}, msg::report::over_least{},
               [](Row, double bytes) { return text(Bytes(bytes)); });
  const std::unordered_map<Row, std::string> roofs = nearest_roofs(context);
  table.add({.key = "roof", .title = text(msg::report::nearest_roof{})}, [&roofs](Row row) {
    const auto found = roofs.find(row);
    return found == roofs.end() ? std::string() : found->second;
  });
  analysis::Table finished = std::move(table).take();
  finished.drop_empty_columns();
  const std::string caption = text(overview.caption);
  if (common.empty()) return fill_table(finished, "overview", caption);
  return fill_table(finished, "overview",
                    fmt::format("{} {}", caption, text(msg::compare::all_rows{.settings = common})));
}

}  // namespace

std::vector<ComparablePoint> comparable_points(const Context& context, const analysis::CurveSet& set,
                                               analysis::Quantity quantity) {
  std::map<std::pair<std::string, double>, std::vector<ComparablePoint>> at;
  for (const analysis::Curve& curve : set.curves) {
    if (curve.kind != analysis::CurveKind::measured || curve.quantity != quantity || curve.name.age > 0) continue;
    for (const analysis::CurvePoint& point : curve.points) {
      if (!point.row || analysis::impossible_value(context.table(), *point.row)) continue;
      at[{context.table().run(*point.row).device_id, point.n}].push_back({curve.name, point});
    }
  }
  std::vector<ComparablePoint> best;
  double longest = 0;
  for (const auto& [where, rivals] : at) {
    if (rivals.size() < 2 || where.second <= longest) continue;
    longest = where.second;
    best = rivals;
  }
  std::ranges::stable_sort(best, std::greater<>(), [](const ComparablePoint& rival) { return rival.point.value; });
  return best;
}

void add_overview(const Context& context, Document& document) {
  if (context.compared) {
    for (const Message& missing : context.compared->missing) document.answer.append(plain_paragraph(missing));
  }
  document.answer.append(impossible_values(context.input));
  Overview overview;
  for (const auto find : {series_overview, length_overview, tile_overview}) {
    if (overview = find(context, document.answer); !overview.rows.empty()) break;
  }
  if (!overview.rows.empty()) document.table = overview_table(context, overview);
  if (document.answer.words.empty()) document.answer = plain_paragraph(msg::report::no_result{});
}

}  // namespace attnscope::report
