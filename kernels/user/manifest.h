// SPDX-License-Identifier: Apache-2.0
// Manifest of a user-defined kernel: a JSON file, parsed and never executed. Its schema is in
// assets/docs/own-kernel.md.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/algorithm_parts.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/user/expression.h"
#include "kernels/user/layout.h"

namespace attnscope::user {

struct ArgumentSpec {
  enum class Type { buffer, int32, int64, float32, float64, float16, boolean, tensor_map, structure };
  Type type = Type::buffer;
  std::string buffer;  ///< buffer name; empty: null pointer
  Expression value;
  std::vector<Expression> extents;  ///< for a tensor map, like the next ones: see TensorMapArgument
  std::vector<Expression> strides;
  std::vector<Expression> box;
  int swizzle_bytes = 0;
  std::vector<ArgumentSpec> members;  ///< members of a structure
};

/// Bytes of one matrix that a launch moves between SMs and L2.
struct BytesSpec {
  Tensor tensor = Tensor::q;
  std::optional<Expression> load;
  std::optional<Expression> store;
};

struct DefineSpec {
  std::string macro;
  Expression value;
};

struct LaunchSpec {
  std::string name;
  std::shared_ptr<const UserSource> source;
  std::string entry;               ///< for host code, the function
  std::optional<Expression> when;  ///< 0: skipped; at most one of several launches of a name may be active
  Pass pass = Pass::fwd;           ///< fwd or bwd: the pass to which it belongs
  std::vector<DefineSpec> defines;
  std::array<std::optional<Expression>, 3> grid;
  std::array<std::optional<Expression>, 3> block;
  std::array<std::optional<Expression>, 3> cluster;
  std::optional<Expression> shared_bytes;
  std::optional<Expression> registers;  ///< per thread, for computing blocks_per_sm; empty: not a limit
  bool measured = true;                 ///< false: runs with each execution, neither timed nor counted
  bool cooperative = false;
  bool starts_early = false;  ///< programmatic dependent launch
  std::vector<ArgumentSpec> arguments;
  std::vector<BytesSpec> bytes;  ///< its law; empty: unknown
};

struct LawSpec {
  std::string algorithm;
  std::optional<Expression> br;  ///< empty: Br of the point
  std::optional<Expression> bc;
  bool lse = false;  ///< the kernel stores an LSE that is not among its outputs
};

struct KnobSpec {
  std::string name;
  std::string meaning;
  std::vector<std::int64_t> values;  ///< the first is the default
};

struct RequirementSpec {
  Expression condition;
  Message otherwise;
};

struct ScratchSpec {
  std::string name;
  Expression bytes;
  bool zero = false;  ///< true: initialized with zeros; false: with NaN bytes
};

/// Initial value of a buffer at each execution.
struct FillSpec {
  std::string buffer;
  bool minus_infinity = false;  ///< true: minus infinity as fp32; false: 0
};

struct KernelManifest {
  std::string name;
  std::string title;
  std::string reference = "softmax";
  bool lse = false;  ///< "computes" contains it
  bool lse_base_2 = false;
  std::vector<PlacementSpec> places;  ///< tensors with a layout other than batch x heads x N x d
  std::vector<DType> dtypes;
  std::vector<Pass> passes;
  std::vector<int> head_dims;
  bool unmasked = true;
  bool causal = false;
  bool gqa = false;  ///< supports query heads that share a K/V head
  Features features;
  std::vector<int> br;  ///< the first is the default; only 0 if the kernel has no tile
  std::vector<int> bc;
  bool tuned_tile = false;  ///< known after a call only: the autotuner of a Python function chooses it
  std::vector<KnobSpec> knobs;
  std::vector<std::pair<std::string, Expression>> names;  ///< "let": each may use earlier ones
  std::vector<RequirementSpec> requirements;
  std::vector<ScratchSpec> scratch;
  std::vector<FillSpec> fills;
  std::vector<LaunchSpec> launches;
  std::optional<LawSpec> like;

  [[nodiscard]] bool has_host_code() const;
  /// Returns true if the manifest defines the bytes that the kernel moves.
  [[nodiscard]] bool reports_traffic() const;
};

/// Predefined names in expressions, besides knobs.
[[nodiscard]] const std::vector<std::string>& predefined_names();

/// Parses a manifest. `folder` is its directory, to which source paths are relative; without it, UserSource::file is
/// empty. The error is one line with the line number.
[[nodiscard]] Result<KernelManifest, Message> parse_manifest(std::string_view text,
                                                             const std::optional<std::filesystem::path>& folder);

}  // namespace attnscope::user
