// SPDX-License-Identifier: Apache-2.0
// What identifies what a user's kernel was stated by.
#pragma once

#include <cstddef>
#include <string>

#include "profiler/metrics/point.h"

namespace attnscope {

/// Bytes of the sources that are kept of one statement, together.
inline constexpr std::size_t most_kept_source_bytes = std::size_t{16} * 1024 * 1024;

/// A name-based UUID (SHA-1).
[[nodiscard]] std::string uuid_of(const std::string& bytes);

/// Of its text, of host_code and of its sources' names and digests, in whatever order these are: a UUID.
[[nodiscard]] std::string digest_of(const KernelStatement&);

/// For people: "1a2b3c4d (my.cu, my.cuh)", of many sources the first ones, and "1a2b3c4d (my.so), host code".
[[nodiscard]] std::string describe(const KernelStatement&);

}  // namespace attnscope
