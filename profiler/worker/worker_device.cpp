// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/worker_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "profiler/plan/fields.h"
#include "profiler/worker/protocol.h"

namespace attnscope::worker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds poll_interval{50};
/// Launches cannot be interrupted; a worker that has not reacted to a cancel by then is killed.
constexpr std::chrono::milliseconds cancel_timeout{1'500};
/// Keeps a line well below max_line_length.
constexpr std::size_t max_points_per_line = 4096;
/// For immediate answers.
constexpr std::chrono::seconds reply_timeout = open_timeout;
/// Between two progress events of a long request: a compiled kernel or a ceiling's load.
constexpr std::chrono::minutes step_timeout{10};

/// Set-up, first run, samples, verification and counting may each take the point's timeout. The margin covers
/// compilation.
std::chrono::milliseconds points_timeout(const MeasureOptions& options, std::size_t points) {
  constexpr int parts = 5;
  constexpr std::chrono::seconds margin{30};
  return parts * options.timeout * static_cast<std::int64_t>(points) + margin;
}

std::string format_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g}", std::chrono::duration<double>(time).count());
}

class WorkerDevice : public Device {
 public:
  WorkerDevice(std::unique_ptr<Link> link, std::string host, DeviceEvent hello, bool accepts_any_version,
               const Registry& registry, const CancelToken& session, LossCause end_of)
      : link_(std::move(link)),
        loss_cause_(end_of),
        host_(std::move(host)),
        hello_(std::move(hello)),
        accepts_any_version_(accepts_any_version),
        registry_(registry),
        session_(session) {}

  [[nodiscard]] const DeviceInfo& info() const override { return hello_.device; }
  [[nodiscard]] const Registry& algorithms() const override { return registry_; }
  [[nodiscard]] Environment environment() const override { return hello_.environment; }
  [[nodiscard]] CounterAvailability counters() const override { return hello_.counters; }
  [[nodiscard]] bool usable() const override { return usable_; }

  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const override {
    auto reply = ask<ReplyEvent>({.request = "unknown-metrics", .id = {}, .names = {names.begin(), names.end()}},
                                 session_, reply_timeout);
    return reply ? std::move(reply->unknown) : std::vector<UnknownMetric>{};
  }

  [[nodiscard]] std::int64_t free_bytes() const override {
    const auto reply = ask<ReplyEvent>({.request = "free", .id = {}}, session_, reply_timeout);
    return reply ? reply->bytes : 0;
  }

