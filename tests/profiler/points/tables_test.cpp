// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "messages/law.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/roofline/roofline.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts(const Table& table, std::string_view key) {
  std::vector<std::string> all;
  const Column* column = table.find(key);
  for (std::size_t row = 0; column != nullptr && row < table.rows; ++row) all.push_back(column->cell(row).text);
  return all;
}

std::vector<std::string> keys(const Table& table) {
  std::vector<std::string> all;
  for (const Column& column : table.columns) all.push_back(column.key);
  return all;
}

Table number_table(const std::vector<std::optional<double>>& values) {
  TableBuilder<std::optional<double>> table(values);
  table.add({.key = "value"}, [](const std::optional<double>& value) { return value; });
  return std::move(table).take();
}

TEST(Tables, SortByAColumnWithMissingValuesLast) {
  const Table table = number_table({2, std::nullopt, 10, 2, std::numeric_limits<double>::quiet_NaN(), -1});
  EXPECT_THAT(table.ordered(0, false), ElementsAre(5, 0, 3, 2, 1, 4));
  EXPECT_THAT(table.ordered(0, true), ElementsAre(2, 0, 3, 5, 1, 4)) << "stable sort";
}

TEST(Tables, TextsSortAsTextUnlessTheyHaveANumber) {
  TableBuilder<std::string> table({"10", "9", "", "a"});
  table.add({.key = "word"}, [](const std::string& word) { return word; });
  table.add({.key = "ranked"},
            [](const std::string& word) { return Cell{.text = "same", .number = -static_cast<double>(word.size())}; });
  const Table result = std::move(table).take();
  EXPECT_THAT(result.ordered(0, false), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(result.ordered(0, true), ElementsAre(3, 1, 0, 2));
  EXPECT_THAT(result.ordered(1, false), ElementsAre(0, 1, 3, 2));
}

TEST(Tables, CellsAreComputedOnDemand) {
  std::size_t made = 0;
  TableBuilder<int> table(std::vector<int>(100'000, 1));
  Column& column = table.add({.key = "value", .kind = ColumnKind::number}, [&made](int value) {
    ++made;
    return Cell{.text = "dear", .number = value};
  });
  column.number = table.of([](int value) { return std::optional<double>(value); });
  const Table result = std::move(table).take();
  EXPECT_EQ(result.ordered(0, false).size(), result.rows);
  EXPECT_EQ(made, 0U) << "sorting calls only `number`";
  EXPECT_EQ(result.columns[0].cell(99'999).text, "dear");
  EXPECT_EQ(made, 1U);
}

TEST(Tables, EmptyColumnsAreDropped) {
  TableBuilder<int> table({0, 1});
  table.add({.key = "none"}, [](int) { return std::string(); });
  table.add({.key = "one"}, [](int value) { return std::string(value == 1 ? "x" : ""); });
  Table result = std::move(table).take();
  result.drop_empty_columns();
  EXPECT_THAT(keys(result), ElementsAre("one"));
  result.drop("one");
  EXPECT_THAT(keys(result), ElementsAre());
  EXPECT_EQ(result.find("one"), nullptr);
}

TEST(Tables, RawNumbersAreExact) {
  const Table table = number_table({12, 0.1, 1e300, std::nullopt, std::numeric_limits<double>::infinity()});
  EXPECT_THAT(texts(table, "value"), ElementsAre("12", "0.1", "1e+300", "", ""));
  EXPECT_EQ(table.columns[0].kind, ColumnKind::number);
}

TEST(Tables, ColumnToneOverridesRowTone) {
  Table table;
  table.tone = [](std::size_t row) { return row == 0 ? Tone::muted : Tone::plain; };
  const Column plain;
  const Column judged{.key = "judged", .tone = [](std::size_t) { return Tone::worse; }};
  EXPECT_EQ(table.tone_of(plain, 0), Tone::muted);
  EXPECT_EQ(table.tone_of(plain, 1), Tone::plain);
  EXPECT_EQ(table.tone_of(judged, 0), Tone::worse);
  EXPECT_EQ(Table{}.tone_of(plain, 0), Tone::plain);
}

const std::vector<Ceiling> some_ceilings{
    {.name = "dram_copy", .value = 4.1e12, .q1 = 4.0e12, .q3 = 4.2e12, .unit = "byte/s"},
    {.name = "dram_copy_clock", .value = 1.755e9, .unit = "hertz"},
    {.name = "l2_private_miss", .argument = 30.0 * 1024 * 1024, .value = 0.25, .unit = "1"},
    {.name = "l2_private_capacity",
     .value = 42.0 * 1024 * 1024,
     .q1 = 10.0 * 1024 * 1024,
     .q3 = 150.0 * 1024 * 1024,
     .unit = "byte",
     .source = CeilingSource::datasheet}};

TEST(CeilingTable, ScalesUnits) {
  const Table table = ceiling_table(ceiling_rows(some_ceilings));
  EXPECT_THAT(texts(table, "value"), ElementsAre("4.10 TB/s", "42 MiB", "0.250"));
  EXPECT_THAT(texts(table, "data"), ElementsAre("", "", "30 MiB"));
  EXPECT_THAT(texts(table, "spread"), ElementsAre("±2.44%", "±70 MiB", "")) << "above 100% in absolute units";
  EXPECT_THAT(texts(table, "clock"), ElementsAre("1755 MHz", "", ""));
  EXPECT_THAT(texts(table, "provenance"), ElementsAre("measured", "datasheet", "measured"));
  EXPECT_EQ(table.tone_of(table.columns[0], 0), Tone::plain);
  EXPECT_EQ(table.tone_of(table.columns[0], 1), Tone::muted);
}

TEST(CeilingTable, RawValuesUseBaseUnits) {
  const DatedCeilings set{.device_uuid = "GPU-1", .measured_at = "2026", .ceilings = some_ceilings};
  const Table table = ceiling_data({&set, 1});
  EXPECT_THAT(keys(table), ElementsAre("device_uuid", "measured_at", "ceiling", "argument", "value", "q1", "q3", "unit",
                                       "provenance"));
  EXPECT_THAT(texts(table, "value"), ElementsAre("4100000000000", "1755000000", "0.25", "44040192"));
  EXPECT_THAT(texts(table, "q1"), ElementsAre("4000000000000", "", "", "10485760"));
  EXPECT_THAT(texts(table, "device_uuid").front(), "GPU-1");
}

// A valid law family and a withheld one.
std::vector<LawFamily> two_families() {
  LawFamily holds;
  holds.algorithm = "fa2";
  holds.law = {"Theorem 2", "N²d²/M", {2, 2, -1}};
  holds.points.resize(12);
  holds.fit = PowerLawFit{};
  holds.fit->coefficient = 8;
  holds.fit->exponents = {1.986, 2.004, -0.98};
  holds.fit->intervals = {{1.97, 2.002}, {1.999, 2.009}, {-1, -0.96}};
  holds.fit->residuals = {0.0123, -0.002};
  holds.closed_form = PowerLawFit{};
  holds.closed_form->residuals = {0.5};
  holds.closed_form->exponents = {2, 2, -1e-9};
  holds.band = {.low = 8.25, .median = 9, .high = 12.5};
  holds.bytes_ratio = 64;
  LawFamily withheld;
  withheld.algorithm = "fa1";
  withheld.law = holds.law;
  withheld.level = LawLevel::dram;
  withheld.points.resize(6);
  withheld.outside = 2;
  withheld.cycles = false;
  withheld.refusal = ExponentRefusal::too_few;
  return {holds, withheld};
}

TEST(LawTable, ListsLawsThenFamiliesWithClosedForms) {
  const PointTable points = fixtures::Points(fixtures::memory_wall()).table();
  const std::vector<LawFamily> families = two_families();
  const Table table = law_table(points, families);
  EXPECT_THAT(texts(table, "series"),
              ElementsAre(text(msg::law::theorem{.law = families[0].law.text, .title = families[0].law.title}),
                          HasSubstr("FA2"), HasSubstr(text(msg::law::closed_form{})), HasSubstr("FA1")));
  EXPECT_THAT(texts(table, "N"), ElementsAre("2", "1.986 ± 0.016", "2.000", ""));
  EXPECT_THAT(texts(table, "M"), ElementsAre("-1", "-0.980 ± 0.020", "0.000", "")) << "never -0.000";
  EXPECT_THAT(texts(table, "points"), ElementsAre("", "12", "", "6"));
  EXPECT_THAT(texts(table, "miss"), ElementsAre("", "1.23%", "50%", ""));
  EXPECT_THAT(texts(table, "band").at(1), "8.25 – 12.5");
  EXPECT_THAT(texts(table, "source"), ElementsAre("", "derived · test · H200", "modeled", "derived · test · H200"));
  const std::string note = texts(table, "note").at(3);
  EXPECT_THAT(note, HasSubstr(text(msg::law::no_fit{.reason = refusal_text(families[1])})));
  EXPECT_THAT(note, HasSubstr(text(msg::law::rereads_hit_l2{})));
  EXPECT_THAT(note, HasSubstr(text(msg::law::excluded{.cached = 0, .outside = 2})));
  EXPECT_THAT(table.find("N")->tip(1), HasSubstr("[1.970, 2.002]"));
  EXPECT_EQ(table.find("N")->tip(0), "");
  EXPECT_EQ(table.tone_of(*table.find("N"), 1), Tone::plain);
  EXPECT_EQ(table.tone_of(*table.find("N"), 2), Tone::muted);
  EXPECT_EQ(law_table(points, {&families[0], 1}).find("note"), nullptr) << "missing value";
}

TEST(LawTable, RawRowsHaveWholeFamilies) {
  const PointTable points = fixtures::Points(fixtures::memory_wall()).table();
  const std::vector<LawFamily> families = two_families();
  const std::vector<std::string> files{"law.attnscope"};
  const Table table = law_data(points, families, files);
  EXPECT_THAT(keys(table), ElementsAre("file", "run", "device", "algorithm", "level", "provenance", "problem", "points",
                                       "excluded_out_of_range", "excluded_in_l2", "N", "N_low", "N_high", "N_theorem",
                                       "N_closed_form", "d", "d_low", "d_high", "d_theorem", "d_closed_form", "M",
                                       "M_low", "M_high", "M_theorem", "M_closed_form", "coefficient", "max_residual",
                                       "collapse_low", "collapse_median", "collapse_high", "spread", "no_fit_reason"));
  EXPECT_THAT(texts(table, "file"), ElementsAre("law.attnscope", "law.attnscope"));
  EXPECT_THAT(texts(table, "level"), ElementsAre(HasSubstr("L2"), HasSubstr("DRAM")));
  EXPECT_THAT(texts(table, "N"), ElementsAre("1.986", ""));
  EXPECT_THAT(texts(table, "M_theorem"), ElementsAre("-1", "-1"));
  EXPECT_THAT(texts(table, "collapse_high"), ElementsAre("12.5", "0"));
  EXPECT_THAT(texts(table, "no_fit_reason"), ElementsAre("", english_text(refusal_text(families[1]))));
}

}  // namespace
}  // namespace attnscope::analysis
