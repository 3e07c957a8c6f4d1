// SPDX-License-Identifier: Apache-2.0
// Why a query leaves nothing.
#pragma once

#include <string_view>

#include "kernels/messages/message.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Of a query (point_query.h) that none of the points fits, why: the first word that fits none by itself, and what
/// there is instead, or that the words never hold together. Empty where some point fits, where there is none, of a
/// query that asks for nothing, and of one that is not understood.
[[nodiscard]] Message why_none_fits(std::string_view text, const PointTable& table);

}  // namespace attnscope::analysis
