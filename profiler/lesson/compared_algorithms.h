// SPDX-License-Identifier: Apache-2.0
// The algorithms that the lesson's texts compare; the lesson's code gets their names here.
#pragma once

#include <array>
#include <string_view>

namespace attnscope::analysis::lesson::compared {

inline constexpr std::string_view slow = "naive";  ///< stores the scores in memory
inline constexpr std::string_view first = "fa1";
inline constexpr std::string_view fast = "fa2";
inline constexpr std::string_view newest = "fa3";
inline constexpr std::string_view split = "splitkv";
/// On the race and the roofline.
inline constexpr std::array all{slow, first, fast, newest};

}  // namespace attnscope::analysis::lesson::compared
