// SPDX-License-Identifier: Apache-2.0
#include "profiler/roofline/roofline.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "kernels/model/device_rates.h"
#include "kernels/model/pipeline_model.h"
#include "messages/ceiling.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"
#include "profiler/predict/exploration.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

namespace {

/// Key of the ceiling that a bound uses; empty for the tensor cores, which are measured per instruction. mma.sync
/// converts 8-bit operands to 16 bits.
std::string_view ceiling_of(Bound bound, DType dtype) {
  switch (bound) {
    case Bound::dram:
      return ceiling_key::dram_read;
    case Bound::l2:
      return ceiling_key::l2_read;
    case Bound::link:
      return ceiling_key::peer_copy_both_ways;
    case Bound::mma_sync:
      return dtype == DType::bf16 ? ceiling_key::mma_bf16 : ceiling_key::mma_fp16;
    case Bound::wgmma:
      if (dtype == DType::fp8) return ceiling_key::wgmma_fp8;
      return dtype == DType::bf16 ? ceiling_key::wgmma_bf16 : ceiling_key::wgmma_fp16;
    case Bound::tensor:
      return {};
    case Bound::fma:
      return ceiling_key::fma_fp32;
    case Bound::exp2:
      return ceiling_key::exp2_fp32;
  }
  return {};
}

/// Returns true if kernels for this type can be limited by the bound.
bool is_bound_of(Bound bound, DType dtype) {
  if (bound == Bound::fma) return dtype == DType::fp32;
  return dtype != DType::fp32 || (bound != Bound::mma_sync && bound != Bound::wgmma && bound != Bound::tensor);
}

std::optional<double> measured_value(std::span<const Ceiling> ceilings, std::string_view name) {
  const auto found = std::ranges::find_if(ceilings, [&](const Ceiling& ceiling) {
    return ceiling.name == name && ceiling.source == CeilingSource::measured && ceiling.value > 0;
  });
  return found == ceilings.end() ? std::nullopt : std::optional(found->value);
}

/// Roof of an unmeasured device. `rates` has clocks that files do not store.
std::optional<Roof> unmeasured_roof(Bound bound, const DeviceLimits& limits, const DeviceRates& rates, DType dtype) {
  Roof roof{.bound = bound, .source = RoofSource::datasheet, .clock_hz = rates.boost_hz};
  switch (bound) {
    case Bound::dram:
      roof.rate = limits.dram_bytes_per_second;
      roof.clock_hz.reset();
      break;
    case Bound::l2:
      roof.rate = rates.l2_bytes_per_second;
      roof.source = limits.custom_rates.l2_bytes > 0 ? RoofSource::stated
                    : rates.inherited                ? RoofSource::scaled_from_other_gpu
                                                     : RoofSource::typical_for_model;
      break;
    case Bound::link:
      roof.rate = link_peak_bytes_per_second(limits);
      roof.clock_hz.reset();
      break;
    case Bound::wgmma:
      return std::nullopt;
    case Bound::mma_sync:
      if (rates.mma_sync_share >= 1 && relative_throughput(dtype) == 1)
        return std::nullopt;  // equal to the datasheet peak
      [[fallthrough]];
    case Bound::tensor:
      roof.rate = limits.tensor_flops;
      if (limits.custom_rates.tensor_flops > 0) roof.source = RoofSource::stated;
      // Datasheets state this peak at a clock below boost: 989.4 TFLOP/s of an H200 are 132 SMs x 4096 per cycle at
      // 1.83 GHz, not 1.98.
      roof.clock_hz = roof.rate / (rates.per_cycle.tensor * rates.sm_count);
      if (bound != Bound::mma_sync) {
        roof.rate *= relative_throughput(dtype);
      } else if (rates.mma_sync_share < 1) {
        roof.rate *= rates.mma_sync_share;
        roof.source = RoofSource::counted_share;
      }
      break;
    case Bound::fma: {
      DeviceLimits at_boost = limits;
      at_boost.boost_hz = rates.boost_hz;
      roof.rate = find_ceiling(ceiling_key::fma_fp32)->datasheet(at_boost);
      roof.source = RoofSource::architecture;
      break;
    }
    case Bound::exp2:
      roof.rate = rates.per_cycle.exponential * rates.sm_count * rates.boost_hz;
      roof.source = limits.custom_rates.exponentials > 0 ? RoofSource::stated : RoofSource::architecture;
      break;
  }
  return roof.rate > 0 ? std::optional(roof) : std::nullopt;
}

Bound bound_of(MatrixInstruction instruction) {
  return instruction == MatrixInstruction::wgmma ? Bound::wgmma : Bound::mma_sync;
}

/// Returns true if every matrix instruction of the device was measured. GPUs without a datasheet value for wgmma do not
/// have it.
bool every_instruction_measured(const DeviceLimits& limits, std::span<const Ceiling> ceilings, DType dtype) {
  return std::ranges::all_of(matrix_instructions, [&](MatrixInstruction each) {
    const std::string_view name = ceiling_of(bound_of(each), dtype);
    if (name.empty()) return true;
    const bool absent = each != MatrixInstruction::mma_sync && find_ceiling(name)->datasheet(limits) <= 0;
    return absent || measured_value(ceilings, name);
  });
}

/// FMA for fp32; roof of the algorithm's instruction; else the datasheet peak, which no instruction exceeds; else the
/// fastest known.
const Roof* matrix_roof(std::span<const Roof> roofs, const Algorithm* algorithm) {
  if (const Roof* fma = find_roof(roofs, Bound::fma)) return fma;
  const Roof* instruction_roof =
      algorithm == nullptr ? nullptr : find_roof(roofs, bound_of(algorithm->facts().instruction));
  if (instruction_roof != nullptr) return instruction_roof;
  if (const Roof* peak = find_roof(roofs, Bound::tensor)) return peak;
  const Roof* fastest = nullptr;
  for (const MatrixInstruction each : matrix_instructions) {
    const Roof* roof = find_roof(roofs, bound_of(each));
    if (roof != nullptr && (fastest == nullptr || roof->rate > fastest->rate)) fastest = roof;
  }
  return fastest;
}

/// Unknown algorithms are assumed to be softmax attention.
double flops_per_exponential(const AttentionProblem& problem, const Algorithm* algorithm) {
  return algorithm == nullptr ? softmax_flops_per_exponential(problem)
                              : algorithm->facts().flops_per_exponential(problem);
}

struct ClosedFormCounts {
  std::optional<double> executed_flops;  ///< empty: only SM<->L2 bytes are known
  double exponentials = 0;
  std::array<double, roofline_levels.size()> bytes{};
};

std::optional<ClosedFormCounts> count_closed_form(const Algorithm& algorithm, const AttentionProblem& problem,
                                                  const Config& config, const DeviceLimits& limits) {
  const AttentionModel model = algorithm.model(problem, config, limits);
  if (model.refusal || !model.reports_traffic) return std::nullopt;
  ClosedFormCounts counted{.executed_flops = model.executed_flops()};
  for (const LaunchLoad& load : predict_loads(model, limits)) {
    counted.exponentials += load.runs * load.work.exponentials;
    counted.bytes[static_cast<std::size_t>(RooflineLevel::dram)] += load.runs * load.dram_bytes;
    counted.bytes[static_cast<std::size_t>(RooflineLevel::sm_l2)] += load.runs * load.l2_sm_bytes;
  }
  if (const auto links = algorithm.facts().link_bytes; links != nullptr) {
    counted.bytes[static_cast<std::size_t>(RooflineLevel::link)] = static_cast<double>(links(problem));
  }
  return counted;
}

class RooflineBuilder {
 public:
  RooflineBuilder(const PointTable& table, const RooflineRequest& request) : table_(table), request_(request) {}

