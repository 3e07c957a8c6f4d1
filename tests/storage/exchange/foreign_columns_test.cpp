// SPDX-License-Identifier: Apache-2.0
// Columns of other programs: synonyms, unknown columns, given fields and stated rates.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "tests/storage/exchange/tables.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<PointRecord>& points_of(const Import& import) {
  return import.devices.at(0).points;
}

double median_of(const PointRecord& point) {
  return evaluate(metric_key::time_median_ns, point)->value;
}

std::string all_notes(const Import& import) {
  std::string all;
  for (const Message& note : import.notes) all += text(note) + "\n";
  return all;
}

TEST(ImportIdentity, SynonymsGiveTheProblem) {
  const Import import = imported(
      "impl,batch_size,seqlen,nheads,headdim,is_causal,dtype,latency_ms_median\n"
      "mine,4,4096,32,128,0,torch.bfloat16,2.76\nmine,4,4096,32,128,True,half,1.51\n"
      "mine,8,4096,32,128,False,float8_e4m3fn,5.5\nmine,8,4096,32,128,0,torch.float32,9\n"
      "mine,9,4096,32,128,0,f32,9\nmine,7,4096,32,128,0,float,9\n");
  ASSERT_EQ(points_of(import).size(), 6U);
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(points_of(import)[i].spec.problem.dtype, DType::fp32) << i;
  const PointSpec& first = points_of(import)[0].spec;
  EXPECT_EQ(first.algorithm, "mine");
  EXPECT_EQ(first.problem.batch, 4);
  EXPECT_EQ(first.problem.n_q, 4096);
  EXPECT_EQ(first.problem.n_k, 4096);
  EXPECT_EQ(first.problem.heads_kv, 32);
  EXPECT_EQ(first.problem.d, 128);
  EXPECT_EQ(first.problem.mask, Mask::none);
  EXPECT_EQ(first.problem.dtype, DType::bf16);
  EXPECT_EQ(points_of(import)[1].spec.problem.mask, Mask::causal);
  EXPECT_EQ(points_of(import)[1].spec.problem.dtype, DType::fp16);
  EXPECT_EQ(points_of(import)[2].spec.problem.batch, 8);
  EXPECT_EQ(points_of(import)[2].spec.problem.dtype, DType::fp8);
  EXPECT_EQ(median_of(points_of(import)[0]), 2.76e6);
  const Import grouped = imported("provider,H,nheads_k,seqlen_q,seqlen_k,D,time_us\nmine,32,8,1,4096,128,5\n");
  EXPECT_EQ(points_of(grouped)[0].spec.problem.heads_q, 32);
  EXPECT_EQ(points_of(grouped)[0].spec.problem.heads_kv, 8);
  EXPECT_EQ(points_of(grouped)[0].spec.problem.n_q, 1);
  EXPECT_EQ(points_of(grouped)[0].spec.problem.n_k, 4096);
  const Import json = imported(R"json([{"impl":"mine","B":2,"N_CTX":64,"H":1,"D":64,"causal":true,"time (ms)":5}])json",
                               ImportFormat::json);
  EXPECT_EQ(points_of(json)[0].spec.problem.batch, 2);
  EXPECT_EQ(points_of(json)[0].spec.problem.mask, Mask::causal);
  EXPECT_EQ(median_of(points_of(json)[0]), 5e6);
}

TEST(ImportIdentity, TimesHaveTheirUnitAnywhere) {
  const std::pair<const char*, double> names[] = {{"latency_ms_median", 2e6},
                                                  {"GPU Time (sec)", 2e9},
                                                  {"time [us]", 2e3},
                                                  {"Latency(ms)", 2e6},
                                                  {"ms", 2e6},
                                                  {"avg_time_us", 2e3},
                                                  {"Duration_ns", 2},
                                                  {"Kernel time, ms", 2e6},
                                                  {"mean_ms", 2e6},
                                                  {"p50_us", 2e3},
                                                  {"runtime_seconds", 2e9}};
  for (const auto& [name, nanoseconds] : names) {
    const Import import = imported(fmt::format("algorithm,N,heads,d,\"{}\"\na,64,1,64,2\n", name));
    ASSERT_EQ(import.devices.size(), 1U) << name;
    EXPECT_EQ(median_of(points_of(import)[0]), nanoseconds) << name;
  }
  for (const char* name : {"tokens_per_s", "tokens/s", "num_s", "total_flops", "compile_ms"}) {
    EXPECT_THAT(import_error(fmt::format("algorithm,N,heads,d,{}\na,64,1,64,2\n", name)),
                HasSubstr("no row has a time"))
        << name;
  }
  EXPECT_THAT(import_error("algorithm,N,heads,d,time\na,64,1,64,2\n"),
              AllOf(HasSubstr("column 'time'"), HasSubstr("no unit"), HasSubstr("--map 'time=time_ms'")));
}

