// SPDX-License-Identifier: Apache-2.0
// A knob that an algorithm states, and a field of the table of fields, reach plan, file, export and import with nothing
// else changed.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "kernels/common_knobs.h"
#include "kernels/legacy/fa2_rule.h"
#include "kernels/registry.h"
#include "profiler/measure/events.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/sweep.h"
#include "storage/exchange/export.h"
#include "storage/exchange/import.h"
#include "storage/migrations.h"
#include "tests/kernels/clustered.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using Mode = RunStore::Mode;

std::vector<PointSpec> points_of(std::initializer_list<std::string_view> axes, const Registry& registry) {
  SweepRequest request;
  for (const std::string_view text : axes) request.axes.push_back(*parse_axis(text, registry));
  const auto plan = make_plan(request, *find_gpu("h200"), registry);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : text(plan.error()));
  return plan.ok() ? plan->points : std::vector<PointSpec>{};
}

PointEvent event_of(const PointSpec& spec) {
  PointEvent event;
  event.spec = spec;
  return event;
}

TEST(Knobs, OneThatAnAlgorithmStatesIsAnAxisAColumnAndAnEvent) {
  const Registry registry = registry_with_knobs();
  const std::vector<PointSpec> specs = points_of({"N=256", "cluster=[0,4]", "order=[up,down]"}, registry);
  ASSERT_EQ(specs.size(), 4U);
  EXPECT_EQ(specs[0].knobs, Knobs());
  EXPECT_EQ(specs[3].knobs, (Knobs{{"cluster", 4}, {"order", "down"}}));
  EXPECT_THAT(describe(specs[3]), HasSubstr("cluster 4 down"));
  EXPECT_EQ(parse_axis("cluster=17", registry).ok(), false);
  EXPECT_EQ(parse_axis("cluster=4", built_in_algorithms()).ok(), false) << "no other registry knows it";

  const auto event = parse_event(to_json_line(event_of(specs[3])));
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(std::get<PointEvent>(*event).spec, specs[3]);

  const TemporaryFolder folder;
  const auto device = make_simulated_device(*find_gpu("h200"), registry);
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  for (std::size_t i = 0; i < specs.size(); ++i) store.add_point(run, i, device->measure(specs[i], {}, {}));
  const std::vector<StoredPoint> stored = store.points();
  ASSERT_EQ(stored.size(), 4U);
  for (std::size_t i = 0; i < specs.size(); ++i) EXPECT_EQ(stored[i].record.spec, specs[i]);

  std::ostringstream csv;
  export_csv(store, {}, csv);
  EXPECT_THAT(csv.str().substr(0, csv.str().find('\n')), ::testing::AllOf(HasSubstr(",cluster"), HasSubstr(",order")));
  const auto imported =
      import_points(csv.str(), ImportFormat::csv, {.device_name = "", .spec = {}, .registry = &registry});
  ASSERT_TRUE(imported.ok()) << imported.error();
  const std::vector<PointRecord>& points = imported->devices.at(0).points;
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t i = 0; i < specs.size(); ++i) EXPECT_EQ(points[i].spec, specs[i]);
}

// A value of every field of the table, other than what goes without saying.
PointSpec changed(const Field& field) {
  PointSpec spec;
  spec.algorithm = "fa2";
  const FieldValue before = field.get(spec);
  FieldValue after = before;
  switch (field.type) {
    case FieldType::integer:
      after = field.name == "page" ? std::int64_t{64} : std::get<std::int64_t>(before) + 1;
      break;
    case FieldType::real:
      after = 0.25;
      break;
    case FieldType::flag:
      after = !std::get<bool>(before);
      break;
    case FieldType::word:
      after = std::string(field.name == "dtype"       ? "bf16"
                          : field.name == "pass"      ? "bwd"
                          : field.name == "mask"      ? "causal"
                          : field.name == "cache"     ? "warm"
                          : field.name == "gpu_order" ? "zigzag"
                                                      : "fa1");
      break;
  }
  EXPECT_TRUE(field.set(spec, after).ok()) << field.name;
  EXPECT_NE(field.get(spec), before) << field.name;
  if (field.name == "heads_kv") spec.problem.heads_q = spec.problem.heads_kv;
  return spec;
}

