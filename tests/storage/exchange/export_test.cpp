// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <vector>

#include "kernels/registry.h"
#include "kernels/user/manifest.h"
#include "profiler/units/csv.h"
#include "storage/bounds.h"
#include "tests/message_matchers.h"
#include "tests/storage/exchange/tables.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using test::HasWords;
using ::testing::HasSubstr;
using Mode = RunStore::Mode;

class Export : public ::testing::Test {
 protected:
  Export() : store_(RunStore::open(folder_ / "a.attnscope", Mode::collect)) {
    first_ = store_.begin_run(full_header());
    store_.add_point(first_, 0, full_record());
    second_ = store_.begin_run(full_header());
    store_.add_point(second_, 0, simple_record(64));
    PointRecord infeasible = simple_record(128);
    infeasible.disposition = Disposition::infeasible;
    infeasible.reason = Message::verbatim("needs 300000 B of shared memory, 232448 B are there");
    infeasible.kernels.clear();
    store_.add_point(second_, 1, infeasible);
  }

  std::vector<NamedFields> csv(std::vector<std::int64_t> runs = {}) {
    std::ostringstream out;
    export_csv(store_, runs, out);
    return named_rows(out.str());
  }

  TemporaryFolder folder_;
  RunStore store_;
  std::int64_t first_ = 0;
  std::int64_t second_ = 0;
};

constexpr std::string_view documented =
    "algorithm,kernel,pass,dtype,batch,heads_q,heads_kv,n_q,n_k,d,mask,br,bc,raster,disposition,reason,provenance,"
    "time_median_ns,time_q1_ns,time_q3_ns,tflops,dram_read_bytes,dram_write_bytes,l2_to_sm_bytes,sm_to_l2_bytes,"
    "achieved_occupancy_pct,theoretical_occupancy_pct,occupancy_limiter,registers,shared_bytes,local_bytes,"
    "model_l2_to_sm_bytes,model_sm_to_l2_bytes,model_compulsory_bytes,max_abs_error,sm_clock_hz";

// Any values that a file can have.
TEST_F(Export, never_prints_infinity_or_nan) {
  std::mt19937 random(1);
  const std::vector<double> extremes{
      0, 5e-324, 1e-310, 1e-30, 1e-3, 0.002, 1, 1e9, 1e15, 1e18, 1e30, -1, std::numeric_limits<double>::infinity()};
  const auto any = [&] { return extremes[random() % extremes.size()]; };
  std::size_t stored = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    PointRecord record = i % 2 == 0 ? full_record() : simple_record(64);
    for (KernelRecord& kernel : record.kernels) {
      for (MetricValue& metric : kernel.metrics) {
        if (random() % 4 == 0) metric.value = any();
      }
      for (double& sample : kernel.samples_ns) {
        if (random() % 4 == 0) sample = any();
      }
    }
    if (record.clocks) record.clocks->sm_clock_hz = any();
    record.max_abs_error = any();
    record.rms_error = any();
    if (!bounds_error(stored_form(record)).empty()) continue;
    store_.add_point(second_, 2 + stored++, record);
  }
  ASSERT_GT(stored, 100U);
  const auto expect_finite = [](const std::string& text) {
    for (const auto& row : parse_csv(text)) {
      for (const std::string& field : row) {
        EXPECT_FALSE(field == "inf" || field == "-inf" || field == "nan" || field == "-nan") << field;
      }
    }
  };
  std::ostringstream wide;
  export_csv(store_, {}, wide);
  expect_finite(wide.str());
  std::ostringstream long_table;
  export_long_csv(store_, {}, long_table);
  expect_finite(long_table.str());
  std::ostringstream json;
  export_json(store_, {}, json);
  EXPECT_FALSE(nlohmann::json::parse(json.str()).empty()) << "JSON has no infinity";
}