  RooflineReport build(std::span<const Row> rows) {
    // Unknown algorithms have equal place(), so the name is part of the key.
    std::map<std::tuple<std::size_t, std::string, RunIndex>, std::vector<Row>> of_run;
    for (const Row row : rows) {
      if (table_.run(row).device_id != request_.device_id) continue;
      if (!is_plottable(row)) continue;
      const std::string algorithm(table_.algorithm(row));
      of_run[{table_.algorithms().place(algorithm), algorithm, table_.run_index(row)}].push_back(row);
    }
    if (of_run.empty()) return std::move(report_);
    const Row first = of_run.begin()->second.front();
    report_.like = table_.problem(first);
    report_.flops_per_exponential =
        flops_per_exponential(report_.like, table_.algorithms().find(table_.algorithm(first)));
    report_.roofs = make_rooflines(table_.run(first).limits, request_.ceilings, report_.like.dtype);
    const ValueColumn& links = bytes_of(table_, RooflineLevel::link);
    const bool any = std::ranges::any_of(of_run, [&](const auto& group) {
      return std::ranges::any_of(group.second, [&](Row row) { return links.has(row); });
    });
    if (!any) std::erase_if(report_.roofs, [](const Roof& roof) { return roof.bound == Bound::link; });
    for (const auto& [place, group] : of_run) {
      add_series(group);
    }
    return std::move(report_);
  }

