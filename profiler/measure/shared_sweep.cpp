// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/shared_sweep.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace attnscope {
namespace {

/// A group that a device takes.
struct Task {
  std::size_t run = 0;
  std::size_t group = 0;
};

class SharedSweep {
 public:
  SharedSweep(std::vector<SharedDevice>& devices, std::span<const SharedRun> runs, const MeasureOptions& options,
              const SharedObserver& observer, const CancelToken& cancel)
      : devices_(devices),
        runs_(runs),
        options_(options),
        observer_(observer),
        cancel_(&cancel),
        own_(devices.size()),
        bundles_(devices.size(), {runs.size(), 0}),
        trusted_(devices.size()) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      done_.push_back(runs[r].done);
      done_.back().resize(runs[r].plan->points.size());
      costly_.emplace_back();
      for (std::size_t g = 0; g < runs[r].groups.size(); ++g) {
        const auto owner = runs[r].device || g >= runs[r].begun_on.size() ? runs[r].device : runs[r].begun_on[g];
        (owner ? own_[*owner] : queue_).push_back({r, g});
      }
    }
  }

  SharedOutcome run() {
    in_parallel([this](std::size_t d) { build(d, true); });
    in_parallel([this](std::size_t d) { build(d, false); });
    working_ = devices_.size();
    in_parallel([this](std::size_t d) { work(d); });
    if (failure_) std::rethrow_exception(failure_);
    SharedOutcome outcome{.cancelled = cancel_.cancelled(), .complete = {}};
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      outcome.complete.push_back(std::ranges::all_of(
          runs_[r].groups, [&](const Places& group) { return !is_open(r, group, runs_[r].rounds.count); }));
    }
    return outcome;
  }

 private:
  template <class Work>
  void in_parallel(const Work& work) {
    std::vector<std::jthread> threads;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      threads.emplace_back([this, &work, d] {
        try {
          work(d);
        } catch (...) {
          const std::lock_guard lock(mutex_);
          if (!failure_) failure_ = std::current_exception();
          stop();
        }
      });
    }
  }

  /// Pre: the lock is held.
  void stop() {
    cancel_.cancel();
    changed_.notify_all();
  }

  /// Of each host the first device compiles what all of them need, then the others load it: no compiler runs beside a
  /// measurement.
  void build(std::size_t d, bool first) {
    const auto same_host = [&](const SharedDevice& other) { return other.host == devices_[d].host; };
    const bool is_first =
        std::ranges::find_if(devices_, same_host) - devices_.begin() == static_cast<std::ptrdiff_t>(d);
    if (is_first != first) return;
    std::vector<PointSpec> points;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      for (const Places& group : runs_[r].groups) {
        for (const std::size_t place : group) {
          if (is_open(r, {place}, runs_[r].rounds.count)) points.push_back(runs_[r].plan->points[place]);
        }
      }
    }
    devices_[d].device->prepare(points, cancel_, [&](std::size_t done, std::size_t total, const BuildReport& report) {
      const std::lock_guard lock(mutex_);
      if (first && observer_.on_build) observer_.on_build(done, total, report);
    });
  }

  [[nodiscard]] bool is_open(std::size_t run, const Places& places, int rounds) const {
    return std::ranges::any_of(places, [&](std::size_t place) {
      const DoneBefore& done = done_[run][place];
      return !done.ended && std::ranges::count_if(done.rounds, [&](int round) { return round < rounds; }) < rounds;
    });
  }

  void work(std::size_t d) {
    std::vector<Task> taken;
    bool stays = true;
    while (stays) {
      if (const std::optional<Task> task = next(d)) {
        taken.push_back(*task);
        stays = measure(d, task->run, taken, 1);  // other rounds when all groups have the first
      } else if (const std::vector<Task> open = with_open_rounds(taken); !open.empty()) {
        const std::size_t run = open.front().run;
        stays = measure(d, run, taken, runs_[run].rounds.count);
      } else if (!wait_for_more()) {
        return;
      }
    }
    leave(d, with_open_rounds(taken));
  }

  /// The next group that the device takes; of `run`, where one is named.
  [[nodiscard]] std::optional<Task> next(std::size_t d, std::optional<std::size_t> run = {}) {
    const std::lock_guard lock(mutex_);
    std::deque<Task>& from = own_[d].empty() ? queue_ : own_[d];
    if (from.empty() || cancel_.cancelled()) return std::nullopt;
    // What has the inputs that it made last; then what has those that no other device made; then anything.
    auto found = std::ranges::find(from, bundles_[d], [this](const Task& task) { return bundle(task); });
    if (found == from.end()) {
      found = std::ranges::find_if(
          from, [this](const Task& task) { return std::ranges::find(bundles_, bundle(task)) == bundles_.end(); });
    }
    if (found == from.end()) found = from.begin();
    const Task task = *found;
    if (run && task.run != *run) return std::nullopt;
    from.erase(found);
    bundles_[d] = bundle(task);
    return task;
  }
  [[nodiscard]] std::pair<std::size_t, std::size_t> bundle(const Task& task) const {
    const std::vector<std::size_t>& bundles = runs_[task.run].bundles;
    return {task.run, task.group < bundles.size() ? bundles[task.group] : task.group};
  }

  [[nodiscard]] std::vector<Task> with_open_rounds(const std::vector<Task>& tasks) {
    const std::lock_guard lock(mutex_);
    std::vector<Task> open;
    if (cancel_.cancelled()) return open;
    for (const Task& task : tasks) {
      const SharedRun& run = runs_[task.run];
      if (is_open(task.run, run.groups[task.group], run.rounds.count)) open.push_back(task);
    }
    return open;
  }

  /// A device that is busy may be lost and leave its group. False when nothing can come any more.
  [[nodiscard]] bool wait_for_more() {
    std::unique_lock lock(mutex_);
    --working_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return cancel_.cancelled() || !queue_.empty() || working_ == 0; });
    if (cancel_.cancelled() || queue_.empty()) return false;
    ++working_;
    return true;
  }

  /// A lost device's groups begin anew elsewhere, but for points that cost it: they would cost the next one as well.
  void leave(std::size_t d, std::vector<Task> tasks) {
    const std::lock_guard lock(mutex_);
    --working_;
    tasks.insert(tasks.end(), own_[d].begin(), own_[d].end());
    for (const Task& task : tasks) {
      if (runs_[task.run].device) continue;
      Places anew;
      for (const std::size_t place : runs_[task.run].groups[task.group]) {
        if (costly_[task.run].contains(place)) continue;
        done_[task.run][place] = {};
        anew.push_back(place);
      }
      if (observer_.on_begun_anew) observer_.on_begun_anew(task.run, anew);
      queue_.push_front(task);
    }
    changed_.notify_all();
  }

  /// What the device has taken of a run, and in the first round what it takes as it goes: the last points of a group
  /// are counted with the first of the next. But for rounds from `rounds` on. False where the device is gone.
  bool measure(std::size_t d, std::size_t r, std::vector<Task>& taken, int rounds) {
    const SharedRun& run = runs_[r];
    MeasureOptions options = options_;
    options.counters = options.counters && run.counters;
    for (int losses = 0;;) {
      bool any_ok = false;
      int round = 0;
      RunObserver observer;
      observer.on_round = [&](int now) { round = now; };
      observer.on_point_started = [&](std::size_t place, const PointSpec&) {
        const std::lock_guard lock(mutex_);
        if (observer_.on_point_started) observer_.on_point_started(d, r, place, round);
      };
      observer.on_point = [&](std::size_t place, const PointRecord& record, const RunCounts&) {
        const std::lock_guard lock(mutex_);
        any_ok = any_ok || record.disposition == Disposition::ok;
        found(r, place, round, record.disposition);
        if (observer_.on_point) observer_.on_point(d, r, place, round, record);
      };
      SweepStart start{.builds = false, .together = trusted_[d] ? most_counted_together : 1};
      if (rounds == 1) {
        start.more = [&](std::vector<DoneBefore>& done) -> Places {
          const std::optional<Task> task = next(d, r);
          if (!task) return {};
          taken.push_back(*task);
          open(*task, rounds, done);
          return run.groups[task->group];
        };
      }
      const RunOutcome outcome = run_sweep(*run.plan, *devices_[d].device, options, run.rounds,
                                           open_in(taken, r, rounds), observer, cancel_, start);
      trusted_[d] = outcome.state == RunState::complete;
      if (outcome.state != RunState::device_lost || cancel_.cancelled()) return true;
      losses = any_ok ? 1 : losses + 1;
      if (!reopen(d, text(outcome.reason), losses)) return false;
    }
  }

  /// Pre: the lock is held.
  void found(std::size_t run, std::size_t place, int round, Disposition disposition) {
    DoneBefore& done = done_[run][place];
    if (disposition == Disposition::cancelled) return;
    done.rounds.insert(round);
    done.ended = !measured_again(disposition);
    if (disposition == Disposition::crashed || disposition == Disposition::timeout) costly_[run].insert(place);
  }

  /// What run_sweep() is to leave out: all but the rounds below `rounds` of what was taken of a run.
  [[nodiscard]] std::vector<DoneBefore> open_in(const std::vector<Task>& taken, std::size_t run, int rounds) {
    std::vector<DoneBefore> done(runs_[run].plan->points.size(), DoneBefore{.rounds = {}, .ended = true});
    for (const Task& task : taken) {
      if (task.run == run) open(task, rounds, done);
    }
    return done;
  }
  void open(const Task& task, int rounds, std::vector<DoneBefore>& done) {
    const std::lock_guard lock(mutex_);
    const SharedRun& run = runs_[task.run];
    for (const std::size_t place : run.groups[task.group]) {
      done[place] = done_[task.run][place];
      for (int later = rounds; later < run.rounds.count; ++later) done[place].rounds.insert(later);
    }
  }

  bool reopen(std::size_t d, const std::string& why, int losses) {
    auto opened = losses > most_losses_in_a_row ? Result<std::unique_ptr<Device>, std::string>(Failure{why})
                                                : devices_[d].reopen();
    const bool gone = !opened;
    const std::string said = gone ? opened.error() : why;
    if (!gone) devices_[d].device = std::move(opened).value();
    const std::lock_guard lock(mutex_);
    if (observer_.on_device_lost) observer_.on_device_lost(d, said, gone);
    return !gone;
  }

  std::vector<SharedDevice>& devices_;
  std::span<const SharedRun> runs_;
  const MeasureOptions& options_;
  const SharedObserver& observer_;
  CancelToken cancel_;
  std::mutex mutex_;  ///< of all below, and of the observer
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<std::deque<Task>> own_;  ///< by device
  std::vector<std::vector<DoneBefore>> done_;
  std::vector<std::set<std::size_t>> costly_;  ///< by run, places that cost a device
  std::size_t working_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> bundles_;  ///< by device: the run and bundle that it took last
  std::vector<char> trusted_;  ///< by device: its process has measured without being lost
  std::exception_ptr failure_;
};

}  // namespace

SharedOutcome run_shared(std::vector<SharedDevice>& devices, std::span<const SharedRun> runs,
                         const MeasureOptions& options, const SharedObserver& observer, const CancelToken& cancel) {
  return SharedSweep(devices, runs, options, observer, cancel).run();
}

}  // namespace attnscope
