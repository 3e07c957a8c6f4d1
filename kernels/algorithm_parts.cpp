// SPDX-License-Identifier: Apache-2.0
#include "kernels/algorithm_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "kernels/device/gradient_shape.h"
#include "kernels/device/panel_shape.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/integer.h"
#include "messages/feature.h"

namespace attnscope {
namespace {

constexpr std::int64_t max_int = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t max_rows = std::int64_t{1} << 30;  // headroom for rounding up in 32 bits
constexpr int tile_step = 16;                             // rows and columns of a matrix instruction

std::string capability(int major, int minor) {
  return fmt::format("{}.{}", major, minor);
}

}  // namespace

Refusal make_shape_refusal(Message reason) {
  return {Refusal::Cause::shape, std::move(reason)};
}

std::optional<Refusal> check_shape(const AttentionProblem& p, const TileShape& tile, const Facts& facts) {
  if (Message reason = invalid_reason(p); !reason.empty()) return make_shape_refusal(std::move(reason));
  if (std::ranges::find(facts.dtypes, p.dtype) == facts.dtypes.end()) {
    std::vector<std::string_view> has;
    for (const DType dtype : facts.dtypes) has.push_back(to_string(dtype));
    return make_shape_refusal(make_reason("refusal.dtype", "{} does not support dtype {}; supported: {}.", facts.name,
                                          to_string(p.dtype), fmt::join(has, ", ")));
  }
  const std::vector<int>& head_dims = facts.head_dims;
  if (std::ranges::find(head_dims, p.d) == head_dims.end()) {
    return make_shape_refusal(
        make_reason("refusal.head_dim", "d {} is not supported; supported: {}.", p.d, fmt::join(head_dims, ", ")));
  }
  for (const auto& [name, value] : {std::pair{"Br", tile.br}, std::pair{"Bc", tile.bc}}) {
    if (value < tile_step || value % tile_step != 0) {
      return make_shape_refusal(
          make_reason("refusal.tile_side", "{} must be a positive multiple of {}, not {}.", name, tile_step, value));
    }
  }
  for (const auto& [name, value] :
       {std::pair{"n_q", p.n_q}, std::pair{"n_k", p.n_k}, std::pair{"batch x heads_q", p.instances()}}) {
    if (auto refused = check_upper_limit(name, value, max_rows, "kernels use 32-bit sizes")) return refused;
  }
  return std::nullopt;
}

std::optional<Refusal> check_features(std::string_view algorithm, const AttentionProblem& p, const TileShape& tile,
                                      const Features& has, bool tiles_blocks) {
  struct FeatureCheck {
    bool asked;
    bool available;
    Message name;
  };
  const std::array feature_checks{
      FeatureCheck{p.pass != Pass::fwd, has.backward, msg::feature::backward_pass{}},
      FeatureCheck{p.mask.has_window() && !(p.mask.left == Mask::unlimited && p.mask.right == 0), has.window,
                   msg::feature::sliding_window{}},
      FeatureCheck{p.mask.padded(), has.lengths, msg::feature::key_lengths{}},
      FeatureCheck{p.mask.has_block_mask(), has.blocks, msg::feature::block_mask{}},
      FeatureCheck{p.dropout > 0, has.dropout, msg::feature::dropout{}},
      FeatureCheck{p.page > 0, has.paged, msg::feature::paged_kv{}},
      FeatureCheck{single_gpu_problem(p) != p, has.gpus, msg::feature::several_gpus{}}};
  for (const FeatureCheck& wish : feature_checks) {
    if (wish.asked && !wish.available)
      return make_shape_refusal(make_reason("refusal.feature", "{} does not support {}.", algorithm, wish.name));
  }
  if (p.mask.has_block_mask() && tiles_blocks) {
    for (const auto& [name, value] : {std::pair{"Br", tile.br}, std::pair{"Bc", tile.bc}}) {
      if (p.mask.block_size % value == 0) continue;
      return make_shape_refusal(make_reason("refusal.mask_blocks", "{} {} does not divide the mask's block size {}.",
                                            name, value, p.mask.block_size));
    }
  }
  return std::nullopt;
}

std::optional<Refusal> check_knobs(const Facts& facts, const Knobs& given) {
  for (const auto& [name, value] : given) {
    const auto knob = std::ranges::find(facts.knobs, name, &Knob::name);
    if (knob == facts.knobs.end()) {
      std::vector<std::string_view> known;
      for (const Knob& some : facts.knobs) known.push_back(some.name);
      if (known.empty())
        return make_shape_refusal(
            make_reason("refusal.no_knobs", "{} has no knob '{}' (it has no knobs).", facts.name, name));
      return make_shape_refusal(make_reason("refusal.no_such_knob", "{} has no knob '{}'; available: {}.", facts.name,
                                            name, fmt::join(known, ", ")));
    }
    if (const auto parsed = parse_knob(*knob, to_string(value)); !parsed) return make_shape_refusal(parsed.error());
  }
  return std::nullopt;
}

std::optional<Refusal> check_knobs_except(std::string_view kernel, const Knobs& given,
                                          std::initializer_list<std::string_view> has) {
  for (const auto& [name, value] : given) {
    if (std::ranges::find(has, name) == has.end())
      return make_shape_refusal(make_reason("refusal.kernel_knob", "{} has no knob '{}'.", kernel, name));
  }
  return std::nullopt;
}

std::optional<Refusal> check_grid_size(std::string_view kernel, std::int64_t blocks) {
  return check_upper_limit(fmt::format("{} grid size", kernel), blocks, max_int,
                           "the maximum number of blocks in a grid");
}

std::optional<Refusal> check_upper_limit(std::string_view what, std::int64_t value, std::int64_t most,
                                         std::string_view why) {
  if (value <= most) return std::nullopt;
  return make_shape_refusal(
      make_reason("refusal.over", "{} is {}, over {}: {}.", what, grouped(value), grouped(most), why));
}

std::optional<Refusal> check_resources(std::initializer_list<KernelResources> kernels, const DeviceLimits& device) {
  if (device.compute_major < 8) {
    return Refusal{Refusal::Cause::architecture,
                   make_reason("refusal.capability", "the kernels need compute capability {} or higher; {} has {}.",
                               capability(8, 0), device.name, capability(device.compute_major, device.compute_minor))};
  }
  for (const KernelResources& k : kernels) {
    if (k.threads <= device.max_threads_per_block) continue;
    return Refusal{Refusal::Cause::threads,
                   make_reason("refusal.threads", "{} needs {} threads per block; {} allows {}.", k.kernel,
                               grouped(k.threads), device.name, grouped(device.max_threads_per_block))};
  }
  for (const KernelResources& k : kernels) {
    const int available = max_registers_per_thread(device, k.threads);
    if (k.registers <= available) continue;
    return Refusal{Refusal::Cause::registers,
                   make_reason("refusal.registers",
                               "{} needs about {} registers per thread; with {} threads per block, {} has {} per "
                               "thread.",
                               k.kernel, k.registers, grouped(k.threads), device.name, available)};
  }
  for (const KernelResources& k : kernels) {
    if (k.shared_bytes <= device.shared_bytes_per_block) continue;
    return Refusal{Refusal::Cause::shared_memory,
                   make_reason("refusal.shared_memory", "{} needs {} bytes of shared memory per block; {} has {}.",
                               k.kernel, grouped(k.shared_bytes), device.name, grouped(device.shared_bytes_per_block))};
  }
  return std::nullopt;
}

KernelModel kernel_model(std::string name, std::int64_t blocks, const KernelResources& needs,
                         std::vector<OperandTraffic> operands, std::vector<OnChipPart> on_chip, const KernelWork& work,
                         const KernelTiming& timing) {
  const Traffic traffic = sum_of(operands);
  return {.name = std::move(name),
          .grid = grid_of(blocks),
          .block = block_of(needs.threads),
          .dynamic_shared_bytes = needs.shared_bytes,
          .registers_per_thread = needs.registers,
          .traffic = traffic,
          .operands = std::move(operands),
          .work = work,
          .timing = timing,
          .on_chip = std::move(on_chip)};
}

OnChipPart shared_memory_part(std::string name, std::int64_t bytes, int stages) {
  return {std::move(name), OnChipMemory::shared, bytes, stages};
}

OnChipPart register_part(std::string name, std::int64_t bytes) {
  return {std::move(name), OnChipMemory::registers, bytes, 1};
}

std::int64_t resident_blocks(const DeviceLimits& device, const KernelResources& kernel) {
  const Occupancy occupancy = theoretical_occupancy(device, {.threads_per_block = kernel.threads,
                                                             .registers_per_thread = kernel.registers,
                                                             .shared_bytes = kernel.shared_bytes});
  return std::int64_t{device.sm_count} * std::max(1, occupancy.blocks_per_sm);
}

std::vector<OnChipPart> gradient_layout(const AttentionProblem& p, const TileShape& tile,
                                        std::initializer_list<const char*> streamed, const char* statistics) {
  const int d = static_cast<int>(p.d);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const int stages = gradient::stages(tile.br, tile.bc, d, element, static_cast<int>(streamed.size()));
  const std::int64_t kv = std::int64_t{tile.bc} * d;
  const std::int64_t scores = std::int64_t{tile.br} * tile.bc * element;
  const std::int64_t chunk = std::int64_t{tile.br} * gradient::chunk_columns(tile.br, tile.bc, d) * accumulator;
  std::vector<OnChipPart> parts{shared_memory_part("K", kv * element), shared_memory_part("V", kv * element),
                                shared_memory_part("P", scores), shared_memory_part("dS", scores)};
  for (const char* name : streamed) {
    parts.push_back(shared_memory_part(name, std::int64_t{stages} * tile.br * d * element, stages));
  }
  parts.push_back(shared_memory_part(statistics, std::int64_t{stages} * tile.br * 2 * fp32_bytes, stages));
  for (const char* name : {"dK", "dV"}) parts.push_back(register_part(name, kv * accumulator));
  for (const char* name : {"S", "dP"}) parts.push_back(register_part(name, chunk));
  return parts;
}

AttentionProblem forward_problem(AttentionProblem p) {
  p.pass = Pass::fwd;
  p.deterministic = false;
  return p;
}

int tile_side_for_mask(const AttentionProblem& p, int preferred, int step) {
  if (!p.mask.has_block_mask()) return preferred;
  int side = preferred / step * step;
  while (side > step && p.mask.block_size % side != 0) side -= step;
  return side;
}

TileShape shrink_to_fit(TileShape tile, const std::function<bool(const TileShape&)>& accepted) {
  while (!accepted(tile) && (tile.br > tile_step || tile.bc > tile_step)) {
    int& side = tile.bc >= tile.br ? tile.bc : tile.br;
    side = std::max(side / 2 / tile_step * tile_step, tile_step);
  }
  return tile;
}

int mask_bits(const Mask& mask) {
  return (mask.right != Mask::unlimited ? mask_right : 0) | (mask.left != Mask::unlimited ? mask_left : 0) |
         (mask.padded() ? mask_lengths : 0) | (mask.has_block_mask() ? mask_blocks : 0);
}

std::vector<Argument> attention_arguments(std::initializer_list<std::string_view> buffers, const AttentionProblem& p) {
  std::vector<Argument> arguments = kernel_arguments(buffers, {p.instances(), group_size(p), p.n_q, p.n_k});
  arguments.emplace_back(score_scale(p));
  append_mask_arguments(arguments, p);
  return arguments;
}

std::vector<Argument> kernel_arguments(std::initializer_list<std::string_view> buffers,
                                       std::initializer_list<std::int64_t> integers) {
  std::vector<Argument> arguments;
  for (const std::string_view name : buffers) arguments.emplace_back(BufferArgument{std::string(name)});
  for (const std::int64_t value : integers) arguments.emplace_back(static_cast<std::int32_t>(value));
  return arguments;
}

TensorMapArgument make_tensor_map(const char* buffer, const AttentionProblem& p, std::int64_t instances, std::int64_t n,
                                  int rows) {
  return make_tensor_map(buffer, p.dtype, instances, n, p.d, rows, static_cast<int>(p.d));
}

TensorMapArgument make_tensor_map(const char* buffer, DType element, std::int64_t instances, std::int64_t n,
                                  std::int64_t width, int rows, int columns) {
  const int bytes = bytes_per_element(element);
  const std::int64_t row_bytes = width * bytes;
  const int box_columns = panel_columns(columns, bytes);
  return {.buffer = buffer,
          .dtype = element,
          .extents = {width, n, instances},
          .strides = {row_bytes, n * row_bytes},
          .box = {box_columns, rows, 1},
          .swizzle_bytes = box_columns * bytes};
}

void append_mask_arguments(std::vector<Argument>& arguments, const AttentionProblem& p) {
  const auto integer = [&](std::int64_t value) { arguments.emplace_back(static_cast<std::int32_t>(value)); };
  integer(p.heads_q);
  integer(p.mask.left);
  integer(p.mask.right);
  arguments.emplace_back(BufferArgument{p.mask.padded() ? "key_lengths" : ""});
  arguments.emplace_back(BufferArgument{p.mask.has_block_mask() ? "block_mask" : ""});
  integer(p.mask.block_size);
  integer(dropout_keep_count(p));
  integer(dropout_seed);
}

std::vector<BufferSpec> mask_buffers(const AttentionProblem& p) {
  std::vector<BufferSpec> buffers;
  if (p.mask.padded()) {
    const auto make = [p] {
      std::vector<std::byte> bytes(static_cast<std::size_t>(p.batch) * sizeof(std::int32_t));
      for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        const auto length = static_cast<std::int32_t>(key_length(p, entry));
        std::memcpy(&bytes[static_cast<std::size_t>(entry) * sizeof length], &length, sizeof length);
      }
      return bytes;
    };
    buffers.push_back(contents_buffer("key_lengths", p.batch * std::int64_t{sizeof(std::int32_t)}, make));
  }
  if (p.mask.has_block_mask()) {
    const std::int64_t rows = ceil_div(p.n_q, p.mask.block_size);
    const std::int64_t columns = ceil_div(p.n_k, p.mask.block_size);
    const auto make = [mask = p.mask, rows, columns] {
      std::vector<std::byte> bytes;
      bytes.reserve(static_cast<std::size_t>(rows * columns));
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) bytes.push_back(std::byte{mask.block_counts(i, j)});
      }
      return bytes;
    };
    buffers.push_back(contents_buffer("block_mask", rows * columns, make));
  }
  return buffers;
}

