// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/worker_device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/worker/protocol.h"
#include "profiler/worker/runner.h"
#include "profiler/worker/worker_loop.h"
#include "tests/message_matchers.h"
#include "tests/profiler/measure/fake_device.h"

namespace attnscope::worker {
namespace {

using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* version = "1.2.3";

/// In-process worker: answers each request immediately and queues the answers.
class FakeWorker {
 public:
  explicit FakeWorker(Device& device)
      : loop_(device, [this](const Event& event) { lines.push_back(to_json_line(event)); }) {
    loop_.send_device_event(version, "");
  }
  void take(std::string_view line) {
    const auto request = parse_worker_request(line.substr(0, line.size() - 1));
    ASSERT_TRUE(request.ok()) << line;
    if (request->request == "cancel") {
      cancelled.push_back(request->id);
      return;
    }
    asked.push_back(request->request);
    if (!silent) loop_.answer(*request, cancel);
  }

  std::deque<std::string> lines;
  std::vector<std::string> asked;
  std::vector<std::string> cancelled;
  bool silent = false;
  bool cut = false;
  bool abandoned = false;
  std::chrono::milliseconds waited{0};
  Link::ExitStatus exit{.exit_code = 255, .stderr_tail = "first\nConnection reset by peer\n"};
  std::string flood;  ///< Line that is received repeatedly when no other is queued.
  CancelToken cancel;

