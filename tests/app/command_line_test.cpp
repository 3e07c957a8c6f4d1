// SPDX-License-Identifier: Apache-2.0
// Version, language, exit codes, and one-line errors for invalid arguments.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using Devices = CommandTest;
using Model = CommandTest;

const std::vector<std::string> commands{"doctor", "collect", "verify", "model", "kernels",
                                        "export", "import",  "paper",  "info",  "check"};

TEST(Help, exists_for_every_command) {
  const TemporaryFolder folder;
  const Outcome top = expect_exit(0, run(folder, {"--help"}));
  for (const std::string& command : commands) {
    EXPECT_THAT(top.out, HasSubstr(command));
    const Outcome help = expect_exit(0, run(folder, {command, "--help"}));
    EXPECT_THAT(help.out, AllOf(HasSubstr("Usage: attnscope " + command), HasSubstr("Exit codes"))) << command;
    EXPECT_EQ(help.err, "") << command;
  }
}

TEST(Version, exists_for_every_command) {
  const TemporaryFolder folder;
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--version"}, {"doctor", "--version"}, {"collect", "--version"}, {"kernels", "build", "--version"}}) {
    EXPECT_THAT(expect_exit(0, run(folder, arguments)).out,
                ::testing::MatchesRegex("attnscope [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  }
}

struct Mistake {
  std::vector<std::string> arguments;
  int exit_code;
  std::vector<std::string> says;
};

/// Prints the test parameter; the default would print addresses.
std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  for (const std::string& argument : mistake.arguments) out << argument << ' ';
  return out;
}

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, print_one_line_and_exit_code) {
  const TemporaryFolder folder;
  std::ofstream(folder / "notes.txt") << "not a database, by far\n";
  std::vector<std::string> arguments = GetParam().arguments;
  for (std::string& word : arguments) {
    if (const std::size_t at = word.find('@'); at != std::string::npos) word.replace(at, 1, folder.path().string());
  }
  const Outcome outcome = expect_error(GetParam().exit_code, run(folder, arguments));
  EXPECT_THAT(outcome.err, StartsWith("error: "));
  for (const std::string& text : GetParam().says) EXPECT_THAT(outcome.err, HasSubstr(text));
}

