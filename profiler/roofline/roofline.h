// SPDX-License-Identifier: Apache-2.0
// Roofline model (S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009): DRAM, L2 and GPU links as
// bandwidth roofs, matrix instructions and exp2 as ceilings, measured and modeled intensities. A datasheet peak applies
// to the tensor cores; only measured ceilings belong to an instruction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/ceilings.h"
#include "kernels/model/kernel_work.h"
#include "profiler/points/impossible_values.h"
#include "profiler/points/point_table.h"
#include "profiler/points/table.h"
#include "profiler/tilemap/plot_list.h"

namespace attnscope::analysis {

enum class RooflineLevel : std::uint8_t {
  dram,
  sm_l2,
  link  ///< bytes that a GPU sends to others
};
inline constexpr std::array roofline_levels{RooflineLevel::dram, RooflineLevel::sm_l2, RooflineLevel::link};

/// Bound of a point: bandwidth of a memory or link, or throughput of an SM unit.
enum class Bound : std::uint8_t {
  dram,
  l2,
  link,
  mma_sync,
  wgmma,
  tensor,  ///< datasheet peak, an upper bound if an instruction was not measured
  fma,     ///< fp32 multiply-add: matrix products of fp32 elements
  exp2
};
inline constexpr std::array all_bounds{Bound::dram,  Bound::l2,     Bound::link, Bound::mma_sync,
                                       Bound::wgmma, Bound::tensor, Bound::fma,  Bound::exp2};
/// Bound for the bytes of a level.
[[nodiscard]] Bound bytes_bound(RooflineLevel);
[[nodiscard]] bool is_bandwidth_bound(Bound);
/// Bytes of a level, summed over all GPUs.
[[nodiscard]] const ValueColumn& bytes_of(const PointTable&, RooflineLevel);
/// Returns true if the row has bytes of some level.
[[nodiscard]] bool has_bytes(const PointTable&, Row);
/// "DRAM", "L2", "link", "mma.sync", "wgmma", "tensor cores", "FMA", "exp2".
[[nodiscard]] std::string_view to_string(Bound);

enum class RoofSource : std::uint8_t {
  measured,               ///< on this device
  alike,                  ///< on another device of the same model
  datasheet,              ///< datasheet peak at boost clock
  architecture,           ///< FMA and exp2: results per cycle and SM of the architecture, at boost clock
  stated,                 ///< given for a hypothetical GPU
  scaled_from_other_gpu,  ///< bytes per cycle and SM as measured on another GPU (device_rates())
  typical_for_model,      ///< bytes per cycle and SM as measured on GPUs of this model
  counted_share,          ///< counted share of the datasheet peak for this architecture (DeviceRates)
};

/// A bound with its rate: bytes/s of a memory or link, FLOP/s of a matrix instruction or of FMA, exponentials/s of
/// exp2.
struct Roof {
  Bound bound = Bound::dram;
  double rate = 0;
  RoofSource source = RoofSource::measured;
  std::optional<double> clock_hz = std::nullopt;  ///< SM clock during the measurement; for memory empty if unknown
};

/// Measured ceilings of this device or of another of the same model.
struct KnownCeilings {
  std::span<const Ceiling> ceilings = {};
  bool same_device = true;
};

/// Known roofs in the order of all_bounds. Instructions have one if measured; the datasheet tensor peak is included if
/// an available instruction was not measured. DRAM: read rate, which is higher than the write rate. Link: send rate in
/// one direction while receiving equally. Unmeasured exp2: 16 per clock and SM. Unmeasured mma.sync: its share of the
/// tensor peak, if known to be below 1. fp32 has FMA instead of matrix instructions, other types do not have it.
[[nodiscard]] std::vector<Roof> make_rooflines(const DeviceLimits&, const KnownCeilings&, DType);
[[nodiscard]] const Roof* find_roof(std::span<const Roof>, Bound);
/// Rate in FLOP/s at which points reach a unit's ceiling, given the FLOPs per exponential. Pre: not
/// is_bandwidth_bound(roof.bound).
[[nodiscard]] double ceiling_flops(const Roof&, double flops_per_exponential);

/// Minimum time of a point by one bound alone.
struct BoundShare {
  Bound bound = Bound::dram;
  double ns = 0;
};

struct RooflinePoint {
  Row row = 0;
  std::int64_t n = 0;
  TileShape tile;
  double ns = 0;             ///< median; several GPUs: from the first operation to the last
  double nominal_flops = 0;  ///< of the algorithm; pass_flops() for imported algorithms
  /// AttentionModel::executed_flops(). Empty for imported algorithms, user-defined kernels and if slow to compute
  /// (is_fast_to_model()).
  std::optional<double> executed_flops = std::nullopt;
  /// Per GPU.
  std::array<std::optional<double>, roofline_levels.size()> bytes{};
  /// Closed form for SM<->L2 and links. DRAM: each byte once plus estimated L2 misses.
  std::array<std::optional<double>, roofline_levels.size()> model_bytes{};
  Provenance provenance = Provenance::derived;  ///< provenance of the rate
  bool throttled = false;
  std::vector<BoundShare> shares;  ///< known bounds, the largest first; empty if the point's values are impossible
  std::optional<ImpossibleValue> impossible = std::nullopt;

