// SPDX-License-Identifier: Apache-2.0
// Writes a statement of what Triton compiled. Its cache says how a kernel is launched; what it computes and what its
// arguments stand for is said by whoever imports it, never guessed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/model/message.h"
#include "kernels/model/result.h"
#include "kernels/user/triton_cache.h"

namespace attnscope::user {

struct TritonImport {
  std::string name;                       ///< of the statement
  std::vector<std::string> grid;          ///< expressions: Triton's, of programs
  std::vector<std::string> variants;      ///< "3680cabb:br=64,bc=32,d=64,causal=0": a hash's beginning, constants
  std::vector<std::string> arguments;     ///< "Q=q", "H=heads"; of a descriptor "desc_q=q:batch * heads * n_q,d"
  std::vector<std::string> requirements;  ///< "n_q % br == 0:N must be whole tiles."
  std::string dtype;
  std::string lse;   ///< "e", "2"; may be empty where no argument is `lse`
  std::string like;  ///< the algorithm whose law it has; empty: it states none
};

/// Writes the statement and its cubins to `parent`/name, which must not be there; the statement's path. The error is
/// one line: what is wrong, or all that is still to be said.
[[nodiscard]] Result<std::filesystem::path, Message> import_triton(const TritonKernel&, const TritonImport&,
                                                                   const std::filesystem::path& parent);

}  // namespace attnscope::user
