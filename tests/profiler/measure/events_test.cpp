// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace attnscope {
namespace {

template <class E>
E round_trip(const E& event) {
  const std::string line = to_json_line(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto parsed = parse_event(line);
  EXPECT_TRUE(parsed.ok()) << line;
  return std::get<E>(*parsed);
}

TEST(Events, ALineIsStable) {
  EXPECT_EQ(to_json_line(StartedEvent{.index = 3, .point = "fa2"}), R"({"event":"started","index":3,"point":"fa2"})");
  EXPECT_EQ(to_json_line(DoneEvent{.state = "complete", .reason = {}, .ok = 5, .not_ok = 1, .exit_code = 0}),
            R"({"event":"done","state":"complete","reason":"","ok":5,"not_ok":1,"exit_code":0})");
}

TEST(Events, PlanReadsBack) {
  const PlanEvent plan = round_trip(PlanEvent{.version = 1,
                                              .device_name = "NVIDIA H200",
                                              .device_uuid = "GPU-1",
                                              .simulated = true,
                                              .preset = "quick",
                                              .database = "/tmp/a \"b\".attnscope",
                                              .run_id = 7,
                                              .total = 62,
                                              .skipped = 2,
                                              .max_memory_bytes = std::int64_t{1} << 40,
                                              .counters = "available"});
  EXPECT_EQ(plan.version, 1);
  EXPECT_EQ(plan.device_name, "NVIDIA H200");
  EXPECT_EQ(plan.device_uuid, "GPU-1");
  EXPECT_TRUE(plan.simulated);
  EXPECT_EQ(plan.preset, "quick");
  EXPECT_EQ(plan.database, "/tmp/a \"b\".attnscope");
  EXPECT_EQ(plan.run_id, 7);
  EXPECT_EQ(plan.total, 62U);
  EXPECT_EQ(plan.skipped, 2U);
  EXPECT_EQ(plan.max_memory_bytes, std::int64_t{1} << 40);
  EXPECT_EQ(plan.counters, "available");
}

TEST(Events, PointReadsBack) {
  const PointSpec spec{.algorithm = "naive",
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
  const PointEvent point = round_trip(PointEvent{
      .index = 9,
      .point_id = 4,
      .point = "naive",
      .spec = spec,
      .disposition = "out-of-memory",
      .reason = make_reason("point.buffers_memory", "The buffers need 132.0 GiB of device memory; 1.0 GiB are free."),
      .time_median_ns = 1.5,
      .dram_bytes = 2e12,
      .l2_sm_bytes = 3e12,
      .throttled = true,
      .provenance = "extrapolated"});
  EXPECT_EQ(point.index, 9U);
  EXPECT_EQ(point.point_id, 4);
  EXPECT_EQ(point.spec, spec);
  EXPECT_EQ(point.disposition, "out-of-memory");
  EXPECT_EQ(point.reason.id, "point.buffers_memory");
  EXPECT_EQ(text(point.reason), "The buffers need 132.0 GiB of device memory; 1.0 GiB are free.");
  EXPECT_DOUBLE_EQ(point.time_median_ns, 1.5);
  EXPECT_DOUBLE_EQ(point.dram_bytes, 2e12);
  EXPECT_DOUBLE_EQ(point.l2_sm_bytes, 3e12);
  EXPECT_TRUE(point.throttled);
  EXPECT_EQ(point.provenance, "extrapolated");
}

TEST(Events, AReasonIsReadAsWhatItIs) {
  const auto line = [](const char* of_reason) {
    const auto parsed = parse_event(std::string(R"({"event":"point","disposition":"crashed",)") + of_reason + "}");
    return parsed ? std::get<PointEvent>(*parsed).reason : parsed.error();
  };
  EXPECT_EQ(line(R"("reason":"The GPU is gone. [x]","reason_code":"point.gpu_gone")"),
            make_reason("point.gpu_gone", "The GPU is gone. [x]"));
  EXPECT_EQ(line(R"("reason":"its words")"), Message::verbatim("its words"));
}

TEST(Events, ALineOfAnOlderCollectorIsRead) {
  const auto parsed =
      parse_event(R"({"event":"point","index":2,"point_id":3,"point":"fa2 fp16 N 64","disposition":"ok","reason":"",)"
                  R"("time_median_ns":5.5,"dram_bytes":1,"l2_sm_bytes":2,"throttled":false})");
  ASSERT_TRUE(parsed.ok()) << parsed.error();
  const auto& point = std::get<PointEvent>(*parsed);
  EXPECT_EQ(point.point_id, 3);
  EXPECT_EQ(point.spec, PointSpec{});
  EXPECT_FALSE(parse_event(R"({"event":"point","mask":"diagonal"})").ok());
}

TEST(Events, TheOthersReadBack) {
  const Message log = Message::verbatim("line\nline");
  EXPECT_EQ(round_trip(BuildEvent{.done = 1, .total = 2, .kernel = "k", .cached = true, .error = log}).error, log);
  const Message error = make_reason(
      "compile.with_log", "{}\n{}",
      make_reason("compile.serialized", "the assembler serialized the tensor-core instructions"), "line\nline");
  EXPECT_EQ(round_trip(BuildEvent{.done = 1, .total = 2, .kernel = "k", .error = error}).error, error)
      << "with what another language needs";
  EXPECT_DOUBLE_EQ(round_trip(ProgressEvent{.done = 1, .total = 2, .elapsed_s = 3, .remaining_s = -1}).remaining_s, -1);
  EXPECT_EQ(round_trip(LogEvent{.level = "warning", .text = "t"}).level, "warning");
  EXPECT_EQ(round_trip(StartedEvent{.index = 1, .point = "p", .id = "7"}).id, "7");
  PointEvent point;
  point.id = "7";
  EXPECT_EQ(round_trip(point).id, "7");
  QueuedEvent waits{.id = "7", .priority = -2, .point = "p", .spec = {}};
  waits.spec.algorithm = "fa1";
  const QueuedEvent queued = round_trip(waits);
  EXPECT_EQ(queued.id, "7");
  EXPECT_EQ(queued.priority, -2);
  EXPECT_EQ(queued.spec.algorithm, "fa1");
  EXPECT_EQ(round_trip(CancelledEvent{.id = "7", .reason = log}).reason, log);
  const RefusedEvent refused = round_trip(RefusedEvent{.request = "measure", .id = "7", .reason = log});
  EXPECT_EQ(refused.request, "measure");
  EXPECT_EQ(refused.id, "7");
  EXPECT_EQ(refused.reason, log);
  EXPECT_EQ(round_trip(DoneEvent{.state = "cancelled", .reason = {}, .exit_code = 5}).exit_code, 5);
}

TEST(Events, UnknownFieldsAreIgnoredAndMissingOnesDefault) {
  const auto parsed = parse_event(R"({"event":"progress","done":4,"new_field":[1,2],"remaining_s":null})");
  ASSERT_TRUE(parsed.ok());
  const auto& progress = std::get<ProgressEvent>(*parsed);
  EXPECT_EQ(progress.done, 4U);
  EXPECT_EQ(progress.total, 0U);
  EXPECT_DOUBLE_EQ(progress.remaining_s, 0);
}

TEST(Events, WhatIsNoEventIsAnError) {
  for (const std::string_view line :
       {"", "noise", "[]", "{}", R"({"event":7})", R"({"event":"later"})", R"({"event":"started","index":-1})",
        R"({"event":"started","index":1.5})", R"({"event":"started","index":"1"})", R"({"event":"started","point":3})",
        R"({"event":"progress","elapsed_s":"long"})", R"({"event":"plan","simulated":"yes"})",
        R"({"event":"started")"}) {
    const auto parsed = parse_event(line);
    EXPECT_FALSE(parsed.ok()) << line;
    if (!parsed.ok()) {
      EXPECT_FALSE(parsed.error().empty()) << line;
    }
  }
}

TEST(Events, BytesThatAreNoUtf8DoNotEndTheProtocol) {
  const std::string line = to_json_line(LogEvent{.level = "error", .text = "\xff\xfe"});
  ASSERT_TRUE(parse_event(line).ok());
}

TEST(Events, ANumberThatJsonLacksReadsAsZero) {
  ProgressEvent event;
  event.remaining_s = std::numeric_limits<double>::infinity();
  const auto parsed = parse_event(to_json_line(event));
  ASSERT_TRUE(parsed.ok());
  EXPECT_DOUBLE_EQ(std::get<ProgressEvent>(*parsed).remaining_s, 0);
}

}  // namespace
}  // namespace attnscope