  void prepare(std::span<const PointSpec> points, const CancelToken& cancel, const BuildProgress& progress) override {
    for (std::size_t begin = 0; begin < points.size() && !lost_ && !cancel.cancelled(); begin += max_points_per_line) {
      const auto part = points.subspan(begin, std::min(max_points_per_line, points.size() - begin));
      ask<ReplyEvent>({.request = "prepare", .id = {}, .points = {part.begin(), part.end()}}, cancel, step_timeout,
                      [&](const Event& event) {
                        const auto* build = std::get_if<BuildEvent>(&event);
                        if (build == nullptr || !progress) return;
                        BuildReport report;
                        report.kernel = build->kernel;
                        report.cached = build->cached;
                        report.error = build->error;
                        progress(build->done, build->total, report);
                      });
    }
  }

  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options,
                                    const CancelToken& cancel) override {
    PointRecord record = request_measurement(spec, options, cancel, true).record;
    if (lost_ && !silent_) record.disposition = Disposition::crashed;  // the caller expects a result
    return record;
  }

  /// If the link is lost, the returned point has no result and is still pending.
  [[nodiscard]] MeasurementResult measure_deferred(const PointSpec& spec, const MeasureOptions& options,
                                                   const CancelToken& cancel) override {
    return request_measurement(spec, options, cancel, false);
  }

  /// Decided locally: a round trip per point would leave the GPU idle.
  [[nodiscard]] bool can_share_session(std::span<const PointSpec> waiting, const PointSpec& next) const override {
    return fits_in_session(waiting, next, info().limits, registry_);
  }

  void announce(const PointSpec& spec, const MeasureOptions& options) override {
    announced_ = measure_request(spec, options, false);
    announced_->id = fmt::to_string(++number_);
  }

  [[nodiscard]] CountResult count(std::span<PointRecord* const> records, const MeasureOptions& options,
                                  const CancelToken& cancel) override {
    auto answered = ask<RecordEvent>({.request = "count", .id = {}, .options = options}, cancel,
                                     points_timeout(options, records.size()));
    CountResult counted{.whole = std::vector<bool>(records.size(), false)};
    if (!answered && loss_cause_ == LossCause::point &&
        records.size() == 1) {  // with several points the cause is unknown
      if (cancel.cancelled()) return counted;
      records.front()->disposition = silent_ ? Disposition::timeout : Disposition::crashed;
      records.front()->reason = why_;
      return {.whole = {true}, .fatal_point = 0};
    }
    if (!answered) return counted;
    if (answered->records.size() != records.size()) {
      mark_lost(make_message("invalid answer from {}: {}.", host_, std::to_string(answered->records.size())));
      return counted;
    }
    counted.whole.assign(records.size(), true);
    for (const std::size_t place : answered->left) {
      if (place < records.size()) counted.whole[place] = false;
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (auto record = record_of(records[i]->spec, std::move(answered->records[i]))) {
        *records[i] = *std::move(record);
      } else {
        counted.whole[i] = false;
      }
    }
    if (answered->fatal_point && *answered->fatal_point < records.size()) counted.fatal_point = answered->fatal_point;
    return counted;
  }

  [[nodiscard]] Result<CeilingSet, CeilingFailure> ceilings(const CeilingOptions& options, const CancelToken& cancel,
                                                            const CeilingProgress& progress) override {
    auto reply = ask<ReplyEvent>({.request = "ceilings", .id = {}, .ceilings = options}, cancel, step_timeout,
                                 [&](const Event& event) {
                                   const auto* step = std::get_if<ProgressEvent>(&event);
                                   if (step != nullptr && progress) progress(step->done, step->total);
                                 });
    if (!reply) return Failure{CeilingFailure{cancel.cancelled(), why_}};
    if (reply->ceilings) return std::move(*reply->ceilings);
    return Failure{CeilingFailure{reply->cancelled, reply->reason}};
  }

 private:
  /// Returns the record, or nothing (and drops the link) if it belongs to another point.
  [[nodiscard]] std::optional<PointRecord> record_of(const PointSpec& spec, PointRecord record) const {
    const bool unreadable = record.spec == PointSpec{} && record.disposition == Disposition::crashed;
    if (unreadable) record.spec = spec;
    if (record.spec == spec) return record;
    mark_lost(make_message("{} returned another point instead of {}.", host_, describe(spec)));
    return std::nullopt;
  }

  static WorkerRequest measure_request(const PointSpec& spec, const MeasureOptions& options, bool whole) {
    return {.request = "measure", .id = {}, .points = {spec}, .options = options, .whole = whole};
  }

  MeasurementResult request_measurement(const PointSpec& spec, const MeasureOptions& options, const CancelToken& cancel,
                                        bool whole) {
    const auto patience = points_timeout(options, 1);
    const bool was_lost = lost_;
    refused_ = {};
    WorkerRequest request = measure_request(spec, options, whole);
    if (const auto sent = std::exchange(announced_, std::nullopt); sent && sent->points == request.points && !whole) {
      request.id = sent->id;
    }
    auto answered = ask<RecordEvent>(std::move(request), cancel, patience);
    if (answered && answered->records.size() == 1) {
      if (auto record = record_of(spec, std::move(answered->records.front()))) {
        return {*std::move(record), !answered->left.empty()};
      }
    }
    PointRecord none;
    none.spec = spec;
    none.provenance = info().simulated ? Provenance::simulated : Provenance::measured;
    none.kernels.emplace_back();
    none.reason = why_;
    if (!refused_.empty()) {  // other versions may not know the point
      none.disposition = Disposition::infeasible;
      none.reason = make_message("{} (version {}): {}", host_, hello_.app_version, std::exchange(refused_, {}));
      return {std::move(none), false};
    }
    if (cancel.cancelled()) {
      none.disposition = Disposition::cancelled;
      return {std::move(none), !whole};
    }
    if (loss_cause_ == LossCause::point && !silent_ && !was_lost) {
      none.disposition = Disposition::crashed;
      return {std::move(none), false};
    }
    if (!silent_ || was_lost) return {std::move(none), true};
    // Treat like a hung launch: do not measure it again.
    none.disposition = Disposition::timeout;
    none.reason = make_message("{} returned no result for {} within {} s (--timeout is {} s per point).", host_,
                               describe(spec), format_seconds(patience), format_seconds(options.timeout));
    return {std::move(none), false};
  }

  /// Sends a request, unless it has an id and was sent before, and waits for its answer. Calls `on_progress` for build
  /// and progress events, which restart the timeout. Returns nothing if the link is lost or the timeout expires.
  template <class Answer>
  std::optional<Answer> ask(WorkerRequest request, const CancelToken& cancel, std::chrono::milliseconds patience,
                            const std::function<void(const Event&)>& on_progress = {}) const {
    std::optional<Event> event = send_request(std::move(request), cancel, patience, on_progress);
    if (!event) return std::nullopt;
    if (auto* answer = std::get_if<Answer>(&*event)) {
      if (!answer->usable) usable_ = false;
      return std::move(*answer);
    }
    const auto* refused = std::get_if<RefusedEvent>(&*event);
    if (refused != nullptr && accepts_any_version_) {
      refused_ = refused->reason.empty() ? Message("refused") : refused->reason;
    } else {
      mark_lost(make_message("invalid answer from {}: {}.", host_,
                             refused != nullptr ? refused->reason : Message("unexpected event")));
    }
    return std::nullopt;
  }

  /// Id of the request that an event answers; empty for other events.
  static std::string request_id_of(const Event& event) {
    return std::visit(
        [](const auto& each) {
          using E = std::decay_t<decltype(each)>;
          constexpr bool answers = requires {
            each.usable;
          }
          || std::is_same_v<E, RefusedEvent> || std::is_same_v<E, BuildEvent> || std::is_same_v<E, ProgressEvent>;
          if constexpr (answers) return each.id;
          return std::string();
        },
        event);
  }

  std::optional<Event> send_request(WorkerRequest request, const CancelToken& cancel,
                                    std::chrono::milliseconds patience,
                                    const std::function<void(const Event&)>& on_progress) const {
    if (lost_) return std::nullopt;
    const bool is_sent = !request.id.empty();
    if (!is_sent) request.id = fmt::to_string(++number_);
    if (!is_sent && !link_->send(to_json_line(request))) return lost();
    if (announced_ && request.request == "count" && !link_->send(to_json_line(*announced_))) return lost();
    bool cancel_sent = false;
    std::size_t steps = 0;
    Clock::time_point deadline = link_->now() + patience;
    for (std::string line;;) {
      const Link::ReceiveStatus got = link_->receive(line, poll_interval);
      if (got == Link::ReceiveStatus::end) return lost();
      if (got == Link::ReceiveStatus::line) {
        auto event = parse_event(line);
        if (!event) return mark_lost(make_message("invalid answer from {}: {}.", host_, event.error()));
        const std::string id = request_id_of(*event);
        const auto* build = std::get_if<BuildEvent>(&*event);
        const auto* progress = std::get_if<ProgressEvent>(&*event);
        const bool ours = id == request.id;
        // A request that the worker could not parse is refused without id; it can only be this one.
        const bool unparsed = std::holds_alternative<RefusedEvent>(*event) && id.empty();
        if ((ours || unparsed) && build == nullptr && progress == nullptr) return std::move(event).value();
        const std::size_t done = build != nullptr ? build->done : progress != nullptr ? progress->done : 0;
        if (ours && on_progress && done > steps) {  // report each step once
          steps = done;
          on_progress(*event);
          if (!cancel_sent) deadline = link_->now() + patience;
        }
      }
      if ((cancel.cancelled() || session_.cancelled()) && !cancel_sent) {
        cancel_sent = true;
        deadline = link_->now() + cancel_timeout;
        if (!link_->send(to_json_line(WorkerRequest{.request = "cancel", .id = request.id}))) return lost();
        if (announced_ && !link_->send(to_json_line(WorkerRequest{.request = "cancel", .id = announced_->id}))) {
          return lost();
        }
      }
      if (link_->now() > deadline) {
        silent_ = !cancel_sent;
        link_->kill_peer();
        return mark_lost(make_message("{} does not respond.", host_));
      }
    }
  }

  std::optional<Event> lost() const {
    const Link::ExitStatus end = link_->end();
    const std::string words = last_line(end.stderr_tail);
    if (loss_cause_ == LossCause::point) return mark_lost(process_ended(end, words));
    return mark_lost(words.empty() ? make_message("the connection to {} was lost.", host_)
                                   : make_message("the connection to {} was lost: {}.", host_, words));
  }
  std::optional<Event> mark_lost(Message why) const {
    lost_ = true;
    usable_ = false;
    why_ = std::move(why);
    link_.reset();  // end the old process before a new one starts
    return std::nullopt;
  }

  static Message process_ended(const Link::ExitStatus& end, const std::string& words) {
    const Message how = end.signal != 0 ? make_message("The worker process was killed by signal {} ({}).", end.signal,
                                                       ::strsignal(end.signal))
                                        : make_message("The worker process exited with code {}.", end.exit_code);
    return words.empty() ? how : make_message("{} Last output: {}.", how, words);
  }

  // Queries are const; only the state of the connection changes.
  mutable std::unique_ptr<Link> link_;
  LossCause loss_cause_;
  std::string host_;
  DeviceEvent hello_;
  bool accepts_any_version_;
  const Registry& registry_;
  const CancelToken& session_;  ///< Token of the session; cancels requests that have no token.
  mutable std::uint64_t number_ = 0;
  std::optional<WorkerRequest> announced_;  ///< Sent with the next request and answered after it.
  mutable bool usable_ = true;
  mutable bool lost_ = false;
  mutable bool silent_ = false;  ///< The link was dropped after a timeout.
  mutable Message why_;
  mutable Message refused_;  ///< Why the last request was refused; only with accepts_any_version_.
};

}  // namespace

