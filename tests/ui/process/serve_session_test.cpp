// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of single points by the real program on the simulated device.
#include "ui/process/serve_session.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <optional>

#include "storage/run_store.h"

namespace attnscope::ui {
namespace {

constexpr int timeout_ms = 60'000;

/// While it exists, the point being measured cannot be stored, so later requests wait.
class Hold {
 public:
  explicit Hold(const QString& file)
      : database_(file.toStdString(), SQLite::OPEN_READWRITE, 10'000),
        transaction_(database_, SQLite::TransactionBehavior::IMMEDIATE) {}

 private:
  SQLite::Database database_;
  SQLite::Transaction transaction_;
};

class ServeSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    session.set_target({.device = QStringLiteral("simulated"), .database = file});
  }
  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }

  static PointSpec small(std::int64_t n) {
    return {.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = {.br = 64, .bc = 64}};
  }
  /// Replaces the collector by a script that runs these shell commands first; "$@" are its arguments.
  void install_collector_script(const QString& words) {
    const QString script = folder.filePath(QStringLiteral("collector.sh"));
    QFile out(script);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    out.write(QStringLiteral("#!/bin/sh\n%1\nexec '%2' \"$@\"\n")
                  .arg(words, QStringLiteral(ATTNSCOPE_COMMAND_PROGRAM))
                  .toUtf8());
    out.close();
    ASSERT_TRUE(out.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    qputenv("ATTNSCOPE_COLLECTOR", script.toUtf8());
  }
  bool wait_for(QSignalSpy& spy, qsizetype count) {
    return QTest::qWaitFor([&] { return spy.count() >= count; }, timeout_ms);
  }
  std::vector<StoredPoint> stored() const {
    return RunStore::open(file.toStdString(), RunStore::Mode::read_only).points();
  }

  QTemporaryDir folder;
  QString file = folder.filePath(QStringLiteral("explore.attnscope"));
  ServeSession session;
  QSignalSpy started{&session, &ServeSession::session_started};
  QSignalSpy queued{&session, &ServeSession::point_queued};
  QSignalSpy begun{&session, &ServeSession::point_started};
  QSignalSpy finished{&session, &ServeSession::point_finished};
  QSignalSpy refused{&session, &ServeSession::point_refused};
  QSignalSpy cancelled{&session, &ServeSession::point_cancelled};
  QSignalSpy failed{&session, &ServeSession::failed};
  QSignalSpy ended{&session, &ServeSession::ended};
};

TEST_F(ServeSessionTest, MeasuresAllPointsInOneProcess) {
  EXPECT_FALSE(session.is_running()) << "starts with the first request";
  const QString first = session.measure(small(256));
  const QString second = session.measure(small(512));
  EXPECT_NE(first, second);
  EXPECT_EQ(session.open(), 2);
  ASSERT_TRUE(wait_for(finished, 2));
  EXPECT_EQ(started.count(), 1);
  EXPECT_EQ(started[0][0].value<PlanEvent>().database, file.toStdString());
  EXPECT_EQ(queued.count(), 2);
  EXPECT_EQ(begun.count(), 2);
  EXPECT_EQ(finished[0][0].toString(), first);
  EXPECT_EQ(finished[1][0].toString(), second);
  const auto point = finished[0][1].value<PointEvent>();
  EXPECT_EQ(point.spec, small(256));
  EXPECT_EQ(point.disposition, "ok");
  EXPECT_EQ(session.open(), 0);
  EXPECT_TRUE(session.is_running());

  session.measure(small(1024));
  ASSERT_TRUE(wait_for(finished, 3));
  session.end();
  ASSERT_TRUE(wait_for(ended, 1));
  EXPECT_FALSE(session.is_running());
  const auto points = stored();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].id, point.point_id);
  const auto runs = RunStore::open(file.toStdString(), RunStore::Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].preset, "explore");
  EXPECT_EQ(runs[0].state, StoredRunState::complete);
}

TEST_F(ServeSessionTest, MeasuresByPriority) {
  session.measure(small(64));
  ASSERT_TRUE(wait_for(finished, 1));
  std::optional<Hold> hold(file);
  const QString flight = session.measure(small(128));
  ASSERT_TRUE(wait_for(begun, 2));
  const QString later = session.measure(small(256));
  const QString prioritized = session.measure(small(512), 10);
  ASSERT_TRUE(wait_for(queued, 4));
  hold.reset();
  ASSERT_TRUE(wait_for(finished, 4));
  EXPECT_EQ(finished[1][0].toString(), flight);
  EXPECT_EQ(finished[2][0].toString(), prioritized);
  EXPECT_EQ(finished[3][0].toString(), later);
}