 private:
  WorkerLoop loop_;
};

/// Waits take no time: the clock advances by the patience of each wait.
class FakeLink : public Link {
 public:
  explicit FakeLink(FakeWorker& fake_worker) : fake_worker_(fake_worker) {}
  bool send(std::string_view line) override {
    if (fake_worker_.cut) return false;
    fake_worker_.take(std::string(line) + '\n');
    return true;
  }
  ReceiveStatus receive(std::string& line, std::chrono::milliseconds patience) override {
    if (fake_worker_.cut) return ReceiveStatus::end;
    if (fake_worker_.lines.empty()) fake_worker_.waited += patience;
    if (fake_worker_.lines.empty() && fake_worker_.flood.empty()) return ReceiveStatus::nothing;
    line = fake_worker_.flood;
    if (fake_worker_.lines.empty()) return ReceiveStatus::line;
    line = std::move(fake_worker_.lines.front());
    fake_worker_.lines.pop_front();
    return ReceiveStatus::line;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override { return begin_ + fake_worker_.waited; }
  void kill_peer() override { fake_worker_.abandoned = true; }
  ExitStatus end() override { return fake_worker_.exit; }

 private:
  FakeWorker& fake_worker_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A feasible point.
PointSpec plain(std::int64_t n) {
  return {.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = {.br = 64, .bc = 64}};
}
/// A point with a numeric and a text knob.
PointSpec point_of(std::int64_t n) {
  PointSpec spec = plain(n);
  spec.knobs.set("warps", std::int64_t{8});
  spec.knobs.set("raster", std::string("heads-fastest"));
  return spec;
}

class WorkerDevice : public ::testing::Test {
 protected:
  WorkerDevice() {
    auto opened =
        open_worker_device(std::make_unique<FakeLink>(fake_worker), "gpubox", version, built_in_algorithms(), cancel);
    if (opened) device = std::move(opened->device);
  }
  void SetUp() override { ASSERT_NE(device, nullptr); }

  FakeDevice there;
  FakeWorker fake_worker{there};
  CancelToken cancel;
  std::unique_ptr<Device> device;
};

TEST_F(WorkerDevice, ReportsRemoteDevice) {
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

// NaN must not become zero bytes on the other side: only this point fails.
TEST_F(WorkerDevice, NanCounterFailsOnlyItsPoint) {
  there.answer = [](PointRecord& record) {
    if (record.spec.problem.n_q == 256)
      record.kernels.front().metrics = {{"dram_read_bytes", std::numeric_limits<double>::quiet_NaN(), "byte"}};
  };
  const PointRecord got = device->measure(point_of(256), {}, cancel);
  EXPECT_EQ(got.spec, point_of(256));
  EXPECT_EQ(got.disposition, Disposition::crashed);
  EXPECT_THAT(text(got.reason), HasSubstr("'value'"));
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(device->measure(point_of(512), {}, cancel).disposition, Disposition::ok);
}

TEST_F(WorkerDevice, CountsSessionsRemotely) {
  there.max_together = 4;
  there.count_answer = [](PointRecord& record) {
    record.kernels.front().metrics = {{"dram_read_bytes", 7.0 * static_cast<double>(record.spec.problem.n_q), "byte"}};
  };
  SweepPlan plan;
  for (const std::int64_t n : {256, 512, 1024, 2048}) plan.points.push_back(plain(n));
  std::vector<double> bytes;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record) {
    bytes.push_back(record.kernels.front().metric("dram_read_bytes").value_or(0));
  };
  const RunOutcome outcome = run_sweep(plan, *device, {}, {}, {}, observer, cancel);
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_THAT(bytes, ElementsAre(7 * 256, 7 * 512, 7 * 1024, 7 * 2048));
  EXPECT_THAT(there.sessions, ElementsAre(ElementsAre(256), ElementsAre(512, 1024), ElementsAre(2048)));
}

// The worker measures the next point while the counted records are in transit; no point is measured twice.
TEST_F(WorkerDevice, SendsNextPointWithCount) {
  there.max_together = 4;
  SweepPlan plan;
  for (const std::int64_t n : {256, 512, 1024, 2048}) plan.points.push_back(plain(n));
  std::vector<std::size_t> requests_before;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord&) {
    requests_before.push_back(static_cast<std::size_t>(std::ranges::count(fake_worker.asked, "measure")));
  };
  EXPECT_EQ(run_sweep(plan, *device, {}, {}, {}, observer, cancel).state, RunState::complete);
  EXPECT_THAT(requests_before, ElementsAre(2, 4, 4, 4));
  EXPECT_THAT(fake_worker.asked, ElementsAre("measure", "count", "measure", "measure", "count", "measure", "count"));
}

// The point in flight has no result and is measured again.
TEST_F(WorkerDevice, LostLinkDropsOnlyPointInFlight) {
  there.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q == 1024) fake_worker.cut = true;
  };
  SweepPlan plan;
  for (const std::int64_t n : {256, 512, 1024, 2048}) plan.points.push_back(plain(n));
  std::vector<std::int64_t> reported;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record) { reported.push_back(record.spec.problem.n_q); };
  const RunOutcome outcome = run_sweep(plan, *device, {}, {}, {}, observer, cancel);
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(reported, ElementsAre(256, 512));
  EXPECT_THAT(text(outcome.reason), HasWords("gpubox Connection reset by peer"));
  EXPECT_FALSE(device->usable());
}

TEST_F(WorkerDevice, RemoteDeviceLossIsReported) {
  there.answer = [&](PointRecord& record) {
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("illegal address");
    there.is_usable = false;
  };
  SweepPlan plan;
  plan.points = {plain(256), plain(512)};
  std::vector<Disposition> reported;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record) { reported.push_back(record.disposition); };
  const RunOutcome outcome = run_sweep(plan, *device, {}, {}, {}, observer, cancel);
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(reported, ElementsAre(Disposition::crashed));
}

