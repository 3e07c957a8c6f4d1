// SPDX-License-Identifier: Apache-2.0
// JSON-lines protocol between attnscope processes: one object per line, requests {"request":...} on standard input and
// events {"event":...} on standard output. Readers ignore unknown fields and events. Three commands use it:
//
//   collect --jsonl   no requests except the line `cancel`; plan, build, started, point, progress and log, then done
//   collect --serve   the requests of requests.h; plan, then queued, started and point or cancelled for each; refused
//   remote            a worker, local or over ssh: device or done ("failed") first, then it answers requests:
//
//     prepare          points: a build per kernel, then a reply
//     measure          points (one), options, whole: a record. Without `whole` its counters may be pending.
//     count            options: a record with all pending points, in order
//     unknown-metrics  names: a reply with `unknown`
//     free             a reply with `bytes`
//     ceilings         rounds, seed: progress, then a reply with `ceilings` or a reason
//     cancel           cancels the request with that id; is not answered itself
//
// Events that answer a request have its id. A line that is not a valid request is answered by refused.
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

struct PlanEvent {  ///< "plan": first line. A session reports "explore" and 0 points.
  int version = 1;
  std::string device_name;
  std::string device_uuid;
  bool simulated = false;
  std::string preset;
  std::string database;     ///< Path of the output file.
  std::int64_t run_id = 0;  ///< 0 with --dry-run
  std::size_t total = 0;    ///< Number of points.
  std::size_t skipped = 0;  ///< Points times rounds that were already complete.
  std::int64_t max_memory_bytes = 0;
  std::string counters;    ///< "available", or why not.
  int rounds = 1;          ///< Measurements per point; omitted if 1.
  std::string shard = {};  ///< "3/8": shard of the plan; omitted if the whole plan is measured.
  std::size_t shard_points = 0;
  /// Names of the devices, as --device lists them; omitted for a single device.
  std::vector<std::string> devices = {};
};
struct BuildEvent {  ///< "build": one kernel compiled.
  std::size_t done = 0;
  std::size_t total = 0;
  std::string kernel;
  bool cached = false;
  Message error;        ///< Like the reason of a point. The English text has the compiler's log after its first line.
  std::string id = {};  ///< Id of a worker's request; omitted otherwise.
};
struct StartedEvent {  ///< "started"
  std::size_t index = 0;
  std::string point;        ///< describe(PointSpec)
  std::string id = {};      ///< Id of a session's request; omitted in a sweep.
  int round = 0;            ///< From 0; omitted if 0.
  std::string device = {};  ///< One of PlanEvent::devices; omitted for a single device.
};
struct PointEvent {  ///< "point": a point of one round was stored in the database.
  std::size_t index = 0;
  std::int64_t point_id = 0;
  std::string point;  ///< describe(PointSpec)
  PointSpec spec;     ///< One JSON field each, and "knobs".
  std::string disposition;
  Message reason;             ///< "reason": English text; "reason_code": code.
  double time_median_ns = 0;  ///< 0 if there is none.
  double dram_bytes = 0;
  double dram_settled_bytes = 0;  ///< Including write-back bytes; 0 if not counted.
  double l2_sm_bytes = 0;         ///< Both directions.
  bool throttled = false;
  /// Provenance of the numbers above; see PointRecord::origin().
  std::string provenance = {};
  std::string id = {};  ///< Id of a session's request; omitted in a sweep.
  int round = 0;        ///< From 0; omitted if 0. The file has the combination of all rounds.
  int rounds = 1;       ///< Rounds of the run; omitted if 1.
  std::string device = {};
};
struct QueuedEvent {  ///< "queued": a session has accepted a request.
  std::string id;
  std::int64_t priority = 0;
  std::string point;  ///< describe(PointSpec)
  PointSpec spec;     ///< Complete specification, with defaults filled in.
};
struct CancelledEvent {  ///< "cancelled": an accepted request will not be measured; nothing is stored.
  std::string id;
  Message reason;  ///< Empty if cancelled by a request.
};
struct RefusedEvent {   ///< "refused": a session rejected an invalid line or a request.
  std::string request;  ///< "measure" or "cancel"; empty if unknown.
  std::string id;       ///< Id of the request; empty if unknown.
  Message reason;
};
/// "progress": a few per second at most. Counts points times rounds; in a session, all requests so far.
struct ProgressEvent {
  std::size_t done = 0;
  std::size_t total = 0;
  double elapsed_s = 0;
  double remaining_s = 0;                   ///< Estimate; negative if unknown.
  std::vector<std::size_t> by_device = {};  ///< `done` per device; omitted for a single device.
  std::string id = {};                      ///< Id of a worker's request; omitted otherwise.
};
struct LogEvent {     ///< "log"
  std::string level;  ///< "info", "warning", "error"
  std::string text;
};
struct DoneEvent {    ///< "done": last line. Unanswered requests of a session were not measured.
  std::string state;  ///< "complete", "cancelled", "interrupted", "device-lost", "failed"
  Message reason;
  std::size_t ok = 0;
  std::size_t not_ok = 0;
  int exit_code = 0;
  std::size_t infeasible = 0;  ///< part of not_ok
};
struct DeviceEvent {  ///< "device": first line of a worker.
  int protocol = 0;
  std::string app_version;
  DeviceInfo device;
  Environment environment;
  CounterAvailability counters;
  std::string simulation_reason = {};
};
struct RecordEvent {  ///< "record": a measured point, or all points that were counted.
  std::string id;
  bool usable = true;                     ///< Whether the device is still usable.
  std::vector<PointRecord> records = {};  ///< An unreadable record becomes `crashed`, with a reason.
  /// Indices into `records` of incomplete records: counters pending or counting aborted.
  std::vector<std::size_t> left = {};
  std::optional<std::size_t> fatal_point = {};
};
struct ReplyEvent {  ///< "reply": answer to all other requests.
  std::string id;
  bool usable = true;  ///< Whether the device is still usable.
  std::vector<Device::UnknownMetric> unknown = {};
  std::int64_t bytes = 0;
  std::optional<CeilingSet> ceilings = {};
  Message reason = {};     ///< Why there are no ceilings.
  bool cancelled = false;  ///< True if cancelled by request.
};
using Event = std::variant<PlanEvent, BuildEvent, StartedEvent, PointEvent, QueuedEvent, CancelledEvent, RefusedEvent,
                           ProgressEvent, LogEvent, DoneEvent, DeviceEvent, RecordEvent, ReplyEvent>;

/// Event for a stored point. `index`: position in the run; `point_id`: id in the database.
[[nodiscard]] PointEvent point_event(std::size_t index, std::int64_t point_id, const PointRecord&);

struct WorkerRequest {
  std::string request;
  std::string id;
  std::vector<PointSpec> points = {};
  std::optional<MeasureOptions> options = {};
  bool whole = false;  ///< measure: include the counters.
  std::vector<std::string> names = {};
  std::optional<CeilingOptions> ceilings = {};
};

/// Increased with every change of requests or answers; both sides must match.
inline constexpr int worker_protocol = 4;
inline constexpr std::size_t max_line_length = std::size_t{16} * 1024 * 1024;

/// One line without a newline.
[[nodiscard]] std::string to_json_line(const Event&);
[[nodiscard]] std::string to_json_line(const WorkerRequest&);
/// The error describes what is invalid; an unknown event is an error that the caller may skip. The input is untrusted:
/// types, names and counts are checked here, ranges where the data are stored.
[[nodiscard]] Result<Event, Message> parse_event(std::string_view line);
[[nodiscard]] Result<WorkerRequest, Message> parse_worker_request(std::string_view line);

}  // namespace attnscope
