// SPDX-License-Identifier: Apache-2.0
// What recordings differ by, kept in files, and which recordings it is known of.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "storage/compared_runs.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using Mode = RunStore::Mode;

class Noise : public ::testing::Test {
 protected:
  std::string add(double variance = 1e-5) {
    return RunStore::open(file_, Mode::collect)
        .add_noise(header_.device, header_.environment,
                   {.recordings = 6,
                    .rounds = 10,
                    .points = {{"fa1", {.ns = 1e5, .variance = variance, .freedom = 5}},
                               {"fa2", {.ns = 2e5, .variance = 2 * variance, .freedom = 4}}}});
  }
  std::vector<StoredNoise> read() { return RunStore::open(file_, Mode::read_only).noise(); }

  RunHeader header_ = full_header();
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.attnscope";
};

TEST_F(Noise, comes_back_as_it_was_written) {
  const std::string uid = add();
  const auto sets = read();
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].uid, uid);
  EXPECT_EQ(sets[0].device_uuid, header_.device.uuid);
  EXPECT_EQ(sets[0].environment.driver_version, header_.environment.driver_version);
  EXPECT_EQ(sets[0].noise.recordings, 6U);
  EXPECT_EQ(sets[0].noise.rounds, 10U);
  ASSERT_EQ(sets[0].noise.points.size(), 2U);
  EXPECT_EQ(sets[0].noise.points.at("fa2").ns, 2e5);
  EXPECT_EQ(sets[0].noise.points.at("fa2").variance, 2e-5);
  EXPECT_EQ(sets[0].noise.points.at("fa2").freedom, 4);
  ASSERT_NE(sets[0].model, nullptr);
  EXPECT_TRUE(check_file(file_).ok());
}

TEST_F(Noise, what_is_not_what_was_written_is_not_given) {
  for (const char* damage :
       {"UPDATE noise SET value = value / 4 WHERE name = 'log_variance'", "DELETE FROM noise WHERE point = 'fa1'",
        "UPDATE noise_sets SET recordings = 60", "UPDATE devices SET uuid = 'GPU-2'",
        "UPDATE noise SET value = -1 WHERE name = 'time_ns'"}) {
    add();
    add(3e-5);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(damage);
    EXPECT_TRUE(read().empty()) << damage;
    const FileCheck check = check_file(file_);
    EXPECT_FALSE(check.ok()) << damage;
    std::filesystem::remove(file_);
  }
}

TEST_F(Noise, points_that_no_recordings_have_are_not_taken) {
  for (const analysis::PointNoise& point : {analysis::PointNoise{.ns = 0, .variance = 1, .freedom = 1},
                                            analysis::PointNoise{.ns = 1, .variance = -1, .freedom = 1},
                                            analysis::PointNoise{.ns = 1, .variance = 1, .freedom = -1}}) {
    EXPECT_THROW(
        (void)RunStore::open(file_, Mode::collect)
            .add_noise(header_.device, header_.environment, {.recordings = 2, .rounds = 3, .points = {{"a", point}}}),
        FileError);
  }
}

// It holds of recordings of that GPU, with that driver, within a day; of several sets the nearest in time.
TEST_F(Noise, holds_of_one_gpu_driver_and_day) {
  add();
  std::vector<StoredNoise> sets = read();
  sets.push_back(sets[0]);
  sets[0].measured_at = "2026-03-01T10:00:00Z";
  sets[1].measured_at = "2026-03-01T14:00:00Z";
  sets[1].model = std::make_shared<const analysis::NoiseModel>(sets[1].noise);
  RunSummary run;
  run.provenance = Provenance::measured;
  run.device_uuid = header_.device.uuid;
  run.environment = header_.environment;
  const auto at = [&](const char* time) {
    run.started_at = time;
    return noise_for(run, sets);
  };
  EXPECT_EQ(at("2026-03-01T11:59:59Z"), sets[0].model);
  EXPECT_EQ(at("2026-03-01T12:00:01Z"), sets[1].model);
  EXPECT_EQ(at("2026-02-28T10:00:00Z"), sets[0].model);
  EXPECT_EQ(at("2026-02-28T09:59:59Z"), nullptr);
  EXPECT_EQ(at("2026-03-02T14:00:00Z"), sets[1].model);
  EXPECT_EQ(at("2026-03-02T14:00:01Z"), nullptr);
  EXPECT_EQ(at("yesterday"), nullptr);
  const auto without = [&](const std::function<void(RunSummary&)>& change) {
    RunSummary other = run;
    other.started_at = "2026-03-01T11:00:00Z";
    change(other);
    return noise_for(other, sets);
  };
  EXPECT_EQ(without([](RunSummary&) {}), sets[0].model);
  EXPECT_EQ(without([](RunSummary& other) { other.device_uuid += "0"; }), nullptr);
  EXPECT_EQ(without([](RunSummary& other) { other.environment.driver_version = "1"; }), nullptr);
  EXPECT_EQ(without([](RunSummary& other) { other.provenance = Provenance::simulated; }), nullptr);
}

}  // namespace
}  // namespace attnscope::testing