  /// Rate and intensities count nominal FLOPs.
  [[nodiscard]] double flops_per_second() const { return nominal_flops / ns * 1e9; }
  /// Executed over nominal FLOPs; 1 if unknown.
  [[nodiscard]] double executed_ratio() const {
    return executed_flops && nominal_flops > 0 ? *executed_flops / nominal_flops : 1;
  }
  [[nodiscard]] std::optional<double> intensity(RooflineLevel level) const { return per_byte(bytes, level); }
  [[nodiscard]] std::optional<double> model_intensity(RooflineLevel level) const {
    return per_byte(model_bytes, level);
  }
  /// Share of the time that the tightest bound requires; 1 is on the roof. Pre: `shares` is not empty.
  [[nodiscard]] double roof_share() const { return shares.front().ns / ns; }

 private:
  [[nodiscard]] std::optional<double> per_byte(const std::array<std::optional<double>, roofline_levels.size()>& of,
                                               RooflineLevel level) const {
    const std::optional<double>& count = of.at(static_cast<std::size_t>(level));
    return count && *count > 0 ? std::optional(nominal_flops / *count) : std::nullopt;
  }
};

struct RooflineSeries {
  std::string algorithm;
  RunIndex run = 0;
  std::vector<RooflinePoint> points;  ///< ascending N
};

struct RooflineRequest {
  std::string device_id;
  KnownCeilings ceilings;
};

struct RooflineReport {
  std::vector<Roof> roofs;           ///< includes links only if there are points of several GPUs
  AttentionProblem like;             ///< of the first point; d, pass and dtype determine the ceilings
  double flops_per_exponential = 1;  ///< nominal; of the first point's algorithm, for the exp2 ceiling
  std::vector<RooflineSeries> series;
  std::size_t without_time = 0;   ///< ok or no-counters points without a time
  std::size_t without_bytes = 0;  ///< points without bytes at any level
};

/// Device ids of the rows: devices with measured points first, in row order.
[[nodiscard]] std::vector<std::string> roofline_devices(const PointTable&, std::span<const Row>);

/// Pre: rows of one problem except for N and tile. Skips failed points.
[[nodiscard]] RooflineReport roofline(const PointTable&, std::span<const Row> rows, const RooflineRequest&);

/// For display; lines from ceiling_rows().
[[nodiscard]] Table ceiling_table(std::vector<CeilingRow>);

struct DatedCeilings {
  std::string device_uuid;
  std::string measured_at;  ///< empty: never measured
  std::vector<Ceiling> ceilings;
};
/// Machine-readable table in base units. `sets` must outlive it.
[[nodiscard]] Table ceiling_data(std::span<const DatedCeilings>);

/// Display name of a ceiling. Datasheet peaks of the tensor cores are not named after an instruction.
[[nodiscard]] Message ceiling_label(const CeilingKind&, CeilingSource);

}  // namespace attnscope::analysis
