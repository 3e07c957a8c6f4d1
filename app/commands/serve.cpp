// SPDX-License-Identifier: Apache-2.0
// collect --serve: measures requested points one by one on one worker. A thread reads the requests, so that a cancel
// request reaches the measurement in progress.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "app/command.h"
#include "app/commands/collect.h"
#include "app/interrupt.h"
#include "kernels/registry.h"
#include "profiler/worker/request_queue.h"
#include "profiler/worker/requests.h"
#include "profiler/worker/runner.h"
#include "profiler/worker/supervisor.h"

namespace attnscope {
namespace {

constexpr const char* session_preset = "explore";
/// Longest time until a signal is noticed while idle.
constexpr std::chrono::milliseconds patience{100};

class Session {
 public:
  Session(const CollectOptions& options, NamedWorker worker, RunStore store, const RunHeader& header,
          Reporter& reporter, CancelToken& cancel)
      : options_(options),
        info_(worker.opened.device->info()),
        counters_(counters_text(*worker.opened.device, options)),
        cache_(options.sweep.cache()),
        reporter_(reporter),
        cancel_(cancel),
        worker_(make_restartable(std::move(worker), options.measure.counters,
                                 [&reporter](const Message& why) {
                                   reporter.report(LogEvent{"warning", text(why)});
                                 })),
        store_(std::move(store)),
        run_(store_.begin_run(header)),
        queue_(cancel) {}

  ExitCode run() {
    try {
      reporter_.report(PlanEvent{.version = 1,
                                 .device_name = info_.limits.name,
                                 .device_uuid = info_.uuid,
                                 .simulated = info_.simulated,
                                 .preset = session_preset,
                                 .database = store_.file().string(),
                                 .run_id = run_,
                                 .total = 0,
                                 .skipped = 0,
                                 .max_memory_bytes = 0,
                                 .counters = counters_});
      reader_.emplace([this](std::string_view line) { handle_line(line); }, [this] { input_ended(); });
      return answer();
    } catch (const CommandError&) {
      throw;
    } catch (const std::exception& error) {  // e.g. a full disk: stored points stay
      reader_.reset();
      report_done(store_, run_, "failed", Message::verbatim(one_line(explain(error))), ExitCode::error, reporter_);
      throw;
    }
  }

 private:
  // Called on the reader's thread.

  void refuse(const std::string& request, const std::string& id, Message why) {
    reporter_.report(RefusedEvent{.request = request, .id = id, .reason = std::move(why)});
  }

  /// Handles one request. An invalid line is answered with an error; the session continues.
  void handle_line(std::string_view line) {
    try {
      take_request(line);
    } catch (const std::exception& error) {
      refuse({}, {}, Message::verbatim(one_line(explain(error))));
    }
  }

  void take_request(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    if (line == "cancel") return cancel_.cancel();
    auto request = parse_request(line, cache_, info_.limits, known_algorithms());
    if (!request) return reporter_.report(request.error());
    if (auto* asked = std::get_if<MeasureRequest>(&*request)) return add(std::move(*asked));
    const auto* cancelled = std::get_if<CancelRequest>(&*request);
    if (cancelled == nullptr) return queue_.close();
    if (!queue_.cancel(cancelled->id, gone({})))
      refuse("cancel", cancelled->id, make_message("no open request with id '{}'", cancelled->id));
  }

  void add(MeasureRequest request) {
    const std::string id = request.id;
    Message refused = queue_.add(std::move(request), [&](const MeasureRequest& taken) {
      reporter_.report(
          QueuedEvent{.id = taken.id, .priority = taken.priority, .point = describe(taken.spec), .spec = taken.spec});
    });
    if (!refused.empty()) refuse("measure", id, std::move(refused));
  }

  /// Cancels open requests if stdin ends without {"request":"end"}.
  void input_ended() {
    if (queue_.closed()) return;
    queue_.close();
    if (queue_.cancel_all(gone("the session ended before the measurement")) > 0) requests_dropped_ = true;
  }

  RequestQueue::OnRemoved gone(Message reason) {
    return [this, reason = std::move(reason)](const std::string& id) { reporter_.report(CancelledEvent{id, reason}); };
  }

  ExitCode answer() {
    while (!cancel_.cancelled()) {
      if (!reporter_.has_reader()) {
        cancel_.cancel();
        break;
      }
      std::optional<MeasureRequest> request = queue_.take(patience);
      if (request) {
        if (std::exchange(idle_, false)) store_.reopen_run(run_);
        measure(*std::move(request));
      } else if (queue_.is_drained()) {
        break;
      } else if (next_index_ > 0 && !std::exchange(idle_, true)) {
        // Completes the run while idle, so that other programs can read it and a killed session loses nothing.
        store_.finish_run(run_, StoredRunState::complete);
      }
      if (lost_ && !cancel_.cancelled() && !queue_.is_drained()) {
        if (const auto code = restart()) return *code;
      }
    }
    const bool whole = !cancel_.cancelled() && !requests_dropped_;
    return end(whole ? StoredRunState::complete : StoredRunState::cancelled,
               !whole ? ExitCode::partial : exit_code_of_run(store_, run_, options_));
  }

