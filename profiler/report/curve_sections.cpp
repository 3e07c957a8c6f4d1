// SPDX-License-Identifier: Apache-2.0
// Bytes, times and rates against N, the laws laid through the bytes, and bytes by kernel.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "messages/law.h"
#include "messages/report.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/sharing.h"
#include "profiler/report/sections.h"
#include "profiler/report/svg.h"
#include "profiler/roofline/roofline.h"
#include "profiler/units/spelling.h"

namespace attnscope::report {
namespace {

using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::CurveSet;
using analysis::Plot;
using analysis::PlotKind;
using Shown = analysis::Quantity;

/// Base units of exports.
std::string_view unit_of(Shown quantity) {
  switch (quantity) {
    case Shown::time:
      return "ns";
    case Shown::rate:
      return "Tflop/s";
    case Shown::dram:
    case Shown::sm_l2:
    case Shown::metric:  // of curves that a report does not ask for
      break;
  }
  return "byte";
}

std::string kind_text(const Context& context, const Curve& curve) {
  switch (curve.kind) {
    case CurveKind::measured:
      return series_text(context, curve.name);
    case CurveKind::model:
      return text(say::report::curve_model{.series = series_text(context, curve.name)});
    case CurveKind::fit:
      return text(say::report::curve_fit{.series = series_text(context, curve.name)});
    case CurveKind::paper_count:
      return text(say::report::curve_paper{.series = series_text(context, curve.name)});
    case CurveKind::compulsory:
      break;
  }
  return text(say::report::curve_minimum{});
}

/// "FA2, N 4096: 123456789 byte (123 MB), measured, quartiles 120 to 125": with the value as exports have it.
std::string said_of(const std::string& series, const Curve& curve, const CurvePoint& point) {
  const std::string_view unit = unit_of(curve.quantity);
  std::string value = fmt::format("{} {}", exact_text(point.value), unit);
  if (unit != "Tflop/s") value += fmt::format(" ({})", value_text(point.value, unit));
  std::string said = text(say::report::read_out{
      .series = series, .n = exact_text(point.n), .value = value, .origin = origin_text(point.provenance)});
  if (point.high > point.low) {
    said +=
        text(say::report::read_out_spread{.low = value_text(point.low, unit), .high = value_text(point.high, unit)});
  }
  if (point.over_model) said += text(say::report::read_out_model{.ratio = fmt::format("{:.4f}", *point.over_model)});
  if (point.throttled) said += text(say::report::read_out_throttled{});
  return said;
}

class CurveFigure {
 public:
  CurveFigure(const Context& context, const Plot& plot, const CurveSet& set, Shown quantity)
      : context_(context), plot_(plot), set_(set), quantity_(quantity) {
    table_.columns = {{text(say::report::column_series{})},
                      {"N", true},
                      {fmt::format("{} [{}]", name(), unit_of(quantity)), true},
                      {text(say::report::column_q1{}), true},
                      {text(say::report::column_q3{}), true},
                      {text(say::report::column_origin{})},
                      {text(say::report::column_row{}), true}};
    for (const Curve& curve : set.curves) {
      if (curve.kind == CurveKind::compulsory ? quantity == Shown::dram : curve.quantity == quantity) add(curve);
    }
  }

  /// `of`: the GPU, where curves of several are drawn.
  void add_peaks(const KnownRoofs& known, const std::vector<analysis::Roof>& roofs, const std::string& device,
                 const std::string& of) {
    for (const analysis::Roof& roof : roofs) {
      if (of_bytes(roof.bound) || roof.bound == analysis::Bound::exp2) continue;
      if (chart_.lines.empty()) return;
      const double peak = roof.rate * 1e-12;
      highest_peak_ = std::max(highest_peak_, peak);
      Line line{text(say::report::peak{.unit = analysis::to_string(roof.bound)}), 5, Provenance::modelled, {}};
      if (!of.empty()) line.label += " · " + of;
      const std::string said = text(say::report::peak_read_out{.unit = analysis::to_string(roof.bound),
                                                               .rate = number_text(peak),
                                                               .source = source_text(known, roof, device)});
      line.marks.push_back({least_n_, peak, peak, peak, said});
      line.marks.push_back({most_n_, peak, peak, peak, said});
      chart_.lines.push_back(std::move(line));
    }
  }

