// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/device/quantize_shape.h"
#include "kernels/fa3/fa3_backward_shape.h"
#include "kernels/fa3/fa3_shape.h"
#include "kernels/key_stationary.h"
#include "kernels/model/integer.h"
#include "kernels/model/tile_grid.h"
#include "kernels/query_stationary.h"
#include "messages/tile_meaning.h"

namespace attnscope {
namespace {

// Timing constants, fitted on an NVIDIA H200 by tests/gpu/fit_times.py to half of the recorded launches.

/// wgmma, warp-specialized: one warpgroup loads with TMA while the others multiply; their softmax and products overlap.
constexpr KernelTiming forward_timing{
    .block_latency = 2330,
    .step_latency = 198,
    .round_latency = 332,
    .mask_read_latency = 297,
    .alone = {.tensor = 0, .exponential = 0.804, .fp32 = 0.294, .shared = 0.00269, .l2 = 0.407},
    .busy = {.tensor = 0.5, .exponential = 0.512, .fp32 = 0, .shared = 0.532, .l2 = 0.461},
    .skew = 0.0013,
    .overlap = 1.01,
    .launch_ns = 8940,
    .use = {.instruction = MatrixInstruction::wgmma,
            .exponentials = 1.01,
            .wavefronts = {.exponential = 0.00478, .fp32 = 0.533, .shared = 0.931, .l2 = 0.159}},
};

/// The same for 8-bit operands.
constexpr KernelTiming forward_fp8_timing{
    .block_latency = 3490,
    .step_latency = 374,
    .round_latency = 574,
    .alone = {.tensor = 0.47, .exponential = 0.482, .fp32 = 0.496, .shared = 0.485, .l2 = 0.516},
    .busy = {.tensor = 1, .exponential = 0.143, .fp32 = 0.455, .shared = 1.01, .l2 = 1.33},
    .skew = 0.0917,
    .overlap = 1.8,
    .launch_ns = 9000,
    .use = forward_timing.use,
};

/// wgmma, warp-specialized.
constexpr KernelTiming backward_timing{
    .block_latency = 1730,
    .step_latency = 323,
    .round_latency = 493,
    .alone = {.tensor = 0.494, .exponential = 0.54, .fp32 = 0.5, .shared = 0.454, .l2 = 0.507},
    .busy = {.tensor = 1.1, .exponential = 0.685, .fp32 = 0.499, .shared = 1, .l2 = 1},
    .skew = 0.103,
    .overlap = 1.39,
    .launch_ns = 7930,
    .use = {.instruction = MatrixInstruction::wgmma,
            .exponentials = 1.01,
            .wavefronts = {.exponential = 1.31, .shared = 0.85, .l2 = 0.915}},
};

/// Dot kernel before the main kernel; streams rows of O and dO.
constexpr KernelTiming dot_timing{
    .block_latency = 1510,
    .step_latency = 300,
    .round_latency = 501,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.5},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.976},
    .skew = 0.1,
    .overlap = 2,
    .launch_ns = 4040,
    .use = {.wavefronts = {.fp32 = 0.633}},
};

/// Convert kernel after the main kernel; streams rows of dQ.
constexpr KernelTiming convert_timing{
    .block_latency = 1470,
    .step_latency = 300,
    .round_latency = 496,
    .alone = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.499},
    .busy = {.tensor = 0, .exponential = 0, .fp32 = 0.5, .shared = 0, .l2 = 0.9},
    .skew = 0.1,
    .overlap = 2.08,
    .launch_ns = 3760,
    .use = {.wavefronts = {.l2 = 0.356}},
};

/// Quantization before the 8-bit forward kernel. Not fitted yet; reuses the constants of dot.
constexpr KernelTiming quantize_timing = dot_timing;

constexpr Features features{.window = true, .lengths = true, .blocks = true, .dropout = true};
/// One key tile per scale. Fewer or more rows would waste or exceed registers.
constexpr TileShape fp8_tile{.br = 128, .bc = scaled_keys};
constexpr Features fp8_features{.window = true, .lengths = true, .blocks = true};