 private:
  /// Returns true if the point can be plotted: it has a time, and bytes at some level.
  bool is_plottable(Row row) {
    const Disposition disposition = table_.disposition(row);
    if (disposition != Disposition::ok && disposition != Disposition::no_counters) return false;
    if (!table_.values(metric_key::time_median_ns).has(row)) {
      ++report_.without_time;
      return false;
    }
    if (!has_bytes(table_, row)) {
      ++report_.without_bytes;
      return false;
    }
    return true;
  }

  void add_series(const std::vector<Row>& rows) {
    RooflineSeries series{
        .algorithm = table_.algorithm(rows.front()), .run = table_.run_index(rows.front()), .points = {}};
    const TileSelection fastest{.rule = TileSelection::Rule::fastest};
    for (const auto& [n, selected_rows] :
         select_rows(table_, rows, rows, fastest, position_by_length(table_, Ordinate::time))) {
      series.points.push_back(point_of(middle(selected_rows)));
    }
    report_.series.push_back(std::move(series));
  }

  [[nodiscard]] Row middle(std::vector<Row> rows) const {
    const ValueColumn& times = table_.values(metric_key::time_median_ns);
    std::ranges::stable_sort(rows, {}, [&](Row row) { return times.value(row); });
    return rows[(rows.size() - 1) / 2];
  }

  [[nodiscard]] RooflinePoint point_of(Row row) const {
    const AttentionProblem problem = table_.problem(row);
    const ValueColumn& times = table_.values(metric_key::time_median_ns);
    RooflinePoint point;
    point.row = row;
    point.n = table_.n_k(row);
    point.tile = table_.tile_of(row).tile;
    point.ns = times.value(row);
    point.throttled = table_.throttled(row);
    for (const RooflineLevel level : roofline_levels) {
      point.bytes.at(static_cast<std::size_t>(level)) = bytes_of(table_, level).at(row);
    }
    point.provenance = table_.values(metric_key::tflops).has(row) ? table_.values(metric_key::tflops).provenance(row)
                                                                  : times.provenance(row);
    const Algorithm* algorithm = table_.algorithms().find(table_.algorithm(row));
    point.nominal_flops = algorithm == nullptr ? pass_flops(problem) : algorithm->nominal_flops(problem);
    std::optional<ClosedFormCounts> counted;
    if (algorithm != nullptr && is_fast_to_model(problem))
      counted = count_closed_form(*algorithm, problem, table_.tile_of(row), table_.run(row).limits);
    if (counted) {
      point.executed_flops = counted->executed_flops;
      for (std::size_t level = 0; level < roofline_levels.size(); ++level) {
        const bool known = counted->executed_flops || level != static_cast<std::size_t>(RooflineLevel::dram);
        if (known) point.model_bytes.at(level) = counted->bytes.at(level);
      }
    }
    point.impossible = impossible_value(table_, row);
    if (!point.impossible) add_shares(point, problem, algorithm, counted);
    scale_to_one_gpu(point, problem.gpus);
    std::ranges::stable_sort(point.shares, std::greater{}, &BoundShare::ns);
    return point;
  }

  /// Roofs are per GPU; for several GPUs the busiest one is shown.
  void scale_to_one_gpu(RooflinePoint& point, int gpus) const {
    if (gpus == 1) return;
    const double part = table_.values(metric_key::gpu_imbalance).at(point.row).value_or(1) / gpus;
    point.nominal_flops *= part;
    if (point.executed_flops) *point.executed_flops *= part;
    // Every GPU sends the same number of bytes.
    const auto part_of = [&](Bound bound) { return bound == Bound::link ? 1.0 / gpus : part; };
    for (auto* const bytes : {&point.bytes, &point.model_bytes}) {
      for (const RooflineLevel level : roofline_levels) {
        std::optional<double>& count = bytes->at(static_cast<std::size_t>(level));
        if (count) *count *= part_of(bytes_bound(level));
      }
    }
    for (BoundShare& share : point.shares) share.ns *= part_of(share.bound);
  }