  /// Theory alone is no picture of these points.
  [[nodiscard]] bool empty() const { return !has_values_; }
  [[nodiscard]] Figure finish(const std::string& id) && {
    const bool fixed = set_.queries.has_value();
    chart_.x = {fixed ? text(say::report::axis_keys{.n_q = *set_.queries}) : text(say::report::axis_length{}),
                Quantity::length, true};
    chart_.y = {axis(),
                quantity_ == Shown::time   ? Quantity::nanoseconds
                : quantity_ == Shown::rate ? Quantity::number
                                           : Quantity::bytes,
                quantity_ != Shown::rate || dwarfed()};
    Figure figure;
    figure.id = id;
    figure.chart.title = fmt::format("{} · {}", name(), problem_text(plot_));
    figure.chart.alt = text(say::report::alt_curves{
        .what = name(), .problem = problem_text(plot_), .lines = chart_.lines.size(), .list = list()});
    figure.caption = key_of(chart_);
    figure.chart.picture = std::move(chart_);
    figure.behind = std::move(table_);
    return figure;
  }

 private:
  [[nodiscard]] std::string name() const {
    switch (quantity_) {
      case Shown::dram:
        return text(say::report::dram_bytes{});
      case Shown::sm_l2:
        return text(say::report::sm_l2_bytes{});
      case Shown::time:
        return text(say::report::median_time{});
      case Shown::rate:
      case Shown::metric:  // of curves that a report does not ask for
        break;
    }
    return "TFLOP/s";
  }
  /// By the peaks, beside which no curve would be told from the axis.
  [[nodiscard]] bool dwarfed() const { return highest_ > 0 && highest_peak_ > 10 * highest_; }
  [[nodiscard]] std::string axis() const {
    if (quantity_ == Shown::rate) return text(say::report::axis_rate{});
    if (quantity_ == Shown::time) return text(say::report::axis_time{});
    return text(say::report::axis_bytes{});
  }
  [[nodiscard]] std::string list() const {
    std::string all;
    for (const Line& line : chart_.lines) all += fmt::format("{}{}", all.empty() ? "" : ", ", line.label);
    return all;
  }

  void add(const Curve& curve) {
    if (curve.kind == CurveKind::fit) return;
    const std::string series = kind_text(context_, curve);
    has_values_ = has_values_ || (curve.kind == CurveKind::measured && !curve.points.empty());
    Line line{series, color_of(curve), curve.provenance, {}};
    const bool follows_clocks = quantity_ == Shown::time || quantity_ == Shown::rate;
    for (const CurvePoint& point : curve.points) {
      const std::string said = said_of(series, curve, point);
      line.marks.push_back({point.n, point.value, point.low, point.high, said});
      highest_ = std::max(highest_, point.value);
      least_n_ = line.marks.size() == 1 && chart_.lines.empty() ? point.n : std::min(least_n_, point.n);
      most_n_ = std::max(most_n_, point.n);
      if (!point.row && curve.kind != CurveKind::compulsory) continue;  // theory between points is drawn, not listed
      const bool spread = point.high > point.low;
      table_.rows.push_back({{series},
                             {exact_text(point.n)},
                             {exact_text(point.value)},
                             {spread ? exact_text(point.low) : ""},
                             {spread ? exact_text(point.high) : ""},
                             {origin_text(point.provenance, point.throttled && follows_clocks)},
                             point.row ? Cell{row_name(*point.row), point.row} : Cell{}});
    }
    chart_.lines.push_back(std::move(line));
  }

  [[nodiscard]] int color_of(const Curve& curve) {
    if (curve.kind == CurveKind::compulsory) return 5;
    const std::string key = curve.name.algorithm + '\n' + curve.name.label + '\n' + curve.name.device;
    const auto place = static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
    if (place == keys_.size()) keys_.push_back(key);
    return palette_color(place, curve.name.age > 0);
  }