bool is_fp8(const AttentionProblem& p) {
  return p.dtype == DType::fp8;
}
bool rotated(const Config& config) {
  return config.knobs.named_value(knob::rotation) == knob::hadamard;
}
bool quantization_measured(const Config& config) {
  return config.knobs.named_value(knob::quantising) == knob::measured;
}

KernelResources needs(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  return {.kernel = "fa3 fwd",
          .threads = fa3::threads(tile.br),
          .registers = fa3::launch_registers(tile.br),
          .shared_bytes = fa3::shared_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype),
                                            numeric_knob(config, knob::stages))};
}

// --- 8-bit operands: Q and K (optionally rotated) and V transposed, with one scale per block of rows ---

/// Padded keys per row of the transposed V (whole blocks).
std::int64_t padded_keys(const AttentionProblem& p) {
  return round_up(p.n_k, scaled_keys);
}

/// One of the three matrices and its quantized counterpart.
struct Matrix {
  const char* launch;
  const char* given;
  const char* made;
  const char* scales;
  Tensor from;
  Tensor to;
  Tensor scale;
  std::int64_t block_rows;

  [[nodiscard]] bool of_queries() const { return to == Tensor::q; }
  [[nodiscard]] bool transposed() const { return to == Tensor::v; }
  [[nodiscard]] std::int64_t instances(const AttentionProblem& p) const {
    return of_queries() ? p.instances() : p.kv_instances();
  }
  [[nodiscard]] std::int64_t rows(const AttentionProblem& p) const { return of_queries() ? p.n_q : p.n_k; }
  [[nodiscard]] std::int64_t blocks(const AttentionProblem& p) const {
    return instances(p) * ceil_div(rows(p), block_rows);
  }
  [[nodiscard]] std::int64_t stored_rows(const AttentionProblem& p) const {
    return transposed() ? padded_keys(p) : rows(p);
  }
};
constexpr std::array matrices{
    Matrix{"quantise Q", "q", "q8", "q_scales", Tensor::q16, Tensor::q, Tensor::q_scales, scaled_queries},
    Matrix{"quantise K", "k", "k8", "k_scales", Tensor::k16, Tensor::k, Tensor::k_scales, scaled_keys},
    Matrix{"transpose V", "v", "v8", "v_scales", Tensor::v16, Tensor::v, Tensor::v_scales, scaled_keys}};

/// One block per block of rows: step 0 loads them in 16 bits, step 1 stores them in 8 bits with their scale. The last
/// block of V is zero-padded to whole blocks.
class QuantizeProgram final : public TileProgram {
 public:
  QuantizeProgram(const AttentionProblem& p, const Matrix& matrix) : p_(p), matrix_(matrix) {}

  [[nodiscard]] std::int64_t blocks() const override { return matrix_.blocks(p_); }
  [[nodiscard]] std::int64_t steps(std::int64_t /*block*/) const override { return 2; }

  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const std::int64_t of_head = ceil_div(matrix_.rows(p_), matrix_.block_rows);
    const std::int64_t instance = block / of_head;
    const std::int64_t first = block % of_head * matrix_.block_rows;
    if (step == 0) {
      out.push_back({matrix_.from, Access::load, instance, first, rows(block), 0, p_.d,
                     bytes_per_element(output_dtype(p_.dtype))});
      return;
    }
    const TileAccess stored{
        matrix_.to, Access::store, instance, first, rows(block), 0, p_.d, bytes_per_element(p_.dtype)};
    out.push_back(matrix_.transposed() ? stored.with_tma_boxes(static_cast<int>(matrix_.block_rows)) : stored);
    out.push_back(
        {matrix_.scale, Access::store, instance, first / matrix_.block_rows, 1, 0, 1, static_cast<int>(sector_bytes)});
  }

 private:
  [[nodiscard]] std::int64_t rows(std::int64_t block) const {
    const std::int64_t first = block % ceil_div(matrix_.rows(p_), matrix_.block_rows) * matrix_.block_rows;
    return std::min(matrix_.block_rows, matrix_.rows(p_) - first);
  }

  AttentionProblem p_;
  Matrix matrix_;
};

