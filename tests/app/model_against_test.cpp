// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double mib = 1024.0 * 1024;

PointRecord measured(const std::string& algorithm, TileShape tile, double ns, std::optional<double> write_back) {
  PointRecord record;
  record.spec.algorithm = algorithm;
  record.spec.problem = {.heads_q = 64, .heads_kv = 64, .n_q = 2048, .n_k = 2048, .d = 64};
  record.spec.tile = tile;
  KernelRecord& all = record.kernels.emplace_back();
  all.samples_ns = {ns, ns, ns};
  const auto add = [&](std::string_view key, double value) {
    all.metrics.push_back({std::string(key), value, "byte", Provenance::measured});
  };
  add(metric_key::dram_read_bytes, 70 * mib);
  add(metric_key::dram_write_bytes, 10 * mib);
  if (write_back) add(metric_key::dram_writeback_bytes, *write_back);
  return record;
}

class ModelAgainst : public CommandTest {
 protected:
  void add_run(const std::string& uuid, const std::vector<PointRecord>& points) {
    RunHeader header;
    header.device.uuid = uuid;
    header.device.limits = *find_gpu("H200");
    header.environment.nvrtc_version = "13.0";
    header.preset = "made";
    header.planned_points = points.size();
    RunStore store = RunStore::open(file_, RunStore::Mode::collect);
    (void)store.add_complete_runs(std::vector<CompleteRun>{{header, points}});
  }
  [[nodiscard]] json rows(const std::vector<std::string>& files) {
    const Words words = Words{"model", "--json", "--against"} + files;
    const Outcome outcome = expect_exit(0, run(folder_, words));
    return json::parse(outcome.out)["rows"];
  }
  static json row(const json& rows, const std::string& quantity, const std::string& algorithm) {
    for (const json& each : rows) {
      if (each.at("quantity") == quantity && each.at("algorithm") == algorithm) return each;
    }
    return json::object({{"points", -1}, {"problems", -1}, {"problem", ""}});
  }
};

TEST_F(ModelAgainst, distinguishes_gpus_by_uuid) {
  std::vector<PointRecord> map;
  for (int i = 0; i < 12; ++i) {
    map.push_back(measured("fa2", {.br = 64 + 64 * (i % 2), .bc = 16 * (i / 2 + 1)}, 1e6 + 1000 * i, 0));
  }
  add_run("GPU-1", map);
  add_run("GPU-2", map);
  const json found = rows({file_});
  EXPECT_EQ(row(found, "time", "fa2").at("points"), 24);
  EXPECT_EQ(row(found, "time", "fa2").at("problems"), 2);
  EXPECT_EQ(row(found, "tile_ratio", "fa2").at("problems"), 2);
  EXPECT_EQ(row(found, "time", "fa2").at("devices"), "NVIDIA H200");
  const std::string people = run(folder_, {"model", "--against", file_}).out;
  EXPECT_THAT(people, HasSubstr("24 points of "));
}

TEST_F(ModelAgainst, names_changed_kernels) {
  const auto model = [&] { return expect_exit(0, run(folder_, {"model", "--against", file_})).out; };
  add_run("GPU-1", {measured("naive", {.br = 64, .bc = 64}, 1e6, 0)});
  EXPECT_THAT(model(), Not(HasSubstr("kernel sources"))) << "no digest";
  PointRecord earlier = measured("fa2", {.br = 64, .bc = 64}, 1e6, 0);
  LaunchRecord& launch = earlier.kernels.front().launch.emplace();
  launch.source_file = "fa2/fa2_forward.cuh";
  launch.entry = "attn_fa2_forward";
  launch.digest = "dd3a8463-e332-57b6-812b-cd3726d61245";
  add_run("GPU-1", {earlier});
  EXPECT_THAT(model(), HasSubstr("\nMeasured with kernel sources that differ from this program's: fa2.\n"));
}

std::vector<Ceiling> dram_of(double bytes_per_second) {
  return {{.name = "dram_read", .value = bytes_per_second, .unit = "byte/s"},
          {.name = "dram_copy", .value = bytes_per_second, .unit = "byte/s"}};
}

TEST_F(ModelAgainst, uses_rates_measured_on_the_gpu) {
  add_run("GPU-1", {measured("naive", {.br = 64, .bc = 64}, 1e6, 0)});
  const auto error = [&](const std::vector<std::string>& words) {
    const Outcome outcome = expect_exit(0, run(folder_, words));
    return row(json::parse(outcome.out)["rows"], "time", "naive").at("median_error").get<double>();
  };
  const std::vector<std::string> words{"model", "--json", "--against", file_};
  const double by_table = error(words);
  EXPECT_THAT(run(folder_, {"model", "--against", file_}).out, HasSubstr("datasheet"));

  const auto ceilings = folder_ / "ceilings.attnscope";
  DeviceInfo device;
  device.limits = *find_gpu("H200");
  device.uuid = "GPU-2";
  {
    RunStore store = RunStore::open(ceilings, RunStore::Mode::collect);
    (void)store.add_ceilings(device, {}, dram_of(4e11));
  }
  const double slow = error({"model", "--json", "--against", file_, "--ceilings", ceilings});
  EXPECT_GT(std::abs(slow - by_table), 0.1) << "a tenth of its DRAM rate";
  EXPECT_THAT(run(folder_, {"model", "--against", file_, "--ceilings", ceilings}).out,
              HasSubstr("NVIDIA H200 (GPU-2)"));

  // The stored ceilings of the same GPU are used by default.
  {
    RunStore store = RunStore::open(file_, RunStore::Mode::collect);
    (void)store.add_ceilings(device, {}, dram_of(4e11));
  }
  EXPECT_EQ(error(words), by_table) << "GPU-2 ran none of it";
  device.uuid = "GPU-1";
  {
    RunStore store = RunStore::open(file_, RunStore::Mode::collect);
    (void)store.add_ceilings(device, {}, dram_of(4e11));
  }
  EXPECT_EQ(error(words), slow);
}

