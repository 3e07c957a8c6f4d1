// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/export.h"
#include "storage/exchange/export_rows.h"

namespace attnscope {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it

namespace {

class LongTableWriter {
 public:
  LongTableWriter(std::span<const Selection> selections, const Registry& registry, std::ostream& out)
      : registry_(registry), knobs_(knobs_of(selections)), out_(out) {}

  void write_header() {
    std::vector<std::string> names;
    const auto add = [&](std::string_view name) { names.push_back(csv_field(text_cell(name))); };
    for (const std::string_view name : {long_column::run_uid, long_column::plan_index, long_column::device}) add(name);
    for (const Field& field : point_fields()) add(field.name);
    for (const std::string& knob : knobs_) add(knob);
    for (const std::string_view name :
         {long_column::disposition, reason_column::words, reason_column::code, long_column::throttled}) {
      add(name);
    }
    for (const std::string_view name : long_column::value_columns) add(name);
    out_ << fmt::format("{}\n", fmt::join(names, ","));
  }

  void write_point(const RunSummary& run, const StoredPoint& stored) {
    const PointRecord& point = stored.record;
    begin_ = beginning(run, stored);
    const bool silent = !write_values(point);
    for (const RoundRecord& round : point.rounds) {
      round_ = Cell(static_cast<std::int64_t>(round.round));
      write_values(in_round(stored, round).record);
    }
    round_ = {};
    if (silent) out_ << fmt::format("{}{}\n", begin_, std::string(long_column::value_columns.size(), ','));
  }

 private:
  [[nodiscard]] std::vector<std::string> knobs_of(std::span<const Selection> selections) const {
    std::set<std::string> wanted;
    std::set<std::string_view> asked;  // algorithms
    for (const Selection& selection : selections) {
      for (const StoredPoint& point : selection.points) {
        const PointSpec& spec = point.record.spec;
        for (const auto& [name, value] : spec.knobs) wanted.insert(name);
        if (!asked.insert(spec.algorithm).second) continue;
        for (const Knob& knob : stated_by(spec.algorithm)) wanted.insert(knob.name);
      }
    }
    // In the registry's order, then unknown knobs by name.
    std::vector<std::string> names;
    for (const Knob& knob : registry_.knobs()) {
      if (wanted.erase(knob.name) > 0) names.push_back(knob.name);
    }
    names.insert(names.end(), wanted.begin(), wanted.end());
    return names;
  }

  [[nodiscard]] std::span<const Knob> stated_by(std::string_view algorithm) const {
    const Algorithm* found = registry_.find(algorithm);
    return found != nullptr ? std::span<const Knob>(found->facts().knobs) : std::span<const Knob>();
  }

  /// Returns the given value, else the algorithm's default; empty if the algorithm has no such knob.
  [[nodiscard]] Cell numeric_knob(const PointSpec& spec, std::string_view name) const {
    if (const KnobValue* given = spec.knobs.find(name)) return knob_cell(*given);
    const auto knobs = stated_by(spec.algorithm);
    const auto stated = std::ranges::find(knobs, name, &Knob::name);
    return stated != knobs.end() ? text_cell(knob_text(*stated, spec.knobs)) : Cell();
  }

  /// Returns the columns that all rows of the point share.
  [[nodiscard]] std::string beginning(const RunSummary& run, const StoredPoint& stored) const {
    const PointRecord& point = stored.record;
    std::string text;
    const auto add = [&](const Cell& cell) { text += csv_field(cell) + ','; };
    add(text_cell(run.uid));
    add(static_cast<std::int64_t>(stored.index));
    add(text_cell(run.device_name));
    for (const Field& field : point_fields()) add(field_cell(field, point.spec));
    for (const std::string& knob : knobs_) add(numeric_knob(point.spec, knob));
    add(text_cell(to_string(point.disposition)));
    add(text_cell(english_text(point.reason)));
    add(text_cell(point.reason.id));
    add(point.clocks ? Cell(point.clocks->throttled) : Cell());
    text.pop_back();
    return text;
  }

  /// Returns false if the point has no value.
  bool write_values(const PointRecord& point) {
    bool any = false;
    for (const KernelRecord& kernel : point.kernels) any = write_kernel(point, kernel) || any;
    for (const PointFact& fact : point_facts()) {
      if (const auto value = value_of(fact, point)) {
        write_value({}, *value);
        any = true;
      }
    }
    return any;
  }

  bool write_kernel(const PointRecord& point, const KernelRecord& kernel) {
    const std::string name = kernel.kernel == "all" ? std::string() : kernel.kernel;
    const std::optional<Cell> samples = kernel.samples_ns.empty()
                                            ? std::nullopt
                                            : std::optional(Cell(static_cast<std::int64_t>(kernel.samples_ns.size())));
    bool any = false;
    for (const Metric& metric : metrics_table()) {
      const auto value = evaluate(metric.key, point, kernel.kernel);
      if (!value) continue;
      const auto spread = quartiles(metric.key, point, kernel.kernel);
      Cell of = samples && metric.depends_on_clock ? *samples : Cell();
      if (spread && !metric.depends_on_clock) of = static_cast<std::int64_t>(point.rounds.size());
      write_value(name, *value, spread, of,
                  metric.key == metric_key::time_median_ns ? samples_cell(point, kernel) : Cell());
      any = true;
    }
    for (const MetricValue& value : kernel.metrics) {
      if (find_metric(value.name) != nullptr) continue;
      write_value(name, value);
      any = true;
    }
    return any;
  }

  void write_value(std::string_view kernel, const MetricValue& value, const std::optional<Quartiles>& spread = {},
                   const Cell& samples = {}, const Cell& samples_ns = {}) {
    const auto quartile = [&](double Quartiles::*which) { return spread ? Cell((*spread).*which) : Cell(); };
    const std::array cells{text_cell(kernel),
                           text_cell(value.name),
                           Cell(value.value),
                           text_cell(value.unit),
                           text_cell(to_string(value.provenance)),
                           quartile(&Quartiles::q1),
                           quartile(&Quartiles::q3),
                           samples,
                           round_,
                           samples_ns};
    static_assert(cells.size() == long_column::value_columns.size());
    out_ << begin_;
    for (const Cell& cell : cells) out_ << ',' << csv_field(cell);
    out_ << '\n';
  }

  const Registry& registry_;
  std::vector<std::string> knobs_;
  std::ostream& out_;
  std::string begin_;
  Cell round_;  ///< round of the current rows; empty: all rounds together
};

}  // namespace

void export_long_csv(std::span<const ExportSource> sources, std::ostream& out, const Registry& registry) {
  std::vector<Selection> selections;
  for (const ExportSource& source : sources) {
    selections.push_back(select(*source.store, source.runs));
    if (source.points) keep_points(selections.back(), *source.points);
  }
  LongTableWriter table(selections, registry, out);
  table.write_header();
  for (const Selection& selection : selections) {
    for_each_point(selection, [&](const RunSummary& run, const StoredPoint& point) { table.write_point(run, point); });
  }
}

void export_long_csv(const RunStore& store, std::span<const std::int64_t> runs, std::ostream& out,
                     const Registry& registry) {
  const ExportSource source{&store, {runs.begin(), runs.end()}};
  export_long_csv(std::span(&source, 1), out, registry);
}

}  // namespace attnscope