KernelModel quantize_model(const AttentionProblem& p, const Matrix& matrix, bool measured) {
  const std::int64_t read = matrix.instances(p) * matrix.rows(p) * p.d * bytes_per_element(output_dtype(p.dtype));
  const std::int64_t written = matrix.instances(p) * matrix.stored_rows(p) * p.d * bytes_per_element(p.dtype);
  const std::int64_t blocks = matrix.blocks(p);
  const KernelWork work{.steps = static_cast<double>(2 * blocks),
                        .rounds = static_cast<double>(blocks),
                        .fp32_values = static_cast<double>(matrix.instances(p) * matrix.rows(p) * p.d),
                        .distinct_bytes = static_cast<double>(read + written)};
  KernelModel made =
      kernel_model(matrix.launch, blocks,
                   {.kernel = "fa3 quantise", .threads = fa3::quantize_threads, .registers = fa3::quantize_registers},
                   {{matrix.from, {.l2_to_sm_bytes = read}},
                    {matrix.to, {.sm_to_l2_bytes = written}},
                    {matrix.scale, {.sm_to_l2_bytes = blocks * sector_bytes}}},
                   {}, work, quantize_timing);
  made.setup = !measured;
  return made;
}

/// Appends the buffers "q8", "k8", "v8" and "q_scales", "k_scales", "v_scales".
void append_quantized(std::vector<BufferSpec>& buffers, const AttentionProblem& p) {
  for (const Matrix& matrix : matrices) {
    buffers.push_back({matrix.made, matrix.instances(p) * matrix.stored_rows(p) * p.d * bytes_per_element(p.dtype)});
    buffers.push_back({matrix.scales, matrix.blocks(p) * scale_record_bytes});
  }
}

std::vector<KernelLaunch> quantize_launches(const AttentionProblem& p, bool rotated, bool measured) {
  std::vector<KernelLaunch> all;
  for (const Matrix& matrix : matrices) {
    std::vector<std::string> defines = kernel_defines({"ATTN_BF16", "ATTN_D"}, p, Config());
    defines.push_back(fmt::format("ATTN_ROWS={}", matrix.block_rows));
    const int rotation = !rotated || matrix.transposed() ? 0 : matrix.of_queries() ? 2 : 1;
    defines.push_back(fmt::format("ATTN_ROTATE={}", rotation));
    all.emplace_back(
        quantize_model(p, matrix, measured),
        KernelSource{"fa3/fa3_quantise.cuh",
                     matrix.transposed() ? "attn_fa3_quantise_values" : "attn_fa3_quantise_rows", std::move(defines)},
        kernel_arguments({matrix.given, matrix.made, matrix.scales}, {matrix.rows(p)}),
        std::make_shared<const QuantizeProgram>(p, matrix));
  }
  return all;
}

// --- forward ---

/// Rejects knobs that need 8-bit operands, and problems that the 8-bit kernel does not support.
std::optional<Refusal> check_operands(const AttentionProblem& p, const Config& config) {
  if (!is_fp8(p)) {
    for (const std::string_view each : {knob::rotation, knob::quantising}) {
      if (!config.knobs.named_value(each).empty())
        return make_shape_refusal(make_reason("refusal.only_8_bit", "The knob {} requires dtype fp8.", each));
    }
    return std::nullopt;
  }
  if (fa3::supported_8_bit_head_dim(static_cast<int>(p.d))) {
    return check_features("fa3 fp8", p, config.tile, fp8_features, true);
  }
  return make_shape_refusal(
      make_reason("refusal.kernel_head_dim", "fa3 fp8 does not support d {} (use 64 or 128).", p.d));
}