// Each GPU is simulated with its own rates, and named in a sentence of its own.
TEST_F(ModelAgainst, each_gpu_has_its_own_rates) {
  const auto add = [&](const std::string& uuid, double bytes_per_second) {
    DeviceInfo device;
    device.limits = *find_gpu("H200");
    device.uuid = uuid;
    RunStore store = RunStore::open(file_, RunStore::Mode::collect);
    (void)store.add_ceilings(device, {}, dram_of(bytes_per_second));
  };
  std::vector<std::vector<PointRecord>> points;
  for (const std::int64_t n : {2048, 1024, 512}) {
    points.push_back({measured("naive", {.br = 64, .bc = 64}, 1e4, 0)});
    points.back()[0].spec.problem.n_q = points.back()[0].spec.problem.n_k = n;
  }
  std::vector<double> alone;  // errors of the predicted times of each GPU
  for (const double rate : {4e11, 2e12}) {
    std::filesystem::remove(file_);
    add_run("GPU-1", points[alone.size()]);
    add("GPU-1", rate);
    alone.push_back(row(rows({file_}), "time", "naive").at("median_error").get<double>());
  }
  std::filesystem::remove(file_);
  add_run("GPU-1", points[0]);
  add_run("GPU-2", points[1]);
  add_run("GPU-3", points[2]);
  add("GPU-1", 4e11);
  add("GPU-2", 2e12);
  const std::string people = run(folder_, {"model", "--against", file_}).out;
  EXPECT_THAT(people, AllOf(HasSubstr("(GPU-1) at "), HasSubstr("DRAM 400 GB/s"), HasSubstr("(GPU-2) at "),
                            HasSubstr("DRAM 2 TB/s"), HasSubstr("datasheet rates of NVIDIA H200")));
  for (const auto& [filter, expected] : {std::pair("N:2048", alone[0]), {"N:1024", alone[1]}}) {
    const Outcome outcome = expect_exit(0, run(folder_, {"model", "--json", "--against", file_, "--filter", filter}));
    EXPECT_EQ(row(json::parse(outcome.out)["rows"], "time", "naive").at("median_error"), expected) << filter;
  }
}

TEST_F(ModelAgainst, published_rates_take_no_gpu_and_no_points) {
  expect_exit(0, run(folder_, {"model", "--published"}));
  for (const Words& other : {Words{"--gpu", "A100"},
                             {"--print-gpu"},
                             {"--ceilings", file_},
                             {"--against", file_},
                             {"--axis", "N=1024"},
                             {"--algorithms", "fa2"}}) {
    EXPECT_THAT(expect_exit(2, run(folder_, Words{"model", "--published"} + other)).err,
                HasSubstr("exclude each other"));
  }
}

TEST_F(ModelAgainst, reports_missing_rates) {
  add_run("GPU-1", {measured("fa2", {.br = 64, .bc = 64}, 1e6, 0)});
  EXPECT_THAT(expect_exit(2, run(folder_, {"model", "--against", file_, "--ceilings", file_})).err,
              HasSubstr("NVIDIA H200"));
}

TEST_F(ModelAgainst, copies_of_a_run_are_ignored) {
  add_run("GPU-1", {measured("fa2", {.br = 64, .bc = 64}, 1e6, 0), measured("fa1", {.br = 64, .bc = 64}, 1e6, 0)});
  const auto copy = folder_ / "copy.attnscope";
  std::filesystem::copy_file(file_, copy);
  const json found = rows({file_, copy});
  EXPECT_EQ(row(found, "time", "fa2").at("points"), 1);
  EXPECT_EQ(row(found, "time", "all").at("points"), 2);
}

TEST_F(ModelAgainst, counts_skipped_points) {
  PointRecord vast = measured("fa2", {.br = 64, .bc = 64}, 1e6, 0);
  vast.spec.problem.batch = 1 << 20;
  add_run(
      "GPU-1",
      {measured("fa2", {.br = 64, .bc = 64}, 1e6, 2 * mib), measured("fa2", {.br = 128, .bc = 64}, 1e6, std::nullopt),
       measured("mine", {.br = 64, .bc = 64}, 1e6, 0), measured("mine", {.br = 128, .bc = 64}, 1e6, 0), vast});
  const json found = rows({file_});
  EXPECT_EQ(row(found, "time", "fa2").at("points"), 2);
  EXPECT_EQ(row(found, "dram_bytes", "fa2").at("points"), 1) << "the other point has no write-back bytes";
  const Outcome people = expect_exit(0, run(folder_, {"model", "--against", file_}));
  EXPECT_THAT(people.out, HasSubstr("2 points of "));
  EXPECT_THAT(people.err, AllOf(HasSubstr("3 points "), HasSubstr(" mine ")));
}

}  // namespace
}  // namespace attnscope::testing