TEST_F(WorkerDevice, SessionLimitIsDecidedLocally) {
  const std::vector<PointSpec> waiting(max_session_points - 1, plain(256));
  const std::size_t asked = fake_worker.asked.size();
  EXPECT_TRUE(device->can_share_session(waiting, plain(256)));
  EXPECT_FALSE(device->can_share_session(std::vector(max_session_points, plain(256)), plain(256)));
  PointSpec large = plain(65'536);
  large.problem.batch = 8'192;
  EXPECT_FALSE(device->can_share_session(std::span(waiting).first(1), large)) << "exceeds a quarter of the memory";
  EXPECT_EQ(fake_worker.asked.size(), asked);
}

TEST_F(WorkerDevice, CancelRefersToRequestInFlight) {
  EXPECT_GT(device->free_bytes(), 0);  // request 1
  fake_worker.silent = true;
  cancel.cancel();
  EXPECT_TRUE(device->measure_deferred(point_of(256), {}, cancel).counters_pending);
  EXPECT_THAT(fake_worker.cancelled, ElementsAre("2"));
  EXPECT_EQ(fake_worker.waited, std::chrono::milliseconds(1'600))
      << "50 ms until the cancel is noticed, then more than 1.5 s";
  EXPECT_TRUE(fake_worker.abandoned) << "it did not answer the cancel";
}

TEST_F(WorkerDevice, SilentPointTimesOut) {
  fake_worker.silent = true;
  MeasureOptions options;
  options.timeout = std::chrono::milliseconds(500);
  const Device::MeasurementResult point = device->measure_deferred(point_of(256), options, cancel);
  EXPECT_FALSE(point.counters_pending);
  EXPECT_EQ(point.record.disposition, Disposition::timeout);
  EXPECT_THAT(text(point.record.reason), HasWords("gpubox fa2 32.5 0.5 --timeout")) << "5 x 0.5 s + 30 s";
  EXPECT_FALSE(device->usable());
}

TEST_F(WorkerDevice, SilentCountTimesOutAfterAllPoints) {
  fake_worker.silent = true;
  MeasureOptions options;
  options.timeout = std::chrono::milliseconds(500);
  std::array<PointRecord, 3> records;
  std::array<PointRecord*, 3> all{&records[0], &records[1], &records[2]};
  EXPECT_EQ(device->count(all, options, cancel).whole, std::vector<bool>(3, false));
  EXPECT_EQ(fake_worker.waited, std::chrono::milliseconds(37'550)) << "more than 3 x 5 x 0.5 s + 30 s";
}

TEST_F(WorkerDevice, CancelIncludesTheAnnouncedPoint) {
  fake_worker.silent = true;
  device->announce(plain(512), {});
  cancel.cancel();
  PointRecord record;
  std::array<PointRecord*, 1> all{&record};
  (void)device->count(all, {}, cancel);
  EXPECT_THAT(fake_worker.cancelled, ElementsAre("2", "1"));
}

// Another point than the announced one gets its own request and record.
TEST_F(WorkerDevice, MeasuresAnotherPointThanAnnounced) {
  there.max_together = 4;
  std::array<PointRecord, 1> records{device->measure_deferred(plain(256), {}, cancel).record};
  device->announce(plain(512), {});
  std::array<PointRecord*, 1> all{&records[0]};
  EXPECT_EQ(device->count(all, {}, cancel).whole, std::vector<bool>{true});
  EXPECT_EQ(device->measure_deferred(plain(1024), {}, cancel).record.spec, plain(1024));
  EXPECT_TRUE(device->usable());
}

// Counting the second of three points loses the device: only its record is complete.
TEST_F(WorkerDevice, NamesTheFatalPointOfASession) {
  there.max_together = 4;
  there.count_answer = [this](PointRecord& record) {
    if (record.spec.problem.n_q != 512) return;
    record.disposition = Disposition::crashed;
    there.is_usable = false;
  };
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024}) {
    records.push_back(device->measure_deferred(plain(n), {}, cancel).record);
  }
  std::vector<PointRecord*> all;
  for (PointRecord& record : records) all.push_back(&record);
  const Device::CountResult counted = device->count(all, {}, cancel);
  EXPECT_EQ(counted.whole, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(counted.fatal_point, 1U);
  EXPECT_EQ(records[1].disposition, Disposition::crashed);
  EXPECT_FALSE(device->usable());
}

TEST_F(WorkerDevice, ReportsEachBuildOnce) {
  std::vector<std::string> reports;
  const std::vector points{plain(256), plain(512)};
  device->prepare(points, cancel, [&](std::size_t done, std::size_t total, const BuildReport& report) {
    reports.push_back(fmt::format("{}/{} {}", done, total, report.kernel));
  });
  EXPECT_THAT(reports, ElementsAre("1/2 " + describe(points[0]), "2/2 " + describe(points[1])));
}

TEST_F(WorkerDevice, SessionCancelsRequestsWithoutToken) {
  fake_worker.silent = true;
  EXPECT_EQ(device->free_bytes(), 0) << "no reply before the timeout";
  EXPECT_FALSE(device->usable());
  FakeDevice fresh;
  FakeWorker other(fresh);
  const auto opened =
      open_worker_device(std::make_unique<FakeLink>(other), "gpubox", version, built_in_algorithms(), cancel);
  ASSERT_TRUE(opened.ok());
  other.silent = true;
  cancel.cancel();
  EXPECT_EQ(opened->device->free_bytes(), 0);
  EXPECT_THAT(other.cancelled, ElementsAre("1"));
}

// A refusal without id belongs to the pending request.
TEST_F(WorkerDevice, RefusalWithoutIdEndsRequest) {
  fake_worker.silent = true;
  fake_worker.lines.push_back(
      to_json_line(RefusedEvent{.request = {}, .id = {}, .reason = Message::verbatim("the line is too long")}));
  EXPECT_TRUE(device->measure_deferred(plain(256), {}, cancel).counters_pending);
  EXPECT_FALSE(device->usable());
}

TEST_F(WorkerDevice, SplitsPrepareIntoLines) {
  std::vector<PointSpec> points;
  for (std::int64_t n = 1; n <= 9'000; ++n) points.push_back(plain(n));
  for (const auto& [count, lines] : {std::pair(9'000U, 3), {4'097U, 2}, {4'096U, 1}, {0U, 0}}) {
    fake_worker.asked.clear();
    there.prepared.clear();
    points.resize(count);
    device->prepare(points, cancel, [](std::size_t, std::size_t, const BuildReport&) {});
    EXPECT_EQ(there.prepared, points);
    EXPECT_EQ(std::ranges::count(fake_worker.asked, "prepare"), lines) << count;
  }
}

TEST_F(WorkerDevice, RejectsRecordOfAnotherPoint) {
  there.answer = [](PointRecord& record) { record.spec.problem.d = 128; };
  const PointRecord got = device->measure(point_of(256), {}, cancel);
  EXPECT_EQ(got.disposition, Disposition::crashed);
  EXPECT_THAT(text(got.reason), HasSubstr(describe(point_of(256))));
  EXPECT_FALSE(device->usable());
}

TEST_F(WorkerDevice, InvalidLinesDropTheLink) {
  for (const char* line : {"{", "[]", R"({"event":"record","id":"1","records":7})", R"({"event":"reply","id":"1"})",
                           R"({"event":"record","id":"1","usable":3})"}) {
    FakeDevice fresh;
    FakeWorker other(fresh);
    auto opened =
        open_worker_device(std::make_unique<FakeLink>(other), "gpubox", version, built_in_algorithms(), cancel);
    ASSERT_TRUE(opened.ok());
    other.silent = true;
    other.lines.emplace_back(line);
    const PointRecord got = opened->device->measure(point_of(256), {}, cancel);
    EXPECT_EQ(got.disposition, Disposition::crashed) << line;
    EXPECT_THAT(text(got.reason), HasWords("gpubox")) << line;
    EXPECT_FALSE(opened->device->usable()) << line;
  }
}

TEST_F(WorkerDevice, UnrelatedLinesDoNotPreventTimeout) {
  for (const char* line :
       {R"({"event":"log","level":"info","text":"busy"})", R"({"event":"build","id":"1","done":1,"total":2})",
        R"({"event":"progress","id":"1","done":7,"total":9})", R"({"event":"reply","id":"999"})"}) {
    FakeDevice fresh;
    FakeWorker other(fresh);
    auto opened =
        open_worker_device(std::make_unique<FakeLink>(other), "gpubox", version, built_in_algorithms(), cancel);
    ASSERT_TRUE(opened.ok());
    other.silent = true;
    other.flood = line;
    const auto ceilings = opened->device->ceilings({}, cancel, [](std::size_t, std::size_t) {});
    ASSERT_FALSE(ceilings.ok()) << line;
    EXPECT_THAT(text(ceilings.error().reason), HasWords("gpubox"));
    EXPECT_TRUE(other.abandoned);
  }
}

// If a local process ends, the point in flight has crashed and is not measured again.
TEST_F(WorkerDevice, ProcessExitIsAttributedToThePoint) {
  const auto reopen = [&](FakeWorker& other) {
    auto opened = open_worker_device(std::make_unique<FakeLink>(other), "it", version, built_in_algorithms(), cancel,
                                     LossCause::point);
    EXPECT_TRUE(opened.ok());
    return std::move(opened->device);
  };
  {
    FakeWorker other(there);
    const auto process = reopen(other);
    other.cut = true;
    const Device::MeasurementResult point = process->measure_deferred(point_of(256), {}, cancel);
    EXPECT_FALSE(point.counters_pending);
    EXPECT_EQ(point.record.disposition, Disposition::crashed);
    EXPECT_THAT(text(point.record.reason), HasWords("255 Connection reset by peer"));
    EXPECT_FALSE(process->usable());
    EXPECT_TRUE(process->measure_deferred(point_of(512), {}, cancel).counters_pending) << "not caused by this point";
  }
  for (const std::string words : {"", "first\nlast\n"}) {
    FakeWorker other(there);
    const auto process = reopen(other);
    other.exit = {.signal = 11, .stderr_tail = words};
    other.cut = true;
    EXPECT_THAT(text(process->measure(point_of(256), {}, cancel).reason), HasWords(words.empty() ? "11" : "11 last"));
  }
  for (const std::size_t together : {1U, 2U}) {
    FakeWorker other(there);
    const auto process = reopen(other);
    std::vector<PointRecord> records(together);
    std::vector<PointRecord*> all;
    for (PointRecord& record : records) all.push_back(&record);
    other.cut = true;
    const Device::CountResult counted = process->count(all, {}, cancel);
    EXPECT_EQ(counted.whole, std::vector<bool>(together, together == 1)) << "with two points the cause is unknown";
    EXPECT_EQ(counted.fatal_point.has_value(), together == 1);
    EXPECT_EQ(records.front().disposition == Disposition::crashed, together == 1);
  }
}

class WorkerOpening : public ::testing::Test {
 protected:
  CancelToken cancel;
};

TEST_F(WorkerOpening, SkipsLoginBanner) {
  FakeDevice there;
  FakeWorker fake_worker(there);
  fake_worker.lines.emplace_front("Welcome to gpubox!");
  EXPECT_TRUE(
      open_worker_device(std::make_unique<FakeLink>(fake_worker), "gpubox", version, built_in_algorithms(), cancel)
          .ok());
}

TEST_F(WorkerOpening, RejectsOtherVersion) {
  FakeDevice there;
  FakeWorker fake_worker(there);
  auto opened =
      open_worker_device(std::make_unique<FakeLink>(fake_worker), "gpubox", "9.9", built_in_algorithms(), cancel);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, OpenFailure::Kind::other_version);
  EXPECT_EQ(opened.error().words, version);
}

/// A worker of another build; any version is accepted.
std::unique_ptr<Device> open_other_build(FakeWorker& fake_worker, const CancelToken& cancel) {
  auto opened =
      open_worker_device(std::make_unique<FakeLink>(fake_worker), "old/attnscope", {}, built_in_algorithms(), cancel);
  return opened ? std::move(opened->device) : nullptr;
}

TEST_F(WorkerOpening, UnknownPointOfOtherBuildIsInfeasible) {
  FakeDevice there;
  FakeWorker fake_worker(there);
  const auto device = open_other_build(fake_worker, cancel);
  ASSERT_NE(device, nullptr);
  fake_worker.silent = true;
  fake_worker.lines.push_back(
      to_json_line(RefusedEvent{.request = {}, .id = {}, .reason = Message::verbatim("unknown algorithm 'fa9'")}));
  const PointRecord refused = device->measure(point_of(256), {}, CancelToken());
  EXPECT_EQ(refused.disposition, Disposition::infeasible);
  EXPECT_THAT(text(refused.reason), HasSubstr("unknown algorithm 'fa9'"));
  fake_worker.silent = false;
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(device->measure(point_of(256), {}, CancelToken()).spec, point_of(256)) << "the next point is measured";
}

TEST_F(WorkerOpening, RejectsOtherProtocol) {
  for (const auto& [protocol, opens] :
       {std::pair{worker_protocol - 1, false}, {worker_protocol, true}, {worker_protocol + 1, false}}) {
    FakeDevice there;
    FakeWorker fake_worker(there);
    fake_worker.lines.clear();
    fake_worker.lines.push_back(fmt::format(R"({{"event":"device","protocol":{},"app_version":"0.1.0",)"
                                            R"("device":{{"uuid":"GPU-1","limits":{{"name":"NVIDIA H100"}}}}}})",
                                            protocol));
    EXPECT_EQ(open_other_build(fake_worker, cancel) != nullptr, opens) << protocol;
  }
}

TEST_F(WorkerOpening, ReportsRemoteReason) {
  FakeDevice there;
  FakeWorker fake_worker(there);
  fake_worker.lines.clear();
  fake_worker.lines.push_back(to_json_line(DoneEvent{.state = "failed", .reason = Message::verbatim("no driver")}));
  auto opened =
      open_worker_device(std::make_unique<FakeLink>(fake_worker), "gpubox", version, built_in_algorithms(), cancel);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, OpenFailure::Kind::no_device);
  EXPECT_EQ(text(opened.error().reason), "no driver");
}

TEST_F(WorkerOpening, MissingHelloTimesOut) {
  for (const char* flood : {"", "Welcome to gpubox!"}) {
    FakeDevice there;
    FakeWorker fake_worker(there);
    fake_worker.lines.clear();
    fake_worker.flood = flood;
    auto opened =
        open_worker_device(std::make_unique<FakeLink>(fake_worker), "gpubox", version, built_in_algorithms(), cancel);
    ASSERT_FALSE(opened.ok());
    EXPECT_TRUE(opened.error().silent);
    EXPECT_TRUE(fake_worker.abandoned);
  }
}

TEST_F(WorkerOpening, ClosedLinkIsNoAnswer) {
  FakeDevice there;
  FakeWorker fake_worker(there);
  fake_worker.cut = true;
  auto opened =
      open_worker_device(std::make_unique<FakeLink>(fake_worker), "gpubox", version, built_in_algorithms(), cancel);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, OpenFailure::Kind::no_answer);
  EXPECT_EQ(opened.error().end.exit_code, 255);
}

TEST(WorkerLoop, RefusesUnsupportedRequests) {
  FakeDevice there;
  std::vector<Event> events;
  WorkerLoop loop(there, [&](const Event& event) { events.push_back(event); });
  const CancelToken cancel;
  for (const char* request : {"dance", "measure", "count"}) {
    loop.answer({.request = request, .id = "4"}, cancel);
    ASSERT_TRUE(std::holds_alternative<RefusedEvent>(events.back())) << request;
    EXPECT_EQ(std::get<RefusedEvent>(events.back()).id, "4");
    EXPECT_THAT(text(std::get<RefusedEvent>(events.back()).reason), HasSubstr(request));
  }
  EXPECT_THAT(there.measured, IsEmpty());
}

}  // namespace
}  // namespace attnscope::worker
