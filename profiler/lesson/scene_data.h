// SPDX-License-Identifier: Apache-2.0
// Data of the lesson's drawing as JSON: all numbers that its scripts show come from here.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

/// Returns {hardware, curves, law, decode, backward, paper, softmax}; parts without data are empty.
[[nodiscard]] std::string scene_json(const LessonTexts&, const Evidence&);

/// Returns time, DRAM bytes and FLOPs of each algorithm over N at head dimension `d`, from one run, with the times of
/// PyTorch's eager attention for the same problems.
[[nodiscard]] nlohmann::json curves_json(const LessonTexts&, const Evidence&, std::int64_t d);
/// Returns SM<->L2 bytes over N, d and M with fitted and theoretical exponents.
[[nodiscard]] nlohmann::json law_json(const LessonTexts&, const std::string& algorithm, const Evidence&);

}  // namespace attnscope::analysis::lesson