TEST_F(ServeSessionTest, ContinuesAfterCancelAll) {
  session.measure(small(64));
  ASSERT_TRUE(wait_for(finished, 1));
  std::optional<Hold> hold(file);
  const QString flight = session.measure(small(128));
  const QString waits = session.measure(small(256));
  ASSERT_TRUE(wait_for(begun, 2));
  session.cancel_all();
  session.cancel_all();
  ASSERT_TRUE(wait_for(cancelled, 1));
  EXPECT_EQ(cancelled[0][0].toString(), waits);
  const QString after = session.measure(small(512));
  hold.reset();
  ASSERT_TRUE(QTest::qWaitFor([this] { return session.open() == 0; }, timeout_ms));
  EXPECT_EQ(finished.last()[0].toString(), after);
  // The point in flight was either measured or cancelled.
  ASSERT_EQ(finished.count() + cancelled.count(), 4);
  EXPECT_EQ((finished.count() == 3 ? finished[1] : cancelled[1])[0].toString(), flight);
  const qsizetype before = cancelled.count();
  session.cancel(after);
  session.cancel_all();
  EXPECT_EQ(cancelled.count(), before) << "every request was answered";
}

TEST_F(ServeSessionTest, ReportsTheReasonOfARejection) {
  PointSpec unknown = small(64);
  unknown.algorithm = "fa9";
  const QString id = session.measure(unknown);
  ASSERT_TRUE(wait_for(refused, 1));
  EXPECT_EQ(refused[0][0].toString(), id);
  EXPECT_TRUE(refused[0][1].toString().contains(QStringLiteral("fa9")));
  EXPECT_EQ(session.open(), 0);
  session.measure(small(64));
  ASSERT_TRUE(wait_for(finished, 1)) << "the session continues";
}

TEST_F(ServeSessionTest, RejectsPendingPointsOfACrashedCollector) {
  install_collector_script(QStringLiteral("echo 'last words' >&2; kill -SEGV $$"));
  const QString id = session.measure(small(64));
  ASSERT_TRUE(wait_for(ended, 1));
  EXPECT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("last words")));
  ASSERT_EQ(refused.count(), 1);
  EXPECT_EQ(refused[0][0].toString(), id);
  EXPECT_EQ(refused[0][1].toString(), failed[0][0].toString());
  EXPECT_FALSE(session.is_running());

  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  session.measure(small(64));
  ASSERT_TRUE(wait_for(finished, 1)) << "the next request starts a new session";
}

TEST_F(ServeSessionTest, ReportsAStartFailureOnce) {
  session.set_target({.device = QStringLiteral("simulated"), .database = folder.filePath(QStringLiteral("no/such/x"))});
  session.measure(small(64));
  ASSERT_TRUE(wait_for(ended, 1));
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("no/such"))) << failed[0][0].toString().toStdString();
  EXPECT_EQ(refused.count(), 1);

  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");
  session.measure(small(64));
  EXPECT_EQ(refused.count(), 1) << "never within measure()";
  ASSERT_TRUE(wait_for(refused, 2));
}

TEST_F(ServeSessionTest, RestartsForAnotherTarget) {
  session.measure(small(64));
  ASSERT_TRUE(wait_for(finished, 1));
  const Hold hold(file);
  const QString cancelled_id = session.measure(small(256));
  ASSERT_TRUE(wait_for(begun, 2));
  const QString other = folder.filePath(QStringLiteral("other.attnscope"));
  session.set_target({.device = QStringLiteral("simulated:H200"), .database = other});
  session.measure(small(128));
  ASSERT_TRUE(wait_for(finished, 2));
  ASSERT_EQ(cancelled.count(), 1);
  EXPECT_EQ(cancelled[0][0].toString(), cancelled_id);
  EXPECT_EQ(stored().size(), 1U);
  EXPECT_EQ(RunStore::open(other.toStdString(), RunStore::Mode::read_only).points().size(), 1U);
}

TEST_F(ServeSessionTest, QueuesPointsWhileEnding) {
  session.measure(small(64));
  ASSERT_TRUE(wait_for(finished, 1));
  session.end();
  const QString after = session.measure(small(128));
  ASSERT_TRUE(wait_for(finished, 2));
  EXPECT_EQ(finished[1][0].toString(), after);
  EXPECT_EQ(RunStore::open(file.toStdString(), RunStore::Mode::read_only).runs().size(), 2U);
}

TEST(ServeTarget, ConvertsToACommandLine) {
  const ServeTarget target{.device = QStringLiteral("0"), .database = QStringLiteral("/tmp/x.attnscope"), .why = true};
  EXPECT_EQ(target.arguments().join(' '), "collect --serve --device 0 --utilization -o /tmp/x.attnscope");
}

}  // namespace
}  // namespace attnscope::ui