std::vector<std::string> simulated(std::vector<std::string> more) {
  const Words arguments = Words{"collect", "--device", "simulated", "--quiet", "-o", "@/run.attnscope"} + more;
  return arguments;
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Mistakes,
    ::testing::Values(
        Mistake{{}, 2, {"attnscope --help"}}, Mistake{{"colect"}, 2, {"colect", "collect"}},
        Mistake{{"collect", "--presett", "quick"}, 2, {"--presett", "attnscope collect --help"}},
        Mistake{simulated({"--preset", "qick"}), 2, {"qick", "quick"}},
        Mistake{{"verify", "--device", "simulated", "--quick"}, 2, {"GPU"}},
        Mistake{simulated({"-a", "N"}), 2, {"'N'", "="}}, Mistake{simulated({"-a", "N=[1024"}), 2, {"]"}},
        Mistake{simulated({"-a", "N=" + std::string(300, '9')}), 2, {"999... (300 characters)"}},
        Mistake{simulated({"-a", "N=-5"}), 2, {"-5"}}, Mistake{simulated({"-a", "N=lots"}), 2, {"lots"}},
        Mistake{simulated({"-a", "Nk=12"}), 2, {"Nk"}},
        Mistake{{"import", "@/notes.txt", "--launches", "7:3"}, 2, {"--launches '7:3'", "3:7"}},
        Mistake{{"import", "@/notes.txt", "--kernel-name", "fwd"}, 2, {"--kernel-name", "ncu"}},
        Mistake{simulated({"-a", "d=72"}), 2, {"72", "64"}}, Mistake{simulated({"-a", "br=24"}), 2, {"24", "16"}},
        Mistake{simulated({"-a", "mask=sliding"}), 2, {"sliding", "causal"}},
        Mistake{simulated({"-a", "mask=lengths:5000"}), 2, {"5000", "n_k", "1024"}},
        Mistake{simulated({"-a", "dtype=fp4"}), 2, {"fp4", "bf16"}},
        Mistake{simulated({"--algorithms", "fa9"}), 2, {"fa9", "fa2"}},
        Mistake{simulated({"--metrics", "dram__bytes_raed.sum"}), 2, {"dram__bytes_raed.sum", "dram__bytes_read.sum"}},
        Mistake{simulated({"--metrics", "lts__t_sector_hit_rate.pct"}),
                3,
                {"simulated NVIDIA H200", "lts__t_sector_hit_rate.pct", "dram__bytes_read.sum"}},
        Mistake{simulated({"--min-samples", "0"}), 2, {"--min-samples"}},
        Mistake{simulated({"--max-noise", "-1"}), 2, {"--max-noise"}},
        Mistake{simulated({"--timeout", "0"}), 2, {"--timeout"}},
        Mistake{simulated({"--cache-control", "flush"}), 2, {"--cache-control", "flush"}},
        Mistake{simulated({"--no-counters", "--require-counters"}), 2, {"--no-counters", "--require-counters"}},
        Mistake{simulated({"--jsonl", "--csv"}), 2, {"--jsonl", "--csv"}},
        Mistake{simulated({"--csv", "--json"}), 2, {"--csv"}},
        Mistake{{"collect", "--device", "toaster"}, 2, {"toaster", "simulated"}},
        Mistake{{"collect", "--device", "simulated:Voodoo2"}, 2, {"Voodoo2", "H200"}},
        Mistake{{"collect", "--device", "simulated", "-q", "-o", "@/no/such/a.attnscope"}, 1, {"no/such", "-o"}},
        Mistake{{"collect", "--device", "simulated", "-q", "-o", "@"}, 1, {"folder"}},
        Mistake{{"collect", "--device", "simulated", "-q", "-o", "@/notes.txt"}, 2, {"notes.txt"}},
        Mistake{{"info", "@/missing.attnscope"}, 1, {"missing.attnscope", "does not exist"}},
        Mistake{{"info", "@/notes.txt"}, 1, {"notes.txt"}},
        Mistake{{"export", "@/missing.attnscope", "--long", "--format", "json"}, 2, {"--long", "--format json"}},
        Mistake{{"import", "@/missing.csv"}, 1, {"missing.csv"}}, Mistake{{"import", "@"}, 1, {"folder"}},
        Mistake{{"import", "@/notes.txt", "-o", "@/a.attnscope"}, 1, {"notes.txt", "line 1", "missing algorithm"}},
        Mistake{{"import", "@/notes.txt", "--format", "ncu", "--algorithm", "x"}, 1, {"notes.txt", "ncu --csv"}},
        Mistake{{"import", "@/notes.txt", "--format", "json"}, 1, {"line 1, column"}},
        Mistake{{"import", "@/notes.txt", "--format", "xml"}, 2, {"xml"}},
        Mistake{{"import", "@/notes.txt", "--map", "N"}, 2, {"--map 'N'", "COLUMN=FIELD"}},
        Mistake{{"import", "@/notes.txt", "-a", "M=1024"}, 2, {"-a M=1024", "field"}},
        Mistake{{"import", "@/notes.txt", "--algorithm", "x", "-a", "N=[64,128]"}, 2, {"N", "2 values"}},
        Mistake{{"merge", "@/all.attnscope"}, 2, {"--output", "attnscope merge --help"}},
        Mistake{{"merge", "-o", "@/all.attnscope"}, 2, {"IN", "attnscope merge --help"}},
        Mistake{{"merge", "-o", "@/all.attnscope", "@/missing.attnscope", "--skip-damaged"}, 1, {"missing.attnscope"}},
        Mistake{{"merge", "-o", "@/all.attnscope", "@/notes.txt"}, 1, {"notes.txt", "--skip-damaged"}},
        Mistake{{"merge", "-o", "@/notes.txt", "@/missing.attnscope"}, 2, {"notes.txt", ".attnscope"}},
        Mistake{{"paper", "@/missing.attnscope"}, 1, {"missing.attnscope"}},
        Mistake{{"export", "@/missing.attnscope"}, 1, {"missing.attnscope"}},
        Mistake{{"export", "@/a", "--format", "xml"}, 2, {"xml"}}, Mistake{{"export", "@/a", "@/b"}, 2, {"one file"}},
        Mistake{{"export", "@/a", "--run", "99999999999999999999"}, 2, {"--run", "99999999999999999999", "from 1"}},
        Mistake{{"export", "@/a", "--run", "0"}, 2, {"--run", "'0'"}}, Mistake{{"info", ""}, 2, {"FILE", "empty"}},
        Mistake{{"ceilings", ""}, 2, {"FILE", "empty"}},
        Mistake{{"merge", "-o", "@/all.attnscope", ""}, 2, {"IN", "empty"}},
        Mistake{{"collect", "--device", "simulated", "-o", ""}, 2, {"--output", "empty"}},
        Mistake{{"export", "@/a", "--format", "attnscope"}, 2, {"-o"}}, Mistake{{"model", "-a", "N=0"}, 2, {"N", "0"}},
        Mistake{{"model", "--gpu", "Voodoo2"}, 2, {"Voodoo2", "H200"}},
        Mistake{{"kernels", "build", "--arch", "sm_20"}, 2, {"sm_20", "sm_86, sm_89, sm_90a"}},
        Mistake{{"verify", "--algorithms", "fa9"}, 2, {"fa9"}},
        Mistake{{"verify", "--device", "simulated:Voodoo2"}, 2, {"Voodoo2"}}));

