// SPDX-License-Identifier: Apache-2.0
// What a command reads that is given no file.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

/// Of `given`, or where that is empty of the recorded `samples` (storage/recorded_samples.h), which stderr says. Throws
/// CommandError where there are neither.
[[nodiscard]] std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                                        const std::vector<std::string>& samples);
/// The same of one file.
[[nodiscard]] std::string file_or_sample(const std::string& given);

}  // namespace attnscope