BufferSpec contents_buffer(std::string name, std::int64_t bytes, std::function<std::vector<std::byte>()> make) {
  return {std::move(name), bytes, BufferFill::contents, std::make_shared<const LazyBytes>(std::move(make))};
}

float score_scale(const AttentionProblem& p) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.d)));
}

std::array<std::uint32_t, 3> grid_of(std::int64_t blocks) {
  return {static_cast<std::uint32_t>(blocks), 1, 1};
}

std::array<std::uint32_t, 3> block_of(int threads) {
  return {static_cast<std::uint32_t>(threads), 1, 1};
}

std::vector<BufferSpec> input_buffers(const AttentionProblem& p) {
  const std::int64_t row = p.d * bytes_per_element(output_dtype(p.dtype));
  const std::int64_t q = p.instances() * p.n_q * row;
  const std::int64_t keys = p.page > 0 ? round_up(p.n_k, p.page) : p.n_k;
  const std::int64_t kv = p.kv_instances() * keys * row;
  std::vector<BufferSpec> buffers{
      {"q", q, BufferFill::input_q}, {"k", kv, BufferFill::input_k}, {"v", kv, BufferFill::input_v}};
  if (p.pass != Pass::fwd) buffers.push_back({"dout", q, BufferFill::input_dout});
  std::ranges::move(mask_buffers(p), std::back_inserter(buffers));
  return buffers;
}

