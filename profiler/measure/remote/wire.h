// SPDX-License-Identifier: Apache-2.0
// What a device on another machine is asked, and what it answers: one JSON object a line each way. Whole records go
// over the wire, so that the file is written by who asks, and the other machine keeps none.
//
//   the first line   {"answer":"device","protocol":3,...} or {"answer":"failed","reason":...}
//   prepare          points; "built" for each kernel, then "done"
//   measure          points (one), options, whole: "record". Without `whole` it may wait for its counters.
//   count            options: "counted", the records that waited, in order
//   unknown-metrics  names: "unknown"
//   free             "free"
//   ceilings         rounds, seed: "progress" now and then, then "ceilings" or "failed"
//   cancel           of the request of that number, whatever it is; it has no answer of its own
//
// Every request has a number, which its answers carry. A line that is none of these is answered by "refused".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/result.h"
#include "profiler/measure/device.h"

namespace attnscope::remote {

/// Raised with every change of what goes over the wire; another build has to have the same.
inline constexpr int protocol = 3;
/// No line has more bytes.
inline constexpr std::size_t longest_line = std::size_t{16} * 1024 * 1024;

namespace ask {
inline constexpr std::string_view prepare = "prepare";
inline constexpr std::string_view measure = "measure";
inline constexpr std::string_view count = "count";
inline constexpr std::string_view unknown_metrics = "unknown-metrics";
inline constexpr std::string_view free = "free";
inline constexpr std::string_view ceilings = "ceilings";
inline constexpr std::string_view cancel = "cancel";
}  // namespace ask

namespace answer {
inline constexpr std::string_view device = "device";
inline constexpr std::string_view failed = "failed";
inline constexpr std::string_view built = "built";
inline constexpr std::string_view done = "done";
inline constexpr std::string_view record = "record";
inline constexpr std::string_view counted = "counted";
inline constexpr std::string_view unknown = "unknown";
inline constexpr std::string_view free = "free";
inline constexpr std::string_view progress = "progress";
inline constexpr std::string_view ceilings = "ceilings";
inline constexpr std::string_view refused = "refused";
}  // namespace answer

struct Request {
  std::string ask;
  std::uint64_t number = 0;  ///< from 1 on, growing
  std::vector<PointSpec> points = {};
  std::optional<MeasureOptions> options = {};
  bool whole = false;  ///< measure: with its counters
  std::vector<std::string> names = {};
  std::optional<CeilingOptions> ceilings = {};
};

struct Hello {
  int protocol = 0;
  std::string app_version;
  DeviceInfo device;
  Environment environment;
  CounterAvailability counters;
  std::string simulated_because = {};
};

struct Answer {
  std::string answer;
  std::uint64_t number = 0;  ///< the request's; 0 of the first line
  std::optional<Hello> hello = {};
  Message reason = {};     ///< failed, refused
  bool cancelled = false;  ///< failed: because it was asked to
  std::int64_t done = 0;   ///< built, progress: of `total`
  std::int64_t total = 0;
  std::optional<BuildReport> build = {};
  std::vector<PointRecord> records = {};  ///< record: one; counted: those that waited
  std::vector<std::int64_t> left = {};    ///< places in `records` of those that are not whole: they wait, or were left
  std::optional<std::int64_t> lost_to = {};
  bool usable = true;
  std::vector<Device::UnknownMetric> unknown = {};
  std::int64_t bytes = 0;  ///< free
  std::optional<CeilingSet> ceilings = {};
};

/// One line each, no newline at its end.
[[nodiscard]] std::string to_line(const Request&);
[[nodiscard]] std::string to_line(const Answer&);
/// The error says what is wrong with the line. Nothing of it is believed: types, words and counts are checked, ranges
/// by who stores it.
[[nodiscard]] Result<Request, Message> parse_request(std::string_view line);
[[nodiscard]] Result<Answer, Message> parse_answer(std::string_view line);

}  // namespace attnscope::remote