TEST_F(Devices, requested_gpu_must_exist) {
  expect_error(
      1, run(folder_, {"collect", "--device", "gpu", "--quiet"}, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}}));
}

TEST_F(Devices, first_line_explains_simulation) {
  const Outcome outcome =
      expect_exit(0, run(folder_, {"collect", "-a", "N=128", "--algorithms", "fa2", "-o", folder_ / "a.attnscope"},
                         {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}}));
  EXPECT_THAT(outcome.out, ::testing::MatchesRegex("Device: simulated NVIDIA H200\\. [^\n]+\n(.|\n)*"));
}

TEST(Doctor, succeeds_without_gpu) {
  const TemporaryFolder folder;
  const Outcome outcome = expect_exit(0, run(folder, {"doctor", "--json"}));
  const auto checks = nlohmann::json::parse(outcome.out)["rows"];
  const auto has = [&](const std::string& name) {
    return std::any_of(checks.begin(), checks.end(), [&](const auto& check) { return check["check"] == name; });
  };
  EXPECT_TRUE(has("runs"));
  EXPECT_TRUE(has("driver"));
  EXPECT_EQ(run(folder, {"doctor", "--strict"}).exit_code, 1);
  EXPECT_THAT(run(folder, {"doctor"}).out, HasSubstr("Fix: "));
}

TEST(Kernels, lists_every_algorithm_with_its_source) {
  const TemporaryFolder folder;
  const Outcome outcome = expect_exit(0, run(folder, {"kernels", "--json"}));
  const auto rows = nlohmann::json::parse(outcome.out)["rows"];
  ASSERT_EQ(rows.size(), built_in_algorithms().algorithms().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["algorithm"], std::string(built_in_algorithms().algorithms()[i]->name()));
    EXPECT_EQ(rows[i]["source"], std::string(built_in_algorithms().algorithms()[i]->facts().source));
  }
}

TEST_F(Model, gives_the_closed_forms) {
  const Outcome outcome =
      expect_exit(0, run(folder_, {"model", "-a", "N=1000", "-a", "d=64", "-a", "br=64", "-a", "bc=48", "-a", "heads=3",
                                   "-a", "mask=causal", "--algorithms", "naive,fa2", "--json"}));
  const auto rows = nlohmann::json::parse(outcome.out)["rows"];
  const AttentionProblem problem{
      .mask = Mask::causal, .batch = 1, .heads_q = 3, .heads_kv = 3, .n_q = 1000, .n_k = 1000, .d = 64};
  const TileShape tile{.br = 64, .bc = 48};
  for (const char* name : {"naive", "fa2"}) {
    const AttentionPlan plan = built_in_algorithms().find(name)->plan(problem, tile, known_gpus().front());
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& candidate) {
      return candidate["algorithm"] == name && candidate["kernel"] == "all";
    });
    ASSERT_NE(row, rows.end());
    EXPECT_EQ((*row)["model_l2_to_sm_bytes"], plan.traffic().l2_to_sm_bytes);
    EXPECT_EQ((*row)["model_sm_to_l2_bytes"], plan.traffic().sm_to_l2_bytes);
    EXPECT_EQ((*row)["memory_bytes"], plan.buffer_bytes());
    EXPECT_EQ((*row)["model_compulsory_bytes"], compulsory_traffic(problem).total());
    EXPECT_EQ((*row)["feasible"], "yes");
  }
  EXPECT_EQ(rows.size(), 1U + 3U + 1U) << "naive has a row per kernel and their sum";
}