/// Reason why the forward kernel does not support the tile on any device.
std::optional<Refusal> check_tile(const AttentionProblem& p, const Config& config) {
  const TileShape& tile = config.tile;
  if (is_fp8(p) && tile != fp8_tile) {
    return make_shape_refusal(
        make_reason("refusal.only_tile", "fa3 fp8 supports only tile {}, not {}.", describe(fp8_tile), describe(tile)));
  }
  if (!fa3::supported_rows(tile.br)) {
    return make_shape_refusal(
        make_reason("refusal.warpgroup_rows", "fa3 fwd does not support Br {} (use 64, 128 or 192).", tile.br));
  }
  if (auto refused = check_upper_limit("Bc", tile.bc, fa3::max_keys, "fa3 fwd processes at most 256 keys at a time"))
    return refused;
  if (auto refused = check_upper_limit("stages", numeric_knob(config, knob::stages), fa3::max_kv_stages,
                                       "fa3 fwd has at most 3 buffers of K and V"))
    return refused;
  return std::nullopt;
}

/// Returns Cause::registers if a consumer thread needs more registers than it has after setmaxnreg (more than its share
/// at launch).
std::optional<Refusal> check_registers(const AttentionProblem& p, const TileShape& tile) {
  const int d = static_cast<int>(p.d);
  const int registers = fa3::register_estimate(tile.bc, d, bytes_per_element(p.dtype));
  if (registers > fa3::consumer_registers(tile.br, bytes_per_element(p.dtype))) {
    return Refusal{
        Refusal::Cause::registers,
        make_reason("refusal.multiplying_registers",
                    "fa3 fwd needs about {} registers per consumer thread at {} and d {}; Br {} leaves {}.", registers,
                    describe(tile), d, tile.br, fa3::consumer_registers(tile.br, bytes_per_element(p.dtype)))};
  }
  return std::nullopt;
}

/// wgmma exists in compute capability 9.0 only.
std::optional<Refusal> refuse_architecture(const DeviceLimits& device) {
  if (device.compute_major == 9 && device.compute_minor == 0) return std::nullopt;
  return Refusal{Refusal::Cause::architecture,
                 make_reason("refusal.instruction", "fa3 needs compute capability 9.0 (wgmma); {} has {}.{}.",
                             device.name, device.compute_major, device.compute_minor)};
}

/// The stages knob adds a define only if it differs from the kernel's default.
std::vector<std::string> forward_defines(const AttentionProblem& p, const Config& config) {
  std::vector<std::string> defines = query_stationary::defines(p, config);
  if (is_fp8(p)) defines.emplace_back("ATTN_FP8=1");
  const TileShape& tile = config.tile;
  const int stages = numeric_knob(config, knob::stages);
  if (stages > 0 && stages != fa3::stages(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype))) {
    defines.push_back(fmt::format("ATTN_STAGES={}", stages));
  }
  return defines;
}

std::vector<Argument> forward_matrices(const AttentionProblem& p, const TileShape& tile) {
  const auto boxes = [&](const char* given, const char* quantized, std::int64_t instances, std::int64_t n, int rows) {
    return make_tensor_map(is_fp8(p) ? quantized : given, p, instances, n, rows);
  };
  const auto scales = [&](const char* name) { return BufferArgument{is_fp8(p) ? name : ""}; };
  const auto d = static_cast<int>(p.d);
  return {boxes("q", "q8", p.instances(), p.n_q, fa3::group_rows),
          boxes("k", "k8", p.kv_instances(), p.n_k, tile.bc),
          is_fp8(p) ? make_tensor_map("v8", p.dtype, p.kv_instances(), d, padded_keys(p), d, tile.bc)
                    : make_tensor_map("v", p, p.kv_instances(), p.n_k, tile.bc),
          make_tensor_map("o", output_dtype(p.dtype), p.instances(), p.n_q, d, fa3::group_rows, d),
          scales("q_scales"),
          scales("k_scales"),
          scales("v_scales"),
          BufferArgument{"lse"},
          BufferArgument{"taken"}};
}

