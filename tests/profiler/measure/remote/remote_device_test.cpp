// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/remote/remote_device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/measure/remote/device_server.h"
#include "profiler/measure/remote/wire.h"
#include "profiler/measure/runner.h"
#include "tests/profiler/measure/fake_device.h"

namespace attnscope::remote {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* version = "1.2.3";

/// A server in the same thread: what is sent is answered at once, and the answers wait to be received.
class Wire {
 public:
  explicit Wire(Device& device) : server_(device, [this](const Answer& answer) { lines.push_back(to_line(answer)); }) {
    server_.introduce(version, "");
  }
  void take(std::string_view line) {
    const auto request = parse_request(line.substr(0, line.size() - 1));
    ASSERT_TRUE(request.ok()) << line;
    if (request->ask == ask::cancel) {
      cancelled.push_back(request->number);
      return;
    }
    asked.push_back(request->ask);
    if (!silent) server_.answer(*request, cancel);
  }

  std::deque<std::string> lines;
  std::vector<std::string> asked;
  std::vector<std::uint64_t> cancelled;
  bool silent = false;  ///< requests are not answered
  bool cut = false;     ///< nothing is left of the link
  CancelToken cancel;

 private:
  DeviceServer server_;
};

class WireLink : public Link {
 public:
  explicit WireLink(Wire& wire) : wire_(wire) {}
  bool send_bytes(std::string_view bytes) override {
    if (wire_.cut) return false;
    wire_.take(bytes);
    return true;
  }
  void end_input() override {}
  Got receive(std::string& line, std::chrono::milliseconds patience) override {
    if (wire_.cut) return Got::end;
    if (wire_.lines.empty()) {
      // Nobody is there to answer later: what is silent is cut once it was told to stop.
      if (!wire_.cancelled.empty()) wire_.cut = true;
      waited_ += patience;
      return Got::nothing;
    }
    line = std::move(wire_.lines.front());
    wire_.lines.pop_front();
    return Got::line;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override { return begin_ + waited_; }
  End end() override { return {.exit_code = 255, .last_words = "first\nConnection reset by peer\n"}; }

 private:
  Wire& wire_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds waited_{0};
};

/// One that runs.
PointSpec plain(std::int64_t n) {
  return {.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = {.br = 64, .bc = 64}};
}
/// With knobs of both kinds.
PointSpec point_of(std::int64_t n) {
  PointSpec spec = plain(n);
  spec.knobs.set("warps", std::int64_t{8});
  spec.knobs.set("raster", std::string("heads-fastest"));
  return spec;
}

class Remote : public ::testing::Test {
 protected:
  Remote() {
    auto opened = open_remote(std::make_unique<WireLink>(wire), "gpubox", version, built_in_algorithms(), cancel);
    if (opened) device = std::move(opened->device);
  }
  void SetUp() override { ASSERT_NE(device, nullptr); }

