// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/supervisor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "tests/profiler/measure/fake_device.h"

namespace attnscope {
namespace {

using ::testing::ElementsAre;

/// Twelve points in four groups, on devices with scripted failures.
class Supervisor : public ::testing::Test, public RecordSink {
 protected:
  static constexpr std::size_t points = 12;

  Supervisor() {
    for (std::size_t i = 0; i < points; ++i) {
      plan.points.push_back({.algorithm = "fa2",
                             .problem = {.n_q = 64 * static_cast<std::int64_t>(i + 1),
                                         .n_k = 64 * static_cast<std::int64_t>(i + 1),
                                         .d = 64},
                             .tile = {.br = 64, .bc = 64}});
    }
    shared = {.plan = &plan, .groups = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}};
  }

  static std::size_t place_of(const PointSpec& spec) { return static_cast<std::size_t>(spec.problem.n_q / 64 - 1); }

  void add_devices(std::size_t count, std::vector<std::string> hosts = {}) {
    hosts.resize(count);
    for (std::size_t d = 0; d < count; ++d) {
      auto device = std::make_unique<FakeDevice>();
      arm(d, *device);
      made.emplace_back(d, device.get());
      devices.push_back({.device = std::move(device),
                         .restart = [this, d]() -> Result<std::unique_ptr<Device>, std::string> {
                           if (!can_restart) return Failure{std::string("GPU reset failed")};
                           auto fresh = std::make_unique<FakeDevice>();
                           arm(d, *fresh);
                           return std::unique_ptr<Device>(std::move(fresh));
                         },
                         .host = hosts[d]});
    }
  }

  void arm(std::size_t d, FakeDevice& device) {
    device.answer = [this, d, &device](PointRecord& record) {
      if (answer) answer(d, device, record);
    };
  }

  void keep(std::size_t d, std::size_t place, int round, const PointRecord& record) override {
    if (on_point) on_point(d, place);
    if (record.disposition == Disposition::cancelled) return;
    const auto [found, is_new] = measured.try_emplace({place, round}, d);
    EXPECT_TRUE(is_new) << place << " twice in round " << round;
    dispositions[place] = record.disposition;
  }
  void restart_points(const PointIndices& places) override {
    for (const std::size_t place : places) {
      std::erase_if(measured, [&](const auto& each) { return each.first.first == place; });
    }
  }

  SupervisorOutcome run() {
    SupervisorObserver observer;
    observer.on_build = [this](std::size_t, std::size_t, const BuildReport&) { ++builds; };
    observer.on_point_started = [this](std::size_t d, std::size_t place, int round) {
      begun.insert({{place, round}, d});
    };
    observer.on_restart = [this](std::size_t d, const std::string& why) {
      losses.push_back(fmt::format("{} restarted: {}", d, why));
    };
    observer.on_removed = [this](std::size_t d, const std::string& why) {
      losses.push_back(fmt::format("{} gone: {}", d, why));
    };
    return supervise(devices, shared, options, *this, observer, cancel);
  }

  std::set<std::size_t> devices_of(const PointIndices& group) {
    std::set<std::size_t> found;
    for (const auto& [key, device] : measured) {
      if (std::ranges::find(group, key.first) != group.end()) found.insert(device);
    }
    return found;
  }