  const Context& context_;
  const Plot& plot_;
  const CurveSet& set_;
  Shown quantity_;
  LineChart chart_;
  Table table_;
  std::vector<std::string> keys_;
  double least_n_ = 0;
  double most_n_ = 0;
  double highest_ = 0;
  bool has_values_ = false;
  double highest_peak_ = 0;
};

void add_figure(std::vector<Block>& blocks, CurveFigure&& figure, std::string_view stem, std::size_t& number) {
  if (figure.empty()) return;
  blocks.emplace_back(std::move(figure).finish(fmt::format("{}-{}", stem, ++number)));
}

/// One point of several kernels.
struct KernelBar {
  analysis::Row row = 0;
  std::string label;  ///< its curve's
  double n = 0;
};

/// Of the points that curves of bytes show, the longest N last.
std::vector<KernelBar> kernel_bars(const Context& context, const Plot& plot) {
  const CurveSet set = curves_of(context, plot);
  std::vector<KernelBar> bars;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != Shown::dram) continue;
    for (const CurvePoint& point : curve.points) {
      // Their sum is one of them.
      if (!point.row || context.table().points().kernels(*point.row).size() < 3) continue;
      bars.push_back({*point.row, series_text(context, curve.name), point.n});
    }
  }
  std::ranges::stable_sort(bars, {}, &KernelBar::n);
  return bars;
}

/// What the bars are and, for want of room in the short ones, of which kernels.
std::string bars_key(const BarChart& chart, const Table& table) {
  std::string key;
  const auto add = [&](const Message& words) { key += fmt::format("{}{}", key.empty() ? "" : " ", text(words)); };
  const auto has = [&](auto is) { return std::ranges::any_of(chart.bars, is, &Bar::provenance); };
  const auto imported = [](Provenance origin) { return origin == Provenance::imported; };
  if (has([&](Provenance origin) { return !is_simulated(origin) && !imported(origin); })) add(say::report::bars_key{});
  if (has(is_simulated)) add(say::report::bars_simulated{});
  if (has(imported)) add(say::report::bars_imported{});
  // Columns: series, N, kernel.
  std::vector<std::pair<std::string, std::vector<std::string>>> series;
  for (const std::vector<Cell>& row : table.rows) {
    const auto found = std::ranges::find(series, row[0].text, &std::pair<std::string, std::vector<std::string>>::first);
    std::vector<std::string>& kernels =
        found != series.end() ? found->second : series.emplace_back(row[0].text, std::vector<std::string>()).second;
    if (std::ranges::count(kernels, row[2].text) == 0) kernels.push_back(row[2].text);
  }
  std::string all;
  for (const auto& [name, kernels] : series)
    all += fmt::format("{}{} {}", all.empty() ? "" : "; ", name, fmt::join(kernels, ", "));
  add(say::report::bars_kernels{.kernels = all});
  return key;
}

