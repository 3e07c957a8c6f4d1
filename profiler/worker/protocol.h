// SPDX-License-Identifier: Apache-2.0
// The JSON-lines protocol of attnscope's processes: one object a line, requests {"request":...} on standard input and
// events {"event":...} on standard output. Readers ignore unknown fields and events. Three programs speak it:
//
//   collect --jsonl   no requests but the line `cancel`: plan, build, started, point, progress, log, then done
//   collect --serve   the requests of requests.h: plan, then for each queued, started and point or cancelled; refused
//   remote            a worker, local or over ssh: device or done ("failed") first, then what it is asked for:
//
//     prepare          points: a build for each kernel, then a reply
//     measure          points (one), options, whole: a record. Without `whole` it may wait for its counters.
//     count            options: a record with all that waited, in order
//     unknown-metrics  names: a reply with `unknown`
//     free             a reply with `bytes`
//     ceilings         rounds, seed: progress now and then, then a reply with `ceilings` or a reason
//     cancel           of the request of that id, whatever it is; it has no answer of its own
//
// What answers a request has its id; a line that is no request is answered by refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"

namespace attnscope {

struct PlanEvent {  ///< "plan": first line; a session has no plan, and says "explore" and 0 points
  int version = 1;
  std::string device_name;
  std::string device_uuid;
  bool simulated = false;
  std::string preset;
  std::string database;     ///< path of the file written
  std::int64_t run_id = 0;  ///< 0 with --dry-run
  std::size_t total = 0;    ///< points
  std::size_t skipped = 0;  ///< of these times the rounds, found done
  std::int64_t max_memory_bytes = 0;
  std::string counters;                   ///< "available", or why not
  int rounds = 1;                         ///< how often each point is measured; 1 is left out
  std::string shard = {};                 ///< "3/8": of the plan this is measured; empty and left out: all of it
  std::size_t shard_points = 0;           ///< how many points that is
  std::vector<std::string> devices = {};  ///< several that measure at once, as --device names them; else left out
};
struct BuildEvent {  ///< "build": one kernel compiled
  std::size_t done = 0;
  std::size_t total = 0;
  std::string kernel;
  bool cached = false;
  Message error;        ///< as "reason" of a point; the English text has the compiler's log behind its first line
  std::string id = {};  ///< of a worker's request; empty and left out elsewhere
};
struct StartedEvent {  ///< "started"
  std::size_t index = 0;
  std::string point;        ///< describe(PointSpec)
  std::string id = {};      ///< of a session's request; empty and left out in a sweep
  int round = 0;            ///< from 0, which is left out
  std::string device = {};  ///< of several: as PlanEvent::devices has it; else left out
};
struct PointEvent {  ///< "point": it is committed in the database; of several rounds, what this one found
  std::size_t index = 0;
  std::int64_t point_id = 0;
  std::string point;  ///< describe(PointSpec)
  PointSpec spec;     ///< a field each, and "knobs"
  std::string disposition;
  Message reason;             ///< "reason" in English, "reason_code": its code
  double time_median_ns = 0;  ///< 0 when there is none
  double dram_bytes = 0;
  double dram_settled_bytes = 0;  ///< with what is written back later; 0 when that was not counted
  double l2_sm_bytes = 0;         ///< both directions
  bool throttled = false;
  /// Of the numbers above, as PointRecord::origin() has it.
  std::string provenance = {};
  std::string id = {};      ///< of a session's request; empty and left out in a sweep
  int round = 0;            ///< from 0, which is left out; what all rounds make of the point is in the file
  int rounds = 1;           ///< of the run; 1 is left out
  std::string device = {};  ///< as StartedEvent's
};
struct QueuedEvent {  ///< "queued": a session has taken a request, which waits
  std::string id;
  std::int64_t priority = 0;
  std::string point;  ///< describe(PointSpec)
  PointSpec spec;     ///< as it will run: what the request left open is chosen
};
struct CancelledEvent {  ///< "cancelled": a request that was taken will not be measured; nothing of it is kept
  std::string id;
  Message reason;  ///< empty where a request cancelled it
};
struct RefusedEvent {   ///< "refused": a session did not understand a line, or cannot do what it asks
  std::string request;  ///< what it asks: "measure", "cancel"; empty where that cannot be told
  std::string id;       ///< of that request; empty where that cannot be told
  Message reason;
};
/// "progress": at most a few a second; of several rounds each point counts once a round, of a session it is of all
/// that was asked for so far.
struct ProgressEvent {
  std::size_t done = 0;
  std::size_t total = 0;
  double elapsed_s = 0;
  double remaining_s = 0;                   ///< estimate; negative while unknown
  std::vector<std::size_t> by_device = {};  ///< of `done`, what each of several devices did here; else left out
  std::string id = {};                      ///< of a worker's request; empty and left out elsewhere
};
struct LogEvent {     ///< "log"
  std::string level;  ///< "info", "warning", "error"
  std::string text;
};
struct DoneEvent {    ///< "done": last line; what a session was asked for and did not answer was not measured
  std::string state;  ///< "complete", "cancelled", "interrupted", "device-lost", "failed"
  Message reason;
  std::size_t ok = 0;
  std::size_t not_ok = 0;
  int exit_code = 0;
};
struct DeviceEvent {  ///< "device": a worker's first line
  int protocol = 0;
  std::string app_version;
  DeviceInfo device;
  Environment environment;
  CounterAvailability counters;
  std::string simulated_because = {};
};
struct RecordEvent {  ///< "record": one that was measured, or those that waited for their counters
  std::string id;
  bool usable = true;                     ///< the device
  std::vector<PointRecord> records = {};  ///< an unreadable one is `crashed` and says why
  std::vector<std::size_t> left = {};     ///< places in `records` of those that are not whole: they wait, or were left
  std::optional<std::size_t> lost_to = {};
};
struct ReplyEvent {  ///< "reply": ends any other request
  std::string id;
  bool usable = true;  ///< the device
  std::vector<Device::UnknownMetric> unknown = {};
  std::int64_t bytes = 0;
  std::optional<CeilingSet> ceilings = {};
  Message reason = {};     ///< why there are no ceilings
  bool cancelled = false;  ///< because it was asked to
};
using Event = std::variant<PlanEvent, BuildEvent, StartedEvent, PointEvent, QueuedEvent, CancelledEvent, RefusedEvent,
                           ProgressEvent, LogEvent, DoneEvent, DeviceEvent, RecordEvent, ReplyEvent>;

/// What is said of a point once it is kept: `index` is its place in the run, `point_id` its id in the database.
[[nodiscard]] PointEvent point_event(std::size_t index, std::int64_t point_id, const PointRecord&);

/// What a worker is asked.
struct WorkerRequest {
  std::string request;
  std::string id;
  std::vector<PointSpec> points = {};
  std::optional<MeasureOptions> options = {};
  bool whole = false;  ///< measure: with its counters
  std::vector<std::string> names = {};
  std::optional<CeilingOptions> ceilings = {};
};

/// Raised with every change of what a worker is asked or answers; another build has to have the same.
inline constexpr int worker_protocol = 4;
/// No line of a worker has more bytes.
inline constexpr std::size_t longest_line = std::size_t{16} * 1024 * 1024;

/// One line each, no newline at its end.
[[nodiscard]] std::string to_json_line(const Event&);
[[nodiscard]] std::string to_json_line(const WorkerRequest&);
/// The error says what is wrong with the line; an event of unknown name is an error too, to be skipped by the caller.
/// Nothing of a line is believed: types, words and counts are checked, ranges by who stores it.
[[nodiscard]] Result<Event, Message> parse_event(std::string_view line);
[[nodiscard]] Result<WorkerRequest, Message> parse_worker_request(std::string_view line);

}  // namespace attnscope