TEST_F(Model, predicts_with_measured_rates) {
  const auto file = folder_ / "a.attnscope";
  RunHeader header;
  header.device.uuid = "GPU-1";
  header.device.limits = *find_gpu("A100");
  {
    RunStore store = RunStore::open(file, RunStore::Mode::collect);
    (void)store.add_ceilings(header.device, {},
                             std::vector<Ceiling>{{.name = "dram_read", .value = 5e11, .unit = "byte/s"},
                                                  {.name = "dram_copy", .value = 3e11, .unit = "byte/s"}});
  }
  const std::vector<std::string> words{"model", "--gpu",    "A100",         "-a",   "N=4096",
                                       "-a",    "heads=16", "--algorithms", "naive"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run(folder_, more);
  };
  const auto table = nlohmann::json::parse(with({"--json"}).out)["rows"];
  const auto measured = nlohmann::json::parse(with({"--json", "--ceilings", file}).out)["rows"];
  EXPECT_EQ(table[0]["dram_rate"], "table");
  EXPECT_EQ(measured[0]["dram_rate"], "measured");
  EXPECT_EQ(measured[0]["l2_rate"], "table");
  // The naive kernel is DRAM-bound: predicted with 0.4 TB/s (mean of read and copy) instead of 0.9 of the datasheet
  // rate.
  const double faster = 0.9 * find_gpu("A100")->dram_bytes_per_second / 4e11;
  EXPECT_GT(double(measured[1]["predicted_ns"]), 0.5 * faster * double(table[1]["predicted_ns"]));
  EXPECT_GT(double(measured[0]["predicted_ns"]), double(table[0]["predicted_ns"]));
  EXPECT_THAT(with({"--ceilings", file}).out, AllOf(HasSubstr("NVIDIA A100"), HasSubstr("DRAM 400 GB/s")));
  EXPECT_THAT(with({}).out, AllOf(HasSubstr("datasheet"), HasSubstr("NVIDIA A100")));
  EXPECT_THAT(expect_error(2, run(folder_, {"model", "-a", "N=4096", "--ceilings", file})).err,
              HasSubstr("NVIDIA H200"));
}

TEST_F(Model, mask_names_depend_on_format) {
  const std::vector<std::string> words{"model", "-a", "N=128", "-a", "mask=full", "--algorithms", "fa2"};
  EXPECT_THAT(expect_exit(0, run(folder_, words)).out, AllOf(HasSubstr(" full "), Not(HasSubstr(" none "))));
  std::vector<std::string> csv = words;
  csv.emplace_back("--csv");
  EXPECT_THAT(run(folder_, csv).out, HasSubstr(",full,"));
}

TEST_F(Model, gpu_file_round_trips) {
  const std::string file = folder_ / "gpu.json";
  const Outcome printed = expect_exit(0, run(folder_, {"model", "--gpu", "A100", "--print-gpu"}));
  nlohmann::json gpu = nlohmann::json::parse(printed.out);
  EXPECT_EQ(gpu["values"]["sm_count"], 108);
  gpu["values"]["sm_count"] = 54;
  std::ofstream(file) << gpu.dump();
  EXPECT_EQ(nlohmann::json::parse(run(folder_, {"model", "--gpu", file, "--print-gpu"}).out), gpu);
  const auto ns_on = [&](const std::string& name) {
    const Outcome outcome = run(folder_, {"model", "--gpu", name, "-a", "N=8192", "--algorithms", "fa2", "--json"});
    return nlohmann::json::parse(outcome.out)["rows"][0]["predicted_ns"].get<double>();
  };
  EXPECT_GT(ns_on(file), 1.5 * ns_on("A100")) << "half as many SMs";
  const auto note_on = [&](const std::string& name) {
    return run(folder_, {"model", "--gpu", name, "-a", "N=8192", "--algorithms", "fa2"}).out;
  };
  EXPECT_THAT(note_on(file), HasSubstr("cannot be validated"));
  EXPECT_THAT(note_on("A100"), AllOf(HasSubstr("validated with published rates of fa2 on NVIDIA A100 80GB"),
                                     Not(HasSubstr("cannot be validated"))));
  EXPECT_THAT(note_on("H200"), Not(HasSubstr("validated"))) << "by a recording of all algorithms";
}

TEST_F(Model, prints_reason_of_infeasible_tile) {
  const Outcome outcome =
      expect_exit(0, run(folder_, {"model", "-a", "N=1024", "-a", "d=128", "-a", "br=[64,256]", "-a", "bc=256",
                                   "--algorithms", "fa2", "--gpu", "A100", "--json"}));
  const auto rows = nlohmann::json::parse(outcome.out)["rows"];
  const auto refused = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row["feasible"] == "no"; });
  ASSERT_NE(refused, rows.end());
  EXPECT_NE((*refused)["reason"], "");
  EXPECT_TRUE((*refused)["model_l2_to_sm_bytes"].is_null());
}