TEST(ImportIdentity, UnknownColumnThatVariesIsAnError) {
  const std::string table = "algorithm,N,heads,d,sink,time_ns\na,64,1,64,0,5\na,64,1,64,128,7\n";
  EXPECT_EQ(import_error(table),
            "column 'sink' is not recognized and differs between rows (give --map 'sink=FIELD' or --ignore "
            "'sink')");
  EXPECT_THAT(import_error("algorithm,N,heads,d,x,y,time_ns\na,64,1,64,0,1,5\na,64,1,64,,2,7\n"),
              AllOf(HasSubstr("columns 'x', 'y' are not recognized"), HasSubstr("--map 'y=FIELD'")));
  EXPECT_THAT(import_error(table, ImportFormat::csv, {.ignore = {"sink"}}),
              HasSubstr("line 3, column 'sink': the row equals line 2 except for this ignored column"));
}

TEST(ImportIdentity, ConstantUnknownColumnIsIgnored) {
  const Import import = imported("algorithm,N,heads,d,seed,time_ns\na,64,1,64,7,5\na,128,1,64,7,9\n");
  EXPECT_THAT(import.ignored, ElementsAre("seed"));
  EXPECT_EQ(points_of(import).size(), 2U);
}

TEST(ImportIdentity, UserMapsAndIgnoresColumns) {
  const std::string table = "who,N,heads,d,T,note,t\na,64,1,64,2,x,5\na,64,1,64,4,y,7\n";
  const Import import = imported(table, ImportFormat::csv,
                                 {.map = {{"who", "algorithm"}, {"T", "batch"}, {"t", "time_us"}}, .ignore = {"note"}});
  ASSERT_EQ(points_of(import).size(), 2U);
  EXPECT_EQ(points_of(import)[1].spec.problem.batch, 4);
  EXPECT_EQ(median_of(points_of(import)[1]), 7000);
  // Several columns form the algorithm's name.
  const Import tuned = imported("N,heads,d,warps,time_ns\n64,1,64,4,5\n64,1,64,8,7\n", ImportFormat::csv,
                                {.given = {{"algorithm", "mine"}}, .map = {{"warps", "algorithm"}}});
  EXPECT_EQ(points_of(tuned)[1].spec.algorithm, "mine warps=8");
  EXPECT_THAT(import_error(table, ImportFormat::csv, {.map = {{"who", "person"}}}),
              HasSubstr("--map who=person: 'person' is not a field"));
  EXPECT_THAT(import_error(table, ImportFormat::csv, {.map = {{"who", "N"}}}), HasSubstr("another column for N"));
  EXPECT_THAT(import_error(table, ImportFormat::csv, {.ignore = {"not"}}),
              HasSubstr("--ignore 'not': the file has no such column (did you mean 'note'?)"));
}

TEST(ImportIdentity, ExtraColumnOfALongTableDoesNotSplitAPoint) {
  const std::string header = "algorithm,N,d,heads,metric,value,unit,";
  for (const char* name : {"stddev", "run_to_run", "Samples taken"}) {
    const Import import = imported(header + name +
                                   "\nflash,4096,128,32,time_median_ns,690,us,2.1\n"
                                   "flash,4096,128,32,dram_read_bytes,120,Mbyte,4\n"
                                   "flash,4096,128,32,dram_write_bytes,33.6,Mbyte,0.1\n");
    ASSERT_EQ(points_of(import).size(), 1U) << name;
    EXPECT_EQ(median_of(points_of(import)[0]), 690e3);
    EXPECT_DOUBLE_EQ(evaluate(metric_key::dram_bytes, points_of(import)[0])->value, 153.6e6);
  }
  // It may be a parameter of the problem if values repeat.
  EXPECT_THAT(import_error(header + "sink\na,64,64,1,time_ns,5,,0\na,64,64,1,time_ns,7,,128\n"),
              HasSubstr("line 3: duplicate value of time_ns for this point and kernel"));
  EXPECT_THAT(import_error(header + "variant\na,64,64,1,time_ns,5,,x\na,64,64,1,dram_read_bytes,7,,y\n"),
              HasSubstr("column 'variant' is not recognized"));
}

