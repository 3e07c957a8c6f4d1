// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::HasWords;

PointSpec full_spec() {
  return {.algorithm = "naive",
          .problem = {.dtype = DType::bf16,
                      .pass = Pass::fwd_bwd,
                      .mask = *parse_mask("causal+lengths:ramp"),
                      .batch = 2,
                      .heads_q = 8,
                      .heads_kv = 4,
                      .n_q = 3,
                      .n_k = 4,
                      .d = 128,
                      .dropout = 0.1,
                      .page = 32,
                      .deterministic = true},
          .tile = {.br = 16, .bc = 32},
          .knobs = {{"raster", "heads_fastest"}, {"splits", 5}, {"warps", 6}, {"stages", 2}},
          .cache = CacheState::warm};
}

PointRecord full_record() {
  PointRecord record;
  record.spec = full_spec();
  record.disposition = Disposition::incorrect;
  record.reason = make_reason("point.off", "off by 0.1");
  KernelRecord all;
  all.metrics = {{"dram_read_bytes", 1.0 / 3.0, "byte", Provenance::measured},
                 {"occupancy_pct", 49.75, "percent", Provenance::derived}};
  all.samples_ns = {1'000.25, 1e-300, 123'456'789.125};
  all.occupancy_limiter = "registers";
  KernelRecord forward;
  forward.kernel = "fwd";
  forward.launch = LaunchRecord{.kernel = "fwd",
                                .source_file = "fa2/fa2_forward.cuh",
                                .entry = "attn_fa2_forward",
                                .defines = {"ATTN_BR=64", "ATTN_D=64"},
                                .digest = "0b51a03c",
                                .registers = 168,
                                .local_bytes = 8,
                                .static_shared_bytes = 16,
                                .dynamic_shared_bytes = 65'536,
                                .threads = 256,
                                .grid = {64, 3, 2}};
  forward.complete = false;
  record.kernels = {all, forward};
  record.clocks = ClockReading{.sm_clock_hz = 1.98e9,
                               .memory_clock_hz = 3.2e9,
                               .temperature_c = 41,
                               .power_w = 512.5,
                               .throttle_reasons = 0xffff'ffff'ffff'fff4ULL,
                               .throttled = true};
  record.max_abs_error = 0.125;
  record.error_bound = 0.0625;
  record.rms_error = 0.03125;
  record.others = {"GPU-2", "GPU-3"};
  record.wall_seconds = 0.75;
  record.manifest = std::make_shared<const StoredManifest>(
      StoredManifest{.text = "{\n}", .host_code = true, .sources = {{.name = "my.so", .digest = "0f"}}});
  return record;
}

std::vector<Event> events() {
  const Message error =
      make_reason("compile.with_log", "{}\n{}",
                  make_reason("compile.serialized", "ptxas serialized the wgmma instructions"), "line\nline");
  DeviceEvent device;
  device.protocol = worker_protocol;
  device.app_version = "1.2.3";
  device.simulation_reason = "no driver";
  device.device.uuid = "GPU-1";
  device.device.limits = *find_gpu("H200");
  device.environment.driver_version = "580.1";
  device.counters = {CounterState::busy, "in use", "stop the other profiler"};
  return {
      PlanEvent{.version = 2,
                .device_name = "NVIDIA H200",
                .device_uuid = "GPU-1",
                .simulated = true,
                .preset = "quick",
                .database = "/tmp/a \"b\".attnscope",
                .run_id = 7,
                .total = 62,
                .skipped = 2,
                .max_memory_bytes = std::int64_t{1} << 40,
                .counters = "available",
                .rounds = 3,
                .shard = "3/8",
                .shard_points = 9,
                .devices = {"0", "1"}},
      BuildEvent{.done = 1, .total = 2, .kernel = "k", .cached = true, .error = error, .id = "5"},
      StartedEvent{.index = 1, .point = "p", .id = "7", .round = 2, .device = "1"},
      PointEvent{.index = 9,
                 .point_id = 4,
                 .point = "naive",
                 .spec = full_spec(),
                 .disposition = "out-of-memory",
                 .reason = make_reason("point.buffers_memory", "1.0 GiB are free."),
                 .time_median_ns = 1.5,
                 .dram_bytes = 2e12,
                 .dram_settled_bytes = 4e12,
                 .l2_sm_bytes = 3e12,
                 .throttled = true,
                 .provenance = "extrapolated",
                 .id = "8",
                 .round = 1,
                 .rounds = 2,
                 .device = "0"},
      QueuedEvent{.id = "7", .priority = -2, .point = "p", .spec = full_spec()},
      CancelledEvent{.id = "7", .reason = "gone"},
      RefusedEvent{.request = "measure", .id = "7", .reason = "no"},
      ProgressEvent{.done = 1, .total = 2, .elapsed_s = 3, .remaining_s = -1, .by_device = {1, 0}, .id = "1"},
      LogEvent{.level = "warning", .text = "t"},
      DoneEvent{.state = "cancelled", .reason = "asked", .ok = 5, .not_ok = 1, .exit_code = 5},
      device,
      RecordEvent{.id = "3", .usable = false, .records = {full_record(), full_record()}, .left = {1}, .fatal_point = 0},
      ReplyEvent{.id = "4",
                 .usable = false,
                 .unknown = {{"lts__x", {"lts__y"}}},
                 .bytes = 9,
                 .ceilings = CeilingSet{{{.name = "dram_read", .argument = 1, .value = 2, .q1 = 1, .unit = "byte/s"}},
                                        {Message("warm")}},
                 .reason = "lost",
                 .cancelled = true},
  };
}

// Every member differs from its default, so that equal lines prove that all members are read.
TEST(Protocol, EventsRoundTrip) {
  std::set<std::size_t> kinds;
  for (const Event& event : events()) {
    const std::string line = to_json_line(event);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto parsed = parse_event(line);
    ASSERT_TRUE(parsed.ok()) << line << ": " << text(parsed.error());
    EXPECT_EQ(to_json_line(*parsed), line);
    kinds.insert(parsed->index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event>);
  const auto parsed = parse_event(to_json_line(events()[11]));
  const PointRecord record = std::get<RecordEvent>(*parsed).records.at(0);
  EXPECT_EQ(record.spec, full_spec());
  EXPECT_EQ(record.kernels[0].samples_ns, full_record().kernels[0].samples_ns);
  EXPECT_EQ(record.kernels[1].launch, full_record().kernels[1].launch);
  EXPECT_EQ(record.clocks, full_record().clocks);
  EXPECT_EQ(record.max_abs_error, 0.125);
  EXPECT_EQ(record.error_bound, 0.0625);
  EXPECT_EQ(record.rms_error, 0.03125);
  EXPECT_EQ(record.others, full_record().others);
  EXPECT_EQ(record.kernels[0].metrics, full_record().kernels[0].metrics);
  EXPECT_EQ(record.kernels[0].occupancy_limiter, "registers");
  EXPECT_EQ(record.kernels[1].complete, false);
  EXPECT_EQ(*record.manifest, *full_record().manifest);
}

TEST(Protocol, WorkerRequestsRoundTrip) {
  MeasureOptions options;
  options.counters = options.verify = false;
  options.min_samples = 3;
  options.max_samples = 5;
  options.extra_metrics = {"lts__t_sector_hit_rate.pct", "b"};
  options.max_noise = 0.031;
  options.bare = true;
  options.placement = 9;
  options.timeout = std::chrono::milliseconds(1'234);
  options.seed = 0xffff'ffff'ffff'fffeULL;
  options.input_kind = InputKind::ascending;
  const std::string line = to_json_line(WorkerRequest{.request = "measure",
                                                      .id = "12",
                                                      .points = {full_spec(), PointSpec()},
                                                      .options = options,
                                                      .whole = true,
                                                      .names = {"a", "c"},
                                                      .ceilings = CeilingOptions{.rounds = 3, .seed = 4}});
  const auto parsed = parse_worker_request(line);
  ASSERT_TRUE(parsed.ok()) << line;
  EXPECT_EQ(to_json_line(*parsed), line);
  EXPECT_THAT(line, ::testing::HasSubstr(
                        R"("options":{"counters":false,"verify":false,)"
                        R"("extra_metrics":["lts__t_sector_hit_rate.pct","b"],"min_samples":3,"max_samples":5,)"
                        R"("max_noise":0.031,"bare":true,"timeout_ms":1234,"seed":18446744073709551614,)"
                        R"("input_kind":"ascending","placement":9},"whole":true,"names":["a","c"],)"
                        R"("ceilings":{"rounds":3,"seed":4}})"));
  EXPECT_EQ(parsed->options->timeout, options.timeout);
  EXPECT_EQ(parsed->options->seed, options.seed);
  EXPECT_EQ(parsed->points, (std::vector{full_spec(), PointSpec()}));
}

TEST(Protocol, EnumeratorsRoundTrip) {
  DeviceEvent device;
  for (int state = 0; state <= static_cast<int>(CounterState::not_requested); ++state) {
    device.counters.state = static_cast<CounterState>(state);
    const auto parsed = parse_event(to_json_line(device));
    ASSERT_TRUE(parsed.ok()) << state;
    EXPECT_EQ(std::get<DeviceEvent>(*parsed).counters.state, device.counters.state);
  }
  std::string line = to_json_line(device);
  for (const char* state : {"-1", "6"}) {
    EXPECT_FALSE(parse_event(std::string(line).replace(line.find("\"state\":") + 8, 1, state)).ok()) << state;
  }
  ReplyEvent reply;
  reply.ceilings.emplace();
  for (const CeilingSource source : {CeilingSource::datasheet, CeilingSource::measured, CeilingSource::derived}) {
    reply.ceilings->ceilings.push_back({.name = "a", .argument = 3, .q3 = 5, .unit = "byte/s", .source = source});
  }
  EXPECT_EQ(std::get<ReplyEvent>(*parse_event(to_json_line(reply))).ceilings->ceilings, reply.ceilings->ceilings);
}

TEST(Protocol, LineFormatIsStable) {
  EXPECT_EQ(to_json_line(StartedEvent{.index = 3, .point = "fa2"}), R"({"event":"started","index":3,"point":"fa2"})");
  EXPECT_EQ(to_json_line(DoneEvent{.state = "complete", .reason = {}, .ok = 5, .not_ok = 1, .exit_code = 0}),
            R"({"event":"done","state":"complete","reason":"","ok":5,"not_ok":1,"exit_code":0,"infeasible":0})");
}

TEST(Protocol, ParsesReasonAndCode) {
  const auto line = [](const char* of_reason) {
    const auto parsed = parse_event(std::string(R"({"event":"point","disposition":"crashed",)") + of_reason + "}");
    return parsed ? std::get<PointEvent>(*parsed).reason : parsed.error();
  };
  EXPECT_EQ(line(R"("reason":"The GPU was lost. [x]","reason_code":"point.gpu_gone")"),
            make_reason("point.gpu_gone", "The GPU was lost. [x]"));
  EXPECT_EQ(line(R"("reason":"no code")"), Message::verbatim("no code"));
}

TEST(Protocol, IgnoresUnknownFieldsAndDefaultsMissing) {
  const auto parsed = parse_event(R"({"event":"progress","done":4,"new_field":[1,2],"remaining_s":null})");
  ASSERT_TRUE(parsed.ok());
  const auto& progress = std::get<ProgressEvent>(*parsed);
  EXPECT_EQ(progress.done, 4U);
  EXPECT_EQ(progress.total, 0U);
  EXPECT_DOUBLE_EQ(progress.remaining_s, 0);
}

TEST(Protocol, AcceptsTheWholeRangeOfANumber) {
  for (const int code : {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    DoneEvent done;
    done.exit_code = code;
    EXPECT_EQ(std::get<DoneEvent>(*parse_event(to_json_line(done))).exit_code, code);
  }
}

TEST(Protocol, PointEventSummarizesTheRecord) {
  PointRecord record = full_record();
  record.disposition = Disposition::ok;
  record.kernels[0].samples_ns = {300, 100, 200};
  record.kernels[0].metrics = {{"dram_read_bytes", 5, "byte", Provenance::measured},
                               {"dram_write_bytes", 7, "byte", Provenance::measured},
                               {"l2_to_sm_bytes", 11, "byte", Provenance::measured},
                               {"sm_to_l2_bytes", 13, "byte", Provenance::measured}};
  const PointEvent event = point_event(8, 9, record);
  EXPECT_EQ(event.index, 8U);
  EXPECT_EQ(event.point_id, 9);
  EXPECT_EQ(event.spec, record.spec);
  EXPECT_EQ(event.disposition, "ok");
  EXPECT_EQ(event.time_median_ns, 200);
  EXPECT_EQ(event.dram_bytes, 12);
  EXPECT_EQ(event.l2_sm_bytes, 24);
  EXPECT_TRUE(event.throttled);
  record.clocks->throttled = false;
  EXPECT_FALSE(point_event(8, 9, record).throttled);
}

TEST(Protocol, RejectsInvalidEvents) {
  for (const std::string_view line :
       {"", "noise", "[]", "{}", R"({"event":7})", R"({"event":"later"})", R"({"event":"started","index":-1})",
        R"({"event":"started","index":1.5})", R"({"event":"started","index":"1"})", R"({"event":"started","point":3})",
        R"({"event":"progress","elapsed_s":"long"})", R"({"event":"plan","simulated":"yes"})",
        R"({"event":"point","mask":"diagonal"})", R"({"event":"done","exit_code":4294967296})",
        R"({"event":"started","index":1,"index":1})", R"({"event":"started","point":{"d":64,"d":64}})",
        R"({"event":"record","records":7})", R"({"event":"started")"}) {
    const auto parsed = parse_event(line);
    EXPECT_FALSE(parsed.ok()) << line;
    if (!parsed.ok()) {
      EXPECT_FALSE(parsed.error().empty()) << line;
    }
  }
}

TEST(Protocol, NamesADuplicateKey) {
  const auto event = parse_event(R"({"event":"progress","done":4,"total":9,"done":5})");
  EXPECT_THAT(english_text(event.error()), HasWords("duplicate done"));
  const std::string line = to_json_line(WorkerRequest{});
  ASSERT_TRUE(parse_worker_request(line).ok());
  const std::string key = line.substr(1, line.find(':'));
  EXPECT_THAT(english_text(parse_worker_request("{" + key + "null," + line.substr(1)).error()),
              HasWords("duplicate " + key.substr(1, key.size() - 3)));
}

// An invalid value affects only its own point.
TEST(Protocol, InvalidRecordBecomesCrashedPoint) {
  std::string line = to_json_line(RecordEvent{.id = "3", .records = {full_record(), full_record()}});
  for (const auto& [from, to] : {std::pair{R"("registers":168)", R"("registers":1680000000000)"},
                                 {R"("value":49.75)", R"("value":null)"},
                                 {R"("unit":"byte")", R"("unit":"sector")"},
                                 {R"("grid":[64,3,2])", R"("grid":[64,3])"},
                                 {R"("disposition":"incorrect")", R"("disposition":"fine")"}}) {
    for (const std::size_t place : {0U, 1U}) {
      std::string wrong = line;
      wrong.replace(place == 0 ? wrong.find(from) : wrong.rfind(from), std::string_view(from).size(), to);
      const auto parsed = parse_event(wrong);
      ASSERT_TRUE(parsed.ok()) << to;
      const auto& records = std::get<RecordEvent>(*parsed).records;
      ASSERT_EQ(records.size(), 2U) << to;
      EXPECT_EQ(records[place].disposition, Disposition::crashed) << to;
      EXPECT_THAT(text(records[place].reason), ::testing::HasSubstr("invalid")) << to;
      EXPECT_EQ(records[1 - place].spec, full_spec()) << to;
      EXPECT_EQ(records[1 - place].disposition, Disposition::incorrect) << to;
    }
  }
}

TEST(Protocol, AcceptsInvalidUtf8) {
  EXPECT_TRUE(parse_event(to_json_line(LogEvent{.level = "error", .text = "\xff\xfe"})).ok());
}

TEST(Protocol, InfinityReadsAsZero) {
  ProgressEvent event;
  event.remaining_s = std::numeric_limits<double>::infinity();
  const auto parsed = parse_event(to_json_line(event));
  ASSERT_TRUE(parsed.ok());
  EXPECT_DOUBLE_EQ(std::get<ProgressEvent>(*parsed).remaining_s, 0);
}

}  // namespace
}  // namespace attnscope