  SweepPlan plan;
  SupervisedPlan shared;
  std::vector<Worker> devices;
  std::vector<std::pair<std::size_t, FakeDevice*>> made;
  MeasureOptions options;
  CancelToken cancel;
  bool can_restart = true;
  std::function<void(std::size_t, FakeDevice&, PointRecord&)> answer;
  std::function<void(std::size_t, std::size_t)> on_point;
  std::map<std::pair<std::size_t, int>, std::size_t> measured;  ///< Device by (place, round).
  std::map<std::pair<std::size_t, int>, std::size_t> begun;     ///< Likewise, when started.
  std::map<std::size_t, Disposition> dispositions;
  std::vector<std::string> losses;
  std::size_t builds = 0;
};

TEST_F(Supervisor, measures_each_group_on_one_device) {
  add_devices(3);
  const SupervisorOutcome outcome = run();
  EXPECT_TRUE(outcome.complete);
  EXPECT_FALSE(outcome.cancelled);
  EXPECT_EQ(measured.size(), points);
  for (const PointIndices& group : shared.groups) EXPECT_EQ(devices_of(group).size(), 1U);
  EXPECT_EQ(builds, points) << "only one device per host compiles";
}

TEST_F(Supervisor, each_host_compiles_once) {
  add_devices(3, {"a", "b", "a"});
  (void)run();
  EXPECT_EQ(builds, 2 * points);
}

TEST_F(Supervisor, rounds_of_a_group_stay_on_one_device) {
  shared.rounds = {.count = 4, .seed = 7};
  add_devices(3);
  EXPECT_TRUE(run().complete);
  EXPECT_EQ(measured.size(), 4 * points);
  EXPECT_EQ(begun, measured);
  for (const PointIndices& group : shared.groups) EXPECT_EQ(devices_of(group).size(), 1U);
}

TEST_F(Supervisor, started_group_continues_on_its_device) {
  shared.done.resize(points);
  shared.done[6].ended = true;
  shared.started_on = {{}, {}, 1, {}};
  add_devices(2);
  EXPECT_TRUE(run().complete);
  EXPECT_EQ(measured.size(), points - 1);
  EXPECT_THAT(devices_of({7, 8}), ElementsAre(1U));
  EXPECT_EQ(builds, points - 1) << "complete points are not compiled";
}

// A run of three rounds is continued with two.
TEST_F(Supervisor, rounds_beyond_the_last_do_not_count) {
  shared.rounds = {.count = 2, .seed = 7};
  shared.done.resize(points, {.rounds = {0, 1, 2}, .ended = false});
  shared.done[5].rounds = {0, 2};
  add_devices(1);
  EXPECT_TRUE(run().complete);
  EXPECT_THAT(measured, ElementsAre(::testing::Pair(std::pair(std::size_t{5}, 1), 0U)));
}

TEST_F(Supervisor, devices_prefer_groups_with_their_inputs) {
  for (const std::vector<std::size_t>& bundles : {std::vector<std::size_t>{0, 1, 0, 1}, {0, 0, 1, 1}}) {
    shared.bundles = {bundles.begin(), bundles.end()};
    measured.clear();
    devices.clear();
    // Keeps both devices in step, so that neither runs out of groups while the other has one to spare.
    std::array<std::atomic<int>, 2> steps{};
    answer = [&](std::size_t d, FakeDevice&, PointRecord&) {
      const int mine = ++steps.at(d);
      steps.at(d).notify_all();
      std::atomic<int>& other = steps.at(1 - d);
      const int needed = mine == 6 ? 4 : mine == 3 ? 1 : 0;
      for (int now = other; now < needed; now = other) other.wait(now);
    };
    add_devices(2);
    EXPECT_TRUE(run().complete);
    for (const std::size_t bundle : {0U, 1U}) {
      PointIndices places;
      for (std::size_t group = 0; group < bundles.size(); ++group) {
        if (bundles[group] == bundle)
          places.insert(places.end(), shared.groups[group].begin(), shared.groups[group].end());
      }
      EXPECT_EQ(devices_of(places).size(), 1U) << bundle;
    }
  }
}

TEST_F(Supervisor, sessions_span_groups) {
  add_devices(1);
  made[0].second->max_together = 64;
  EXPECT_TRUE(run().complete);
  std::vector<std::size_t> sessions;
  for (const auto& session : made[0].second->sessions) sessions.push_back(session.size());
  EXPECT_THAT(sessions, ElementsAre(1, 2, 4, 5));
}

TEST_F(Supervisor, later_rounds_use_large_sessions_at_once) {
  shared.rounds = {.count = 2, .seed = 7};
  add_devices(1);
  made[0].second->max_together = 64;
  EXPECT_TRUE(run().complete);
  std::vector<std::size_t> sessions;
  for (const auto& session : made[0].second->sessions) sessions.push_back(session.size());
  EXPECT_THAT(sessions, ElementsAre(1, 2, 4, 5, 12));
}

TEST_F(Supervisor, restarts_after_a_fatal_point) {
  answer = [](std::size_t, FakeDevice& device, PointRecord& record) {
    if (place_of(record.spec) != 4) return;
    record.disposition = Disposition::crashed;
    device.is_usable = false;
  };
  add_devices(2);
  EXPECT_TRUE(run().complete);
  EXPECT_EQ(measured.size(), points);
  EXPECT_EQ(dispositions[4], Disposition::crashed);
  EXPECT_EQ(dispositions[5], Disposition::ok);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_THAT(losses[0], ::testing::HasSubstr("restarted"));
}

/// How a point ends that loses its device.
class SupervisorLoss : public Supervisor, public ::testing::WithParamInterface<Disposition> {};
INSTANTIATE_TEST_SUITE_P(All, SupervisorLoss, ::testing::Values(Disposition::crashed, Disposition::timeout));

TEST_P(SupervisorLoss, groups_of_a_lost_device_restart_on_others) {
  can_restart = false;
  std::atomic<bool> lost = false;
  answer = [&](std::size_t d, FakeDevice& device, PointRecord& record) {
    if (d == 0) return lost.wait(false);
    if (place_of(record.spec) % 3 != 1) return;  // the second point of each group
    record.disposition = GetParam();
    device.is_usable = false;
    lost = true;
    lost.notify_all();
  };
  add_devices(2);
  const SupervisorOutcome outcome = run();
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(measured.size(), points);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0], "1 gone: GPU reset failed");
  const auto fatal = [](const auto& each) { return each.second == GetParam(); };
  EXPECT_EQ(std::ranges::count_if(dispositions, fatal), 1) << "the fatal point is not measured again";
  for (const PointIndices& group : shared.groups) {
    std::set<std::size_t> of_ok;
    for (const auto& [key, device] : measured) {
      const std::size_t place = key.first;
      const bool in_group = std::ranges::find(group, place) != group.end();
      if (in_group && dispositions[place] == Disposition::ok) of_ok.insert(device);
    }
    EXPECT_EQ(of_ok.size(), 1U) << "points of a group were measured on one device";
  }
}

