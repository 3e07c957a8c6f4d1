// SPDX-License-Identifier: Apache-2.0
// Storage of ceilings and noise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "storage/compared_runs.h"
#include "storage/exchange/export.h"
#include "storage/exchange/import.h"
#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

using Mode = RunStore::Mode;

class Ceilings : public ::testing::Test {
 protected:
  static std::vector<Ceiling> some(double rate = 4.1e12) {
    return {{.name = "dram_copy", .value = rate, .q1 = 4.0e12, .q3 = 4.2e12, .unit = "byte/s"},
            {.name = "l2_shared_capacity", .value = 3.1e7, .unit = "byte", .source = CeilingSource::derived},
            {.name = "l2_shared_miss", .argument = 1e6, .value = 0, .q1 = 0, .q3 = 0.01, .unit = "1"},
            {.name = "l2_shared_miss", .argument = 6e7, .value = 0.97, .q1 = 0.9, .q3 = 0.98, .unit = "1"}};
  }
  static std::string add(const std::filesystem::path& file, double rate = 4.1e12, const char* device = "GPU-1") {
    RunHeader header = full_header();
    header.device.uuid = device;
    return RunStore::open(file, Mode::collect).add_ceilings(header.device, header.environment, some(rate));
  }
  static std::vector<StoredCeilings> read(const std::filesystem::path& file) {
    return RunStore::open(file, Mode::read_only).ceilings();
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.attnscope";
};

TEST_F(Ceilings, round_trip) {
  const std::string uid = add(file_);
  const auto sets = read(file_);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].uid, uid);
  EXPECT_EQ(sets[0].device_uuid, "GPU-1");
  EXPECT_EQ(sets[0].device_name, full_header().device.limits.name);
  EXPECT_EQ(sets[0].environment.driver_version, full_header().environment.driver_version);
  EXPECT_THAT(sets[0].measured_at, ::testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_EQ(sets[0].ceilings, some()) << "by name and argument";
  EXPECT_TRUE(check_file(file_).ok());
}

TEST_F(Ceilings, newest_rates_are_used) {
  const DeviceLimits& limits = *find_gpu("H200");
  const auto set = [&](const char* day, const char* uuid, std::vector<Ceiling> ceilings, std::string name) {
    for (Ceiling& ceiling : ceilings) ceiling.source = CeilingSource::measured;
    return StoredCeilings{.uid = day,
                          .device_uuid = uuid,
                          .device_name = std::move(name),
                          .environment = {},
                          .measured_at = day,
                          .ceilings = ceilings};
  };
  const std::vector<Ceiling> dram{{.name = "dram_read", .value = 4e12, .unit = "byte/s"},
                                  {.name = "dram_copy", .value = 4e12, .unit = "byte/s"}};
  const std::vector<Ceiling> l2{{.name = "l2_read", .value = 8e12, .unit = "byte/s"}};
  const std::vector<StoredCeilings> sets{
      set("2026-01-02", "GPU-1", dram, limits.name), set("2026-01-03", "GPU-2", l2, limits.name),
      set("2026-01-01", "GPU-1", l2, limits.name),
      set("2026-01-04", "GPU-1", {{.name = "fma_fp32", .value = 1, .unit = "flop/s"}}, limits.name),
      set("2026-01-05", "GPU-3", dram, "another")};
  EXPECT_EQ(newest_rates(sets, limits), &sets[1]);
  EXPECT_EQ(newest_rates(sets, limits, "GPU-1"), &sets[0]);
  EXPECT_EQ(newest_rates(sets, limits, "GPU-4"), nullptr);
  const std::vector<StoredCeilings> of_driver{set("2026-01-01", "GPU-5", dram, "NVIDIA H100 80GB HBM3")};
  EXPECT_EQ(newest_rates(of_driver, *find_gpu("H100 SXM")), of_driver.data()) << "a file has the driver's name";
}