std::vector<BufferSpec> gradient_buffers(const AttentionProblem& p) {
  const std::int64_t row = p.d * output_bytes(p.dtype);
  const std::int64_t q = p.instances() * p.n_q * row;
  const std::int64_t kv = p.kv_instances() * p.n_k * row;
  return {{"dq", q}, {"dk", kv}, {"dv", kv}};
}

std::vector<BufferSpec> backward_pass_buffers(const AttentionProblem& p, std::vector<BufferSpec> scratch) {
  BufferSpec dout = row_buffer("dout", p, p.d, bytes_per_element(p.dtype));
  dout.fill = BufferFill::input_dout;
  scratch.insert(scratch.begin(), std::move(dout));
  std::ranges::move(gradient_buffers(p), std::back_inserter(scratch));
  return scratch;
}

BufferSpec row_buffer(std::string name, const AttentionProblem& p, std::int64_t elements, int element_bytes) {
  return {std::move(name), p.instances() * p.n_q * elements * element_bytes, BufferFill::poison};
}

bool has_only_right_bound(const AttentionProblem& p) {
  return p.mask.right != Mask::unlimited && p.mask.left == Mask::unlimited;
}

BlockLocation block_location(std::int64_t block, Raster raster, std::int64_t tiles, std::int64_t instances,
                             std::int64_t heads_per_group, bool last_tile_first) {
  if (raster == Raster::heads_fastest) heads_per_group = instances;
  return head_block(block, tiles, instances, heads_per_group, last_tile_first);
}

