// SPDX-License-Identifier: Apache-2.0
// What an attention algorithm tells the rest of the program about itself. A new algorithm derives from Algorithm in a
// folder of its own, which defines make_NAME(), and adds its line to registry.cpp; profiler, storage and ui know no
// algorithm by name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/attention.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/kernel_model.h"
#include "kernels/model/kernel_work.h"
#include "kernels/model/knobs.h"
#include "kernels/model/law.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// What a buffer holds when the launches begin.
enum class BufferFill {
  input_q,
  input_k,
  input_v,
  input_dout,  ///< the generated inputs
  poison,      ///< NaN bytes, so that an element never written is seen
  zeros,       ///< of scratch memory that is counted in
  contents,    ///< what BufferSpec::contents says: lengths, block masks, block tables
  inputs,      ///< several inputs lie in it, and NaN bytes between them
};

/// Bytes that are made when they are first asked for: most plans are made to be looked at, and a block mask has 64 MiB.
/// Safe to ask from several threads.
class HostBytes {
 public:
  explicit HostBytes(std::function<std::vector<std::byte>()> make) : make_(std::move(make)) {}

  [[nodiscard]] const std::vector<std::byte>& bytes() const {
    std::call_once(made_, [this] { bytes_ = make_(); });
    return bytes_;
  }

 private:
  std::function<std::vector<std::byte>()> make_;
  mutable std::once_flag made_;
  mutable std::vector<std::byte> bytes_;
};

/// How the rows of a tensor of batch x heads x N x d lie in memory; the d elements of a row follow one another.
struct Strides {
  std::int64_t batch = 0;  ///< elements from one batch entry to the next, and so on
  std::int64_t head = 0;
  std::int64_t row = 0;
  /// Where batch entries differ in length and follow one another: rows before each, and of all; `batch` means nothing.
  std::vector<std::int64_t> starts{};

  bool operator==(const Strides&) const = default;
  /// Element at which a row begins.
  [[nodiscard]] std::int64_t at(std::int64_t entry, std::int64_t of_head, std::int64_t of_row) const {
    const std::int64_t before = starts.empty() ? entry * batch : starts[static_cast<std::size_t>(entry)] * row;
    return before + of_head * head + of_row * row;
  }
  /// Rows that a batch entry has, of `n`.
  [[nodiscard]] std::int64_t rows(std::int64_t entry, std::int64_t n) const {
    const auto i = static_cast<std::size_t>(entry);
    return starts.empty() ? n : starts[i + 1] - starts[i];
  }
};

/// Where a tensor lies, of q, k, v, dout and the outputs that are judged.
struct Place {
  std::optional<Strides> strides{};  ///< nothing: batch x heads x N x d without gaps
  std::string within{};              ///< the buffer that it is part of; empty: one of its own
  std::int64_t offset = 0;           ///< bytes, where it begins there
  bool operator==(const Place&) const = default;
  [[nodiscard]] bool is_part() const { return !within.empty(); }
};

/// Whether launches may write there.
[[nodiscard]] constexpr bool is_written(BufferFill fill) {
  return fill == BufferFill::poison || fill == BufferFill::zeros;
}

struct BufferSpec {
  std::string name;        ///< "q", "k", "v", "o", "lse", "s", ...: what arguments refer to
  std::int64_t bytes = 0;  ///< 0 of what is part of another buffer
  BufferFill fill = BufferFill::poison;
  std::shared_ptr<const HostBytes> contents{};  ///< `bytes` of them, for BufferFill::contents
  Place place{};
  int gpu = 0;  ///< of several that share a problem: in whose memory it lies
};

/// Of a tensor of so many heads and rows.
[[nodiscard]] inline Strides strides_of(const BufferSpec& buffer, std::int64_t heads, std::int64_t rows,
                                        std::int64_t row_elements) {
  const Strides whole{.batch = heads * rows * row_elements, .head = rows * row_elements, .row = row_elements};
  return buffer.place.strides.value_or(whole);
}

/// Nothing where the plan has no buffer of that name.
[[nodiscard]] inline const BufferSpec* find_buffer(std::span<const BufferSpec> buffers, std::string_view name) {
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  return found == buffers.end() ? nullptr : &*found;
}
/// The buffer that one of them lies in: itself, or the one that it is part of.
[[nodiscard]] inline const BufferSpec& home_of(std::span<const BufferSpec> buffers, const BufferSpec& buffer) {
  return buffer.place.is_part() ? *find_buffer(buffers, buffer.place.within) : buffer;
}

/// Of all of them together; of several GPUs of the one that has most.
[[nodiscard]] std::int64_t bytes_of(std::span<const BufferSpec>);