/// Of algorithms of several kernels; nothing where there are none.
std::optional<Figure> kernels_figure(const Context& context, const Plot& plot) {
  BarChart chart;
  chart.x = {text(say::report::axis_dram{}), Quantity::bytes, false};
  Table table{"",
              {{text(say::report::column_series{})},
               {"N", true},
               {text(say::report::column_kernel{})},
               {fmt::format("{} [byte]", text(say::report::dram_bytes{})), true},
               {fmt::format("{} [byte]", text(say::report::sm_l2_bytes{})), true},
               {text(say::report::column_origin{})},
               {text(say::report::column_row{}), true}},
              {}};
  for (const KernelBar& each : kernel_bars(context, plot)) {
    const Provenance origin = context.table().points().origin(each.row);
    const std::string n = exact_text(each.n);
    Bar bar{fmt::format("{} · N {}", each.label, length_text(each.n)), {}, origin};
    for (const analysis::KernelOfRow& kernel : context.table().points().kernels(each.row)) {
      if (kernel.is_sum()) continue;
      const auto dram = dram_traffic(kernel);
      const auto sm_l2 = evaluate(metric_key::l2_sm_bytes, kernel);
      table.rows.push_back({{each.label},
                            {n},
                            {kernel.name()},
                            {dram ? exact_text(dram->value) : ""},
                            {sm_l2 ? exact_text(sm_l2->value) : ""},
                            {origin_text(origin)},
                            {row_name(each.row), each.row}});
      if (!dram) continue;  // not counted is not none
      bar.parts.push_back({kernel.name(), dram->value,
                           text(say::report::kernel_read_out{.series = each.label,
                                                             .n = n,
                                                             .kernel = kernel.name(),
                                                             .bytes = exact_text(dram->value),
                                                             .text = text(Bytes(dram->value)),
                                                             .origin = origin_text(origin)})});
    }
    double sum = 0;
    for (const Bar::Part& part : bar.parts) sum += part.value;
    bar.sum = text(Bytes(sum));
    if (bar.parts.size() > 1) chart.bars.push_back(std::move(bar));
  }
  if (chart.bars.empty()) return std::nullopt;
  // The longest N tell most, and short ones would be slivers beside them.
  constexpr std::size_t most_bars = 8;
  const std::size_t left = chart.bars.size() > most_bars ? chart.bars.size() - most_bars : 0;
  chart.bars.erase(chart.bars.begin(), chart.bars.begin() + static_cast<std::ptrdiff_t>(left));
  Figure figure;
  figure.chart.title = fmt::format("{} · {}", text(say::report::kernels{}), problem_text(plot));
  figure.chart.alt = text(say::report::alt_kernels{.problem = problem_text(plot), .bars = chart.bars.size()});
  figure.caption = bars_key(chart, table);
  if (left > 0) figure.caption += " " + text(say::report::bars_left{.bars = left});
  figure.chart.picture = std::move(chart);
  figure.behind = std::move(table);
  return figure;
}

}  // namespace

std::vector<Block> io_section(const Context& context) {
  std::vector<Block> blocks;
  std::size_t left = 0;
  std::size_t number = 0;
  for (const Plot* plot : context.drawn(PlotKind::bytes, left)) {
    const CurveSet set = curves_of(context, *plot);
    add_figure(blocks, CurveFigure(context, *plot, set, Shown::dram), "io", number);
    add_figure(blocks, CurveFigure(context, *plot, set, Shown::sm_l2), "io", number);
  }
  say_left_out(blocks, left);
  return blocks;
}

std::vector<Block> time_section(const Context& context) {
  std::vector<Block> blocks;
  std::size_t left = 0;
  std::size_t number = 0;
  for (const Plot* plot : context.drawn(PlotKind::time, left)) {
    const CurveSet set = curves_of(context, *plot);
    add_figure(blocks, CurveFigure(context, *plot, set, Shown::time), "time", number);
  }
  for (const Plot* plot : context.drawn(PlotKind::rate)) {
    const CurveSet set = curves_of(context, *plot);
    CurveFigure figure(context, *plot, set, Shown::rate);
    std::set<std::string> devices;
    for (const analysis::Row row : plot->filter.rows()) devices.insert(context.table().run(row).device_name);
    std::set<std::string> drawn;
    for (const analysis::Row row : plot->filter.rows()) {
      const analysis::Run& run = context.table().run(row);
      if (!drawn.insert(run.device_name).second) continue;
      const KnownRoofs known = roofs_known(context, context.table().run_index(row));
      const AttentionProblem like = context.table().problem(row);
      const std::string of =
          devices.size() > 1 ? analysis::device_title(context.table(), context.table().run_index(row)) : std::string();
      figure.add_peaks(known, analysis::roofs_of(run.limits, known.ceilings, like.dtype), run.device_name, of);
    }
    add_figure(blocks, std::move(figure), "time", number);
  }
  say_left_out(blocks, left);
  return blocks;
}