  FakeDevice there;
  Wire wire{there};
  CancelToken cancel;
  std::unique_ptr<Device> device;
};

TEST_F(Remote, DeviceIsTheOneThere) {
  EXPECT_EQ(device->info().uuid, "GPU-fake");
  EXPECT_FALSE(device->info().simulated);
  const DeviceLimits& here = device->info().limits;
  const DeviceLimits& limits = there.device_info.limits;
  EXPECT_EQ(here.name, limits.name);
  EXPECT_EQ(here.sm_count, 132);
  EXPECT_EQ(here.shared_bytes_per_block, 232'448);
  EXPECT_EQ(here.l2_bytes, limits.l2_bytes);
  EXPECT_DOUBLE_EQ(here.tensor_flops, limits.tensor_flops);
  EXPECT_DOUBLE_EQ(here.boost_hz, limits.boost_hz);
  EXPECT_EQ(device->counters().state, CounterState::available);
  EXPECT_EQ(device->free_bytes(), limits.dram_bytes);
}

TEST_F(Remote, RecordsArriveWhole) {
  PointRecord sent;
  there.answer = [&](PointRecord& record) {
    record.disposition = Disposition::incorrect;
    record.reason = Message::verbatim("off by 0.1");
    record.kernels.clear();
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
    record.wall_seconds = 0.75;
    record.statement = std::make_shared<const KernelStatement>(
        KernelStatement{.text = "{\n}", .host_code = true, .sources = {{.name = "my.so", .digest = "0f"}}});
    sent = record;
  };
  MeasureOptions options;
  options.extra_metrics = {"lts__t_sector_hit_rate.pct"};
  options.max_noise = 0.031;
  options.timeout = std::chrono::milliseconds(1'234);
  options.seed = 0xffff'ffff'ffff'fffeULL;
  options.input_kind = InputKind::ascending;
  const PointRecord got = device->measure(point_of(384), options, cancel);

  EXPECT_EQ(got.spec, point_of(384));
  EXPECT_EQ(there.measured.front(), point_of(384));
  EXPECT_EQ(got.disposition, Disposition::incorrect);
  EXPECT_EQ(got.reason, sent.reason);
  ASSERT_EQ(got.kernels.size(), 2U);
  EXPECT_EQ(got.kernels[0].metrics, sent.kernels[0].metrics);
  EXPECT_EQ(got.kernels[0].samples_ns, sent.kernels[0].samples_ns);
  EXPECT_EQ(got.kernels[0].occupancy_limiter, "registers");
  EXPECT_FALSE(got.kernels[0].launch.has_value());
  EXPECT_FALSE(got.kernels[0].complete.has_value());
  EXPECT_EQ(got.kernels[1].launch, sent.kernels[1].launch);
  EXPECT_EQ(got.kernels[1].complete, std::optional(false));
  EXPECT_EQ(got.clocks, sent.clocks);
  EXPECT_EQ(got.max_abs_error, 0.125);
  EXPECT_EQ(got.error_bound, 0.0625);
  EXPECT_FALSE(got.rms_error.has_value());
  EXPECT_EQ(got.wall_seconds, 0.75);
  ASSERT_NE(got.statement, nullptr);
  EXPECT_EQ(*got.statement, *sent.statement);
  const MeasureOptions& asked = there.asked.front();
  EXPECT_THAT(asked.extra_metrics, ElementsAre("lts__t_sector_hit_rate.pct"));
  EXPECT_EQ(asked.max_noise, 0.031);
  EXPECT_EQ(asked.timeout.count(), 1'234);
  EXPECT_EQ(asked.seed, 0xffff'ffff'ffff'fffeULL);
  EXPECT_EQ(asked.input_kind, InputKind::ascending);
}

// A counter that is no number would be zero bytes at the other end.
TEST_F(Remote, ANumberThatIsNoneIsNoResult) {
  there.answer = [](PointRecord& record) {
    record.kernels.front().metrics = {{"dram_read_bytes", std::numeric_limits<double>::quiet_NaN(), "byte"}};
  };
  const PointRecord got = device->measure(point_of(256), {}, cancel);
  EXPECT_EQ(got.disposition, Disposition::crashed);
  EXPECT_THAT(text(got.reason), HasSubstr("gpubox"));
  EXPECT_THAT(text(got.reason), HasSubstr("'value'"));
  EXPECT_FALSE(device->usable());
}

TEST_F(Remote, PointsAreCountedTogetherThere) {
  there.most_together = 4;
  there.count_answer = [](PointRecord& record) {
    record.kernels.front().metrics = {{"dram_read_bytes", 7.0 * static_cast<double>(record.spec.problem.n_q), "byte"}};
  };
  SweepPlan plan;
  for (const std::int64_t n : {256, 512, 1024, 2048}) plan.points.push_back(plain(n));
  std::vector<double> bytes;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record, const RunCounts&) {
    bytes.push_back(record.kernels.front().metric("dram_read_bytes").value_or(0));
  };
  const RunOutcome outcome = run_sweep(plan, *device, {}, {}, observer, cancel);
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_THAT(bytes, ElementsAre(7 * 256, 7 * 512, 7 * 1024, 7 * 2048));
  EXPECT_THAT(there.sessions, ElementsAre(ElementsAre(256), ElementsAre(512, 1024), ElementsAre(2048)));
  EXPECT_EQ(there.prepared.size(), 4U);
}

// The point that was in flight is no result: whoever goes on measures it again.
TEST_F(Remote, ALostLinkLosesThePointInFlightAlone) {
  there.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q == 1024) wire.cut = true;
  };
  SweepPlan plan;
  for (const std::int64_t n : {256, 512, 1024, 2048}) plan.points.push_back(plain(n));
  std::vector<std::int64_t> reported;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record, const RunCounts&) {
    reported.push_back(record.spec.problem.n_q);
  };
  const RunOutcome outcome = run_sweep(plan, *device, {}, {}, observer, cancel);
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(reported, ElementsAre(256, 512));
  EXPECT_THAT(text(outcome.reason), HasSubstr("the connection to gpubox was lost: Connection reset by peer"));
  EXPECT_FALSE(device->usable());
}

TEST_F(Remote, ADeviceThatIsLostThereIsLostHere) {
  there.answer = [&](PointRecord& record) {
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("illegal address");
    there.is_usable = false;
  };
  SweepPlan plan;
  plan.points = {plain(256), plain(512)};
  std::vector<Disposition> reported;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record, const RunCounts&) {
    reported.push_back(record.disposition);
  };
  const RunOutcome outcome = run_sweep(plan, *device, {}, {}, observer, cancel);
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(reported, ElementsAre(Disposition::crashed));
}

TEST_F(Remote, WhatFitsInASessionIsKnownHere) {
  const std::vector<PointSpec> waiting(most_in_session - 1, plain(256));
  const std::size_t asked = wire.asked.size();
  EXPECT_TRUE(device->counts_with(waiting, plain(256)));
  EXPECT_FALSE(device->counts_with(std::vector(most_in_session, plain(256)), plain(256)));
  PointSpec large = plain(65'536);
  large.problem.batch = 8'192;
  EXPECT_FALSE(device->counts_with(std::span(waiting).first(1), large)) << "a quarter of the memory";
  EXPECT_EQ(wire.asked.size(), asked);
}

TEST_F(Remote, ACancelIsOfTheRequestInFlight) {
  EXPECT_GT(device->free_bytes(), 0);  // request 1
  wire.silent = true;
  cancel.cancel();
  EXPECT_TRUE(device->measure_uncounted(point_of(256), {}, cancel).waits);
  EXPECT_THAT(wire.cancelled, ElementsAre(2));
}

TEST_F(Remote, ASilentPointEndsAsALaunchThatDoesNotEnd) {
  wire.silent = true;
  MeasureOptions options;
  options.timeout = std::chrono::milliseconds(500);
  const Device::Uncounted point = device->measure_uncounted(point_of(256), options, cancel);
  EXPECT_FALSE(point.waits);
  EXPECT_EQ(point.record.disposition, Disposition::timeout);
  EXPECT_THAT(text(point.record.reason), HasSubstr("gpubox gave no result of fa2"));
  EXPECT_FALSE(device->usable());
}

TEST_F(Remote, WhatIsAskedWithoutATokenEndsWithTheSession) {
  wire.silent = true;
  EXPECT_EQ(device->free_bytes(), 0) << "nothing comes for long";
  EXPECT_FALSE(device->usable());
  FakeDevice fresh;
  Wire other(fresh);
  const auto opened = open_remote(std::make_unique<WireLink>(other), "gpubox", version, built_in_algorithms(), cancel);
  ASSERT_TRUE(opened.ok());
  other.silent = true;
  cancel.cancel();
  EXPECT_EQ(opened->device->free_bytes(), 0);
  EXPECT_THAT(other.cancelled, ElementsAre(1));
}

// A line that could not be read there is of the request that waits for its answer.
TEST_F(Remote, ARefusalWithoutANumberEndsTheWait) {
  wire.silent = true;
  wire.lines.push_back(to_line(Answer{.answer = "refused", .reason = Message::verbatim("the line is too long")}));
  EXPECT_TRUE(device->measure_uncounted(plain(256), {}, cancel).waits);
  EXPECT_FALSE(device->usable());
}

TEST_F(Remote, ManyPointsArePreparedInLinesThatFit) {
  std::vector<PointSpec> points;
  for (std::int64_t n = 1; n <= 9'000; ++n) points.push_back(plain(n));
  device->prepare(points, cancel, [](std::size_t, std::size_t, const BuildReport&) {});
  EXPECT_EQ(there.prepared, points);
  EXPECT_EQ(std::ranges::count(wire.asked, ask::prepare), 3);
}

TEST_F(Remote, AnAnswerAboutAnotherPointIsNone) {
  there.answer = [](PointRecord& record) { record.spec.problem.d = 128; };
  const PointRecord got = device->measure(point_of(256), {}, cancel);
  EXPECT_EQ(got.disposition, Disposition::crashed);
  EXPECT_THAT(text(got.reason), HasSubstr("answered with another point"));
  EXPECT_FALSE(device->usable());
}

TEST_F(Remote, LinesThatCannotBeReadEndIt) {
  for (const char* line :
       {"{", "[]", R"({"answer":"record","number":1,"records":[7]})",
        R"({"answer":"record","number":1,"records":[{"disposition":"fine"}]})", R"({"answer":"record","number":-1})"}) {
    FakeDevice fresh;
    Wire other(fresh);
    auto opened = open_remote(std::make_unique<WireLink>(other), "gpubox", version, built_in_algorithms(), cancel);
    ASSERT_TRUE(opened.ok());
    other.silent = true;
    other.lines.emplace_back(line);
    const PointRecord got = opened->device->measure(point_of(256), {}, cancel);
    EXPECT_EQ(got.disposition, Disposition::crashed) << line;
    EXPECT_THAT(text(got.reason), HasSubstr("what gpubox answers cannot be read")) << line;
    EXPECT_FALSE(opened->device->usable()) << line;
  }
}

// A process of this machine ends of what it runs: the point is its end, and is not measured again.
TEST_F(Remote, TheEndOfAProcessIsItsPoints) {
  const auto opened_again = [&](Wire& other) {
    auto opened =
        open_remote(std::make_unique<WireLink>(other), "it", version, built_in_algorithms(), cancel, EndOf::point);
    EXPECT_TRUE(opened.ok());
    return std::move(opened->device);
  };
  {
    Wire other(there);
    const auto process = opened_again(other);
    other.cut = true;
    const Device::Uncounted point = process->measure_uncounted(point_of(256), {}, cancel);
    EXPECT_FALSE(point.waits);
    EXPECT_EQ(point.record.disposition, Disposition::crashed);
    EXPECT_EQ(text(point.record.reason),
              "The library's process ended with exit code 255. Its last words: Connection reset by peer.");
    EXPECT_FALSE(process->usable());
    EXPECT_TRUE(process->measure_uncounted(point_of(512), {}, cancel).waits) << "not this one's";
  }
  for (const std::size_t together : {1U, 2U}) {
    Wire other(there);
    const auto process = opened_again(other);
    std::vector<PointRecord> records(together);
    std::vector<PointRecord*> all;
    for (PointRecord& record : records) all.push_back(&record);
    other.cut = true;
    const Device::Counted counted = process->count(all, {}, cancel);
    EXPECT_EQ(counted.whole, std::vector<bool>(together, together == 1)) << "of two nobody knows which it was";
    EXPECT_EQ(counted.lost_to.has_value(), together == 1);
    EXPECT_EQ(records.front().disposition == Disposition::crashed, together == 1);
  }
}

class RemoteOpening : public ::testing::Test {
 protected:
  CancelToken cancel;
};

TEST_F(RemoteOpening, AGreetingBeforeTheFirstLineIsPassedOver) {
  FakeDevice there;
  Wire wire(there);
  wire.lines.emplace_front("Welcome to gpubox!");
  EXPECT_TRUE(open_remote(std::make_unique<WireLink>(wire), "gpubox", version, built_in_algorithms(), cancel).ok());
}

TEST_F(RemoteOpening, AnotherVersionIsRefusedByName) {
  FakeDevice there;
  Wire wire(there);
  auto opened = open_remote(std::make_unique<WireLink>(wire), "gpubox", "9.9", built_in_algorithms(), cancel);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, OpenFailure::Kind::other_version);
  EXPECT_EQ(opened.error().words, version);
}

/// Another build, of which any version will do.
std::unique_ptr<Device> another_build(Wire& wire, const CancelToken& cancel) {
  auto opened = open_remote(std::make_unique<WireLink>(wire), "old/attnscope", {}, built_in_algorithms(), cancel);
  return opened ? std::move(opened->device) : nullptr;
}

TEST_F(RemoteOpening, WhatAnotherBuildLacksIsSaidOfThePoint) {
  FakeDevice there;
  Wire wire(there);
  const auto device = another_build(wire, cancel);
  ASSERT_NE(device, nullptr);
  wire.silent = true;
  wire.lines.push_back(to_line(Answer{.answer = "refused", .reason = Message::verbatim("unknown algorithm 'fa9'")}));
  const PointRecord refused = device->measure(point_of(256), {}, CancelToken());
  EXPECT_EQ(refused.disposition, Disposition::infeasible);
  EXPECT_THAT(text(refused.reason), HasSubstr("unknown algorithm 'fa9'"));
  wire.silent = false;
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(device->measure(point_of(256), {}, CancelToken()).spec, point_of(256)) << "the next point is measured";
}

TEST_F(RemoteOpening, AnotherProtocolIsRefusedWhateverTheVersion) {
  for (const auto& [spoken, opens] : {std::pair{protocol - 1, false}, {protocol, true}, {protocol + 1, false}}) {
    FakeDevice there;
    Wire wire(there);
    wire.lines.clear();
    wire.lines.push_back(fmt::format(R"({{"answer":"device","number":0,"hello":{{"protocol":{},"app_version":"0.1.0",)"
                                     R"("device":{{"uuid":"GPU-1","limits":{{"name":"NVIDIA H100"}}}}}}}})",
                                     spoken));
    EXPECT_EQ(another_build(wire, cancel) != nullptr, opens) << spoken;
  }
}

TEST_F(RemoteOpening, WhatWasSaidThereIsTheReason) {
  FakeDevice there;
  Wire wire(there);
  wire.lines.clear();
  wire.lines.push_back(to_line(Answer{.answer = "failed", .reason = Message::verbatim("no driver")}));
  auto opened = open_remote(std::make_unique<WireLink>(wire), "gpubox", version, built_in_algorithms(), cancel);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, OpenFailure::Kind::no_device);
  EXPECT_EQ(text(opened.error().reason), "no driver");
}

TEST_F(RemoteOpening, AnEndIsNoAnswer) {
  FakeDevice there;
  Wire wire(there);
  wire.cut = true;
  auto opened = open_remote(std::make_unique<WireLink>(wire), "gpubox", version, built_in_algorithms(), cancel);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, OpenFailure::Kind::no_answer);
  EXPECT_EQ(opened.error().end.exit_code, 255);
}

TEST(RemoteServer, RequestsItCannotDoAreRefused) {
  FakeDevice there;
  std::vector<Answer> said;
  DeviceServer server(there, [&](const Answer& answer) { said.push_back(answer); });
  const CancelToken cancel;
  server.answer({.ask = "dance", .number = 4}, cancel);
  server.answer({.ask = "measure", .number = 5}, cancel);
  ASSERT_EQ(said.size(), 2U);
  for (const Answer& answer : said) EXPECT_EQ(answer.answer, "refused");
  EXPECT_EQ(said[0].number, 4U);
  EXPECT_THAT(text(said[0].reason), HasSubstr("dance"));
  EXPECT_THAT(there.measured, IsEmpty());
}

}  // namespace
}  // namespace attnscope::remote
