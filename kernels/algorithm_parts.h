// SPDX-License-Identifier: Apache-2.0
// Helpers shared by the algorithms: feasibility checks, buffers and kernel arguments.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"
#include "kernels/device/head_blocks_shape.h"
#include "kernels/kernel_defines.h"

namespace attnscope {

/// Values of d for which `supported` (a function of *_shape.h) returns true.
template <bool (*supported)(int)>
[[nodiscard]] std::vector<int> supported_head_dims() {
  std::vector<int> all;
  for (int d = 1; d <= 1024; ++d) {
    if (supported(d)) all.push_back(d);
  }
  return all;
}

/// Resources that a kernel needs, from *_shape.h.
struct KernelResources {
  std::string_view kernel;  ///< name in messages: "fwd", "pv"
  int threads = 0;          ///< per block
  int registers = 0;        ///< per thread, estimated
  std::int64_t shared_bytes = 0;
};

/// Checks problem and tile without a device; returns Cause::shape. Kernels take n_q, n_k and the number of instances as
/// 32-bit integers.
[[nodiscard]] std::optional<Refusal> check_shape(const AttentionProblem&, const TileShape&, const Facts&);
/// Features that an algorithm's kernels support beyond full and causal forward attention.
struct Features {
  bool backward = false;
  bool window = false;
  bool lengths = false;
  bool blocks = false;
  bool dropout = false;
  bool paged = false;
  bool gpus = false;  ///< several GPUs that share the sequence
};
/// Returns Cause::shape for the first unsupported feature. With `tiles_blocks` (kernels skip tiles by the block mask)
/// also if Br or Bc does not divide the mask's block size.
[[nodiscard]] std::optional<Refusal> check_features(std::string_view algorithm, const AttentionProblem&,
                                                    const TileShape&, const Features&, bool tiles_blocks);
/// Returns Cause::shape for the first knob that the algorithm does not have or whose value it does not accept.
[[nodiscard]] std::optional<Refusal> check_knobs(const Facts&, const Knobs&);
/// Returns Cause::shape for the first knob that is not in `has`; for kernels with fewer knobs than their algorithm.
[[nodiscard]] std::optional<Refusal> check_knobs_except(std::string_view kernel, const Knobs&,
                                                        std::initializer_list<std::string_view> has);
/// Returns Cause::shape if a launch needs more blocks than a grid can have.
[[nodiscard]] std::optional<Refusal> check_grid_size(std::string_view kernel, std::int64_t blocks);
[[nodiscard]] Refusal make_shape_refusal(Message reason);
/// Returns Cause::shape if `value` exceeds `most`; `why` names the limit in the message.
[[nodiscard]] std::optional<Refusal> check_upper_limit(std::string_view what, std::int64_t value, std::int64_t most,
                                                       std::string_view why);
/// Checks architecture, threads, registers and shared memory in this order, each for all kernels.
[[nodiscard]] std::optional<Refusal> check_resources(std::initializer_list<KernelResources>, const DeviceLimits&);

[[nodiscard]] KernelModel kernel_model(std::string name, std::int64_t blocks, const KernelResources&,
                                       std::vector<OperandTraffic> operands, std::vector<OnChipPart> on_chip,
                                       const KernelWork&, const KernelTiming&);
/// On-chip data of a block: `bytes` in total, in `stages` buffers.
[[nodiscard]] OnChipPart shared_memory_part(std::string name, std::int64_t bytes, int stages = 1);
[[nodiscard]] OnChipPart register_part(std::string name, std::int64_t bytes);
/// Blocks of the kernel that are resident on the whole device; at least one per SM.
[[nodiscard]] std::int64_t resident_blocks(const DeviceLimits&, const KernelResources&);
/// On-chip data of the backward kernels of device/gradient_shape.h. `streamed`: the Q-shaped operands; `statistics`:
/// the two values per row that are loaded with them.
[[nodiscard]] std::vector<OnChipPart> gradient_layout(const AttentionProblem&, const TileShape&,
                                                      std::initializer_list<const char*> streamed,
                                                      const char* statistics);
/// Forward problem whose results a backward pass needs.
[[nodiscard]] AttentionProblem forward_problem(AttentionProblem);
/// Largest multiple of `step`, at most `preferred`, that divides the mask's block size; `preferred` without a block
/// mask.
[[nodiscard]] int tile_side_for_mask(const AttentionProblem&, int preferred, int step = 16);

/// Returns `preferred` if accepted; otherwise halves its longer side (in multiples of 16) until accepted, down to 16
/// x 16.
[[nodiscard]] TileShape shrink_to_fit(TileShape preferred, const std::function<bool(const TileShape&)>& accepted);

/// Bits of ATTN_MASK, read by kernels/device/visibility.cuh.
inline constexpr int mask_right = 1;
inline constexpr int mask_left = 2;
inline constexpr int mask_lengths = 4;
inline constexpr int mask_blocks = 8;
[[nodiscard]] int mask_bits(const Mask&);

/// Arguments common to the kernels of both passes: buffer addresses, int instances, group, n_q, n_k, float scale, then
/// those of append_mask_arguments().
[[nodiscard]] std::vector<Argument> attention_arguments(std::initializer_list<std::string_view> buffers,
                                                        const AttentionProblem&);
/// Buffer addresses, then integers.
[[nodiscard]] std::vector<Argument> kernel_arguments(std::initializer_list<std::string_view> buffers,
                                                     std::initializer_list<std::int64_t> integers);
/// TMA descriptor with boxes of `rows` rows of an n x d matrix per instance, in panels (kernels/device/panel_shape.h).
[[nodiscard]] TensorMapArgument make_tensor_map(const char* buffer, const AttentionProblem&, std::int64_t instances,
                                                std::int64_t n, int rows);
/// TMA descriptor with boxes of `rows` x `columns` elements of an `n` x `width` matrix per instance.
[[nodiscard]] TensorMapArgument make_tensor_map(const char* buffer, DType element, std::int64_t instances,
                                                std::int64_t n, std::int64_t width, int rows, int columns);
/// Appends the last parameters of every masked kernel: int heads_q, left, right, const int* key_lengths, const unsigned
/// char* block_mask, int mask_block, keep, unsigned seed.
void append_mask_arguments(std::vector<Argument>&, const AttentionProblem&);
/// Buffers "key_lengths" and "block_mask" if the mask has them. The closed forms ignore these reads: a few bytes per
/// tile of kilobytes.
[[nodiscard]] std::vector<BufferSpec> mask_buffers(const AttentionProblem&);
[[nodiscard]] BufferSpec contents_buffer(std::string name, std::int64_t bytes,
                                         std::function<std::vector<std::byte>()> make);
[[nodiscard]] float score_scale(const AttentionProblem&);
[[nodiscard]] std::array<std::uint32_t, 3> grid_of(std::int64_t blocks);
[[nodiscard]] std::array<std::uint32_t, 3> block_of(int threads);

/// q, k and v; dout for a backward pass; and the buffers of the mask.
[[nodiscard]] std::vector<BufferSpec> input_buffers(const AttentionProblem&);
/// dq, dk and dv.
[[nodiscard]] std::vector<BufferSpec> gradient_buffers(const AttentionProblem&);
/// Buffers that a backward pass needs besides those of its forward pass: dout, `scratch`, dq, dk and dv.
[[nodiscard]] std::vector<BufferSpec> backward_pass_buffers(const AttentionProblem&, std::vector<BufferSpec> scratch);
/// Buffer with `elements` values per query row, filled with NaN bytes.
[[nodiscard]] BufferSpec row_buffer(std::string name, const AttentionProblem&, std::int64_t elements,
                                    int element_bytes);

inline constexpr int fp32_bytes = 4;

/// Returns true if only the right side is bounded, as in a causal mask: later rows see more keys, and earlier keys are
/// seen by more rows.
[[nodiscard]] bool has_only_right_bound(const AttentionProblem&);

/// Tile and head of a block in a launch with one block per tile and instance. `heads_per_group`: heads that are
/// interleaved; all heads with Raster::heads_fastest.
using BlockLocation = HeadBlock<std::int64_t>;
[[nodiscard]] BlockLocation block_location(std::int64_t block, Raster, std::int64_t tiles, std::int64_t instances,
                                           std::int64_t heads_per_group = 1, bool last_tile_first = false);

/// Base of algorithms whose backward pass uses the results of the forward pass. The launches of the forward pass
/// come first; they are setup if only the backward pass is measured.
class TwoPassAlgorithm : public Algorithm {
 public:
  using Algorithm::Algorithm;
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&, const DeviceLimits&) const final;
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const final;
  [[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, const Config&,
                                                const DeviceLimits&) const final;

 protected:
  void add_kernels(AttentionModel&, const AttentionProblem&, const Config&, const DeviceLimits&) const final;
  /// Returns the reason why the forward pass before a backward pass cannot run.
  [[nodiscard]] std::optional<Refusal> refuse_forward_pass(const AttentionProblem&, const Config&,
                                                           const DeviceLimits&) const;
  /// Configuration of the forward pass if only the backward pass is measured.
  [[nodiscard]] virtual Config setup_config(const AttentionProblem& forward, const DeviceLimits& device) const {
    return default_config(forward, device);
  }

  // Forward functions get forward-only problems; backward functions plan only the backward pass. Shape, dtype, head
  // dimension and knobs have been checked before.
  [[nodiscard]] virtual std::optional<Refusal> refuse_forward(const AttentionProblem&, const Config&,
                                                              const DeviceLimits&) const = 0;
  [[nodiscard]] virtual std::optional<Refusal> refuse_backward(const AttentionProblem&, const Config&,
                                                               const DeviceLimits&) const = 0;
  [[nodiscard]] virtual std::vector<KernelModel> forward_kernels(const AttentionProblem&, const Config&,
                                                                 const DeviceLimits&) const = 0;
  [[nodiscard]] virtual std::vector<KernelModel> backward_kernels(const AttentionProblem&, const Config&,
                                                                  const DeviceLimits&) const = 0;
  [[nodiscard]] virtual std::vector<BufferSpec> forward_buffers(const AttentionProblem&) const = 0;
  [[nodiscard]] virtual std::vector<BufferSpec> backward_buffers(const AttentionProblem&, const Config&) const = 0;
  [[nodiscard]] virtual AttentionPlan forward_plan(const AttentionProblem&, const Config&,
                                                   const DeviceLimits&) const = 0;
  [[nodiscard]] virtual std::vector<KernelLaunch> backward_launches(const AttentionProblem&, const Config&,
                                                                    const DeviceLimits&) const = 0;

 private:
  [[nodiscard]] Config forward_config(const AttentionProblem&, const Config&, const DeviceLimits&) const;
};

}  // namespace attnscope
