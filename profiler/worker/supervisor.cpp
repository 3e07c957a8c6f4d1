// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/supervisor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "profiler/metrics/rounds.h"

namespace attnscope {
namespace {

/// Indices into SupervisedPlan::groups.
using Groups = std::vector<std::size_t>;

class Supervisor {
 public:
  Supervisor(std::vector<Worker>& workers, const SupervisedPlan& run, const MeasureOptions& options, RecordSink& sink,
             const SupervisorObserver& observer, const CancelToken& cancel)
      : workers_(workers),
        run_(run),
        options_(options),
        sink_(sink),
        observer_(observer),
        cancel_(&cancel),
        own_(workers.size()),
        done_(run.done),
        bundles_(workers.size()),
        trusted_(workers.size()) {
    done_.resize(run.plan->points.size());
    for (std::size_t group = 0; group < run.groups.size(); ++group) {
      const auto owner = group < run.started_on.size() ? run.started_on[group] : std::nullopt;
      (owner ? own_[*owner] : queue_).push_back(group);
    }
  }

  SupervisorOutcome run() {
    parallel_for([this](std::size_t d) { build(d, true); });
    parallel_for([this](std::size_t d) { build(d, false); });
    working_ = workers_.size();
    parallel_for([this](std::size_t d) { work(d); });
    if (failure_) std::rethrow_exception(failure_);
    return {.cancelled = cancel_.cancelled(),
            .complete = std::ranges::none_of(run_.groups, [this](const PointIndices& group) { return is_open(group); }),
            .losses = losses_,
            .give_up_reason = give_up_reason_};
  }

 private:
  template <class Work>
  void parallel_for(const Work& work) {
    std::vector<std::jthread> threads;
    for (std::size_t d = 0; d < workers_.size(); ++d) {
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

  /// Pre: mutex_ is locked.
  void stop() {
    cancel_.cancel();
    changed_.notify_all();
  }

  /// The first device of each host compiles all kernels, then the others load them. Nothing is compiled during
  /// measurements.
  void build(std::size_t d, bool first) {
    const auto same_host = [&](const Worker& other) { return other.host == workers_[d].host; };
    const bool is_first =
        std::ranges::find_if(workers_, same_host) - workers_.begin() == static_cast<std::ptrdiff_t>(d);
    if (is_first != first) return;
    std::vector<PointSpec> points;
    for (const PointIndices& group : run_.groups) {
      for (const std::size_t place : group) {
        if (is_open({place})) points.push_back(run_.plan->points[place]);
      }
    }
    workers_[d].device->prepare(points, cancel_, [&](std::size_t done, std::size_t total, const BuildReport& report) {
      const std::lock_guard lock(mutex_);
      if (first && observer_.on_build) observer_.on_build(done, total, report);
    });
  }

  [[nodiscard]] bool is_open(const PointIndices& places) const {
    const int rounds = run_.rounds.count;
    return std::ranges::any_of(places, [&](std::size_t place) {
      const PointProgress& done = done_[place];
      return !done.ended && std::ranges::count_if(done.rounds, [&](int round) { return round < rounds; }) < rounds;
    });
  }

  void work(std::size_t d) {
    Groups taken;
    bool usable = true;
    while (usable) {
      if (const std::optional<std::size_t> group = next(d)) {
        taken.push_back(*group);
        usable = measure(d, taken, 1);  // later rounds start when all groups have completed the first
      } else if (!unfinished_groups(taken).empty()) {
        usable = measure(d, taken, run_.rounds.count);
      } else if (!wait_for_groups()) {
        return;
      }
    }
    leave(d, unfinished_groups(taken));
  }

  /// Takes the next group for the device from its queue.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t d) {
    const std::lock_guard lock(mutex_);
    std::deque<std::size_t>& from = own_[d].empty() ? queue_ : own_[d];
    if (from.empty() || cancel_.cancelled()) return std::nullopt;
    // Prefer a group with the inputs of the last one, then one with inputs that no other device has, then any.
    auto found = std::ranges::find_if(from, [&](std::size_t group) { return bundles_[d] == bundle(group); });
    if (found == from.end()) {
      found = std::ranges::find_if(
          from, [this](std::size_t group) { return std::ranges::find(bundles_, bundle(group)) == bundles_.end(); });
    }
    if (found == from.end()) found = from.begin();
    const std::size_t group = *found;
    from.erase(found);
    bundles_[d] = bundle(group);
    return group;
  }
  [[nodiscard]] std::optional<std::size_t> bundle(std::size_t group) const {
    return group < run_.bundles.size() ? run_.bundles[group] : group;
  }

  [[nodiscard]] Groups unfinished_groups(const Groups& groups) {
    const std::lock_guard lock(mutex_);
    Groups open;
    if (cancel_.cancelled()) return open;
    for (const std::size_t group : groups) {
      if (is_open(run_.groups[group])) open.push_back(group);
    }
    return open;
  }

  /// Waits until a lost device returns its groups. Returns false if no more can come.
  [[nodiscard]] bool wait_for_groups() {
    std::unique_lock lock(mutex_);
    --working_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return cancel_.cancelled() || !queue_.empty() || working_ == 0; });
    if (cancel_.cancelled() || queue_.empty()) return false;
    ++working_;
    return true;
  }