  /// Units are charged with executed FLOPs, or nominal FLOPs if those are unknown.
  void add_shares(RooflinePoint& point, const AttentionProblem& problem, const Algorithm* algorithm,
                  const std::optional<ClosedFormCounts>& counted) const {
    const auto add = [&](const Roof* roof, std::optional<double> amount) {
      if (roof != nullptr && amount && *amount > 0) point.shares.push_back({roof->bound, *amount / roof->rate * 1e9});
    };
    const double tensor = point.executed_flops.value_or(point.nominal_flops);
    const double exponentials =
        point.executed_flops ? counted->exponentials : point.nominal_flops / flops_per_exponential(problem, algorithm);
    for (const RooflineLevel level : roofline_levels) {
      add(find_roof(report_.roofs, bytes_bound(level)), point.bytes.at(static_cast<std::size_t>(level)));
    }
    add(matrix_roof(report_.roofs, algorithm), tensor);
    add(find_roof(report_.roofs, Bound::exp2), exponentials);
  }

  const PointTable& table_;
  const RooflineRequest& request_;
  RooflineReport report_;
};

/// Byte ceilings are capacities, not traffic.
std::string ceiling_value_text(double value, std::string_view unit) {
  return value_text(value, unit == "byte" ? "capacity" : unit);
}

std::string words_of(const Ceiling& ceiling) {
  // NVML bit mask stored as a number; 0 means no reason.
  constexpr double beyond_mask = 9e15;
  if (ceiling.name == ceiling_key::throttle_reasons && ceiling.value > 0 && ceiling.value < beyond_mask) {
    const Message reasons = describe_throttle_reasons(static_cast<std::uint64_t>(ceiling.value));
    if (!reasons.empty()) return text(reasons);
  }
  return ceiling_value_text(ceiling.value, ceiling.unit);
}

Cell spread_cell(const Ceiling& ceiling) {
  const auto spread = relative_spread(ceiling);
  if (!spread) return {};
  // Near zero a percentage is meaningless.
  const bool in_percent = *spread <= 1;
  return {.text = "±" + (in_percent ? text(Share(*spread))
                                    : ceiling_value_text((*ceiling.q3 - *ceiling.q1) / 2, ceiling.unit)),
          .number = spread};
}

/// Operand types of the tensor ceilings; mma.sync converts 8-bit operands to 16 bits.
constexpr std::array tensor_ceilings{
    std::pair{ceiling_key::mma_fp16, DType::fp16}, std::pair{ceiling_key::mma_bf16, DType::bf16},
    std::pair{ceiling_key::wgmma_fp16, DType::fp16}, std::pair{ceiling_key::wgmma_bf16, DType::bf16},
    std::pair{ceiling_key::wgmma_fp8, DType::fp8}};

}  // namespace

Bound bytes_bound(RooflineLevel level) {
  static_assert(static_cast<int>(RooflineLevel::link) == static_cast<int>(Bound::link));  // both begin with the levels
  return static_cast<Bound>(level);
}

bool is_bandwidth_bound(Bound bound) {
  return std::ranges::find(roofline_levels, bound, bytes_bound) != roofline_levels.end();
}

const ValueColumn& bytes_of(const PointTable& table, RooflineLevel level) {
  if (level == RooflineLevel::dram) return table.dram_traffic();
  return table.values(level == RooflineLevel::sm_l2 ? metric_key::l2_sm_bytes : metric_key::link_bytes);
}

bool has_bytes(const PointTable& table, Row row) {
  return std::ranges::any_of(roofline_levels, [&](RooflineLevel level) { return bytes_of(table, level).has(row); });
}

std::string_view to_string(Bound bound) {
  static constexpr std::array<std::string_view, all_bounds.size()> names{"DRAM",  "L2",           "link", "mma.sync",
                                                                         "wgmma", "tensor cores", "FMA",  "exp2"};
  return names.at(static_cast<std::size_t>(bound));
}

std::vector<Roof> make_rooflines(const DeviceLimits& limits, const KnownCeilings& known, DType dtype) {
  const DeviceRates rates = device_rates(limits);
  std::vector<Roof> roofs;
  for (const Bound bound : all_bounds) {
    if (!is_bound_of(bound, dtype)) continue;
    const std::string_view name = ceiling_of(bound, dtype);
    if (const auto measured = measured_value(known.ceilings, name)) {
      const std::string clock = std::string(name).append(ceiling_clock_suffix);
      roofs.push_back({.bound = bound,
                       .rate = *measured,
                       .source = known.same_device ? RoofSource::measured : RoofSource::alike,
                       .clock_hz = measured_value(known.ceilings, clock)});
    } else if (bound == Bound::tensor && every_instruction_measured(limits, known.ceilings, dtype)) {
      continue;
    } else if (const auto unmeasured = unmeasured_roof(bound, limits, rates, dtype)) {
      roofs.push_back(*unmeasured);
    }
  }
  return roofs;
}