TEST(ImportIdentity, GivenFieldsCompleteTheFile) {
  const std::string table = "N,time_ms\n64,5\n128,7\n";
  EXPECT_EQ(import_error(table),
            "line 1: missing algorithm, heads, d (rename a column with --map COLUMN=FIELD, or give --algorithm NAME -a "
            "heads=VALUE -a d=VALUE)");
  const ImportRequest request{.given = {{"algorithm", "mine"}, {"heads", "4"}, {"d", "64"}, {"mask", "causal"}}};
  const Import import = imported(table, ImportFormat::csv, request);
  EXPECT_EQ(points_of(import)[1].spec.problem.heads_kv, 4);
  EXPECT_EQ(points_of(import)[1].spec.problem.mask, Mask::causal);
  const Import json = imported(R"([{"N":64,"time_ns":5}])", ImportFormat::json, request);
  EXPECT_EQ(points_of(json)[0].spec.problem.d, 64);
  const Import stated = imported("N,d,time_ms\n64,128,5\n", ImportFormat::csv, request);
  EXPECT_EQ(points_of(stated)[0].spec.problem.d, 128) << "the file's value counts";
  EXPECT_THAT(all_notes(stated), HasSubstr("the file states d; the value of the options is not used"));
  EXPECT_THAT(import_error(R"([{"N":64,"time_ns":5}])", ImportFormat::json),
              HasSubstr("points[0]: missing algorithm, heads, d ("));
}

TEST(ImportIdentity, SpreadOfTheFileIsKept) {
  const Import import = imported("algorithm,N,heads,d,mean_us,std_us\na,64,1,64,100,10\n");
  const PointRecord& point = points_of(import)[0];
  EXPECT_EQ(median_of(point), 100e3);
  EXPECT_NEAR(evaluate(metric_key::time_q1_ns, point)->value, 93.255e3, 1);
  EXPECT_NEAR(evaluate(metric_key::time_q3_ns, point)->value, 106.745e3, 1);
  EXPECT_THAT(all_notes(import), AllOf(HasSubstr("1 row: the time is a mean"), HasSubstr("standard deviation")));
}

/// Returns the standard deviation of the first point's quartiles, relative to its median, in percent.
double stated_percent(const std::string& columns, const std::string& values, const ImportRequest& request = {}) {
  const Import import =
      imported("algorithm,N,heads,d," + columns + "\na,64,1,64," + values + '\n', ImportFormat::csv, request);
  const auto spread = evaluate(metric_key::time_spread, points_of(import)[0]);
  return spread ? spread->value / 1.349 * 100 : 0;
}

TEST(ImportIdentity, BuildsAndMachinesAreNotDropped) {
  const std::string header = "algorithm,N,heads,d,time_ns,";
  for (const char* name : {"commit", "host"}) {
    EXPECT_THAT(import_error(header + name + "\na,64,1,64,5,x\na,64,1,64,9,y\n"), HasSubstr(name)) << name;
    EXPECT_EQ(points_of(imported(header + name + "\na,64,1,64,5,x\na,128,1,64,9,x\n")).size(), 2U) << name;
  }
  EXPECT_THAT(
      import_error(header + "commit\na,64,1,64,5,x\na,64,1,64,9,y\n", ImportFormat::csv, {.ignore = {"commit"}}),
      HasSubstr("instead of --ignore"));
}

TEST(ImportIdentity, ClocksOfOtherNames) {
  for (const char* column : {"gpu_clock_mhz", "SM clock [MHz]", "clock (MHz)"}) {
    const Import import = imported(std::string("algorithm,N,heads,d,time_ns,") + column + "\na,64,1,64,5,1980\n");
    EXPECT_EQ(points_of(import)[0].clocks.value().sm_clock_hz, 1.98e9) << column;
  }
}