TEST_F(Model, marks_launches_outside_the_sum) {
  const Outcome outcome = expect_exit(0, run(folder_, {"model", "-a", "n_q=1", "-a", "n_k=4096", "-a", "d=128", "-a",
                                                       "dtype=fp8", "--algorithms", "splitkv", "--json"}));
  std::map<std::string, std::string> reasons;
  const auto document = nlohmann::json::parse(outcome.out);
  for (const auto& row : document["rows"]) {
    reasons[row["kernel"].get<std::string>()] = row["reason"].is_null() ? "" : row["reason"].get<std::string>();
  }
  EXPECT_THAT(reasons, ElementsAre(Pair("all", ""), Pair("combine", ""), Pair("partial", ""),
                                   Pair("quantise K", Not(IsEmpty())), Pair("quantise V", Not(IsEmpty()))));
}

TEST_F(Model, text_omits_default_columns) {
  const std::vector<std::string> plain{"model", "-a", "N=256", "--algorithms", "fa2"};
  const Outcome text = run(folder_, plain);
  EXPECT_THAT(text.out, ::testing::Not(AnyOf(HasSubstr("dropout"), HasSubstr("stages"))));
  std::vector<std::string> as_json = plain;
  as_json.emplace_back("--json");
  const auto rows = nlohmann::json::parse(run(folder_, as_json).out)["rows"];
  EXPECT_EQ(rows[0]["dropout"], 0);
  EXPECT_EQ(rows[0]["deterministic"], "no");
  EXPECT_EQ(rows[0]["pass"], "fwd");
}

TEST(DryRun, predicts_how_each_point_ends) {
  const TemporaryFolder folder;
  const auto rows = nlohmann::json::parse(
      run(folder, {"collect", "--device", "simulated", "--dry-run", "-a", "N=256", "-a", "batch=[1,131072]", "-a",
                   "tile=[64x64,256x1024]", "-a", "heads=16", "--algorithms", "fa2", "--json"})
          .out)["rows"];
  std::vector<std::string> expected;
  for (const auto& row : rows) {
    const std::string words = row["expected"].is_null() ? "" : row["expected"];
    expected.push_back(
        fmt::format("{} {} {}", row["index"].get<int>(), row["batch"].get<int>(), words.substr(0, words.find(':'))));
  }
  EXPECT_THAT(expected, ElementsAre("0 1 ", "1 1 infeasible", "2 131072 out-of-memory", "3 131072 infeasible"));
}

TEST(DryRun, prints_the_plan_and_writes_nothing) {
  const TemporaryFolder folder;
  const Outcome outcome =
      expect_exit(0, run(folder, {"collect", "--device", "simulated", "--dry-run", "-a", "N[pow2]=[8,9]",
                                  "--algorithms", "naive", "--json", "-o", folder / "a.attnscope"}));
  const auto rows = nlohmann::json::parse(outcome.out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["n_q"], 512);
  EXPECT_GT(rows[1]["memory_bytes"], rows[0]["memory_bytes"]);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.attnscope"));
  EXPECT_THAT(run(folder, {"collect", "--device", "simulated", "--dry-run", "-a", "N=256"}).out,
              AllOf(StartsWith("Device: simulated NVIDIA H200\n"), HasSubstr("of device memory")));
}

class Language : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string page = (folder / "report.html").string();
};

TEST_F(Language, report_uses_requested_language) {
  for (const std::string language : {"en", "zh"}) {
    expect_exit(0, run(folder, {"report", ATTNSCOPE_SAMPLE, "-o", page, "--force", "--lang", language}));
    const std::string text = content(page);
    EXPECT_THAT(text, StartsWith("<!DOCTYPE html>\n<html lang=\"" + language + "\">"));
    EXPECT_EQ(text.find("测点") != std::string::npos, language == "zh");
  }
}

TEST_F(Language, unknown_language_is_a_usage_error) {
  EXPECT_THAT(expect_exit(2, run(folder, {"report", ATTNSCOPE_SAMPLE, "-o", page, "--lang", "fr"})).err,
              AllOf(HasSubstr("'fr'"), HasSubstr("en, zh")));
  EXPECT_EQ(run(folder, {"info", "x.attnscope", "--lang", "zh"}).exit_code, 2) << "the terminal is English";
}

TEST_F(Language, terminal_ignores_locale) {
  const Outcome outcome = run(folder, {"info", "nowhere.attnscope"}, {.environment = {{"LC_ALL", "zh_CN.UTF-8"}}});
  EXPECT_EQ(outcome.err, "error: nowhere.attnscope does not exist\n");
}

}  // namespace
}  // namespace attnscope::testing
