// SPDX-License-Identifier: Apache-2.0
// Interface of an attention algorithm. A new algorithm derives from Algorithm in its own folder, defines make_NAME()
// and adds one line to registry.cpp. profiler, storage and ui never refer to an algorithm by name.
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

enum class BufferFill {
  input_q,
  input_k,
  input_v,
  input_dout,
  poison,    ///< NaN bytes: expose elements that are never written
  zeros,     ///< scratch memory that holds counters
  contents,  ///< BufferSpec::contents: lengths, block masks, block tables
  inputs,    ///< several inputs share the buffer; NaN bytes fill the gaps
};

/// Bytes that are created on first use: most plans are only inspected, and a block mask can take 64 MiB. Thread-safe.
class LazyBytes {
 public:
  explicit LazyBytes(std::function<std::vector<std::byte>()> make) : make_(std::move(make)) {}

  [[nodiscard]] const std::vector<std::byte>& bytes() const {
    std::call_once(made_, [this] { bytes_ = make_(); });
    return bytes_;
  }

 private:
  std::function<std::vector<std::byte>()> make_;
  mutable std::once_flag made_;
  mutable std::vector<std::byte> bytes_;
};

/// Memory layout of a tensor of batch x heads x N x d. The d elements of a row are contiguous.
struct Strides {
  std::int64_t batch = 0;  ///< elements between consecutive batch entries; same for `head` and `row`
  std::int64_t head = 0;
  std::int64_t row = 0;
  /// For batch entries of different lengths: first row of each entry, then the total number of rows. `batch` is then
  /// unused.
  std::vector<std::int64_t> starts{};

  bool operator==(const Strides&) const = default;
  [[nodiscard]] std::int64_t at(std::int64_t entry, std::int64_t of_head, std::int64_t of_row) const {
    const std::int64_t before = starts.empty() ? entry * batch : starts[static_cast<std::size_t>(entry)] * row;
    return before + of_head * head + of_row * row;
  }
  /// Rows of a batch entry; `n` if all entries have equal length.
  [[nodiscard]] std::int64_t rows(std::int64_t entry, std::int64_t n) const {
    const auto i = static_cast<std::size_t>(entry);
    return starts.empty() ? n : starts[i + 1] - starts[i];
  }
};

/// Placement of a tensor in memory: q, k, v, dout or an output that is checked.
struct Place {
  std::optional<Strides> strides{};  ///< empty: contiguous batch x heads x N x d
  std::string within{};              ///< name of the enclosing buffer; empty: a separate buffer
  std::int64_t offset = 0;           ///< bytes from the start of the enclosing buffer
  bool operator==(const Place&) const = default;
  [[nodiscard]] bool is_view() const { return !within.empty(); }
};

[[nodiscard]] constexpr bool is_written(BufferFill fill) {
  return fill == BufferFill::poison || fill == BufferFill::zeros;
}

struct BufferSpec {
  std::string name;        ///< "q", "k", "v", "o", "lse", "s", ...: as arguments refer to it
  std::int64_t bytes = 0;  ///< 0 if it is part of another buffer
  BufferFill fill = BufferFill::poison;
  std::shared_ptr<const LazyBytes> contents{};  ///< data of `bytes` bytes, for BufferFill::contents
  Place place{};
  int gpu = 0;  ///< GPU whose memory holds it, if several GPUs share a problem
};

/// Strides of the buffer; contiguous heads x rows x row_elements by default.
[[nodiscard]] inline Strides buffer_strides(const BufferSpec& buffer, std::int64_t heads, std::int64_t rows,
                                            std::int64_t row_elements) {
  const Strides whole{.batch = heads * rows * row_elements, .head = rows * row_elements, .row = row_elements};
  return buffer.place.strides.value_or(whole);
}

/// Returns nullptr if the plan has no buffer of that name.
[[nodiscard]] inline const BufferSpec* find_buffer(std::span<const BufferSpec> buffers, std::string_view name) {
  const auto found = std::ranges::find(buffers, name, &BufferSpec::name);
  return found == buffers.end() ? nullptr : &*found;
}
/// Returns the enclosing buffer, or `buffer` itself if it is not part of another.
[[nodiscard]] inline const BufferSpec& enclosing_buffer(std::span<const BufferSpec> buffers, const BufferSpec& buffer) {
  return buffer.place.is_view() ? *find_buffer(buffers, buffer.place.within) : buffer;
}

/// Total bytes of the buffers; with several GPUs, of the GPU with the largest total.
[[nodiscard]] std::int64_t bytes_of(std::span<const BufferSpec>);

