// SPDX-License-Identifier: Apache-2.0
// What the algorithms share: feasibility checks in one order and wording, buffers, compile-time macros.
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

/// The d for which `supported` (a function of *_shape.h) holds.
template <bool (*supported)(int)>
[[nodiscard]] std::vector<int> supported_head_dims() {
  std::vector<int> all;
  for (int d = 1; d <= 1024; ++d) {
    if (supported(d)) all.push_back(d);
  }
  return all;
}

/// What one kernel asks of a device, from *_shape.h.
struct KernelNeeds {
  std::string_view kernel;  ///< its name in messages: "fwd", "pv"
  int threads = 0;          ///< a block
  int registers = 0;        ///< a thread, estimated
  std::int64_t shared_bytes = 0;
};

/// Cause::shape: what is wrong with problem and tile before any device is asked; the kernels take n_q, n_k and the
/// number of instances as 32-bit integers.
[[nodiscard]] std::optional<Refusal> refuse_shape(const AttentionProblem&, const TileShape&, const Facts&);
/// What of a problem an algorithm's kernels can do, beyond full and causal forward attention.
struct Features {
  bool backward = false;
  bool window = false;   ///< sliding windows
  bool lengths = false;  ///< key padding
  bool blocks = false;   ///< block-sparse masks
  bool dropout = false;
  bool paged = false;  ///< paged K/V
  bool gpus = false;   ///< several that share the sequence
};
/// Cause::shape for the first thing that is asked for and not among the features, by name; also for a block mask whose
/// blocks Br or Bc do not divide, where the kernels skip tiles by it (`tiles_blocks`).
[[nodiscard]] std::optional<Refusal> refuse_features(std::string_view algorithm, const AttentionProblem&,
                                                     const TileShape&, const Features&, bool tiles_blocks);
/// Cause::shape for the first knob that was given and that the algorithm does not state, or not with that value.
[[nodiscard]] std::optional<Refusal> refuse_knobs(const Facts&, const Knobs&);
/// Cause::shape for the first knob that was given and is none of `has`: for a kernel with fewer than its algorithm.
[[nodiscard]] std::optional<Refusal> refuse_other_knobs(std::string_view kernel, const Knobs&,
                                                        std::initializer_list<std::string_view> has);
/// Cause::shape when a launch needs more blocks than a grid has.
[[nodiscard]] std::optional<Refusal> refuse_grid(std::string_view kernel, std::int64_t blocks);
[[nodiscard]] Refusal shape_refusal(Message reason);
/// Cause::shape when `value` is over `most`; `why` ends the sentence.
[[nodiscard]] std::optional<Refusal> refuse_over(std::string_view what, std::int64_t value, std::int64_t most,
                                                 std::string_view why);
/// Architecture, then threads, registers and shared memory, each over all kernels before the next.
[[nodiscard]] std::optional<Refusal> refuse_needs(std::initializer_list<KernelNeeds>, const DeviceLimits&);

/// One-dimensional, with what the kernel asks of a device.
[[nodiscard]] KernelModel kernel_model(std::string name, std::int64_t blocks, const KernelNeeds&,
                                       std::vector<OperandTraffic> operands, double matrix_flops,
                                       std::vector<OnChipPart> on_chip, const KernelWork&, const KernelTiming&);
/// What a block keeps there, `bytes` in all; in `stages` buffers.
[[nodiscard]] OnChipPart in_shared(std::string name, std::int64_t bytes, int stages = 1);
[[nodiscard]] OnChipPart in_registers(std::string name, std::int64_t bytes);
/// Blocks of the kernel that the whole device holds at once, if there are so many.
[[nodiscard]] std::int64_t resident_blocks(const DeviceLimits&, const KernelNeeds&);
/// What the backward kernels of device/gradient_shape.h keep on chip; `streamed` are the Q-shaped operands and
/// `statistics` the two values a row that come with them.
[[nodiscard]] std::vector<OnChipPart> gradient_layout(const AttentionProblem&, const TileShape&,
                                                      std::initializer_list<const char*> streamed,
                                                      const char* statistics);
/// The problem whose forward pass comes before a backward pass.
[[nodiscard]] AttentionProblem forward_problem(AttentionProblem);
/// The largest multiple of `step` up to `wished` that divides the mask's blocks; `wished` itself without any.
[[nodiscard]] int dividing_blocks(const AttentionProblem&, int wished, int step = 16);

/// `wished` if accepted, else with its longer side halved (in multiples of 16) until it is, down to 16 x 16.
[[nodiscard]] TileShape shrink_to_fit(TileShape wished, const std::function<bool(const TileShape&)>& accepted);