/// The address of a buffer of the plan, by name; the null pointer for no name.
struct BufferArgument {
  std::string name;
};
/// A map of a buffer, by which the tensor memory accelerator copies boxes of it: encoded for the buffer's address
/// (CUtensorMap, compute capability 9.0).
struct TensorMapArgument {
  std::string buffer;
  DType dtype = DType::fp16;
  std::vector<std::int64_t> extents;  ///< elements, the innermost first; one to five
  std::vector<std::int64_t> strides;  ///< bytes; of all but the innermost, whose elements follow one another
  std::vector<std::int64_t> box;      ///< elements of what one copy takes
  int swizzle_bytes = 0;              ///< 0, 32, 64 or 128
};
using Argument = std::variant<BufferArgument, std::int32_t, std::int64_t, float, TensorMapArgument>;

/// A kernel's source that is not part of this program: files of a user's.
struct OwnSource {
  enum class Kind { cuda, ptx, cubin, library };
  Kind kind = Kind::cuda;
  std::string name;            ///< as the statement calls it
  std::filesystem::path file;  ///< empty: its statement came with a file of results, and nothing of it is read or run
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::string> options;  ///< of the compiler
  std::string statement;             ///< the text that names it, which decides how it is launched
};

/// What the compiler needs to make one kernel; equal objects give equal cubins, whatever the problem's N, batch or
/// heads.
struct KernelSource {
  std::string file;                                ///< path below kernels/, as embedded: "fa2/fa2_forward.cuh"
  std::string entry;                               ///< extern "C" name
  std::vector<std::string> defines;                ///< "ATTN_BR=64"
  std::shared_ptr<const OwnSource> own = nullptr;  ///< where it is not embedded: then `file` is for people

  bool operator==(const KernelSource&) const = default;
};

/// What a user's library is told of the problem whose launch it makes (assets/own-kernel/attnscope_kernel.h).
struct HostCall {
  AttentionProblem problem;
  Pass pass = Pass::fwd;  ///< fwd or bwd: its part of the problem's pass
  bool lse_base_2 = false;
  TileShape tile;
  std::vector<std::pair<std::string, std::int64_t>> knobs;  ///< each that the statement has
};

/// One kernel launch, complete: what theory says of it, what to compile and how to launch it.
struct KernelLaunch : KernelModel {
  KernelLaunch() = default;
  KernelLaunch(KernelModel model, KernelSource kernel, std::vector<Argument> given,
               std::shared_ptr<const TileProgram> accesses)
      : KernelModel(std::move(model)),
        source(std::move(kernel)),
        arguments(std::move(given)),
        program(std::move(accesses)) {}

  KernelSource source;
  std::vector<Argument> arguments;
  std::shared_ptr<const TileProgram> program;  ///< the accesses that `traffic` sums
  std::shared_ptr<const HostCall> call;        ///< where the source is a library, which then launches; else null
};

/// Everything that one execution needs: buffers, then launches in stream order. The measured launches can run again and
/// again: what one of them adds to, an earlier one of them has initialised.
struct AttentionPlan {
  std::vector<BufferSpec> buffers;
  std::vector<KernelLaunch> launches;
  Schedule schedule{};      ///< of several GPUs: what runs when, and where; `launches` has each kind once
  bool lse_base_2 = false;  ///< "lse" holds logarithms to base 2, else natural ones
  std::optional<Quantisation> quantised{};  ///< how the operands are made that it multiplies; nothing: they are given

  [[nodiscard]] std::int64_t buffer_bytes() const;
  /// Of the measured launches.
  [[nodiscard]] Traffic traffic() const;
};

/// A column of Fig. 2 of the FlashAttention paper, left: forward and backward on an A100.
enum class PaperColumn { standard, flash };

/// What a sweep of a kind takes in without being told. An algorithm is in the groups that it states.
enum class Group {
  prefill,       ///< self-attention against N
  tile_maps,     ///< maps of Br x Bc
  paper,         ///< Fig. 2 left of the FlashAttention paper
  paper_blocks,  ///< Fig. 2 middle: the forward pass against the block size
  law,           ///< Theorem 2: tiles by the paper's rule, from what memory a block is given
  decoding,      ///< one query against a K/V cache
};

/// Axes that are multiplied out together, in the notation of the command line.
struct StatedGrid {
  std::vector<std::string_view> axes;
  std::vector<std::string> beside = {};  ///< algorithms that are measured beside the one that states it
};
/// A preset that an algorithm states.
struct StatedPreset {
  std::string_view name;
  Message description;
  std::vector<StatedGrid> grids;
};

