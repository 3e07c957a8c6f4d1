// SPDX-License-Identifier: Apache-2.0
// What a user states about a kernel of their own: a JSON file, parsed and never executed. Its schema is in
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

/// One argument of a kernel.
struct ArgumentStatement {
  enum class Type { buffer, int32, int64, float32, tensor_map };
  Type type = Type::buffer;
  std::string buffer;               ///< its name; empty: the null pointer
  Expression value;                 ///< of a number
  std::vector<Expression> extents;  ///< of a tensor map: TensorMapArgument's, and so are the next
  std::vector<Expression> strides;
  std::vector<Expression> box;
  int swizzle_bytes = 0;
};

/// Bytes that a launch moves of one matrix between SMs and L2.
struct BytesStatement {
  Tensor tensor = Tensor::q;
  std::optional<Expression> load;
  std::optional<Expression> store;
};

struct DefineStatement {
  std::string macro;
  Expression value;
};

struct LaunchStatement {
  std::string name;
  std::shared_ptr<const OwnSource> source;
  std::string entry;               ///< of a library the function that it exports
  std::optional<Expression> when;  ///< 0: it is left out; of several of one name one is in
  Pass pass = Pass::fwd;           ///< fwd or bwd: the pass that it is part of
  std::vector<DefineStatement> defines;
  std::array<std::optional<Expression>, 3> grid;
  std::array<std::optional<Expression>, 3> block;
  std::array<std::optional<Expression>, 3> cluster;
  std::optional<Expression> shared_bytes;
  std::optional<Expression> registers;  ///< a thread, by which blocks_per_sm is told; without it they do not limit it
  bool cooperative = false;
  bool starts_early = false;  ///< programmatic dependent launch
  std::vector<ArgumentStatement> arguments;
  std::vector<BytesStatement> bytes;  ///< its law; empty: it states none
};

/// A law taken from a built-in algorithm.
struct LikeStatement {
  std::string algorithm;
  std::optional<Expression> br;  ///< nothing: the kernel's own
  std::optional<Expression> bc;
};

struct KnobStatement {
  std::string name;
  std::string meaning;
  std::vector<std::int64_t> values;  ///< the first is what the kernel does of itself
};

struct RequirementStatement {
  Expression that;
  Message otherwise;  ///< the refusal's words
};

struct ScratchStatement {
  std::string name;
  Expression bytes;
  bool zero = false;  ///< zeros when the launches begin, else NaN bytes
};

struct Statement {
  std::string name;
  std::string title;
  std::string reference = "softmax";
  bool lse = false;  ///< "computes" has it
  bool lse_base_2 = false;
  std::vector<PlaceStatement> places;  ///< of tensors that are not batch x heads x N x d
  std::vector<DType> dtypes;
  std::vector<Pass> passes;  ///< fwd, bwd
  std::vector<int> head_dims;
  bool unmasked = true;
  bool causal = false;
  bool gqa = false;  ///< several query heads share a K/V head
  Features features;
  std::vector<int> br;  ///< the first is the default
  std::vector<int> bc;
  std::vector<KnobStatement> knobs;
  std::vector<std::pair<std::string, Expression>> names;  ///< what else expressions know; each may use those before it
  std::vector<RequirementStatement> requirements;
  std::vector<ScratchStatement> scratch;
  std::vector<LaunchStatement> launches;
  std::optional<LikeStatement> like;

  /// Whether a launch is a library's.
  [[nodiscard]] bool has_library() const;
  /// Whether it says what the kernel moves.
  [[nodiscard]] bool states_bytes() const;
};

/// Names that expressions know besides knobs.
[[nodiscard]] const std::vector<std::string>& known_names();

/// Of a statement's text that lies in `folder`, by which paths of sources are relative; without one its sources are
/// nowhere (OwnSource::file). The error is one line: what is wrong, and in which line.
[[nodiscard]] Result<Statement, Message> parse_statement(std::string_view text,
                                                         const std::optional<std::filesystem::path>& folder);

}  // namespace attnscope::user
