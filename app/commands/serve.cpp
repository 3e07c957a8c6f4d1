// SPDX-License-Identifier: Apache-2.0
// collect --serve: a session measures what it is asked for, one point after another, in one process with one context. A
// thread of its own reads what is asked, so that a cancel finds its point in flight. Where a point costs the device its
// context, the process replaces itself as a sweep's does, and hands on what it was asked for and has not answered.
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "app/command.h"
#include "app/commands/collect.h"
#include "app/continuation.h"
#include "app/line_reader.h"
#include "kernels/registry.h"
#include "profiler/measure/request_queue.h"
#include "profiler/measure/requests.h"
#include "profiler/measure/runner.h"
#include "profiler/measure/shared_sweep.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* preset_of_sessions = "explore";
/// How long a signal may go unseen while nothing is asked.
constexpr std::chrono::milliseconds patience{100};
constexpr std::chrono::milliseconds between_progress{250};

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

/// No two sessions have one: none is another's continuation.
std::string new_session() {
  std::uint64_t bits = 0;
  // At the start of a machine it may be too early for random bits; the clock tells sessions apart as well.
  if (::getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    bits = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }
  return fmt::format("explore-{:016x}", bits);
}

/// All that the descriptor holds, from its beginning; it is closed.
std::string read_whole(int descriptor) {
  std::string whole;
  std::array<char, 16'384> buffer{};
  ::lseek(descriptor, 0, SEEK_SET);
  for (;;) {
    const ssize_t length = ::read(descriptor, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    whole.append(buffer.data(), static_cast<std::size_t>(length));
  }
  ::close(descriptor);
  return whole;
}

/// A file without a name that holds `whole`. Throws std::system_error.
int held_in_memory(const std::string& whole) {
  const int descriptor = ::memfd_create("attnscope-requests", MFD_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category());
  for (std::size_t done = 0; done < whole.size();) {
    const ssize_t length = ::write(descriptor, whole.data() + done, whole.size() - done);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) throw std::system_error(errno, std::generic_category());
    done += static_cast<std::size_t>(length);
  }
  return descriptor;
}

/// Whether nobody can ask for anything any more: the other end of standard input is closed, and nothing is left in it.
bool input_is_over() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) == 1 && (input.revents & POLLIN) == 0 && (input.revents & POLLHUP) != 0;
}

class Session {
 public:
  Session(const CollectOptions& options, Device& device, RunStore store, const RunHeader& header, Reporter& reporter,
          CancelToken& cancel)
      : options_(options),
        device_(device),
        store_(std::move(store)),
        name_(header.plan_hash),
        cache_(options.sweep.cache()),
        reporter_(reporter),
        cancel_(cancel),
        queue_(cancel) {
    if (options.continue_session.empty()) {
      run_ = store_.begin_run(header);
      return;
    }
    const std::optional<std::int64_t> run = store_.resume_run(header);
    if (!run) throw CommandError(ExitCode::error, "{} has no run to go on with", store_.file().string());
    run_ = *run;
    next_index_ = store_.finished_indices(run_).size();
  }

  ExitCode run() {
    try {
      if (options_.losses == 0) report_begin();
      listen();
      return answer();
    } catch (const std::exception& error) {  // a full disk: what was kept stays
      reader_.reset();
      report_done(store_, {run_}, "failed", Message::verbatim(one_line(explain(error))), ExitCode::error, reporter_);
      throw;
    }
  }

 private:
  void report_begin() {
    const DeviceInfo& info = device_.info();
    reporter_.report(PlanEvent{.version = 1,
                               .device_name = info.limits.name,
                               .device_uuid = info.uuid,
                               .simulated = info.simulated,
                               .preset = preset_of_sessions,
                               .database = store_.file().string(),
                               .run_id = run_,
                               .total = 0,
                               .skipped = 0,
                               .max_memory_bytes = 0,
                               .counters = counters_text(device_, options_)});
  }

  /// From here on lines are taken; first those that the process before this one took.
  void listen() {
    std::string begun;
    if (options_.continue_requests >= 0) {
      begun = read_whole(options_.continue_requests);
      std::size_t from = 0;
      for (std::size_t end = begun.find('\n'); end != std::string::npos; end = begun.find('\n', from)) {
        take_line(std::string_view(begun).substr(from, end - from), false);
        from = end + 1;
      }
      begun.erase(0, from);
    }
    reader_.emplace(LineReader::Listener{.on_line = [this](std::string_view line) { take_line(line, true); },
                                         .on_long_line = [this] { refuse({}, {}, long_line()); },
                                         .on_end = [this] { input_ended(); }},
                    longest_request, std::move(begun));
  }