// Equal measurements within one second are one set; later they are two.
TEST_F(Ceilings, duplicates_are_stored_once) {
  std::set<std::string> times;
  std::set<std::string> names;
  for (int again = 0; again < 5; ++again) names.insert(add(file_));
  const auto sets = read(file_);
  for (const StoredCeilings& set : sets) {
    times.insert(set.measured_at);
    EXPECT_EQ(set.ceilings, some());
  }
  EXPECT_EQ(sets.size(), times.size());
  EXPECT_EQ(names.size(), times.size());
  EXPECT_TRUE(check_file(file_).ok());
}

TEST_F(Ceilings, coexist_with_runs_and_other_devices) {
  add(file_, 2e12, "GPU-2");
  add(file_, 1e12, "GPU-1");
  write_run(file_, {});
  const auto sets = read(file_);
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].device_uuid, "GPU-1");
  EXPECT_EQ(sets[0].ceilings[0].value, 1e12);
  EXPECT_EQ(sets[1].ceilings[0].value, 2e12);
  EXPECT_TRUE(check_file(file_).ok());
}

TEST_F(Ceilings, damaged_sets_are_reported_and_skipped) {
  add(file_);
  add(file_, 2e12, "GPU-2");
  for (const char* damage : {"UPDATE ceilings SET value = value * 1.01 WHERE set_id = 1 AND name = 'dram_copy'",
                             "DELETE FROM ceilings WHERE set_id = 1 AND argument > 1e7",
                             "UPDATE ceilings SET provenance = 'derived' WHERE set_id = 1 AND name = 'dram_copy'",
                             "UPDATE ceilings SET provenance = 'guessed' WHERE set_id = 1 AND name = 'dram_copy'",
                             "UPDATE ceilings SET value = 9e999 WHERE set_id = 1 AND name = 'dram_copy'",
                             "UPDATE ceiling_sets SET measured_at = '2020-01-01T00:00:00Z' WHERE id = 1",
                             "UPDATE ceiling_sets SET device_id = 2 WHERE id = 1"}) {
    const auto changed = folder_ / "changed.attnscope";
    std::filesystem::copy_file(file_, changed, std::filesystem::copy_options::overwrite_existing);
    ASSERT_GT(change_rows(changed, damage), 0) << damage;
    const RunStore store = RunStore::open(changed, Mode::read_only);
    const auto sets = store.ceilings();
    ASSERT_EQ(sets.size(), 1U) << damage;
    EXPECT_EQ(sets[0].ceilings[0].value, 2e12);
    ASSERT_EQ(store.invalid_rows().size(), 1U) << damage;
    EXPECT_EQ(text(store.invalid_rows()[0].where), "ceilings 1");
    EXPECT_FALSE(check_file(changed).ok()) << damage;
  }
}

TEST_F(Ceilings, out_of_bounds_values_are_rejected) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e40}) {
    EXPECT_THROW((void)add(file_, value), FileError);
  }
  EXPECT_TRUE(read(file_).empty());
}

TEST_F(Ceilings, are_merged_without_duplicates) {
  const auto other = folder_ / "b.attnscope";
  const std::string uid = add(file_);
  std::filesystem::copy_file(file_, other);
  const std::string second = add(other, 2e12, "GPU-2");
  const auto merged = folder_ / "merged.attnscope";
  (void)merge_files({file_, other}, merged);
  const auto sets = read(merged);
  ASSERT_EQ(sets.size(), 2U) << "the one that both have is one";
  EXPECT_EQ(sets[0].uid, uid);
  EXPECT_EQ(sets[1].uid, second);
  EXPECT_EQ(sets[0].ceilings, some());
  EXPECT_TRUE(check_file(merged).ok());
}