Result<OpenedWorker, OpenFailure> open_worker_device(std::unique_ptr<Link> link, std::string host,
                                                     std::string_view app_version, const Registry& registry,
                                                     const CancelToken& cancel, LossCause end_of,
                                                     std::chrono::seconds patience) {
  OpenFailure failure;
  const auto deadline = link->now() + patience;
  std::string line;
  // Skip lines that a login shell prints.
  while (!line.starts_with("{\"event\"")) {
    const Link::ReceiveStatus got = link->receive(line, poll_interval);
    failure.silent = link->now() > deadline;
    if (cancel.cancelled() || failure.silent) link->kill_peer();
    if (got == Link::ReceiveStatus::end || cancel.cancelled() || failure.silent) {
      failure.end = link->end();
      return Failure{failure};
    }
  }
  auto event = parse_event(line);
  if (const auto* done = event ? std::get_if<DoneEvent>(&*event) : nullptr) {
    failure.kind = OpenFailure::Kind::no_device;
    failure.reason = done->reason;
    return Failure{failure};
  }
  const bool accepts_any_version = app_version.empty();
  auto* const hello = event ? std::get_if<DeviceEvent>(&*event) : nullptr;
  const bool ours = hello != nullptr && hello->protocol == worker_protocol;
  if (!ours || (!accepts_any_version && hello->app_version != app_version)) {
    failure.kind = OpenFailure::Kind::other_version;
    if (hello != nullptr) failure.words = hello->app_version;
    if (accepts_any_version && hello != nullptr) failure.words += fmt::format(", protocol {}", hello->protocol);
    return Failure{failure};
  }
  OpenedWorker opened;
  opened.simulation_reason = hello->simulation_reason;
  opened.device = std::make_unique<WorkerDevice>(std::move(link), std::move(host), std::move(*hello),
                                                 accepts_any_version, registry, cancel, end_of);
  return opened;
}

}  // namespace attnscope::worker
