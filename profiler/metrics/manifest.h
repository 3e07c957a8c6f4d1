// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "profiler/metrics/point.h"

namespace attnscope {

/// Limit of the total source bytes archived per manifest.
inline constexpr std::size_t max_stored_source_bytes = std::size_t{16} * 1024 * 1024;

[[nodiscard]] std::string uuid_of(const std::string& bytes);

/// UUID of the text, host_code, and names and digests of the sources, independent of their order.
[[nodiscard]] std::string digest_of(const StoredManifest&);

/// "1a2b3c4d (my.cu, my.cuh)", at most four names; "1a2b3c4d (my.so), host code".
[[nodiscard]] std::string describe(const StoredManifest&);

}  // namespace attnscope