TEST_F(Export, columns_match_the_documentation) {
  std::ostringstream out;
  export_csv(store_, {}, out);
  EXPECT_EQ(out.str().substr(0, documented.size()), documented);
  EXPECT_THAT(out.str().substr(0, out.str().find('\n')),
              HasSubstr(",cache,device,run,point,dropout,page,deterministic,gpus,gpu_order,splits,warps,stages,"))
      << "later ones come after those";
}

TEST_F(Export, one_row_per_point_and_kernel) {
  const auto rows = csv();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].at("kernel"), "all");
  EXPECT_EQ(rows[1].at("kernel"), "qk");
  EXPECT_EQ(rows[3].at("kernel"), "pv");
  EXPECT_EQ(rows[5].at("kernel"), "all") << "also for a point that launched nothing";
  EXPECT_EQ(csv({second_}).size(), 2U);
}

TEST_F(Export, metric_of_any_point_is_a_column) {
  PointRecord record = simple_record(256);
  record.kernels[0].metrics.push_back({"lts__t_sectors.sum", 7, "sector", Provenance::measured});
  store_.add_point(second_, 2, record);
  const auto rows = csv();
  ASSERT_EQ(rows.size(), 7U);
  const std::vector<const char*> names{"n_k", "lts__t_bytes.sum", "lts__t_sectors.sum"};
  for (const auto& [row, values] : {std::pair{0, std::vector{"1024", "1", ""}}, {6, std::vector{"256", "", "7"}}}) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(rows[static_cast<std::size_t>(row)].at(names[i]), values[i]) << names[i];
    }
  }
}

