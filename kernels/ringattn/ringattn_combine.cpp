// SPDX-License-Identifier: Apache-2.0
#include "kernels/ringattn/ringattn_combine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/model/integer.h"
#include "kernels/ringattn/ringattn_combine_shape.h"
#include "kernels/splitkv/splitkv_timing.h"

namespace attnscope::ringattn {
namespace {

static_assert(max_gpus <= max_parts);

constexpr std::int64_t numbers_per_sector = sector_bytes / fp32_bytes;

std::int64_t tiles_of(const PartialResults& parts) {
  return ceil_div(parts.rows, combine_rows);
}

/// Rows of a tile that a part has; the part starts at row `missing`.
struct Held {
  std::int64_t first = 0;  ///< row index within the part
  std::int64_t rows = 0;
};
Held held(const PartialResults& parts, std::int64_t tile, std::int64_t missing) {
  const std::int64_t begin = std::max(tile * combine_rows, missing);
  const std::int64_t end = std::min(parts.rows, (tile + 1) * combine_rows);
  return {begin - missing, std::max<std::int64_t>(0, end - begin)};
}

/// One warp request for LSE rows of a part; `before`: rows of earlier instances in the part.
TileAccess lse_access(Tensor tensor, Access access, const Held& rows, std::int64_t part_instance, std::int64_t before) {
  TileAccess numbers{tensor, access, part_instance, rows.first, rows.rows, 0, 1, fp32_bytes};
  numbers.request_rows = combine_rows;
  numbers.place = static_cast<std::int8_t>((before + rows.first) % numbers_per_sector);
  return numbers;
}

/// Sectors moved by the LSE requests of all tiles and instances.
std::int64_t lse_sectors(const PartialResults& parts, std::int64_t missing) {
  const std::int64_t tiles = tiles_of(parts);
  const std::int64_t of_instance = parts.rows - missing;
  std::int64_t sectors = 0;
  // Sector alignment repeats every eight instances.
  for (std::int64_t instance = 0; instance < std::min(parts.instances, numbers_per_sector); ++instance) {
    const std::int64_t alike = ceil_div(parts.instances - instance, numbers_per_sector);
    const auto of_tile = [&](std::int64_t tile) {
      const Held rows = held(parts, tile, missing);
      if (rows.rows == 0) return std::int64_t{0};
      const std::int64_t place = (instance * of_instance + rows.first) % numbers_per_sector;
      return ceil_div(place + rows.rows, numbers_per_sector);
    };
    // All tiles between the first and the last tile of a part have equal alignment.
    const std::int64_t begin = std::min(tiles, ceil_div(missing, combine_rows));
    const std::int64_t end = std::max(begin, tiles - 1);
    for (std::int64_t tile = std::max<std::int64_t>(0, begin - 1); tile < begin; ++tile)
      sectors += alike * of_tile(tile);
    if (end > begin) sectors += alike * (end - begin) * of_tile(begin);
    for (std::int64_t tile = end; tile < tiles; ++tile) sectors += alike * of_tile(tile);
  }
  return sectors;
}

std::vector<OperandTraffic> traffic_of(const PartialResults& parts) {
  const std::int64_t row = parts.d * output_bytes(parts.dtype);
  const std::int64_t part_rows =
      parts.instances * (parts.whole * parts.rows + parts.later * (parts.rows - parts.first));
  const std::int64_t lse_read = parts.whole * lse_sectors(parts, 0) + parts.later * lse_sectors(parts, parts.first);
  return {{Tensor::o_part, {.l2_to_sm_bytes = part_rows * row}},
          {Tensor::lse_part, {.l2_to_sm_bytes = lse_read * sector_bytes}},
          {Tensor::o, {.sm_to_l2_bytes = parts.instances * parts.rows * row}},
          {Tensor::lse, {.sm_to_l2_bytes = lse_sectors(parts, 0) * sector_bytes}}};
}

KernelWork work_of(const PartialResults& parts) {
  const auto blocks = static_cast<double>(parts.instances * tiles_of(parts));
  const double values = static_cast<double>(parts.instances * parts.rows * parts.count());
  return {.steps = 2 * blocks,
          .rounds = blocks,
          .exponentials = values * static_cast<double>(parts.d) / combine_columns,
          .fp32_values = values * static_cast<double>(parts.d),
          .distinct_bytes = static_cast<double>(sum_of(traffic_of(parts)).total())};
}

class Program final : public TileProgram {
 public:
  explicit Program(const PartialResults& parts) : parts_(parts) {}

  [[nodiscard]] std::int64_t blocks() const override { return parts_.instances * tiles_of(parts_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const std::int64_t instance = block / tiles_of(parts_);
    const std::int64_t tile = block % tiles_of(parts_);
    const int element = output_bytes(parts_.dtype);
    if (step == 1) {
      const Held rows = held(parts_, tile, 0);
      out.push_back({Tensor::o, Access::store, instance, rows.first, rows.rows, 0, parts_.d, element});
      out.push_back(lse_access(Tensor::lse, Access::store, rows, instance, instance * parts_.rows));
      return;
    }
    for (const Tensor tensor : {Tensor::lse_part, Tensor::o_part}) {
      for (int part = 0; part < parts_.count(); ++part) {
        const std::int64_t missing = part < parts_.whole ? 0 : parts_.first;
        const Held rows = held(parts_, tile, missing);
        if (rows.rows == 0) continue;
        const std::int64_t matrix = part * parts_.instances + instance;
        if (tensor == Tensor::lse_part) {
          out.push_back(lse_access(tensor, Access::load, rows, matrix, instance * (parts_.rows - missing)));
        } else {
          out.push_back({tensor, Access::load, matrix, rows.first, rows.rows, 0, parts_.d, element});
        }
      }
    }
  }

 private:
  PartialResults parts_;
};

}  // namespace

std::int64_t PartialResults::part_stride() const {
  constexpr std::int64_t aligned = 64;  // fp32 numbers in 256 bytes
  return round_up(instances * rows, aligned);
}

/// Uses the timing constants of split-KV's combine, which does the same work. They were not fitted to this kernel; on
/// an H200 its predicted time is 0.90 of the measured time in the median (assets/docs/measurements.md: Attention across
/// GPUs).
KernelLaunch combine_launch(const PartialResults& parts, std::string name) {
  AttentionProblem like;
  like.dtype = parts.dtype;
  like.d = parts.d;
  const KernelResources needs{
      .kernel = "combine", .threads = combine_threads(static_cast<int>(parts.d)), .registers = combine_registers};
  KernelModel model = kernel_model(std::move(name), parts.instances * tiles_of(parts), needs, traffic_of(parts), {},
                                   work_of(parts), splitkv::combine_timing);
  std::vector<Argument> arguments =
      kernel_arguments({"o_parts", "lse_parts", "o", "lse"}, {parts.rows, parts.whole, parts.later, parts.first});
  arguments.emplace_back(parts.part_stride() * parts.d);
  arguments.emplace_back(parts.part_stride());
  return {std::move(model),
          {"ringattn/ringattn_combine.cuh", "attn_ringattn_combine",
           kernel_defines({"ATTN_BF16", "ATTN_D"}, like, Config())},
          std::move(arguments),
          std::make_shared<const Program>(parts)};
}

}  // namespace attnscope::ringattn
