// SPDX-License-Identifier: GPL-3.0-or-later
// The collector can be any program with its protocol; here, shell scripts.
#include "ui/process/collector_process.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

namespace attnscope::ui {
namespace {

class CollectorProcessTest : public ::testing::Test {
 protected:
  void run(const QString& script) { process.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), script}); }
  /// Echoes an event like the collector.
  static QString line(const Event& event) {
    return QStringLiteral("echo '%1'\n").arg(QString::fromStdString(to_json_line(event)));
  }
  int outcomes() const {
    return static_cast<int>(finished.count() + cancelled.count() + failed.count() + crashed.count());
  }

  CollectorProcess process;
  QSignalSpy planned{&process, &CollectorProcess::planned};
  QSignalSpy points{&process, &CollectorProcess::point_done};
  QSignalSpy finished{&process, &CollectorProcess::finished};
  QSignalSpy cancelled{&process, &CollectorProcess::cancelled};
  QSignalSpy failed{&process, &CollectorProcess::failed};
  QSignalSpy crashed{&process, &CollectorProcess::crashed};
};

PlanEvent plan() {
  PlanEvent event;
  event.device_name = "NVIDIA H200";
  event.total = 2;
  event.counters = "available";
  return event;
}

PointEvent point(std::size_t index) {
  PointEvent event;
  event.index = index;
  event.point = "fa2 fp16";
  event.disposition = "ok";
  return event;
}

TEST_F(CollectorProcessTest, DeliversEventsInOrder) {
  run(line(plan()) + line(point(0)) + QStringLiteral("echo '{\"event\":\"from the future\"}'\necho garbage\n") +
      line(point(1)) + line(DoneEvent{"complete", {}, 2, 0, 0}));
  ASSERT_TRUE(finished.wait());
  EXPECT_EQ(planned.count(), 1);
  ASSERT_EQ(points.count(), 2);
  EXPECT_EQ(points[1][0].value<PointEvent>().index, 1U);
  EXPECT_EQ(finished[0][0].value<DoneEvent>().ok, 2U);
  EXPECT_EQ(outcomes(), 1);
  EXPECT_FALSE(process.is_running());
}

TEST_F(CollectorProcessTest, CancelIsNotFailure) {
  run(line(plan()) + QStringLiteral("read word\n[ \"$word\" = cancel ] || exit 9\n") +
      line(DoneEvent{"cancelled", {}, 1, 0, 5}) + QStringLiteral("exit 5\n"));
  ASSERT_TRUE(planned.wait());
  process.cancel();
  ASSERT_TRUE(cancelled.wait());
  EXPECT_EQ(cancelled[0][0].value<DoneEvent>().ok, 1U);
  EXPECT_EQ(outcomes(), 1);
}

TEST_F(CollectorProcessTest, ReportsADeadChildAsACrash) {
  run(line(plan()) + QStringLiteral("echo 'last words' >&2\nkill -SEGV $$\n"));
  ASSERT_TRUE(crashed.wait());
  EXPECT_TRUE(crashed[0][0].toString().contains("last words"));
  EXPECT_EQ(outcomes(), 1);
}

TEST_F(CollectorProcessTest, FailureContainsTheLastLineOfStderr) {
  run(QStringLiteral("echo first >&2\necho 'no space left on /data' >&2\nexit 1\n"));
  ASSERT_TRUE(failed.wait());
  EXPECT_EQ(failed[0][0].toString(), "no space left on /data");
  EXPECT_EQ(outcomes(), 1);
}

TEST_F(CollectorProcessTest, ReportsALostDevice) {
  run(line(plan()) + line(DoneEvent{"device-lost", Message::verbatim("the GPU fell off the bus"), 1, 1, 1}) +
      QStringLiteral("exit 1\n"));
  ASSERT_TRUE(failed.wait());
  EXPECT_EQ(failed[0][0].toString(), "the GPU fell off the bus");
}

TEST_F(CollectorProcessTest, ReportsAMissingProgram) {
  process.start(QStringLiteral("/nonexistent/attnscope"), {});
  ASSERT_TRUE(failed.count() > 0 || failed.wait());
  EXPECT_EQ(outcomes(), 1);
}

TEST_F(CollectorProcessTest, CanBeRestarted) {
  run(QStringLiteral("exit 1"));
  ASSERT_TRUE(failed.wait());
  run(line(DoneEvent{"complete", {}, 0, 0, 0}));
  ASSERT_TRUE(finished.wait());
  EXPECT_EQ(outcomes(), 2);
}

TEST(CollectRequest, ConvertsToACommandLine) {
  CollectRequest request;
  request.preset = QStringLiteral("tiles");
  request.axes = {QStringLiteral("N=1024"), QStringLiteral("d=64")};
  request.algorithms = {QStringLiteral("fa1"), QStringLiteral("fa2")};
  request.device = QStringLiteral("simulated:H200");
  request.warm_cache = true;
  request.database = QStringLiteral("/tmp/x.attnscope");
  EXPECT_EQ(request.arguments().join(' '),
            "collect --jsonl --preset tiles -a N=1024 -a d=64 --algorithms fa1,fa2 --device simulated:H200 "
            "--cache-control none -o /tmp/x.attnscope");
  request.resume = true;
  request.rounds = 2;
  request.warm_cache = false;
  EXPECT_TRUE(request.arguments().join(' ').contains("--cache-control all --rounds 2 --resume -o "));
}

TEST(FindCollector, EnvironmentVariableHasPriority) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/sh");
  EXPECT_EQ(find_collector(), "/bin/sh");
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");
  EXPECT_EQ(find_collector(), QString());
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

}  // namespace
}  // namespace attnscope::ui