/// Bits of ATTN_MASK, as kernels/device/visibility.cuh reads them.
inline constexpr int mask_right = 1;
inline constexpr int mask_left = 2;
inline constexpr int mask_lengths = 4;
inline constexpr int mask_blocks = 8;
[[nodiscard]] int mask_bits(const Mask&);

/// The addresses of these buffers, then int instances, group, n_q, n_k, float scale and what append_mask_arguments()
/// appends: what the kernels of both passes take.
[[nodiscard]] std::vector<Argument> attention_arguments(std::initializer_list<std::string_view> buffers,
                                                        const AttentionProblem&);
/// The addresses of these buffers, then these numbers.
[[nodiscard]] std::vector<Argument> kernel_arguments(std::initializer_list<std::string_view> buffers,
                                                     std::initializer_list<std::int64_t> integers);
/// Boxes of `rows` rows of a matrix of n x d an instance, in panels (kernels/device/panel_shape.h).
[[nodiscard]] TensorMapArgument boxes_of(const char* buffer, const AttentionProblem&, std::int64_t instances,
                                         std::int64_t n, int rows);
/// The same of tiles of `rows` x `columns` elements of any matrix of `n` x `width` an instance.
[[nodiscard]] TensorMapArgument boxes_of(const char* buffer, DType element, std::int64_t instances, std::int64_t n,
                                         std::int64_t width, int rows, int columns);
/// Appends what every masked kernel's parameter list ends with: int heads_q, left, right, const int* key_lengths,
/// const unsigned char* block_mask, int mask_block, keep, unsigned seed.
void append_mask_arguments(std::vector<Argument>&, const AttentionProblem&);
/// The buffers "key_lengths" and "block_mask" where the mask has them. Reading them is not in the closed forms: some
/// bytes a tile of kilobytes.
[[nodiscard]] std::vector<BufferSpec> mask_buffers(const AttentionProblem&);
/// `bytes` bytes that `make` makes when they are needed.
[[nodiscard]] BufferSpec contents_buffer(std::string name, std::int64_t bytes,
                                         std::function<std::vector<std::byte>()> make);
/// 1/sqrt(d).
[[nodiscard]] float score_scale(const AttentionProblem&);
/// One-dimensional launches.
[[nodiscard]] std::array<std::uint32_t, 3> grid_of(std::int64_t blocks);
[[nodiscard]] std::array<std::uint32_t, 3> block_of(int threads);

/// q, k and v; with a backward pass also dout; and what the mask reads.
[[nodiscard]] std::vector<BufferSpec> input_buffers(const AttentionProblem&);
/// dq, dk and dv.
[[nodiscard]] std::vector<BufferSpec> gradient_buffers(const AttentionProblem&);
/// What a backward pass has beside the buffers of its forward pass: dout, its scratch memory, and dq, dk and dv.
[[nodiscard]] std::vector<BufferSpec> backward_pass_buffers(const AttentionProblem&, std::vector<BufferSpec> scratch);
/// A buffer of `elements` for each query row, all poisoned.
[[nodiscard]] BufferSpec row_buffer(std::string name, const AttentionProblem&, std::int64_t elements,
                                    int element_bytes);

inline constexpr int fp32_bytes = 4;

/// Whether later query rows see more keys, and earlier keys are seen by more rows: under a right bound alone.
[[nodiscard]] bool later_rows_see_more(const AttentionProblem&);

/// The block's place in a launch of one block for each tile and instance: of `in_turn` heads together, or of all where
/// heads are fastest.
using BlockPlace = HeadBlock<std::int64_t>;
[[nodiscard]] BlockPlace place_of(std::int64_t block, Raster, std::int64_t tiles, std::int64_t instances,
                                  std::int64_t in_turn = 1, bool last_first = false);

/// An algorithm whose backward pass starts from the results of its own forward pass. The launches of the forward pass
/// come first, as set-up where the backward pass alone is measured.
class TwoPassAlgorithm : public Algorithm {
 public:
  using Algorithm::Algorithm;
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&, const DeviceLimits&) const final;
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const final;
  [[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, const Config&,
                                                const DeviceLimits&) const final;

 protected:
  void add_kernels(AttentionModel&, const AttentionProblem&, const Config&, const DeviceLimits&) const final;
  /// Why the forward pass of a problem with a backward pass cannot run.
  [[nodiscard]] std::optional<Refusal> refuse_forward_pass(const AttentionProblem&, const Config&,
                                                           const DeviceLimits&) const;
  /// Of the forward pass before a backward pass that alone is measured.
  [[nodiscard]] virtual Config set_up_config(const AttentionProblem& forward, const DeviceLimits& device) const {
    return default_config(forward, device);
  }

  // Of a problem with a forward pass alone, and of the backward pass of one that has it. The shape, the dtype, the head
  // dimension and the knobs are the algorithm's.
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