TEST(Fields, EachReachesHashEventFileExportAndImport) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  std::vector<PointSpec> specs;
  for (const Field& field : point_fields()) {
    specs.push_back(changed(field));
    PointSpec plain;
    plain.algorithm = "fa2";
    if (field.name == "heads_kv") plain.problem.heads_q = specs.back().problem.heads_q;
    EXPECT_NE(identity_text(specs.back()), identity_text(plain)) << field.name;
    const auto event = parse_event(to_json_line(event_of(specs.back())));
    ASSERT_TRUE(event.ok()) << event.error();
    EXPECT_EQ(std::get<PointEvent>(*event).spec, specs.back()) << field.name;
    PointRecord record = simple_record(64);
    record.spec = specs.back();
    store.add_point(run, specs.size() - 1, record);
  }
  const std::vector<StoredPoint> stored = store.points();
  std::ostringstream csv;
  export_csv(store, {}, csv);
  const auto imported = import_points(csv.str(), ImportFormat::csv, {});
  ASSERT_TRUE(imported.ok()) << imported.error();
  ASSERT_EQ(stored.size(), specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(stored[i].record.spec, specs[i]) << point_fields()[i].name;
    EXPECT_EQ(imported->devices.at(0).points.at(i).spec, specs[i]) << point_fields()[i].name;
  }
}

bool has_column(SQLite::Database& database, const std::string& table, const std::string& column) {
  SQLite::Statement found(database, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?");
  found.bind(1, table);
  found.bind(2, column);
  found.executeStep();
  return found.getColumn(0).getInt() == 1;
}

// Whatever a field says, each has its column in files of its schema.
TEST(Migrations, EveryFieldHasItsColumn) {
  for (const Field& field : point_fields()) {
    SQLite::Database file(":memory:", SQLite::OPEN_READWRITE);
    migrate(file, migrations().first(static_cast<std::size_t>(field.since)));
    EXPECT_TRUE(has_column(file, "points", std::string(field.name))) << field.name;
  }
}

// The sample that version 0.1 came with: schema 2, recorded on an H200.
TEST(Migrations, TheSampleOfVersion01KeepsItsValues) {
  const TemporaryFolder folder;
  const RunStore before = RunStore::open(ATTNSCOPE_SAMPLE_OF_0_1, Mode::read_only);
  EXPECT_EQ(before.schema_version(), 2);
  std::filesystem::copy_file(ATTNSCOPE_SAMPLE_OF_0_1, folder / "a.attnscope");
  std::filesystem::permissions(folder / "a.attnscope", std::filesystem::perms::owner_all);
  const RunStore after = RunStore::open(folder / "a.attnscope", Mode::collect);
  EXPECT_EQ(after.schema_version(), newest_schema());
  const auto old_points = before.points();
  const auto new_points = after.points();
  ASSERT_EQ(old_points.size(), new_points.size());
  ASSERT_GT(old_points.size(), 500U);
  for (std::size_t i = 0; i < old_points.size(); ++i) {
    const PointRecord& was = old_points[i].record;
    const PointRecord& is = new_points[i].record;
    ASSERT_EQ(is.spec, was.spec);
    ASSERT_EQ(is.disposition, was.disposition);
    ASSERT_EQ(is.clocks, was.clocks);
    ASSERT_EQ(is.max_abs_error, was.max_abs_error);
    ASSERT_EQ(is.kernels.size(), was.kernels.size());
    for (std::size_t k = 0; k < is.kernels.size(); ++k) {
      ASSERT_EQ(is.kernels[k].samples_ns, was.kernels[k].samples_ns);
      ASSERT_THAT(is.kernels[k].metrics, ::testing::UnorderedElementsAreArray(was.kernels[k].metrics));
    }
  }
  const auto runs = before.runs();
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(after.runs()[i].uid, runs[i].uid);
}

}  // namespace
}  // namespace attnscope::testing