TEST_F(Export, fields_equal_stored_values) {
  const auto row = csv({first_})[1];
  const std::map<std::string, std::string> expected{
      {"algorithm", "naive"},
      {"pass", "fwd+bwd"},
      {"dtype", "bf16"},
      {"batch", "2"},
      {"heads_q", "16"},
      {"heads_kv", "4"},
      {"n_q", "1023"},
      {"n_k", "1024"},
      {"d", "128"},
      {"mask", "window:300:7+lengths:500/1024+blocks:128:stride3"},
      {"br", "48"},
      {"bc", "176"},
      {"raster", "heads_fastest"},
      {"dropout", "0.1"},
      {"page", "64"},
      {"deterministic", "true"},
      {"splits", "5"},
      {"warps", "6"},
      {"stages", "3"},
      {"cache", "warm"},
      {"disposition", "incorrect"},
      {"reason",
       "Run again: \"dQ\" {bound} is 0.5 instead of 0.25 at instance 0 row "
       "3 column 17: error 0.25, bound 0.125."},
      {"reason_code", "point.run_again"},
      {"provenance", "measured"},
      {"dram_read_bytes", "2000000000.5"},
      {"dram_write_bytes", ""},
      {"model_l2_to_sm_bytes", "8000000000000000"},
      {"occupancy_limiter", "shared memory"},
      {"lts__t_bytes.sum", "2"},
      {"sm_clock_hz", "1980000000"},
      {"throttled", "true"},
      {"samples", "4"},
      {"max_abs_error", ""},
      {"device", "NVIDIA H200"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(row.at(name), value) << name;
  EXPECT_EQ(csv({first_})[0].at("max_abs_error"), "0.25");
  const auto simple = csv({second_})[0];
  EXPECT_EQ(simple.at("time_median_ns"), "65");
  EXPECT_EQ(simple.at("time_q1_ns"), "64.5");
  EXPECT_EQ(simple.at("time_q3_ns"), "65.5");
  EXPECT_EQ(simple.at("l2_to_sm_bytes"), "8192");
  EXPECT_EQ(simple.at("registers"), "168");
  EXPECT_EQ(simple.at("sm_clock_hz"), "");
  EXPECT_GT(std::stod(simple.at("tflops")), 0);
  EXPECT_EQ(csv({second_})[1].at("reason"), "needs 300000 B of shared memory, 232448 B are there");
}

TEST_F(Export, json_has_devices_runs_and_samples) {
  std::ostringstream out;
  export_json(store_, {}, out);
  const auto document = nlohmann::json::parse(out.str());
  EXPECT_EQ(document["format"], "attnscope-export");
  EXPECT_EQ(document["version"], 2);
  ASSERT_EQ(document["devices"].size(), 1U);
  EXPECT_EQ(document["devices"][0]["uuid"], "GPU-1234");
  EXPECT_EQ(document["devices"][0]["compute_capability"], "9.1");
  EXPECT_EQ(document["devices"][0]["l2_bytes"], 62'914'560);
  ASSERT_EQ(document["environments"].size(), 1U);
  EXPECT_EQ(document["environments"][0]["driver_version"], "580.1");
  ASSERT_EQ(document["runs"].size(), 2U);
  EXPECT_EQ(document["runs"][0]["argv"], nlohmann::json(full_header().argv));
  EXPECT_EQ(document["runs"][0]["state"], "running");
  EXPECT_EQ(document["runs"][0]["provenance"], "measured");
  ASSERT_EQ(document["points"].size(), 6U);
  const auto& point = document["points"][1];
  const auto names = parse_csv(std::string(documented) + "\n")[0];
  for (const std::string& name : names) EXPECT_TRUE(point.contains(name)) << name;
  EXPECT_EQ(point["n_k"], 1024);
  EXPECT_EQ(point["mask"], "window:300:7+lengths:500/1024+blocks:128:stride3");
  EXPECT_EQ(point["pass"], "fwd+bwd");
  EXPECT_EQ(point["dropout"], 0.1);
  EXPECT_EQ(point["deterministic"], true);
  EXPECT_EQ(point["splits"], 5);
  EXPECT_TRUE(point["dram_write_bytes"].is_null());
  EXPECT_EQ(point["samples_ns"], nlohmann::json(full_record().kernels[1].samples_ns));
  EXPECT_EQ(point["metrics"]["model_l2_to_sm_bytes"]["provenance"], "modeled");
  EXPECT_EQ(point["metrics"]["lts__t_bytes.sum"]["unit"], "byte");
}

TEST_F(Export, an_unknown_run_is_an_error) {
  std::ostringstream out;
  const std::vector<std::int64_t> runs{99};
  EXPECT_THAT(storage_error_of([&] { export_csv(store_, runs, out); }).what(), HasWords("run 99"));
}

TEST(CsvField, IsQuotedIfNeeded) {
  for (const auto& [text, field] : {std::pair{"", ""},
                                    {"a b", "a b"},
                                    {" a", "\" a\""},
                                    {"a ", "\"a \""},
                                    {"a,b", "\"a,b\""},
                                    {"a\"b", "\"a\"\"b\""}}) {
    EXPECT_EQ(quote_csv_field(text), field);
  }
}

TEST_F(Export, KnobNamesDifferFromColumns) {
  const testing::TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(testing::full_header());
  store.add_point(run, 0, testing::full_record());
  std::string header;
  for (const bool in_full : {false, true}) {
    std::ostringstream out;
    if (in_full) {
      export_long_csv(store, std::array{run}, out);
    } else {
      export_csv(store, std::array{run}, out);
    }
    header += out.str().substr(0, out.str().find_first_of("\r\n")) + ",";
  }
  std::istringstream names(header);
  int asked = 0;
  for (std::string name; std::getline(names, name, ',');) {
    if (known_algorithms().find_knob(name) != nullptr) continue;
    const std::string manifest = R"({"attnscope_kernel": 1, "name": "own", "source": "own.cu",
      "supports": {"dtype": ["fp16"], "d": [64]}, "tile": {"br": [64], "bc": [64]},
      "knobs": {")" + name + R"(": {"values": [1], "means": "x"}},
      "launches": [{"entry": "own", "grid": [1], "block": [1], "arguments": ["q"]}]})";
    EXPECT_FALSE(user::parse_manifest(manifest, std::nullopt)) << name;
    ++asked;
  }
  EXPECT_GT(asked, 80);
}

}  // namespace
}  // namespace attnscope::testing