TEST(ImportSpread, HasTheUnitOfItsTimeOrIsRelative) {
  const std::tuple<const char*, const char*, double> cases[] = {
      {"time_ms,std", "2,0.2", 10},
      {"time_ms,std_us", "2,200", 10},
      {"std,time_us", "0.2,2", 10},
      {"mean (ms),std (ms)", "2,0.2", 10},
      {"latency,std", "2 ms,0.2 ms", 10},
      {"time_ms,noise", "2,10%", 10},
      {"time_ms,noise_pct", "2,10", 10},
      {"time_ms,cv", "2,0.1", 10},
      {"time_ms", "2 ± 10%", 10},
      {"tflops,tflops_std", "1e-3,1e-4", 10},
      {"time_ms,iqr", "2,0.2698", 10},
      {"time_ms,ci95_ms,samples", "2,0.196,4", 10},
      {"time_ms,ci95_lower,ci95_upper,samples", "2,1.804,2.196,4", 10},
      {"time_ms,std of time [us]", "2,200", 10},
      {"tflops,tflops_min,tflops_max,samples", "1e-3,0.882024e-3,1.117976e-3,5", 10},
      {"tflops,min,max,samples", "1e-3,0.882024e-3,1.117976e-3,5", 10},
      {"time_ms,mean,std", "2,2.1,0.2", 10},
      {"time_ms,time_spread", "2,0.1349", 10},
      {"time_ms,stderr,samples", "2,0.1,4", 10},
      {"time_ms,q1,q3", "2,1.8651,2.1349", 10},
      {"count,mean_ms,std,min,25%,50%,75%,max", "5,2,9,1,1.8651,2,2.1349,4", 10},
      {"time_ms,p5,p95", "2,1.67103,2.32897", 10},
      {"time_ms,std,std_of_two", "2,0,7", 0},
      {"time_ms,max_ms", "2,9", 0},
      {"time_ms,noise", "2,inf", 0},
  };
  for (const auto& [columns, values, percent] : cases) {
    EXPECT_NEAR(stated_percent(columns, values), percent, 1e-2) << columns;
  }
  EXPECT_NEAR(stated_percent("time_ms,x", "2,10", {.map = {{"x", "stddev_pct"}}}), 10, 1e-2);
  const std::string header = "algorithm,N,heads,d,";
  EXPECT_THAT(import_error(header + "time_ms,cv\na,64,1,64,2,3.5\n"), HasSubstr("--map 'cv=stddev_pct'"));
  EXPECT_THAT(import_error(header + "time_ms,min_us,max_us\na,64,1,64,2,1.9,2.2\n"), HasSubstr("unit"));
  EXPECT_THAT(import_error(header + "time_ms,q1_ms,q3_ms\na,64,1,64,2,3,1\n"), HasSubstr("quartile"));
  const Import samples = imported(header + "time_ms,samples_ms,std_ms\na,64,1,64,2,1 2 3,0.1\n");
  EXPECT_EQ(points_of(samples)[0].kernel("all")->samples_ns.size(), 3U);
  EXPECT_THAT(import_error(header + "time_ms,x\na,64,1,64,2,1\n", ImportFormat::csv, {.map = {{"x", "stddev"}}}),
              HasSubstr("stddev_ms"));
}

TEST(ImportSpread, BelongsToItsProvider) {
  const Import import = imported("N,heads,d,x (ms),y (ms),x std,y std (us)\n64,1,64,2,4,0.2,800\n");
  ASSERT_EQ(points_of(import).size(), 2U);
  EXPECT_NEAR(evaluate(metric_key::time_spread, points_of(import)[0])->value, 0.1349, 1e-4);
  EXPECT_NEAR(evaluate(metric_key::time_spread, points_of(import)[1])->value, 0.2698, 1e-4);
}

