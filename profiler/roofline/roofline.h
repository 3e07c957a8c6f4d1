// SPDX-License-Identifier: Apache-2.0
// Points under the bounds of their device (S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009): rates
// of DRAM, of the L2 and of links between GPUs as roofs, those of the matrix instructions and of exp2 as ceilings; and
// the intensities that closed forms give. A datasheet's peak is that of the tensor cores, by whichever instruction
// reaches it: only what was measured has an instruction's name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/kernel_work.h"
#include "profiler/points/point_table.h"
#include "profiler/tilemap/tile_choice.h"

namespace attnscope::analysis {

/// Where the bytes of an intensity are counted.
enum class RooflineLevel : std::uint8_t {
  dram,
  sm_l2,
  link  ///< what a GPU sends to others
};
inline constexpr std::array roofline_levels{RooflineLevel::dram, RooflineLevel::sm_l2, RooflineLevel::link};

/// What bounds a point: a memory or a link, by bytes, or a unit of the SMs.
enum class Bound : std::uint8_t {
  dram,
  l2,
  link,
  mma_sync,
  wgmma,
  tensor,  ///< the datasheet's peak: an upper bound of either instruction, where one of them was not measured
  exp2
};
inline constexpr std::array all_bounds{Bound::dram,  Bound::l2,     Bound::link, Bound::mma_sync,
                                       Bound::wgmma, Bound::tensor, Bound::exp2};
/// What delivers the bytes of a level.
[[nodiscard]] Bound bytes_bound(RooflineLevel);
[[nodiscard]] bool of_bytes(Bound);
/// A level's bytes, of all GPUs together.
[[nodiscard]] const ValueColumn& bytes_of(const PointTable&, RooflineLevel);
/// Whether the row has bytes at some level.
[[nodiscard]] bool has_bytes(const PointTable&, Row);
/// "DRAM", "L2", "link", "mma.sync", "wgmma", "tensor cores", "exp2".
[[nodiscard]] std::string_view to_string(Bound);

enum class RoofSource : std::uint8_t {
  measured,       ///< on this very device
  alike,          ///< measured on another device of its name
  datasheet,      ///< its peaks, at boost clock
  architecture,   ///< exp2: 16 results a cycle and SM, at boost clock
  stated,         ///< by who made this GPU up
  as_elsewhere,   ///< bytes a cycle and SM as they were measured on another GPU (device_rates())
  usual_of_kind,  ///< bytes a cycle and SM as they were measured on GPUs of this very kind
  counted_share,  ///< of the datasheet's peak, as counters of a GPU of this architecture have it (DeviceRates)
};

/// A bound of a device. Rates: bytes a second of a memory or a link, FLOP/s of a matrix instruction, ex2 a second.
struct Roof {
  Bound bound = Bound::dram;
  double rate = 0;
  RoofSource source = RoofSource::measured;
  std::optional<double> clock_hz = std::nullopt;  ///< that the SMs held at that rate; of a memory none where unknown
};

/// Ceilings that were measured, on this device or on another of its name.
struct KnownCeilings {
  std::span<const Ceiling> ceilings = {};
  bool same_device = true;
};

/// In the order of all_bounds, without those that nothing is known of: an instruction has a ceiling where it was
/// measured, and the tensor cores their datasheet's where one that the device has was not. DRAM's is the rate of reads,
/// which is the higher one; a link's what a GPU sends while it receives as much, one way. exp2 without a measurement:
/// 16 a clock and SM. mma.sync without one: its share of the tensor cores' peak, where that is known to be less than
/// all of it.
[[nodiscard]] std::vector<Roof> roofs_of(const DeviceLimits&, const KnownCeilings&, DType);
[[nodiscard]] const Roof* find_roof(std::span<const Roof>, Bound);
/// The rate in FLOP/s at which points meet a unit's ceiling, with so many FLOPs for each of their exponentials. Pre:
/// not of_bytes(roof.bound).
[[nodiscard]] double ceiling_flops(const Roof&, double flops_per_exponential);

/// What a bound alone would take of a point's time.
struct BoundShare {
  Bound bound = Bound::dram;
  double ns = 0;
};

struct RooflinePoint {
  Row row = 0;
  std::int64_t n = 0;
  TileShape tile;
  double ns = 0;     ///< median; of several GPUs from the first operation to the last
  double flops = 0;  ///< by the algorithm's own count; pass_flops() of other programs'
  /// Of the matrix instructions, by the closed form: tiles at masked and ragged edges count whole. Nothing of other
  /// programs' algorithms, and where
  /// counting is no matter of microseconds (is_quick()).
  std::optional<double> executed_flops = std::nullopt;
  /// Of one GPU.
  std::array<std::optional<double>, roofline_levels.size()> bytes{};
  /// By the closed form, between SM and L2; at DRAM each byte once and what an L2 of the device's size misses of the
  /// rest, which is an estimate; between GPUs by its own closed form.
  std::array<std::optional<double>, roofline_levels.size()> model_bytes{};
  Provenance provenance = Provenance::derived;  ///< of the rate; see point_provenance()
  bool throttled = false;
  std::vector<BoundShare> shares;  ///< of the bounds that are known, the largest first

  [[nodiscard]] double flops_per_second() const { return flops / ns * 1e9; }
  /// Executed over visible; 1 where it is not known.
  [[nodiscard]] double executed_ratio() const { return executed_flops && flops > 0 ? *executed_flops / flops : 1; }
  [[nodiscard]] std::optional<double> intensity(RooflineLevel level) const { return per_byte(bytes, level); }
  [[nodiscard]] std::optional<double> model_intensity(RooflineLevel level) const {
    return per_byte(model_bytes, level);
  }
  /// The bound that it comes nearest to, as a share of its time: 1 is on the roof. Pre: shares.
  [[nodiscard]] double reached() const { return shares.front().ns / ns; }

 private:
  [[nodiscard]] std::optional<double> per_byte(const std::array<std::optional<double>, roofline_levels.size()>& of,
                                               RooflineLevel level) const {
    const std::optional<double>& count = of.at(static_cast<std::size_t>(level));
    return count && *count > 0 ? std::optional(flops / *count) : std::nullopt;
  }
};

/// The fastest tile at each N.
struct RooflineSeries {
  std::string algorithm;
  RunIndex run = 0;
  std::vector<RooflinePoint> points;  ///< by N
};

struct RooflineRequest {
  std::string device_id;  ///< whose points: Run::device_id
  KnownCeilings ceilings;
};

struct RooflineReport {
  std::vector<Roof> roofs;           ///< that of links where points are of several GPUs
  AttentionProblem like;             ///< of the first point: d, pass and type decide the ceilings
  double flops_per_exponential = 1;  ///< of its algorithm, for exp2's
  std::vector<RooflineSeries> series;
  std::size_t without_time = 0;   ///< points that ended well, or without counters, and have no time
  std::size_t without_bytes = 0;  ///< and no bytes at any level
};

/// The devices of these rows by Run::device_id, those that measured first, each in the order of its first row.
[[nodiscard]] std::vector<std::string> roofline_devices(const PointTable&, std::span<const Row>);

/// Rows of one problem but for N and tile. Points that ended badly are no part of it.
[[nodiscard]] RooflineReport roofline(const PointTable&, std::span<const Row> rows, const RooflineRequest&);

}  // namespace attnscope::analysis