TEST_F(Ceilings, are_exported_as_json_and_skipped_on_import) {
  const std::string uid = add(file_);
  write_run(file_, {simple_record(64)});
  std::ostringstream out;
  export_json(RunStore::open(file_, Mode::read_only), {}, out);
  const auto document = nlohmann::json::parse(out.str());
  ASSERT_EQ(document.at("ceilings").size(), 1U);
  const auto& set = document.at("ceilings").at(0);
  EXPECT_EQ(set.at("uid"), uid);
  EXPECT_EQ(set.at("device_uuid"), "GPU-1");
  EXPECT_EQ(set.at("ceilings").size(), some().size());
  const auto& copy = set.at("ceilings").at(0);
  EXPECT_EQ(copy.at("ceiling"), "dram_copy");
  EXPECT_EQ(copy.at("value"), 4.1e12);
  EXPECT_EQ(copy.at("q3"), 4.2e12);
  EXPECT_EQ(copy.at("unit"), "byte/s");
  EXPECT_EQ(copy.at("provenance"), "measured");
  EXPECT_TRUE(set.at("ceilings").at(1).at("q1").is_null());
  const auto imported = import_points(out.str(), ImportFormat::json, {});
  ASSERT_TRUE(imported.ok()) << imported.error();
  EXPECT_EQ(imported->devices.size(), 1U);
  ASSERT_FALSE(imported->notes.empty());
  EXPECT_THAT(text(imported->notes.front()), test::HasWords("1 `attnscope merge`"));
}

class Noise : public ::testing::Test {
 protected:
  std::string add(double variance = 1e-5) {
    return RunStore::open(file_, Mode::collect)
        .add_noise(header_.device, header_.environment,
                   {.recordings = 6,
                    .rounds = 10,
                    .points = {{"fa1", {.ns = 1e5, .variance = variance, .dof = 5}},
                               {"fa2", {.ns = 2e5, .variance = 2 * variance, .dof = 4}}}});
  }
  std::vector<StoredNoise> read() { return RunStore::open(file_, Mode::read_only).noise(); }

  RunHeader header_ = full_header();
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.attnscope";
};

TEST_F(Noise, noise_round_trip) {
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
  EXPECT_EQ(sets[0].noise.points.at("fa2").dof, 4);
  ASSERT_NE(sets[0].model, nullptr);
  EXPECT_TRUE(check_file(file_).ok());
}

TEST_F(Noise, damaged_noise_is_skipped) {
  for (const char* damage :
       {"UPDATE noise SET value = value / 4 WHERE name = 'log_variance'", "DELETE FROM noise WHERE point = 'fa1'",
        "UPDATE noise_sets SET recordings = 60", "UPDATE devices SET uuid = 'GPU-2'",
        "UPDATE noise SET value = -1 WHERE name = 'time_ns'"}) {
    add();
    add(3e-5);
    change_rows(file_, damage);
    EXPECT_TRUE(read().empty()) << damage;
    const FileCheck check = check_file(file_);
    EXPECT_FALSE(check.ok()) << damage;
    std::filesystem::remove(file_);
  }
}

TEST_F(Noise, out_of_bounds_noise_is_rejected) {
  for (const analysis::PointNoise& point :
       {analysis::PointNoise{.ns = 0, .variance = 1, .dof = 1}, analysis::PointNoise{.ns = 1, .variance = -1, .dof = 1},
        analysis::PointNoise{.ns = 1, .variance = 1, .dof = -1}}) {
    EXPECT_THROW(
        (void)RunStore::open(file_, Mode::collect)
            .add_noise(header_.device, header_.environment, {.recordings = 2, .rounds = 3, .points = {{"a", point}}}),
        FileError);
  }
}

// Noise applies to recordings on the same GPU and driver within a day; of several sets the nearest is used.
TEST_F(Noise, applies_to_one_gpu_driver_and_day) {
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
    return find_noise_model(run, sets);
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
    return find_noise_model(other, sets);
  };
  EXPECT_EQ(without([](RunSummary&) {}), sets[0].model);
  EXPECT_EQ(without([](RunSummary& other) { other.device_uuid += "0"; }), nullptr);
  EXPECT_EQ(without([](RunSummary& other) { other.environment.driver_version = "1"; }), nullptr);
  EXPECT_EQ(without([](RunSummary& other) { other.provenance = Provenance::simulated; }), nullptr);
}

}  // namespace
}  // namespace attnscope::testing