TEST(ImportSpread, OfLongTables) {
  const std::string header = "algorithm,N,heads,d,metric,value,unit";
  const auto percent = [](const Import& import) {
    EXPECT_EQ(points_of(import).size(), 1U);
    return evaluate(metric_key::time_spread, points_of(import)[0])->value / 1.349 * 100;
  };
  const std::string rows = "\na,64,1,64,time_median_ns,200,us,20\na,64,1,64,dram_read_bytes,100,byte,3\n";
  EXPECT_NEAR(percent(imported(header + ",stddev" + rows)), 10, 1e-2);
  EXPECT_NEAR(percent(imported(header + ",stddev_pct" + rows)), 20, 1e-2);
  EXPECT_NEAR(percent(imported(header + "\na,64,1,64,p50,200,us\na,64,1,64,std,20,us\na,64,1,64,min,1,us\n")), 10,
              1e-2);
  const std::string quartiles = ",p25,p75\na,64,1,64,time,200,us,186.51,213.49\na,64,1,64,dram_read_bytes,9,byte,8,9\n";
  EXPECT_NEAR(percent(imported(header + quartiles)), 10, 1e-2);
}

TEST(ImportIdentity, StatedRateMustFollow) {
  // 4 N^2 d FLOPs per head: 0.0687 TFLOP in 1 ms.
  const std::string header = "algorithm,N,heads,d,causal,time_ms,";
  EXPECT_THAT(all_notes(imported(header + "TFLOPS\na,4096,8,128,0,1,68.7\n")), IsEmpty());
  EXPECT_THAT(all_notes(imported(header + "achieved_gflop_s\na,4096,8,128,1,1,34360\n")), IsEmpty());
  EXPECT_THAT(all_notes(imported(header + "TFLOP/s\na,4096,8,128,1,1,68.7\n")), HasSubstr("counts the masked part"));
  EXPECT_THAT(import_error(header + "TFLOPS\na,4096,8,128,0,1,72\n"),
              HasSubstr("line 2, column 'TFLOPS': 72 TFLOP/s contradicts 68.72 TFLOP/s"));
  EXPECT_THAT(import_error(header + "TFLOPS\na,4096,8,128,0,1000,68.7\n"), HasSubstr("contradicts 0.06872 TFLOP/s"));
  const Import mean = imported("algorithm,N,heads,d,median_ms,mean_ms,TFLOPS\na,4096,8,128,1,1.25,55\n");
  EXPECT_THAT(all_notes(mean), HasSubstr("that of the mean time"));
  EXPECT_EQ(median_of(points_of(mean)[0]), 1e6);
}

TEST(ImportIdentity, RateAloneGivesATime) {
  const Import import = imported(
      "algorithm,N,heads,d,causal,TFLOPS\na,4096,8,128,0,68.719476736\n"
      "a,4096,8,128,1,34.359738368\n");
  EXPECT_NEAR(median_of(points_of(import)[0]), 1e6, 1e3);
  EXPECT_NEAR(median_of(points_of(import)[1]), 1e6, 1e3);
  EXPECT_EQ(evaluate(metric_key::time_median_ns, points_of(import)[0])->provenance, Provenance::imported);
  EXPECT_THAT(all_notes(import), HasSubstr("2 rows: the time follows from the stated TFLOP/s"));
}

TEST(ImportIdentity, FailedRowsHaveTheirReason) {
  const Import import = imported("impl,N,H,D,status,note,ms\na,64,1,64,ok,,5\na,128,1,64,OOM,needs 9 GB,\n");
  EXPECT_EQ(points_of(import)[1].disposition, Disposition::out_of_memory);
  EXPECT_EQ(text(points_of(import)[1].reason), "needs 9 GB");
  EXPECT_THAT(import_error("impl,N,H,D,status,note,ms\na,64,1,64,ok,short,5\na,64,1,64,ok,long,7\n"),
              HasSubstr("column 'note' is not recognized"))
      << "a note of a row that ran may describe the problem";
}