/// What an algorithm states about itself; it owns its words, for it may have been loaded at run time.
struct Facts {
  std::string name;                     ///< "fa2": the word on the command line and in the database
  std::string title;                    ///< "FlashAttention-2"
  std::string short_title;              ///< "FA2": for legends
  std::string source;                   ///< paper, section, algorithm number
  Message tile_meaning;                 ///< what Br and Bc decide for it, one sentence for tooltips
  std::optional<PowerLaw> power_law{};  ///< by N, d and M, where sweeps over them can try it
  /// Operations of the matrix products of a pass, by which TFLOP/s are told: the algorithm's, whatever tiles it takes.
  double (*flops)(const AttentionProblem&) = pass_flops;
  /// How many of these there are for each exponential.
  double (*flops_per_exponential)(const AttentionProblem&) = softmax_flops_per_exponential;
  /// Bytes that several GPUs send to one another: closed; nullptr of what one GPU computes.
  std::int64_t (*link_bytes)(const AttentionProblem&) = nullptr;
  bool copies_while_computing = false;                          ///< these hide behind attention where it takes longer
  std::string reference = "softmax";                            ///< that judges it: kernels/oracle/references.h
  TileSide forward_side = TileSide::none;                       ///< that M decides in the forward pass
  TileSide backward_side = TileSide::none;                      ///< in the backward pass
  MatrixInstruction instruction = MatrixInstruction::mma_sync;  ///< that its products run on
  /// Made for decoding: few queries, whose K/V heads share tiles, and splits that follow the number of SMs.
  bool decodes = false;
  std::optional<PaperColumn> paper_column = {};
  std::vector<Group> groups = {};
  std::vector<StatedPreset> presets = {};                  ///< of its own, for what no group has
  std::vector<DType> dtypes = {DType::fp16, DType::bf16};  ///< that there are kernels for
  std::vector<int> head_dims = {};                         ///< d that the kernels are written for, ascending
  std::vector<int> br = {};  ///< sides of tiles that there are, ascending; none: refusal() alone knows
  std::vector<int> bc = {};
  std::vector<Knob> knobs = {};
  /// Not of this program: it has no tile program to play and no time to predict, and measuring trusts it with less:
  /// gpu/foreign_checks.cpp says what it has to show besides.
  bool foreign = false;
  bool host_code = false;    ///< it runs code of its own on the host, in a process that a crash may cost
  bool for_reading = false;  ///< known by what a file of results says of it: it can be modelled, and not measured
  bool states_bytes = true;  ///< model() and plan() say what it moves; else their traffic is 0 and means nothing

  [[nodiscard]] bool in(Group group) const;
  /// Whether several GPUs compute it together.
  [[nodiscard]] bool shares_sequence() const { return link_bytes != nullptr; }
  /// Of fwd+bwd the backward pass's, which moves more.
  [[nodiscard]] TileSide traffic_side(Pass pass) const { return pass == Pass::fwd ? forward_side : backward_side; }
};

class Algorithm {
 public:
  explicit Algorithm(Facts facts) : facts_(std::move(facts)) {}
  virtual ~Algorithm() = default;
  Algorithm(const Algorithm&) = delete;
  Algorithm& operator=(const Algorithm&) = delete;

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const std::string& name() const { return facts_.name; }

  /// Facts::flops.
  [[nodiscard]] double flops(const AttentionProblem& problem) const { return facts_.flops(problem); }
  /// A good configuration for the problem on this device; always one that refusal() accepts if any is.
  [[nodiscard]] virtual Config default_config(const AttentionProblem&, const DeviceLimits&) const = 0;
  /// Why this configuration cannot run there; nothing when it can.
  [[nodiscard]] virtual std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                                       const DeviceLimits&) const = 0;
  /// Bytes that what runs at once on the device passes through again and again: while they fit in its L2, DRAM sees
  /// little of it. 0 when nothing that grows with N is cycled through. Closed, and of any N, also where refusal() knows
  /// a reason: the line where the working set leaves the L2 lies where it lies.
  [[nodiscard]] virtual std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                                       const DeviceLimits&) const {
    return 0;  // blocks of one head pass by the same keys together: what one has read, the next finds in the L2
  }
  /// What theory says, complete with the refusal. Cheap enough to be asked at every movement of a mouse: at most
  /// O(Tr + Tc) for each distinct batch entry.
  [[nodiscard]] AttentionModel model(const AttentionProblem&, const Config&, const DeviceLimits&) const;
  /// What the device runs, its launches being those of model(). Pre: refusal() is empty there. Pure: allocates nothing
  /// on any device.
  [[nodiscard]] virtual AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const = 0;
  /// The buffers of plan(), without programs and sources: what a point needs of the memory is asked of thousands of
  /// points at once. Those of plan() unless the algorithm has them closed. Pre: refusal() is empty there.
  [[nodiscard]] virtual std::vector<BufferSpec> buffers(const AttentionProblem&, const Config&,
                                                        const DeviceLimits&) const;

 protected:
  /// The kernels of model(), and of several GPUs the schedule: those of plan() unless the algorithm has them without
  /// its tile programs. Pre: refusal() is empty there.
  virtual void add_kernels(AttentionModel&, const AttentionProblem&, const Config&, const DeviceLimits&) const;

 private:
  Facts facts_;
};

}  // namespace attnscope