/// Address of the named buffer; a null pointer if the name is empty.
struct BufferArgument {
  std::string name;
};
/// TMA descriptor (CUtensorMap, compute capability 9.0) of a buffer; encoded for the buffer's address before the
/// launch.
struct TensorMapArgument {
  std::string buffer;
  DType dtype = DType::fp16;
  std::vector<std::int64_t> extents;  ///< elements per dimension, innermost first; one to five dimensions
  std::vector<std::int64_t> strides;  ///< bytes; without the innermost dimension, which is contiguous
  std::vector<std::int64_t> box;      ///< elements per dimension of one TMA copy
  int swizzle_bytes = 0;              ///< 0, 32, 64 or 128
};
/// fp16 number, as its bits.
struct HalfArgument {
  std::uint16_t bits = 0;
};
using PlainArgument = std::variant<BufferArgument, std::int32_t, std::int64_t, float, double, bool, HalfArgument>;
/// Structure passed by value; members are aligned and padded as in C.
struct StructArgument {
  std::vector<PlainArgument> members;
};
using Argument = std::variant<BufferArgument, std::int32_t, std::int64_t, float, double, bool, HalfArgument,
                              TensorMapArgument, StructArgument>;

struct UserSource {
  enum class Kind { cuda, ptx, cubin, library, python };
  enum class Compiler { nvrtc, nvcc };
  Kind kind = Kind::cuda;
  Compiler compiler = Compiler::nvrtc;
  std::string name;
  std::filesystem::path file;  ///< empty: known only from a results file; cannot be compiled or run
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::string> options;
  std::vector<std::string> ignored_options = {};
  std::string manifest;  ///< text of the manifest, which defines the launches

  /// Returns true if host code launches the kernels: a library or a Python function.
  [[nodiscard]] bool has_host_code() const { return kind == Kind::library || kind == Kind::python; }
};

/// Compiler input for one kernel. Equal objects produce equal cubins; N, batch and heads do not matter.
struct KernelSource {
  std::string file;  ///< path below kernels/, as embedded: "fa2/fa2_forward.cuh"
  /// extern "C" name; for user sources also a name in C++ or a template with arguments
  std::string entry;
  std::vector<std::string> defines;
  /// user-defined kernel, `file` is then only for display; null: embedded source
  std::shared_ptr<const UserSource> user_source = nullptr;

  bool operator==(const KernelSource&) const = default;
};

/// Problem and configuration passed to a user's host code, which launches the kernels
/// (assets/own-kernel/attnscope_kernel.h).
struct HostCall {
  AttentionProblem problem;
  Pass pass = Pass::fwd;  ///< fwd or bwd: the part of the problem's pass that this launch computes
  bool lse_base_2 = false;
  TileShape tile;
  std::vector<std::pair<std::string, std::int64_t>> knobs;  ///< all knobs of the manifest
};

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
  std::shared_ptr<const TileProgram> program;  ///< tile accesses, which sum to `traffic`
  std::shared_ptr<const HostCall> call;        ///< set if host code launches the kernels; else null
};

/// Buffers and launches of one execution, in stream order. The measured launches are repeatable: an earlier one resets
/// each accumulator.
struct AttentionPlan {
  std::vector<BufferSpec> buffers;
  std::vector<KernelLaunch> launches;
  /// All sources of a user-defined kernel, also those of launches that this problem does not need.
  std::vector<std::shared_ptr<const UserSource>> sources{};
  Schedule schedule{};                      ///< execution order on several GPUs; `launches` then has each kind once
  bool lse_base_2 = false;                  ///< "lse" has base-2 instead of natural logarithms
  std::optional<Quantization> quantized{};  ///< how operands are quantized; empty: used as given

  [[nodiscard]] std::int64_t buffer_bytes() const;
  [[nodiscard]] Traffic traffic() const;
};

/// Column of Fig. 2 (left) of the FlashAttention paper: forward and backward on an A100.
enum class PaperColumn { standard, flash };

/// Kinds of sweeps that include an algorithm by default; see Facts::groups.
enum class Group {
  prefill,  ///< self-attention over a range of N
  tile_maps,
  paper,         ///< Fig. 2 left of the FlashAttention paper
  paper_blocks,  ///< Fig. 2 middle: forward pass over a range of block sizes
  law,           ///< Theorem 2: tiles that the paper's rule derives from on-chip memory
  decoding,      ///< one query and a K/V cache
};

/// Marker shape of an algorithm in plots, which determines its hue (profiler/style/tokens.h).
enum class PlotSlot { circle, square, diamond, triangle, triangle_down, plus, pentagon, star };

/// Axes whose values are all combined, in command-line notation.
struct PresetGrid {
  std::vector<std::string_view> axes;
  std::vector<std::string> companions = {};  ///< other algorithms to measure in the same grid
};
struct AlgorithmPreset {
  std::string_view name;
  Message description;
  std::vector<PresetGrid> grids;
};

