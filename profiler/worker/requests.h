// SPDX-License-Identifier: Apache-2.0
// Requests of `attnscope collect --serve`: one JSON object per line on standard input. The answers are events
// (protocol.h) with the id that the client chose:
//
//   {"request":"measure","id":"7","priority":1,"point":{"algorithm":"fa2","N":4096,"d":128,"br":128,"bc":64}}
//     queued, started, then either point (with any disposition) or cancelled. `point` takes the fields of the event
//     "point" ("knobs" as an object or inline) and every axis with one value (N, heads, tile=auto). Defaults are
//     those of a sweep. The highest priority is measured first, then the first to arrive.
//   {"request":"cancel","id":"7"}   removes a waiting request; ends a point in flight after its launch
//   {"request":"end"}               measures the waiting requests, then ends the session: "done"
//   cancel                          (not JSON) ends the session like a sweep and cancels waiting requests. The end of
//                                   the input has the same effect, unless "end" was sent.
//
// Any other line is answered by "refused", and the session continues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"
#include "profiler/worker/protocol.h"

namespace attnscope {

inline constexpr std::size_t max_request_id_bytes = 128;
/// Priorities range from -max_priority to max_priority.
inline constexpr std::int64_t max_priority = 1'000'000;
inline constexpr std::size_t max_request_bytes = std::size_t{64} * 1024;

struct MeasureRequest {
  std::string id;
  std::int64_t priority = 0;
  PointSpec spec;
};
struct CancelRequest {
  std::string id;
};
struct EndRequest {};
using Request = std::variant<MeasureRequest, CancelRequest, EndRequest>;

/// Parses a line (without newline) and plans the point for the device. The error is the answer to send.
[[nodiscard]] Result<Request, RefusedEvent> parse_request(std::string_view line, CacheState default_cache,
                                                          const DeviceLimits&, const Registry&);

/// Request line (without newline) for exactly this point: all fields and all knobs of its algorithm.
[[nodiscard]] std::string measure_line(std::string_view id, std::int64_t priority, const PointSpec&, const Registry&);
[[nodiscard]] std::string cancel_line(std::string_view id);
[[nodiscard]] std::string end_line();

}  // namespace attnscope