query_stationary::Execution execution(const AttentionProblem& p, const Config& config, const DeviceLimits& device) {
  return {
      .operand_rows = fa3::group_rows,
      .chunk_columns = config.tile.bc,
      .persistent_blocks = resident_blocks(device, needs(p, config)),
      .box_rows = fa3::group_rows,
      .exponential_share = is_fp8(p) ? 1 - fa3::linear_tile_count(static_cast<int>(p.d), mask_bits(p.mask)) / 8.0 : 1,
      .timing = is_fp8(p) ? forward_fp8_timing : forward_timing};
}

KernelModel forward_model(const AttentionProblem& p, const Config& config, const DeviceLimits& device) {
  const TileShape& tile = config.tile;
  const int d = static_cast<int>(p.d);
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  const std::int64_t rows = tile.br;
  const int stages = fa3::stages(tile.br, tile.bc, d, element, numeric_knob(config, knob::stages));
  const bool separate_o = fa3::fits_separate_o(tile.br, tile.bc, d, element, stages);
  const std::int64_t row = std::int64_t{d} * element;
  const std::int64_t ring_rows = std::int64_t{stages} * tile.bc;
  std::vector<OnChipPart> parts{shared_memory_part("Q", rows * row), shared_memory_part("K", ring_rows * row, stages),
                                shared_memory_part("V", ring_rows * (row + fa3::ones_rows(element)), stages)};
  if (separate_o) parts.push_back(shared_memory_part("O out", fa3::o_bytes(tile.br, d)));
  parts.push_back(shared_memory_part("barriers", fa3::barrier_bytes(tile.br, stages)));
  if (is_fp8(p)) parts.push_back(shared_memory_part("scales", fa3::scale_bytes(tile.br, stages, element)));
  for (const OnChipPart& part :
       {register_part("S", rows * tile.bc * accumulator), register_part("P", rows * tile.bc * element),
        register_part("O", rows * d * accumulator), register_part("m, l", rows * 2 * fp32_bytes)}) {
    parts.push_back(part);
  }
  return query_stationary::model(p, config, needs(p, config), std::move(parts), execution(p, config, device));
}

// --- backward ---

KernelResources backward_needs(const AttentionProblem& p, const TileShape& tile) {
  return {.kernel = "fa3 bwd",
          .threads = fa3_backward::threads,
          .registers = fa3_backward::launch_registers,
          .shared_bytes = fa3_backward::shared_bytes(tile.br, tile.bc, static_cast<int>(p.d),
                                                     bytes_per_element(p.dtype), p.deterministic)};
}

/// The only tile that the kernel supports at the problem's d.
TileShape backward_tile(const AttentionProblem& p) {
  return {.br = fa3_backward::query_rows(static_cast<int>(p.d)), .bc = 64 * fa3_backward::consumers};
}

constexpr Features backward_features{.backward = true, .window = true, .lengths = true};

std::vector<OnChipPart> backward_layout(const AttentionProblem& p, const TileShape& tile) {
  const int element = bytes_per_element(p.dtype);
  const int accumulator = accumulator_bytes(p.dtype);
  constexpr std::int64_t rows_at_once = 64;
  const std::int64_t kv = tile.bc * p.d;
  const std::int64_t q = tile.br * p.d;
  const std::int64_t scores = std::int64_t{tile.br} * tile.bc;
  return {
      shared_memory_part("K", kv * element),
      shared_memory_part("V", kv * element),
      shared_memory_part("Q", fa3_backward::stages * q * element, fa3_backward::stages),
      shared_memory_part("dO", fa3_backward::stages * q * element, fa3_backward::stages),
      shared_memory_part("LSE, D", std::int64_t{fa3_backward::stages} * tile.br * 2 * fp32_bytes, fa3_backward::stages),
      shared_memory_part("dS", fa3_backward::ds_buffers * scores * element, fa3_backward::ds_buffers),
      p.deterministic ? shared_memory_part("dQ", fa3_backward::dq_buffers * q * fp32_bytes, fa3_backward::dq_buffers)
                      : register_part("dQ", q * accumulator),
      shared_memory_part("barriers", fa3_backward::barrier_bytes),
      register_part("dK", kv * accumulator),
      register_part("dV", kv * accumulator),
      register_part("S", scores * accumulator),
      register_part("dP", rows_at_once * tile.bc * accumulator)};
}