const Roof* find_roof(std::span<const Roof> roofs, Bound bound) {
  const auto found = std::ranges::find(roofs, bound, &Roof::bound);
  return found == roofs.end() ? nullptr : &*found;
}

double ceiling_flops(const Roof& roof, double flops_per_exponential) {
  return roof.bound == Bound::exp2 ? roof.rate * flops_per_exponential : roof.rate;
}

std::vector<std::string> roofline_devices(const PointTable& table, std::span<const Row> rows) {
  std::vector<std::string> measured;
  std::vector<std::string> others;
  for (const Row row : rows) {
    const Run& run = table.run(row);
    std::vector<std::string>& of = run.provenance == Provenance::measured ? measured : others;
    if (std::ranges::find(of, run.device_id) == of.end()) of.push_back(run.device_id);
  }
  for (std::string& id : others) {
    if (std::ranges::find(measured, id) == measured.end()) measured.push_back(std::move(id));
  }
  return measured;
}

RooflineReport roofline(const PointTable& table, std::span<const Row> rows, const RooflineRequest& request) {
  return RooflineBuilder(table, request).build(rows);
}

Table ceiling_table(std::vector<CeilingRow> lines) {
  using Line = CeilingRow;
  TableBuilder<Line> table(std::move(lines));
  // Values that were not measured are muted.
  table.table().tone = table.of(
      [](const Line& line) { return line.ceiling.source == CeilingSource::datasheet ? Tone::muted : Tone::plain; });
  constexpr ColumnKind number = ColumnKind::number;
  table.add({.key = "ceiling", .title = text(msg::ceiling::ceiling{})},
            [](const Line& line) { return ceiling_label(*line.kind, line.ceiling.source); });
  table.add({.key = "data", .title = text(msg::ceiling::data{}), .kind = number}, [](const Line& line) {
    if (!line.kind->curve) return Cell{};
    return Cell{.text = text(Capacity(line.ceiling.argument)), .number = line.ceiling.argument};
  });
  table.add({.key = "value", .title = text(msg::ceiling::value{}), .kind = number},
            [](const Line& line) { return Cell{.text = words_of(line.ceiling), .number = line.ceiling.value}; });
  table.add({.key = "spread", .title = text(msg::ceiling::spread{}), .kind = number},
            [](const Line& line) { return spread_cell(line.ceiling); });
  table.add({.key = "clock", .title = text(msg::ceiling::clock{}), .kind = number}, [](const Line& line) {
    return line.clock_hz ? Cell{.text = text(Hertz(*line.clock_hz)), .number = line.clock_hz} : Cell{};
  });
  table.add({.key = "provenance", .title = text(msg::ceiling::provenance{})},
            [](const Line& line) { return text(title(line.ceiling.source)); });
  return std::move(table).take();
}

Table ceiling_data(std::span<const DatedCeilings> sets) {
  struct Line {
    const DatedCeilings* set;
    const Ceiling* ceiling;
  };
  std::vector<Line> lines;
  for (const DatedCeilings& set : sets) {
    for (const Ceiling& each : set.ceilings) lines.push_back({&set, &each});
  }
  TableBuilder<Line> table(std::move(lines));
  table.add({.key = "device_uuid"}, [](const Line& line) { return line.set->device_uuid; });
  table.add({.key = "measured_at"}, [](const Line& line) { return line.set->measured_at; });
  table.add({.key = "ceiling"}, [](const Line& line) { return line.ceiling->name; });
  table.add({.key = "argument"}, [](const Line& line) { return line.ceiling->argument; });
  table.add({.key = "value"}, [](const Line& line) { return line.ceiling->value; });
  table.add({.key = "q1"}, [](const Line& line) { return line.ceiling->q1; });
  table.add({.key = "q3"}, [](const Line& line) { return line.ceiling->q3; });
  table.add({.key = "unit"}, [](const Line& line) { return line.ceiling->unit; });
  table.add({.key = "provenance"}, [](const Line& line) { return to_string(line.ceiling->source); });
  return std::move(table).take();
}

Message ceiling_label(const CeilingKind& kind, CeilingSource source) {
  const auto* const of =
      std::ranges::find_if(tensor_ceilings, [&](const auto& each) { return each.first == kind.key; });
  if (source != CeilingSource::datasheet || of == tensor_ceilings.end()) return kind.label();
  return msg::ceiling::tensor_peak{.dtype = to_string(of->second)};
}

}  // namespace attnscope::analysis