/// Random tables of distinct problems.
class RandomTables : public ::testing::Test {
 protected:
  struct Column {
    std::vector<std::string> names;  ///< the program's, then synonyms
    std::vector<std::string> values;
  };
  static const std::vector<Column>& columns() {
    static const std::vector<Column> all{
        {{"algorithm", "impl", "Provider", "Annotation"}, {"a", "b"}},
        {{"batch", "B", "batch_size", "Batch Size"}, {"1", "2", "8"}},
        {{"N", "seqlen", "N_CTX", "seq_len"}, {"64", "128", "256"}},
        {{"heads", "nheads", "H", "num_heads"}, {"1", "4"}},
        {{"d", "headdim", "D", "Head dim"}, {"64", "128"}},
        {{"mask", "causal", "is_causal"}, {"true", "false"}},
        {{"dtype", "Precision", "data_type"}, {"fp16", "torch.bfloat16", "float8_e4m3fn"}},
        {{"pass", "Direction"}, {"fwd", "bwd"}},
        {{"dropout", "dropout_p"}, {"0", "0.5"}},
    };
    return all;
  }

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  bool chance(double share) { return std::bernoulli_distribution(share)(random_); }

  struct Table {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  ///< texts, without numbers
    bool is_long = false;
    std::string csv;
  };

  std::string name_of(const Column& column) {
    if (chance(0.05)) return fmt::format("param{}", below(1000));
    const std::string& name = column.names[below(column.names.size())];
    // "true" is no mask of ours.
    return name == "mask" ? "causal" : name;
  }

  Table table() {
    Table made;
    made.is_long = chance(0.3);
    std::vector<const Column*> kept;
    for (const Column& column : columns()) {
      if (!chance(0.12)) kept.push_back(&column);
    }
    std::ranges::shuffle(kept, random_);
    for (const Column* column : kept) made.header.push_back(name_of(*column));
    std::set<std::vector<std::string>> distinct;
    for (std::size_t i = 0, count = 1 + below(5); i < count; ++i) {
      std::vector<std::string> row;
      for (const Column* column : kept) row.push_back(column->values[below(column->values.size())]);
      if (distinct.insert(row).second) made.rows.push_back(row);
    }
    for (const std::string& name : made.header) made.csv += name + ",";
    made.csv += made.is_long ? "metric,value\n" : "time_us,dram_read_bytes\n";
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < made.rows.size(); ++i) {
      std::string texts;
      for (const std::string& value : made.rows[i]) texts += value + ",";
      if (made.is_long) {
        lines.push_back(fmt::format("{}time_ns,{}\n", texts, (i + 1) * 1000));
        lines.push_back(fmt::format("{}dram_read_bytes,{}\n", texts, i + 1));
      } else {
        lines.push_back(fmt::format("{}{},{}\n", texts, i + 1, i + 1));
      }
    }
    std::ranges::shuffle(lines, random_);
    for (const std::string& line : lines) made.csv += line;
    return made;
  }

  std::mt19937_64 random_{20260729};
};

/// Writes random tables in each format that has columns. Row i takes i + 1 us.
class RandomShapes : public RandomTables {
 protected:
  static constexpr int shapes = 10;

  static std::string joined(const std::vector<std::string>& cells, std::string_view separator) {
    return fmt::format("{}", fmt::join(cells, separator));
  }