key_stationary::Kernels backward_kernel_set(const AttentionProblem& p, const TileShape& tile) {
  return {
      .file = "fa3/fa3_backward.cuh",
      .entry = "attn_fa3_backward",
      .needs = backward_needs(p, tile),
      .on_chip = backward_layout(p, tile),
      .rows_file = "fa3/fa3_backward_rows.cuh",
      .row_threads = fa3_backward::row_threads,
      .row_registers = fa3_backward::row_registers,
      .chunk_columns = tile.bc,
      .operand_bytes = fa3_backward::operand_bytes(tile.br, tile.bc, static_cast<int>(p.d), bytes_per_element(p.dtype)),
      .timing = backward_timing,
      .dot_timing = dot_timing,
      .convert_timing = convert_timing,
      .delta_request_rows = 32,
      .whole_tiles = true};
}

std::optional<Refusal> refuse_backward_tile(const AttentionProblem& p, const TileShape& tile) {
  if (auto refused = check_features("fa3 bwd", p, tile, backward_features, true)) return refused;
  const TileShape own = backward_tile(p);
  const int d = static_cast<int>(p.d);
  if (!fa3_backward::supported_tile(own.br, own.bc, d)) {
    return make_shape_refusal(
        make_reason("refusal.kernel_head_dim", "fa3 bwd does not support d {} (use 64 or 128).", p.d));
  }
  if (!fa3_backward::supported_tile(tile.br, tile.bc, d)) {
    return make_shape_refusal(make_reason("refusal.kernel_tile", "fa3 bwd supports only tile {} at d {}, not {}.",
                                          describe(own), p.d, describe(tile)));
  }
  return key_stationary::refuse_grids("fa3", p, tile);
}