  void measure(MeasureRequest request) {
    const SweepPlan plan{.preset = session_preset, .description = {}, .points = {request.spec}};
    bool answered = false;
    RunObserver observer;
    observer.on_point_started = [&](std::size_t, const PointSpec& spec) {
      reporter_.report(StartedEvent{.index = next_index_, .point = describe(spec), .id = request.id});
    };
    observer.on_point = [&](std::size_t, const PointRecord& measured) {
      const PointRecord record = make_storable(measured);
      if (record.disposition == Disposition::cancelled) return;  // cancelled points are not stored
      PointEvent event = point_event(next_index_, store_.add_point(run_, next_index_, record), record);
      event.id = request.id;
      ++next_index_;
      any_ok_ = any_ok_ || record.disposition == Disposition::ok;
      answered = true;
      queue_.mark_answered();  // before the event, because its reader may reuse the id at once
      reporter_.report(event);
    };
    // Measures points one by one: measuring counters of several at once would save some tens of milliseconds each, but
    // delay the first.
    worker_.device->prepare(plan.points, queue_.in_flight(),
                            [this](std::size_t done, std::size_t total, const BuildReport& report) {
                              reporter_.report(BuildEvent{done, total, report.kernel, report.cached, report.error});
                            });
    const RunOutcome outcome = run_sweep(plan, *worker_.device, options_.measure, {}, {}, observer, queue_.in_flight());
    lost_ = outcome.state == RunState::device_lost;
    if (lost_) loss_ = outcome.reason;
    if (answered) return progress();
    if (lost_ && !queue_.in_flight().cancelled()) return queue_.requeue(std::move(request));
    queue_.mark_answered();
    const bool ends = cancel_.cancelled() || requests_dropped_;
    reporter_.report(CancelledEvent{request.id, ends ? "the session ended before the measurement" : Message()});
  }

  void progress() {
    const std::size_t open = queue_.open();
    if (!pace_.is_due(open == 0)) return;
    reporter_.report(ProgressEvent{
        .done = next_index_, .total = next_index_ + open, .elapsed_s = pace_.elapsed_s(), .remaining_s = -1});
  }

  /// Restarts the worker after its device was lost. Returns the exit code if that fails.
  std::optional<ExitCode> restart() {
    losses_ = any_ok_ ? 1 : losses_ + 1;
    any_ok_ = false;
    if (losses_ > max_consecutive_losses) return end_lost(losses_, {});
    auto restarted = worker_.restart();
    if (!restarted) return end_lost(0, restarted.error());
    worker_.device = std::move(restarted).value();
    lost_ = false;
    reporter_.report(LogEvent{"warning", format_text("{} Continuing with the next point in a new process.", loss_)});
    return std::nullopt;
  }

  void stop_reading() {
    queue_.close();
    reader_.reset();
    queue_.cancel_all(gone("the session ended before the measurement"));
  }

  ExitCode end_lost(int losses, const std::string& why) {
    stop_reading();
    return log_skipped_rows(store_, finish_lost_run(store_, run_, losses, why, reporter_));
  }

  ExitCode end(StoredRunState state, ExitCode code) {
    stop_reading();
    if (!idle_) store_.finish_run(run_, state);
    report_done(store_, run_, std::string(to_string(state)), {}, code, reporter_);
    return log_skipped_rows(store_, code);
  }

  const CollectOptions& options_;
  DeviceInfo info_;
  std::string counters_;
  CacheState cache_;
  Reporter& reporter_;
  CancelToken& cancel_;
  Worker worker_;
  RunStore store_;
  std::int64_t run_;
  RequestQueue queue_;
  std::size_t next_index_ = 0;  ///< also the number of answered requests
  bool any_ok_ = false;         ///< a point was ok since the worker was started
  int losses_ = 0;              ///< consecutive losses of the worker
  bool idle_ = false;           ///< idle: all requests are answered and the run is marked complete
  bool lost_ = false;
  Message loss_;
  std::atomic<bool> requests_dropped_ = false;  ///< stdin ended before all requests were answered
  ProgressThrottle pace_;
  std::optional<LineReader> reader_;  ///< last member: the thread uses the others
};

}  // namespace

ExitCode serve(const CollectOptions& options, NamedWorker worker, Reporter& reporter, CancelToken& cancel) {
  RunHeader header = run_header(options, worker.opened);
  header.preset = session_preset;
  header.plan_hash = fmt::format("explore-{:016x}", new_order_seed());  // unique: no session continues another
  const std::filesystem::path file = choose_run_file(options, header, {header.device.uuid});
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  Session session(options, std::move(worker), std::move(store), header, reporter, cancel);
  return session.run();
}

}  // namespace attnscope