  /// Requeues the groups of a lost device from the first round, without the points that crashed it.
  void leave(std::size_t d, Groups groups) {
    const std::lock_guard lock(mutex_);
    --working_;
    groups.insert(groups.end(), own_[d].begin(), own_[d].end());
    for (const std::size_t group : groups) {
      PointIndices restarted;
      for (const std::size_t place : run_.groups[group]) {
        if (fatal_points_.contains(place)) continue;
        done_[place] = {};
        restarted.push_back(place);
      }
      sink_.restart_points(restarted);
      queue_.push_front(group);
    }
    changed_.notify_all();
  }

  /// Measures the device's groups in rounds below `rounds`. In the first round it takes further groups as it proceeds,
  /// so that the last points of a group are counted with the first ones of the next. Returns false if the device is
  /// lost.
  bool measure(std::size_t d, Groups& taken, int rounds) {
    for (int losses = 0;;) {
      bool any_ok = false;
      int round = 0;
      RunObserver observer;
      observer.on_round = [&](int now) { round = now; };
      observer.on_point_started = [&](std::size_t place, const PointSpec&) {
        const std::lock_guard lock(mutex_);
        if (observer_.on_point_started) observer_.on_point_started(d, place, round);
      };
      observer.on_point = [&](std::size_t place, const PointRecord& record) {
        const std::lock_guard lock(mutex_);
        any_ok = any_ok || record.disposition == Disposition::ok;
        found(place, round, record.disposition);
        sink_.keep(d, place, round, record);
      };
      SweepStart start{.together = trusted_[d] ? max_counted_together : 1};
      if (rounds == 1) {
        start.more = [&](std::vector<PointProgress>& done) -> PointIndices {
          const std::optional<std::size_t> group = next(d);
          if (!group) return {};
          taken.push_back(*group);
          open(*group, rounds, done);
          return run_.groups[*group];
        };
      }
      const RunOutcome outcome = run_sweep(*run_.plan, *workers_[d].device, options_, run_.rounds,
                                           sweep_progress(taken, rounds), observer, cancel_, start);
      trusted_[d] = outcome.state == RunState::complete;
      if (outcome.state != RunState::device_lost || cancel_.cancelled()) return true;
      if (all_done()) return false;
      losses = any_ok ? 1 : losses + 1;
      if (!restart(d, text(outcome.reason), losses)) return false;
    }
  }

  /// Pre: mutex_ is locked.
  void found(std::size_t place, int round, Disposition disposition) {
    PointProgress& done = done_[place];
    if (disposition == Disposition::cancelled) return;
    done.rounds.insert(round);
    done.ended = !can_remeasure(disposition);
    if (disposition == Disposition::crashed || disposition == Disposition::timeout) fatal_points_.insert(place);
  }

  /// Progress passed to run_sweep(): marks everything as done except the rounds below `rounds` of the taken groups.
  [[nodiscard]] std::vector<PointProgress> sweep_progress(const Groups& taken, int rounds) {
    std::vector<PointProgress> done(run_.plan->points.size(), PointProgress{.rounds = {}, .ended = true});
    for (const std::size_t group : taken) open(group, rounds, done);
    return done;
  }
  void open(std::size_t group, int rounds, std::vector<PointProgress>& done) {
    const std::lock_guard lock(mutex_);
    for (const std::size_t place : run_.groups[group]) {
      done[place] = done_[place];
      for (int later = rounds; later < run_.rounds.count; ++later) done[place].rounds.insert(later);
    }
  }

  [[nodiscard]] bool all_done() {
    const std::lock_guard lock(mutex_);
    return std::ranges::none_of(run_.groups, [this](const PointIndices& group) { return is_open(group); });
  }

  /// Returns false if the worker is given up.
  bool restart(std::size_t d, const std::string& why, int losses) {
    const bool too_many_values = losses > max_consecutive_losses;
    auto restarted =
        too_many_values ? Result<std::unique_ptr<Device>, std::string>(Failure{why}) : workers_[d].restart();
    const std::lock_guard lock(mutex_);
    if (restarted) {
      workers_[d].device = std::move(restarted).value();
      if (observer_.on_restart) observer_.on_restart(d, why);
      return true;
    }
    losses_ = too_many_values ? losses : 0;
    give_up_reason_ = restarted.error();
    if (observer_.on_removed) observer_.on_removed(d, give_up_reason_);
    return false;
  }

  std::vector<Worker>& workers_;
  const SupervisedPlan& run_;
  const MeasureOptions& options_;
  RecordSink& sink_;
  const SupervisorObserver& observer_;
  CancelToken cancel_;
  std::mutex mutex_;  ///< Guards all members below and observer calls.
  std::condition_variable changed_;
  std::deque<std::size_t> queue_;
  std::vector<std::deque<std::size_t>> own_;  ///< Per device.
  std::vector<PointProgress> done_;
  std::set<std::size_t> fatal_points_;  ///< Points that crashed a worker or timed out.
  std::size_t working_ = 0;
  std::vector<std::optional<std::size_t>> bundles_;  ///< Last bundle of each device.
  std::vector<char> trusted_;                        ///< Per device: its process has completed a sweep.
  std::exception_ptr failure_;
  int losses_ = 0;  ///< See SupervisorOutcome::losses.
  std::string give_up_reason_;
};

}  // namespace

SupervisorOutcome supervise(std::vector<Worker>& workers, const SupervisedPlan& run, const MeasureOptions& options,
                            RecordSink& sink, const SupervisorObserver& observer, const CancelToken& cancel) {
  return Supervisor(workers, run, options, sink, observer, cancel).run();
}

}  // namespace attnscope