/// FlashAttention-3: FlashAttention-2's tile programs with warpgroup products (wgmma, compute capability 9.0), producer
/// warps, and products that overlap the softmax of another tile.
class FlashAttention3 final : public TwoPassAlgorithm {
 public:
  FlashAttention3()
      : TwoPassAlgorithm({.name = "fa3",
                          .title = "FlashAttention-3",
                          .short_title = "FA3",
                          .source = "J. Shah et al., FlashAttention-3 (arXiv 2407.08608), Algorithms 1 and 2",
                          .tile_meaning = msg::tile_meaning::warpgroups{},
                          .plot_slot = PlotSlot::triangle,
                          .power_law = theorem_2(),
                          .forward_side = TileSide::br,
                          .backward_side = TileSide::bc,
                          .instruction = MatrixInstruction::wgmma,
                          .paper_column = PaperColumn::flash,
                          .groups = {Group::prefill, Group::tile_maps, Group::paper},
                          .dtypes = {DType::fp16, DType::bf16, DType::fp8},
                          .head_dims = supported_head_dims<fa3::supported_head_dim>(),
                          .knobs = {raster_knob(), stages_knob(), rotation_knob(), quantising_knob()}}) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    if (p.pass != Pass::fwd) return backward_tile(p);
    if (is_fp8(p)) return fp8_tile;
    // Measured on an H200 at N 512 to 16384. The same tile at every N, so that a curve over N has one tile.
    const TileShape preferred = p.d <= 64        ? TileShape{.br = 192, .bc = 128}
                                : p.d <= 96      ? TileShape{.br = 192, .bc = 96}
                                : p.d <= 128     ? TileShape{.br = 128, .bc = 128}
                                : p.d <= 192     ? TileShape{.br = 128, .bc = 96}
                                : p.dropout == 0 ? TileShape{.br = 128, .bc = 80}
                                                 // dropout's random bytes need registers
                                                 : TileShape{.br = 128, .bc = 64};
    const TileShape best{.br = tile_side_for_mask(p, preferred.br, 64), .bc = tile_side_for_mask(p, preferred.bc)};
    // With fewer rows, consumers get fewer registers; if O fills them, use fewer keys.
    TileShape tile = best;
    while (check_registers(p, tile) && tile.bc > 16) tile.bc = tile_side_for_mask(p, tile.bc - 16);
    return refusal(p, tile, device) ? best : tile;
  }

 protected:
  [[nodiscard]] std::optional<Refusal> refuse_forward(const AttentionProblem& p, const Config& config,
                                                      const DeviceLimits& device) const override {
    const TileShape& tile = config.tile;
    if (auto refused = check_operands(p, config)) return refused;
    if (auto refused = check_features("fa3", p, tile, features, true)) return refused;
    if (auto refused = check_tile(p, config)) return refused;
    if (auto refused = check_grid_size("fa3 fwd", TileGrid(p, tile).q_tiles() * p.instances())) return refused;
    if (auto refused = refuse_architecture(device)) return refused;
    if (auto refused = check_registers(p, tile)) return refused;
    return check_resources({needs(p, config)}, device);
  }

  [[nodiscard]] std::optional<Refusal> refuse_backward(const AttentionProblem& p, const Config& config,
                                                       const DeviceLimits& device) const override {
    if (auto refused = check_operands(p, config)) return refused;
    if (auto refused = check_knobs_except("fa3 bwd", config.knobs, {})) return refused;
    if (auto refused = refuse_backward_tile(p, config.tile)) return refused;
    // A device without wgmma is rejected for that reason first.
    if (auto refused = refuse_forward_pass(p, config, device)) return refused;
    return check_resources({backward_needs(p, config.tile)}, device);
  }

  [[nodiscard]] std::vector<KernelModel> forward_kernels(const AttentionProblem& p, const Config& config,
                                                         const DeviceLimits& device) const override {
    std::vector<KernelModel> all;
    if (is_fp8(p)) {
      for (const Matrix& matrix : matrices) all.push_back(quantize_model(p, matrix, quantization_measured(config)));
    }
    all.push_back(forward_model(p, config, device));
    return all;
  }
  [[nodiscard]] std::vector<KernelModel> backward_kernels(const AttentionProblem& p, const Config& config,
                                                          const DeviceLimits& /*device*/) const override {
    return key_stationary::models(p, config, backward_kernel_set(p, config.tile));
  }
  [[nodiscard]] std::vector<BufferSpec> forward_buffers(const AttentionProblem& p) const override {
    std::vector<BufferSpec> all = query_stationary::buffers(p, true);
    if (is_fp8(p)) append_quantized(all, p);
    return all;
  }
  [[nodiscard]] std::vector<BufferSpec> backward_buffers(const AttentionProblem& p,
                                                         const Config& config) const override {
    return key_stationary::buffers(p, config.tile);
  }
  [[nodiscard]] AttentionPlan forward_plan(const AttentionProblem& p, const Config& config,
                                           const DeviceLimits& device) const override {
    AttentionPlan plan =
        query_stationary::forward(p, config, forward_model(p, config, device),
                                  {"fa3/fa3_forward.cuh", "attn_fa3_forward", forward_defines(p, config)},
                                  execution(p, config, device), forward_matrices(p, config.tile));
    if (!is_fp8(p)) return plan;
    append_quantized(plan.buffers, p);
    std::vector<KernelLaunch> before = quantize_launches(p, rotated(config), quantization_measured(config));
    plan.launches.insert(plan.launches.begin(), std::move_iterator(before.begin()), std::move_iterator(before.end()));
    plan.quantized = Quantization{.query_rows = scaled_queries, .keys = scaled_keys, .rotated = rotated(config)};
    return plan;
  }
  [[nodiscard]] std::vector<KernelLaunch> backward_launches(const AttentionProblem& p, const Config& config,
                                                            const DeviceLimits& /*device*/) const override {
    return key_stationary::launches(p, config, backward_kernel_set(p, config.tile));
  }
};

}  // namespace

std::unique_ptr<const Algorithm> make_fa3() {
  return std::make_unique<FlashAttention3>();
}

}  // namespace attnscope