  // On the reader's thread.

  static Message long_line() { return make_message("the line is longer than {} bytes", longest_request); }

  void refuse(const std::string& request, const std::string& id, Message why) {
    reporter_.report(RefusedEvent{.request = request, .id = id, .reason = std::move(why)});
  }

  /// What goes wrong with a line ends no session. `says`: that the request waits; who took it before said so.
  void take_line(std::string_view line, bool says) {
    try {
      take_request(line, says);
    } catch (const std::exception& error) {
      refuse({}, {}, Message::verbatim(one_line(explain(error))));
    }
  }

  void take_request(std::string_view line, bool says) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    if (line == "cancel") return cancel_.cancel();
    auto request = parse_request(line, cache_, device_.info().limits, device_.algorithms());
    if (!request) return reporter_.report(request.error());
    std::visit(Overloaded{[&](MeasureRequest& asked) { add(std::move(asked), says); },
                          [&](const CancelRequest& asked) {
                            if (!queue_.cancel(asked.id, gone({}))) {
                              refuse("cancel", asked.id,
                                     make_message("no request of the id '{}' is waiting or being measured", asked.id));
                            }
                          },
                          [&](const CancelAllRequest&) { queue_.cancel_all(gone({})); },
                          [&](const EndRequest&) { queue_.close(); }},
               *request);
  }

  void add(MeasureRequest request, bool says) {
    const std::string id = request.id;
    Message refused = queue_.add(std::move(request), [&](const MeasureRequest& taken) {
      if (!says) return;
      reporter_.report(
          QueuedEvent{.id = taken.id, .priority = taken.priority, .point = describe(taken.spec), .spec = taken.spec});
    });
    if (!refused.empty()) refuse("measure", id, std::move(refused));
  }

  /// Who asked is gone, unless he said that no more was to come.
  void input_ended() {
    if (queue_.closed()) return;
    queue_.close();
    if (queue_.cancel_all(gone("the session ended before it was measured")) > 0) dropped_ = true;
  }

  RequestQueue::OnGone gone(Message reason) {
    return [this, reason = std::move(reason)](const std::string& id) { reporter_.report(CancelledEvent{id, reason}); };
  }

  // On the thread that measures.

  ExitCode answer() {
    while (!cancel_.cancelled()) {
      if (!reporter_.listened_to()) {
        cancel_.cancel();
        break;
      }
      std::optional<MeasureRequest> request = queue_.take(patience);
      if (request) {
        if (std::exchange(rests_, false)) store_.reopen_run(run_);
        measure(*std::move(request));
      } else if (queue_.drained()) {
        break;
      } else if (next_index_ > 0 && !std::exchange(rests_, true)) {
        // Who looks into the file while nothing is asked is not to wait for more; a killed session has lost nothing.
        store_.finish_run(run_, StoredRunState::complete);
      }
      if (lost_) {
        if (const auto code = go_on()) return *code;
      }
    }
    const bool whole = !cancel_.cancelled() && !dropped_;
    return end(whole ? StoredRunState::complete : StoredRunState::cancelled, {},
               !whole  ? ExitCode::partial
               : lost_ ? ExitCode::partial
                       : exit_code_of_points(store_, {run_}, options_));
  }

  void measure(MeasureRequest request) {
    const SweepPlan plan{.preset = preset_of_sessions, .description = {}, .points = {request.spec}};
    bool answered = false;
    RunObserver observer;
    observer.on_build = [this](std::size_t done, std::size_t total, const BuildReport& report) {
      reporter_.report(BuildEvent{done, total, report.kernel, report.cached, report.error});
    };
    observer.on_point_started = [&](std::size_t, const PointSpec& spec) {
      reporter_.report(StartedEvent{.index = next_index_, .point = describe(spec), .id = request.id});
    };
    observer.on_point = [&](std::size_t, const PointRecord& measured, const RunCounts&) {
      const PointRecord record = storable(measured);
      if (record.disposition == Disposition::cancelled) return;  // nobody wants it: nothing of it is kept
      PointEvent event = point_event(next_index_, store_.add_point(run_, next_index_, record), record);
      event.id = request.id;
      ++next_index_;
      any_ok_ = any_ok_ || record.disposition == Disposition::ok;
      answered = true;
      queue_.answered();  // before it is said: who reads it may ask by that id again
      reporter_.report(event);
    };
    // One by one: several that are counted at once would save some tens of milliseconds each, and keep the first
    // waiting.
    const RunOutcome outcome = run_sweep(plan, device_, options_.measure, {}, observer, queue_.in_flight());
    lost_ = outcome.state == RunState::device_lost;
    if (lost_) loss_ = outcome.reason;
    if (answered) {
      ++answered_;
      return progress();
    }
    if (lost_ && !queue_.in_flight().cancelled()) return queue_.put_back(std::move(request));
    queue_.answered();
    const bool ends = cancel_.cancelled() || dropped_;
    reporter_.report(CancelledEvent{request.id, ends ? "the session ended before it was measured" : Message()});
  }

  void progress() {
    const std::size_t open = queue_.open();
    const Clock::time_point now = Clock::now();
    if (open > 0 && now - last_progress_ < between_progress) return;
    last_progress_ = now;
    reporter_.report(ProgressEvent{.done = answered_,
                                   .total = answered_ + open,
                                   .elapsed_s = std::chrono::duration<double>(now - start_).count(),
                                   .remaining_s = -1});
  }

  /// Replaces the process after the device was lost; returns where nothing is left to go on with, or too much was lost.
  std::optional<ExitCode> go_on() {
    if (cancel_.cancelled() || queue_.drained()) return std::nullopt;
    const int losses = any_ok_ ? 1 : options_.losses + 1;
    if (losses > most_losses_in_a_row) {
      return end(StoredRunState::failed, make_message("{} points in a row cost the device", losses), ExitCode::partial);
    }
    reporter_.report(LogEvent{"warning", format_text("{} Going on with the next point in a fresh process.", loss_)});
    const std::string begun = reader_->stop();
    std::string requests;
    for (const MeasureRequest& request : queue_.waiting()) requests += request.line + "\n";
    if (queue_.closed()) requests += end_line() + "\n";
    const int held = held_in_memory(requests + begun);
    reporter_.flush();
    if (cancel_.cancelled() || dropped_) {  // while the reader stopped, or nobody read what was said
      ::close(held);
      return std::nullopt;
    }
    restart(options_.arguments,
            {.file = store_.file(),
             .device_uuid = device_.info().uuid,
             .losses = losses,
             .names_file = !options_.output.empty(),
             .resumes = true,  // a session is found by its name
             .more = {fmt::format("--continue-session={}", name_), fmt::format("--continue-requests={}", held)},
             .keeps_open = held});
    throw CommandError(ExitCode::error, "cannot restart to continue the run ({}); continue it with --resume -o {}",
                       std::strerror(errno), store_.file().string());
  }

  ExitCode end(StoredRunState state, const Message& reason, ExitCode code) {
    queue_.close();
    reader_.reset();
    queue_.cancel_all(gone("the session ended before it was measured"));
    if (!rests_) store_.finish_run(run_, state);
    const std::string_view word = state == StoredRunState::failed ? "device-lost" : to_string(state);
    report_done(store_, {run_}, std::string(word), reason, code, reporter_);
    return with_skipped_rows(store_, code);
  }

  const CollectOptions& options_;
  Device& device_;
  RunStore store_;
  std::string name_;  ///< RunHeader::plan_hash
  CacheState cache_;
  Reporter& reporter_;
  CancelToken& cancel_;
  RequestQueue queue_;
  std::int64_t run_ = 0;
  std::size_t next_index_ = 0;
  std::size_t answered_ = 0;
  bool any_ok_ = false;
  bool rests_ = false;  ///< all that was asked is answered, and the run said to be complete
  bool lost_ = false;
  Message loss_;
  std::atomic<bool> dropped_ = false;  ///< the input ended before all was measured
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_{};
  std::optional<LineReader> reader_;  ///< the last: it uses the others
};

}  // namespace

ExitCode serve(const CollectOptions& options, Device& device, RunHeader header, Reporter& reporter,
               CancelToken& cancel) {
  header.preset = preset_of_sessions;
  header.plan_hash = options.continue_session.empty() ? new_session() : options.continue_session;
  const std::filesystem::path file = file_to_write(options, header, {header.device.uuid});
  // Nothing is read before the run is in the file: that whoever asked has gone shows all the same.
  const auto reads = std::make_shared<bool>(false);
  const auto wait = [waits = waiting_for_lock(file, reporter, cancel), reads, &cancel](int waited_ms) mutable {
    if (!*reads && input_is_over()) cancel.cancel();
    return waits(waited_ms);
  };
  RunStore store = RunStore::open(file, RunStore::Mode::collect, wait);
  Session session(options, device, std::move(store), header, reporter, cancel);
  *reads = true;
  return session.run();
}

}  // namespace attnscope