Config TwoPassAlgorithm::forward_config(const AttentionProblem& p, const Config& config,
                                        const DeviceLimits& device) const {
  return p.pass == Pass::bwd ? setup_config(forward_problem(p), device) : config;
}

std::optional<Refusal> TwoPassAlgorithm::refuse_forward_pass(const AttentionProblem& p, const Config& config,
                                                             const DeviceLimits& device) const {
  return refusal(forward_problem(p), forward_config(p, config, device), device);
}

std::optional<Refusal> TwoPassAlgorithm::refusal(const AttentionProblem& p, const Config& config,
                                                 const DeviceLimits& device) const {
  if (auto refused = check_shape(p, config.tile, facts())) return refused;
  if (auto refused = check_knobs(facts(), config.knobs)) return refused;
  if (p.pass == Pass::fwd) return refuse_forward(p, config, device);
  if (auto refused = refuse_backward(p, config, device)) return refused;
  return refuse_forward_pass(p, config, device);
}

void TwoPassAlgorithm::add_kernels(AttentionModel& model, const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const {
  model.kernels = forward_kernels(forward_problem(p), forward_config(p, config, device), device);
  if (p.pass == Pass::fwd) return;
  for (KernelModel& kernel : model.kernels) kernel.setup = p.pass == Pass::bwd;
  std::ranges::move(backward_kernels(p, config, device), std::back_inserter(model.kernels));
}

std::vector<BufferSpec> TwoPassAlgorithm::buffers(const AttentionProblem& p, const Config& config,
                                                  const DeviceLimits& /*device*/) const {
  std::vector<BufferSpec> all = forward_buffers(forward_problem(p));
  if (p.pass != Pass::fwd) std::ranges::move(backward_buffers(p, config), std::back_inserter(all));
  return all;
}

AttentionPlan TwoPassAlgorithm::plan(const AttentionProblem& p, const Config& config,
                                     const DeviceLimits& device) const {
  AttentionPlan plan = forward_plan(forward_problem(p), forward_config(p, config, device), device);
  if (p.pass == Pass::fwd) return plan;
  for (KernelLaunch& launch : plan.launches) launch.setup = p.pass == Pass::bwd;
  std::ranges::move(backward_buffers(p, config), std::back_inserter(plan.buffers));
  std::ranges::move(backward_launches(p, config, device), std::back_inserter(plan.launches));
  return plan;
}

}  // namespace attnscope