  /// Returns objects such as {"name":"N","value":"64"} or "N":"64".
  static std::string members(const Table& table, std::size_t row, bool named) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      all.push_back(fmt::format(fmt::runtime(named ? R"({{"name":"{}","value":"{}"}})" : R"("{}":"{}")"),
                                table.header[i], table.rows[row][i]));
    }
    return joined(all, ",");
  }

  /// Removes the algorithm, and rows that are equal without it.
  static void drop_algorithm(Table& table) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      if (std::ranges::count(columns().front().names, table.header[i]) == 0) continue;
      table.header.erase(table.header.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
      const std::set<std::vector<std::string>> distinct(table.rows.begin(), table.rows.end());
      table.rows.assign(distinct.begin(), distinct.end());
      return;
    }
  }

  /// Returns the table's text; `points`: its number of points.
  static std::string written(Table& table, int shape, std::size_t& points) {
    if (shape == 1) drop_algorithm(table);
    points = table.rows.size() * (shape == 1 ? 2 : 1);
    std::string text;
    const auto line = [&](std::string_view separator, const std::vector<std::string>& cells,
                          const std::vector<std::string>& more) {
      std::vector<std::string> all = cells;
      all.insert(all.end(), more.begin(), more.end());
      text += joined(all, separator) + "\n";
    };
    const std::vector<std::string> headings[] = {
        {},          {"p (us)", "q (us)"},          {"time_us"},
        {"time_us"}, {"Skipped", "GPU Time (sec)"}, {"AvgValue", "StdDev", "Metric", "Unit"}};
    if (shape == 4) text += "Benchmark,";
    if (shape >= 1 && shape <= 5) {
      line(shape == 2 ? " | " : shape == 3 ? ";" : ",", table.header, headings[shape]);
    }
    if (shape == 2) line("|", std::vector<std::string>(table.header.size() + 1, "---"), {});
    std::vector<std::string> objects;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const std::vector<std::string>& row = table.rows[i];
      const std::string time = std::to_string(i + 1);
      if (shape == 4) text += "bench,";
      if (shape == 1) line(",", row, {std::to_string(2 * i + 1), std::to_string(2 * i + 2)});
      if (shape == 2) line(" | ", row, {time});
      if (shape == 3) line(";", row, {time + ".0"});
      if (shape == 4) line(",", row, {"No", fmt::format("{}e-6", i + 1)});
      if (shape == 5) line(",", row, {time, "0", "gpu__time_duration.sum", "us"});
      const std::string object = members(table, i, shape == 8);
      if (shape == 6 || shape == 7) objects.push_back(fmt::format(R"({{{},"time_us":{}}})", object, i + 1));
      if (shape == 8) {
        objects.push_back(fmt::format(R"({{"axis_values":[{}],"summaries":[{{"tag":"nv/cold/time/gpu/mean","data":)"
                                      R"([{{"name":"value","value":"{}e-6"}}]}}]}})",
                                      object, i + 1));
      }
      if (shape == 9) objects.push_back(fmt::format(R"("{}":{{{},"time":{}e-3}})", i, object, i + 1));
    }
    if (shape == 6) return "[" + joined(objects, ",") + "]";
    if (shape == 7) return joined(objects, "\n");
    if (shape == 8) return R"({"benchmarks":[{"name":"bench","states":[)" + joined(objects, ",") + "]}]}";
    if (shape == 9) {
      return R"({"kernel_name":"bench","tune_params_keys":[")" + joined(table.header, "\",\"") + R"("],"cache":{)" +
             joined(objects, ",") + "}}";
    }
    return shape == 0 ? table.csv : text;
  }
};

TEST_F(RandomShapes, DifferentProblemsNeverBecomeOnePoint) {
  std::vector<int> imports(shapes);
  int errors = 0;
  for (int i = 0; i < 10'000; ++i) {
    Table made = table();
    if (made.header.empty()) continue;
    std::size_t wanted = 0;
    const std::string text = written(made, i % shapes, wanted);
    ImportRequest request;
    for (const char* field : {"algorithm", "N", "heads", "d"}) {
      const auto& column = *std::ranges::find(columns(), field, [](const Column& each) { return each.names.front(); });
      const bool lacks = std::ranges::none_of(
          made.header, [&](const std::string& name) { return std::ranges::count(column.names, name) > 0; });
      const bool algorithm = field == std::string("algorithm");
      if (lacks && !(algorithm && i % shapes == 1)) request.given.push_back({field, algorithm ? "a" : "64"});
    }
    const Result<Import, Message> result = import_points(text, detect_import_format(text), request);
    if (!result) {
      ++errors;
      continue;
    }
    ++imports.at(static_cast<std::size_t>(i % shapes));
    std::set<std::string> identities;
    std::set<double> times;
    std::size_t count = 0;
    for (const ImportedDevice& device : result->devices) {
      for (const PointRecord& point : device.points) {
        ++count;
        identities.insert(canonical_text(point.spec));
        times.insert(std::round(median_of(point)));
        if (i % shapes == 0) {
          EXPECT_EQ(median_of(point), 1000 * evaluate(metric_key::dram_read_bytes, point)->value) << text;
        }
      }
    }
    ASSERT_EQ(count, wanted) << text;
    ASSERT_EQ(identities.size(), wanted) << text;
    ASSERT_EQ(times.size(), wanted) << text;
    EXPECT_EQ(*times.rbegin(), 1000 * static_cast<double>(wanted)) << text;
  }
  EXPECT_THAT(imports, ::testing::Each(::testing::Gt(100)));
  EXPECT_GT(errors, 500);
}

}  // namespace
}  // namespace attnscope::testing