TEST_F(Supervisor, does_not_restart_after_the_last_point) {
  for (const int rounds : {1, 2}) {
    shared.rounds = {.count = rounds, .seed = 7};
    int asked = 0;
    answer = [&](std::size_t, FakeDevice& device, PointRecord&) { device.is_usable = ++asked != 12; };
    measured.clear();
    devices.clear();
    add_devices(1);
    EXPECT_TRUE(run().complete);
    EXPECT_EQ(measured.size(), points * static_cast<std::size_t>(rounds));
    EXPECT_EQ(losses.size(), rounds == 1 ? 0U : 1U) << rounds;
  }
}

TEST_F(Supervisor, a_successful_point_resets_the_losses) {
  answer = [](std::size_t, FakeDevice& device, PointRecord& record) {
    if (place_of(record.spec) % 3 == 0) return;
    record.disposition = Disposition::crashed;
    device.is_usable = false;
  };
  add_devices(1);
  EXPECT_TRUE(run().complete);
  EXPECT_EQ(losses.size(), 7U) << "of 8 fatal points; none after the last one";
}

TEST_F(Supervisor, run_is_incomplete_if_all_devices_are_lost) {
  can_restart = false;
  answer = [](std::size_t, FakeDevice& device, PointRecord& record) {
    record.disposition = Disposition::crashed;
    device.is_usable = false;
  };
  add_devices(2);
  const SupervisorOutcome outcome = run();
  EXPECT_FALSE(outcome.complete);
  EXPECT_FALSE(outcome.cancelled);
  EXPECT_EQ(losses.size(), 2U);
  EXPECT_EQ(outcome.give_up_reason, "GPU reset failed");
  EXPECT_EQ(outcome.losses, 0);
}

TEST_F(Supervisor, consecutive_fatal_points_end_the_run) {
  answer = [](std::size_t, FakeDevice& device, PointRecord& record) {
    record.disposition = Disposition::crashed;
    device.is_usable = false;
  };
  add_devices(1);
  const SupervisorOutcome outcome = run();
  EXPECT_FALSE(outcome.complete);
  EXPECT_EQ(outcome.losses, max_consecutive_losses + 1);
  EXPECT_EQ(measured.size(), 6U);
}

TEST_F(Supervisor, device_lost_at_every_point_is_given_up) {
  answer = [](std::size_t d, FakeDevice& device, PointRecord& record) {
    if (d == 0) return;
    record.disposition = Disposition::crashed;
    device.is_usable = false;
  };
  // All groups belong to device 1, which is lost at each point.
  shared.started_on.assign(4, 1);
  add_devices(2);
  EXPECT_TRUE(run().complete) << "device 0 measured the remaining points";
  EXPECT_EQ(std::ranges::count_if(losses, [](const std::string& loss) { return loss.starts_with("1 "); }),
            std::ssize(losses));
}

TEST_F(Supervisor, cancel_stops_all_workers) {
  on_point = [this](std::size_t, std::size_t) { cancel.cancel(); };
  add_devices(3);
  const SupervisorOutcome outcome = run();
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_FALSE(outcome.complete);
}

TEST_F(Supervisor, observer_exception_is_rethrown) {
  on_point = [](std::size_t, std::size_t place) {
    if (place == 3) throw std::runtime_error("the disk is full");
  };
  add_devices(3);
  EXPECT_THROW((void)run(), std::runtime_error);
}

}  // namespace
}  // namespace attnscope
