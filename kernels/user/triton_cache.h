// SPDX-License-Identifier: Apache-2.0
// Reads what Triton's compilation cache says of a kernel: a folder of each compilation with NAME.json (metadata),
// .ttir, .ptx and .cubin. Its files are not trusted: sizes and values are bounded, and no path that they name is
// followed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// As the Python function takes it: the shape and strides that follow a descriptor are part of it.
struct TritonArgument {
  std::string name;
  std::string type;          ///< of TTIR: "i32", "!tt.ptr<f16>", "!tt.tensordesc<tensor<128x64xf16>>"
  std::string number;        ///< a statement's word for it: "int", "long", "float"; empty: a pointer or a descriptor
  std::int64_t divisor = 1;  ///< the code takes it to be a multiple of this
  std::vector<int> block;    ///< of a descriptor, the outermost first
  int swizzle_bytes = 0;
};

/// One compilation.
struct TritonVariant {
  std::string hash;  ///< 64 hexadecimal digits
  std::string version;
  int arch = 0;  ///< 90
  int warps = 0;
  int stages = 0;
  int shared_bytes = 0;
  int cluster = 1;  ///< blocks of a program
  bool cooperative = false;
  bool starts_early = false;
  std::vector<TritonArgument> arguments;
  /// The pointers behind them that Triton hands over of itself: name, bytes of a block.
  std::vector<std::pair<std::string, std::int64_t>> hidden;
  std::filesystem::path cubin;

  [[nodiscard]] std::string short_hash() const { return hash.substr(0, 8); }
};

struct TritonKernel {
  std::string name;
  std::vector<TritonVariant> variants;  ///< by hash
  std::vector<Message> left_out;        ///< those that cannot be read
};

/// `folder` is the cache, or one compilation's folder. The error is one line; where nothing is of that name, it says
/// which kernels there are.
[[nodiscard]] Result<TritonKernel, Message> read_triton_cache(const std::filesystem::path& folder,
                                                              const std::string& kernel);

}  // namespace attnscope::user