/// Properties of an algorithm. Owns its strings, since algorithms can be loaded at run time.
struct Facts {
  std::string name;  ///< "fa2": name on the command line and in the database
  std::string title;
  std::string short_title;              ///< "FA2": for legends
  std::string source;                   ///< paper, section, algorithm number
  Message tile_meaning;                 ///< effect of Br and Bc, one sentence for tooltips
  PlotSlot plot_slot = PlotSlot::star;  ///< hue and marker in plots; star: user-defined kernels and libraries
  int plot_variant = 0;                 ///< distinguishes the algorithms of a slot: 0 to 3
  std::optional<PowerLaw> power_law{};  ///< growth of the bytes in N, d and M, if sweeps can verify it
  /// Nominal FLOPs: matrix products of a pass over the visible pairs, for any tile. Basis of TFLOP/s and arithmetic
  /// intensity. AttentionModel::executed_flops() are the FLOPs that the kernels run.
  double (*nominal_flops)(const AttentionProblem&) = pass_flops;
  /// Nominal FLOPs per exponential.
  double (*flops_per_exponential)(const AttentionProblem&) = softmax_flops_per_exponential;
  /// Bytes between GPUs, in closed form; nullptr for algorithms that run on one GPU.
  std::int64_t (*link_bytes)(const AttentionProblem&) = nullptr;
  bool overlaps_copies = false;            ///< copies between GPUs overlap with attention
  std::string reference = "softmax";       ///< checks the results: kernels/oracle/reference.h
  TileSide forward_side = TileSide::none;  ///< tile side that M determines in the forward pass
  TileSide backward_side = TileSide::none;
  MatrixInstruction instruction = MatrixInstruction::mma_sync;
  /// Designed for decoding: few queries, tiles shared by the query heads of a K/V head, splits chosen by number of SMs.
  bool for_decoding = false;
  std::optional<PaperColumn> paper_column = {};
  std::vector<Group> groups = {};
  std::vector<AlgorithmPreset> presets = {};  ///< presets beyond those of the groups
  std::vector<DType> dtypes = {DType::fp16, DType::bf16};
  std::vector<int> head_dims = {};  ///< supported values of d, ascending
  std::vector<int> br = {};         ///< supported tile sides, ascending; empty: only refusal() decides
  std::vector<int> bc = {};
  std::vector<Knob> knobs = {};
  /// User-defined kernel: has no tile program to simulate and no predicted time; its measurements undergo additional
  /// checks.
  bool user_defined = false;
  bool host_code = false;       ///< runs user code on the host, in a process that may crash
  bool model_only = false;      ///< known only from a results file: can be modeled but not measured
  bool has_tile = true;         ///< false: Br and Bc are 0
  bool reports_traffic = true;  ///< model() and plan() report traffic; otherwise it is 0 and meaningless

  [[nodiscard]] bool in_group(Group group) const;
  [[nodiscard]] bool is_multi_gpu() const { return link_bytes != nullptr; }
  /// Tile side that M determines; for fwd_bwd that of the backward pass, which moves more bytes.
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

  [[nodiscard]] double nominal_flops(const AttentionProblem& problem) const { return facts_.nominal_flops(problem); }
  /// Returns a good configuration for the problem on this device. refusal() accepts it if it accepts any.
  [[nodiscard]] virtual Config default_config(const AttentionProblem&, const DeviceLimits&) const = 0;
  /// Returns the reason why the configuration cannot run on the device; empty if it can.
  [[nodiscard]] virtual std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                                       const DeviceLimits&) const = 0;
  /// Bytes that concurrent blocks reread; DRAM traffic stays low while they fit in L2. 0 if no reread data grows with
  /// N. Closed form; also valid for configurations that refusal() rejects.
  [[nodiscard]] virtual std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                                       const DeviceLimits&) const {
    return 0;  // blocks of one head read the same keys at the same time: rereads hit in L2
  }
  /// Complete model including the refusal. Fast enough for every mouse move: at most O(Tr + Tc) per distinct batch
  /// entry.
  [[nodiscard]] AttentionModel model(const AttentionProblem&, const Config&, const DeviceLimits&) const;
  /// Bytes of another kernel with the same law, whose dtype and resources may differ: refuses only shapes, and those of
  /// the first supported dtype if the algorithm does not support the problem's. Its times mean nothing.
  [[nodiscard]] AttentionModel law_model(const AttentionProblem&, const Config&, const DeviceLimits&) const;
  /// Buffers and launches to run: those of model(), and launches that fill buffers. Pre: refusal() is empty. Allocates
  /// no device memory.
  [[nodiscard]] virtual AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const = 0;
  /// Buffers of plan(), without programs and sources. Override it if a closed form is cheaper: memory needs of
  /// thousands of points are queried at once. Pre: refusal() is empty.
  [[nodiscard]] virtual std::vector<BufferSpec> buffers(const AttentionProblem&, const Config&,
                                                        const DeviceLimits&) const;

 protected:
  /// Adds the kernels of model() and the schedule of several GPUs. Override it if they need no tile programs; the
  /// default takes them from plan(). Pre: refusal() is empty; for law_model(), no refusal of the shape.
  virtual void add_kernels(AttentionModel&, const AttentionProblem&, const Config&, const DeviceLimits&) const;

 private:
  [[nodiscard]] AttentionModel model_or_refusal(const AttentionProblem&, const Config&, const DeviceLimits&,
                                                std::optional<Refusal>) const;

  Facts facts_;
};

}  // namespace attnscope
