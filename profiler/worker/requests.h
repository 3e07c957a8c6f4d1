// SPDX-License-Identifier: Apache-2.0
// What a client asks `attnscope collect --serve` for: one JSON object a line on its standard input. The answers are
// events (events.h), each with the id that the client chose:
//
//   {"request":"measure","id":"7","priority":1,"point":{"algorithm":"fa2","N":4096,"d":128,"br":128,"bc":64}}
//     queued, started, then exactly one of point (whatever its disposition) and cancelled. `point` takes the fields of
//     the event "point" (its "knobs" too, inside or beside) and every axis of one value (N, heads, tile=auto); what it
//     leaves open is what a sweep would take. The highest priority is measured first, then the first that came.
//   {"request":"cancel","id":"7"}   what waits is gone at once, a point in flight ends after its launch
//   {"request":"end"}               what waits is measured, then the session ends: "done"
//   cancel                          (no JSON) ends the session as it ends a sweep; so does the end of the input, unless
//                                   "end" was asked: whoever asked is gone. What waits is cancelled.
//
// A line that is none of these is answered by one "refused", and the session goes on.
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

/// An id has no more bytes.
inline constexpr std::size_t longest_request_id = 128;
/// Priorities are -this to this.
inline constexpr std::int64_t highest_priority = 1'000'000;
/// A line has no more bytes.
inline constexpr std::size_t longest_request = std::size_t{64} * 1024;

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

/// What a line without its newline asks for, planned for that device. The error is what to answer.
[[nodiscard]] Result<Request, RefusedEvent> parse_request(std::string_view line, CacheState where_no_axis_says,
                                                          const DeviceLimits&, const Registry&);

/// The line, without its newline, that asks for exactly this point: every field, and every knob of its algorithm.
[[nodiscard]] std::string measure_line(std::string_view id, std::int64_t priority, const PointSpec&, const Registry&);
[[nodiscard]] std::string cancel_line(std::string_view id);
[[nodiscard]] std::string end_line();

}  // namespace attnscope
