// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using CeilingsCommand = CommandTest;

TEST_F(CeilingsCommand, simulated_device_shows_datasheet) {
  const Outcome people = expect_exit(0, run(folder_, {"ceilings", "--device", "simulated:H200"}));
  EXPECT_THAT(people.out,
              AllOf(HasSubstr("datasheet"), HasSubstr("DRAM read"), HasSubstr("4.80 TB/s"), HasSubstr("datasheet")));
  EXPECT_THAT(people.out, Not(HasSubstr("measured\n")));
  const Outcome programs = expect_exit(0, run(folder_, {"ceilings", "--device", "simulated:A100", "--json"}));
  const auto document = nlohmann::json::parse(programs.out);
  EXPECT_EQ(document["format"], "attnscope-ceilings");
  EXPECT_EQ(document["version"], 2);
  for (const auto& row : document["rows"]) {
    EXPECT_EQ(row.at("provenance"), "datasheet") << row;
    EXPECT_TRUE(row.at("q1").is_null());
  }
  EXPECT_THAT(programs.err, HasSubstr("measured"));
}

TEST_F(CeilingsCommand, stores_measured_ceilings_only) {
  const auto file = folder_ / "a.attnscope";
  EXPECT_THAT(expect_error(2, run(folder_, {"ceilings", "--device", "simulated", "-o", file})).err,
              HasSubstr("--device"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(CeilingsCommand, shows_stored_ceilings) {
  const auto file = folder_ / "a.attnscope";
  RunHeader header;
  header.device.uuid = "GPU-1";
  header.device.limits = *find_gpu("H200");
  {
    RunStore store = RunStore::open(file, RunStore::Mode::collect);
    (void)store.add_ceilings(
        header.device, {},
        std::vector<Ceiling>{{.name = "dram_copy", .value = 4.1e12, .q1 = 4.0e12, .q3 = 4.2e12, .unit = "byte/s"},
                             {.name = "dram_copy_clock", .value = 1.98e9, .unit = "hertz"},
                             {.name = "l2_private_miss", .argument = 30.0 * 1024 * 1024, .value = 0.25, .unit = "1"}});
  }
  EXPECT_THAT(expect_exit(0, run(folder_, {"ceilings", file})).out,
              AllOf(HasSubstr("NVIDIA H200 (GPU-1), measured "), HasSubstr("4.10 TB/s"), HasSubstr("±2.44%"),
                    HasSubstr("1980 MHz"), HasSubstr("30 MiB      0.250")));
  const Outcome csv = run(folder_, {"ceilings", file, "--csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr("device_uuid,measured_at,ceiling,argument,value,q1,q3,unit,provenance\n"),
                             HasSubstr(",dram_copy,0,4100000000000,4000000000000,4200000000000,byte/s,measured\n")));
  const Outcome info = run(folder_, {"info", file});
  EXPECT_THAT(info.out, HasSubstr("ceilings of NVIDIA H200 (GPU-1): 3 "));
  EXPECT_EQ(run(folder_, {"check", file}).exit_code, 0);

  // A second GPU, and a second set of the first.
  {
    RunStore store = RunStore::open(file, RunStore::Mode::collect);
    (void)store.add_ceilings(header.device, {},
                             std::vector<Ceiling>{{.name = "dram_copy", .value = 3e12, .unit = "byte/s"}});
    header.device.uuid = "GPU-2";
    header.device.limits = *find_gpu("A100");
    (void)store.add_ceilings(header.device, {},
                             std::vector<Ceiling>{{.name = "dram_copy", .value = 1e12, .unit = "byte/s"}});
  }
  std::vector<std::pair<std::string, double>> sets;
  const auto document = nlohmann::json::parse(run(folder_, {"ceilings", file, "--json"}).out);
  for (const auto& row : document["rows"]) {
    if (row["ceiling"] == "dram_copy") sets.emplace_back(row["device_uuid"], row["value"]);
  }
  EXPECT_THAT(sets,
              ::testing::ElementsAre(std::pair("GPU-1", 4.1e12), std::pair("GPU-1", 3e12), std::pair("GPU-2", 1e12)));
  EXPECT_THAT(run(folder_, {"ceilings", file}).out, AllOf(HasSubstr("\n\nNVIDIA H200 (GPU-1), measured "),
                                                          HasSubstr("\n\nNVIDIA A100"), HasSubstr("1 TB/s")));

  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--device", "0"}, {"--rounds", "3"}}) {
    const Words arguments = Words{"ceilings", file} + more;
    EXPECT_THAT(expect_exit(2, run(folder_, arguments)).err, HasSubstr(more.front()));
  }
}

TEST_F(CeilingsCommand, rejects_rates_of_damaged_files) {
  const auto file = folder_ / "a.attnscope";
  std::filesystem::copy_file(std::filesystem::path(ATTNSCOPE_SAMPLE).replace_filename("h200-ceilings.attnscope"), file);
  const std::vector<std::string> model{"model", "--algorithms", "fa2",        "-a",         "N=512",
                                       "-a",    "d=64",         "--ceilings", file.string()};
  EXPECT_EQ(run(folder_, model).exit_code, 0);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE ceilings SET value = 1.1 * value");
  const Outcome damaged = expect_exit(1, run(folder_, model));
  EXPECT_THAT(damaged.err, HasSubstr("a.attnscope"));
}

TEST_F(CeilingsCommand, shows_datasheet_of_unmeasured_device) {
  const auto file = folder_ / "a.attnscope";
  expect_exit(0, run(folder_, {"collect", "--device", "simulated:A100", "--quiet", "-a", "N=256", "-a", "d=64",
                               "--algorithms", "fa2", "-o", file}));
  EXPECT_THAT(expect_exit(0, run(folder_, {"ceilings", file})).out,
              AllOf(HasSubstr("A100"), HasSubstr("datasheet"), HasSubstr("312 TFLOP/s")));
  const Outcome csv = run(folder_, {"ceilings", file, "--csv"});
  EXPECT_THAT(csv.out, HasSubstr(",,mma_fp16,0,312000000000000,,,flop/s,datasheet\n"));

  // Imported points of another GPU: each set names its device.
  const auto table = folder_ / "peers.csv";
  std::ofstream(table) << "algorithm,kernel,pass,dtype,batch,heads_q,n_q,n_k,d,device,time_median_ns\n"
                          "peer,all,fwd,fp16,1,16,1024,1024,64,NVIDIA H200,50000\n";
  expect_exit(0, run(folder_, {"import", table, "-o", file}));
  const Outcome both = run(folder_, {"ceilings", file});
  EXPECT_THAT(both.out, AllOf(HasSubstr("(SIM-NVIDIA-A100-80GB)"), HasSubstr("NVIDIA H200 (IMPORTED-NVIDIA H200)")))
      << both.out;

  const auto empty = folder_ / "empty.attnscope";
  { const RunStore store = RunStore::open(empty, RunStore::Mode::collect); }
  EXPECT_THAT(expect_exit(1, run(folder_, {"ceilings", empty})).err, HasSubstr("attnscope ceilings -o"));
}

}  // namespace
}  // namespace attnscope::testing