namespace {

/// The law of each curve over N.
Table law_table(const Context& context) {
  Table table;
  table.caption = text(say::report::exponents_caption{});
  table.columns = {{text(say::report::column_problem{})},        {text(say::report::column_series{})},
                   {text(say::report::column_bytes{})},          {text(say::report::column_law{})},
                   {text(say::report::column_exponent{}), true}, {text(say::report::column_interval{})},
                   {text(say::report::column_points{}), true},   {text(say::report::column_state{})},
                   {text(say::report::column_origin{})}};
  const auto add = [&](const Plot& plot, const analysis::SeriesName& name, Shown quantity, Provenance provenance,
                       const analysis::FittedLaw& law) {
    if (!law.power) return;
    table.rows.push_back(
        {{problem_text(plot)},
         {series_text(context, name)},
         {quantity == Shown::dram ? text(say::report::dram_bytes{}) : text(say::report::sm_l2_bytes{})},
         {law.law.text},
         {fmt::format("{:.3f}", law.power->slope)},
         {law.points > 2
              ? fmt::format("[{:.3f}, {:.3f}]", law.power->slope_interval.low, law.power->slope_interval.high)
              : ""},
         {std::to_string(law.points)},
         {text(law.refusal ? Message(say::report::law_withheld{}) : Message(say::report::law_holds{}))},
         {origin_text(provenance)}});
  };
  for (const Plot* plot : context.drawn(PlotKind::bytes)) {
    const CurveSet set = curves_of(context, *plot);
    for (const Curve& curve : set.curves) {
      if (curve.kind == CurveKind::fit && curve.law)
        add(*plot, curve.name, curve.quantity, curve.provenance, *curve.law);
    }
    for (const analysis::WithheldFit& fit : set.withheld) add(*plot, fit.name, fit.quantity, fit.provenance, fit.law);
  }
  return table;
}

}  // namespace

std::vector<Block> exponents_section(const Context& context) {
  std::vector<Block> blocks;
  Table laws = law_table(context);
  if (!laws.rows.empty()) blocks.emplace_back(std::move(laws));
  const analysis::LawReport report = analysis::fit_law_exponents(context.table(), context.table().rows());
  if (!report.families.empty()) {
    blocks.emplace_back(written_out(analysis::law_table(context.table(), report.families), text(say::law::heading{})));
    blocks.emplace_back(plain(say::law::intervals{}));
  }
  return blocks;
}

std::vector<Block> sharing_section(const Context& context) {
  const std::vector<analysis::SharedPoint> points = analysis::shared_points(context.table());
  if (points.empty()) return {};
  std::vector<Block> blocks{plain(say::report::sharing_caption{})};
  // What all rows of a table have in common is its caption.
  constexpr std::array<const char*, 5> common{"algorithm", "problem", "gpu_order", "tile", "run"};
  const analysis::Table whole = analysis::sharing_table(context.table(), points);
  const auto caption_of = [&](std::size_t row) {
    std::vector<std::string> words;
    words.reserve(common.size());
    for (const char* const key : common) words.push_back(whole.find(key)->cell(row).text);
    return fmt::format("{}", fmt::join(words, " · "));
  };
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    const std::string caption = caption_of(begin);
    while (end < points.size() && caption_of(end) == caption) ++end;
    const std::span part(points.data() + begin, end - begin);
    analysis::Table table = analysis::sharing_table(context.table(), {part.begin(), part.end()});
    for (const char* const key : common) table.drop(key);
    // `attnscope gpus` has them: here they have no room.
    for (const char* const key : {"tokens", "model_link_bytes", "gpu_copies_ns", "attention_rate", "link_rate"}) {
      table.drop(key);
    }
    table.drop_empty_columns();
    blocks.emplace_back(written_out(table, caption));
  }
  for (const analysis::Column& column : whole.columns) {
    if (!column.help.empty()) blocks.emplace_back(plain(Message::verbatim(column.title + ": " + column.help)));
  }
  return blocks;
}

std::vector<Block> kernels_section(const Context& context) {
  std::vector<Block> blocks;
  std::size_t number = 0;
  for (const Plot* plot : context.drawn(PlotKind::bytes)) {
    std::optional<Figure> figure = kernels_figure(context, *plot);
    if (!figure) continue;
    figure->id = fmt::format("kernels-{}", ++number);
    blocks.emplace_back(*std::move(figure));
  }
  return blocks;
}

}  // namespace attnscope::report
