// SPDX-License-Identifier: Apache-2.0
// Sessions on the simulated device: each request gets one answer, and answered points are stored.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sessions.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Mode = RunStore::Mode;

class Serve : public CommandTest {
 protected:
  [[nodiscard]] Words command(const Words& more = {}) const {
    const Words words = Words{"collect", "--serve", "--device", "simulated", "-o", file_} + more;
    return words;
  }

  /// Holds a write lock: the point in flight cannot be stored, so further requests stay queued.
  class Hold {
   public:
    explicit Hold(const std::filesystem::path& file)
        : database_(file.string(), SQLite::OPEN_READWRITE, 10'000),
          transaction_(database_, SQLite::TransactionBehavior::IMMEDIATE) {}

   private:
    SQLite::Database database_;
    SQLite::Transaction transaction_;
  };

  /// Requests that take longer than any timeout.
  static std::string many_requests() {
    std::string lines;
    for (int i = 0; i < 1000; ++i) lines += request_line(fmt::format("many{}", i), 16384, 0, "naive");
    return lines;
  }
  /// Expects one answer per request; some are cancelled.
  static void expect_one_answer_each(const SessionClient& client) {
    const std::set<std::string> once(client.answers().begin(), client.answers().end());
    EXPECT_EQ(once.size(), client.answers().size());
    EXPECT_GT(client.answers().size(), client.points().size()) << "some were cancelled";
  }
};

TEST_F(Serve, answers_and_stores_each_point) {
  SessionClient client(folder_, command());
  const auto hello = client.until<PlanEvent>();
  EXPECT_EQ(hello.preset, "explore");
  EXPECT_EQ(hello.total, 0U);
  EXPECT_TRUE(hello.simulated);
  EXPECT_EQ(hello.database, file_.string());
  client.ask(request_line("first", 256));
  const auto queued = client.until<QueuedEvent>();
  EXPECT_EQ(queued.id, "first");
  EXPECT_EQ(queued.spec.problem.n_q, 256);
  EXPECT_EQ(client.until<StartedEvent>().id, "first");
  const auto point = client.until<PointEvent>();
  EXPECT_EQ(point.id, "first");
  EXPECT_EQ(point.disposition, "ok");
  EXPECT_EQ(point.spec, queued.spec);
  EXPECT_GT(point.time_median_ns, 0);
  EXPECT_EQ(point.provenance, "simulated");
  const std::optional<StoredPoint> kept = RunStore::open(file_, Mode::read_only).point(point.point_id);
  ASSERT_TRUE(kept) << "answered points are stored during the session";
  EXPECT_EQ(kept->record.spec, point.spec);
  while (the_run().state == StoredRunState::running) std::this_thread::yield();
  EXPECT_EQ(the_run().state, StoredRunState::complete) << "no request is pending";
  EXPECT_FALSE(the_run().finished_at.empty());

  client.ask(request_line("second", 512) + request_line("first", 256) + end_line() + "\n");
  const Outcome outcome = expect_exit(0, client.end());
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(client.answers(), ElementsAre("point first", "point second", "point first"))
      << "answered IDs and points can be requested again";
  ASSERT_TRUE(client.done());
  EXPECT_EQ(client.done()->state, "complete");
  EXPECT_EQ(client.done()->ok, 3U);
  EXPECT_EQ(the_run().state, StoredRunState::complete);
  EXPECT_EQ(the_run().preset, "explore");
  EXPECT_EQ(stored().size(), 3U);
  EXPECT_EQ(stored()[2].index, 2U);
  EXPECT_THAT(expect_exit(0, run(folder_, {"info", file_})).out,
              AllOf(HasSubstr("explore"), HasSubstr("complete"), HasSubstr("3 ok")));
  EXPECT_EQ(run(folder_, {"check", file_}).exit_code, 0);
}

TEST_F(Serve, each_session_is_a_run) {
  for (int i = 0; i < 2; ++i) {
    SessionClient client(folder_, command());
    client.ask(request_line("1", 64) + end_line() + "\n");
    EXPECT_EQ(client.end().exit_code, 0);
  }
  const auto runs = RunStore::open(file_, Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_NE(runs[0].plan_hash, runs[1].plan_hash) << "they are separate runs";
}

TEST_F(Serve, orders_by_priority_then_arrival) {
  SessionClient client(folder_, command());
  client.until<PlanEvent>();
  {
    const Hold hold(file_);
    client.ask(request_line("first", 64));
    EXPECT_EQ(client.until<StartedEvent>().id, "first");
    client.ask(request_line("a", 64) + request_line("b", 64, 5) + request_line("c", 64) + request_line("d", 64, -1) +
               request_line("e", 64, 5) + end_line() + "\n");
    for (int i = 0; i < 5; ++i) client.until<QueuedEvent>();
  }
  EXPECT_EQ(client.end().exit_code, 0);
  EXPECT_THAT(client.answers(), ElementsAre("point first", "point b", "point e", "point a", "point c", "point d"));
}

TEST_F(Serve, cancels_queued_requests) {
  SessionClient client(folder_, command());
  client.until<PlanEvent>();
  {
    const Hold hold(file_);
    client.ask(request_line("first", 64));
    EXPECT_EQ(client.until<StartedEvent>().id, "first");
    client.ask(request_line("waits", 64) + cancel_line("waits") + "\n");
    const auto waited = client.until<CancelledEvent>();
    EXPECT_EQ(waited.id, "waits");
    EXPECT_TRUE(waited.reason.empty());
    client.ask(cancel_line("waits") + "\n");
    const auto refused = client.until<RefusedEvent>();
    EXPECT_EQ(refused.request, "cancel");
    EXPECT_EQ(refused.id, "waits");
    EXPECT_THAT(text(refused.reason), HasSubstr("'waits'"));
    client.ask(request_line("x", 64) + request_line("y", 64) + cancel_line("first") + "\n" + cancel_line("x") + "\n" +
               cancel_line("y") + "\n" + request_line("z", 64) + end_line() + "\n");
    EXPECT_EQ(client.until<CancelledEvent>().id, "x");
    EXPECT_EQ(client.until<CancelledEvent>().id, "y");
  }
  EXPECT_EQ(client.end().exit_code, 0) << "cancelled requests do not fail the session";
  EXPECT_EQ(client.done()->state, "complete");
  // The cancel may arrive before or after the first measurement.
  EXPECT_THAT(client.answers(), ElementsAre("cancelled waits", "refused waits", "cancelled x", "cancelled y",
                                            AnyOf("point first", "cancelled first"), "point z"));
  EXPECT_EQ(stored().size(), client.points().size());
}

TEST_F(Serve, cancels_running_point) {
  // The simulation may finish before the cancel arrives; then the test tries the next point.
  SessionClient client(folder_, command());
  std::size_t points = 0;
  bool cancelled = false;
  for (int i = 0; i < 100 && !cancelled; ++i) {
    const std::string id = fmt::format("try{}", i);
    client.ask(request_line(id, 16384, 0, "naive", R"(,"pass":"fwd+bwd","d":128)"));
    EXPECT_EQ(client.until<StartedEvent>().id, id);
    client.ask(cancel_line(id) + "\n");
    while (client.answers().empty() || !client.answers().back().ends_with(" " + id)) ASSERT_TRUE(client.next());
    cancelled = client.answers().back() == "cancelled " + id;
    if (!cancelled) ++points;
  }
  EXPECT_TRUE(cancelled);
  client.ask(request_line("after", 64) + end_line() + "\n");
  EXPECT_EQ(client.end().exit_code, 0);
  EXPECT_EQ(stored().size(), points + 1);
}

TEST_F(Serve, continues_after_invalid_line) {
  SessionClient client(folder_, command());
  client.ask("noise\n\n  \n{\"request\":\"measure\",\"id\":\"m\",\"point\":{\"algorithm\":\"fa2\",\"N\":0}}\n");
  EXPECT_THAT(text(client.until<RefusedEvent>().reason), HasSubstr("JSON"));
  const auto below = client.until<RefusedEvent>();
  EXPECT_EQ(below.request, "measure");
  EXPECT_EQ(below.id, "m");
  EXPECT_THAT(text(below.reason), HasSubstr("N"));
  client.ask(std::string(200'000, 'x') + "\n");
  EXPECT_THAT(text(client.until<RefusedEvent>().reason), HasSubstr("65536"));
  {
    const Hold hold(file_);
    client.ask(request_line("twice", 64) + request_line("twice", 64));
    const auto twice = client.until<RefusedEvent>();
    EXPECT_EQ(twice.request, "measure");
    EXPECT_THAT(text(twice.reason), HasSubstr("'twice'"));
  }
  client.ask("  " + cancel_line("nobody") + "\r\n" + request_line("good", 64) + end_line() + "\n" +
             request_line("late", 64));
  EXPECT_EQ(client.end().exit_code, 0);
  EXPECT_EQ(client.points().count("good"), 1U);
  EXPECT_EQ(client.points().count("late"), 0U);
}

TEST_F(Serve, answers_infeasible_points) {
  SessionClient client(folder_, command());
  client.ask(request_line("odd", 256, 0, "fa2", R"(,"br":24,"bc":64)") + end_line() + "\n");
  EXPECT_EQ(client.end().exit_code, 0);
  ASSERT_EQ(client.points().count("odd"), 1U);
  EXPECT_EQ(client.points().at("odd").disposition, "infeasible");
  EXPECT_THAT(text(client.points().at("odd").reason), HasSubstr("24"));
  ASSERT_EQ(stored().size(), 1U);
  EXPECT_EQ(stored()[0].record.disposition, Disposition::infeasible);
}

TEST_F(Serve, closed_stdin_cancels_open_requests) {
  {
    SessionClient client(folder_, command());
    client.until<PlanEvent>();
    {
      const Hold hold(file_);
      client.ask(request_line("a", 64));
      EXPECT_EQ(client.until<StartedEvent>().id, "a");
      client.ask(request_line("b", 64));
      EXPECT_EQ(client.until<QueuedEvent>().id, "b");
      client.process().close_stdin();
      const auto gone = client.until<CancelledEvent>();
      EXPECT_EQ(gone.id, "b");
      EXPECT_THAT(text(gone.reason), HasSubstr("the session ended"));
    }
    EXPECT_EQ(client.end().exit_code, 5);
    EXPECT_EQ(client.done()->state, "cancelled");
    EXPECT_THAT(client.answers(), ElementsAre("cancelled b", AnyOf("point a", "cancelled a")));
    EXPECT_EQ(the_run().state, StoredRunState::cancelled);
    EXPECT_EQ(stored().size(), client.points().size());
  }
  std::filesystem::remove(file_);
  SessionClient idle(folder_, command());
  idle.ask(request_line("a", 64));
  idle.until<PointEvent>();
  idle.until<ProgressEvent>();
  idle.process().close_stdin();
  EXPECT_EQ(idle.end().exit_code, 0) << "no request was pending";
  EXPECT_EQ(the_run().state, StoredRunState::complete);
}

TEST_F(Serve, client_may_exit_while_file_is_locked) {
  { RunStore::open(file_, Mode::collect); }
  const Hold hold(file_);
  SessionClient client(folder_, command());
  client.process().close_stdin();
  const auto result = client.end();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(client.answers().empty());
}

TEST_F(Serve, signal_and_cancel_line_end_the_session) {
  for (const bool by_signal : {true, false}) {
    std::filesystem::remove(file_);
    SessionClient client(folder_, command());
    client.ask(request_line("a", 64));
    client.until<PointEvent>();
    client.ask(many_requests());
    client.until<StartedEvent>();
    if (by_signal) {
      client.process().send(SIGINT);
    } else {
      client.ask("cancel\n");
    }
    EXPECT_EQ(client.end().exit_code, 5);
    EXPECT_EQ(client.done()->state, "cancelled");
    EXPECT_EQ(client.done()->ok, client.points().size());
    expect_one_answer_each(client);
    EXPECT_EQ(the_run().state, StoredRunState::cancelled);
  }
  std::filesystem::remove(file_);
  SessionClient idle(folder_, command());
  idle.until<PlanEvent>();
  idle.process().send(SIGTERM);
  EXPECT_EQ(idle.end().exit_code, 5);
}

TEST_F(Serve, kill_keeps_answered_points) {
  SessionClient client(folder_, command());
  for (const char* id : {"a", "b", "c"}) client.ask(request_line(id, 64));
  for (int i = 0; i < 3; ++i) client.until<PointEvent>();
  while (the_run().state == StoredRunState::running) std::this_thread::yield();
  client.ask(many_requests());
  client.until<StartedEvent>();
  client.process().send(SIGKILL);
  EXPECT_EQ(client.end().exit_code, -SIGKILL);
  std::vector<std::int64_t> said;
  for (const auto& [id, point] : client.points()) said.push_back(point.point_id);
  EXPECT_EQ(the_run().state, StoredRunState::interrupted);
  std::vector<std::int64_t> kept;
  for (const StoredPoint& point : stored()) kept.push_back(point.id);
  EXPECT_THAT(kept, ::testing::IsSupersetOf(said));
  EXPECT_LT(kept.size(), 1000U);
  EXPECT_EQ(run(folder_, {"info", file_}).exit_code, 0);

  SessionClient again(folder_, command());
  again.ask(request_line("d", 64) + end_line() + "\n");
  EXPECT_EQ(again.end().exit_code, 0);
  EXPECT_EQ(RunStore::open(file_, Mode::read_only).runs().size(), 2U) << "a killed session leaves its file usable";
}

TEST_F(Serve, slow_client_does_not_block) {
  // More answers than a pipe holds, and more requests: reading and writing must not block each other.
  SessionClient client(folder_, command(), {.narrow_pipe = true});
  std::string lines;
  constexpr std::size_t requests = 2000;
  for (std::size_t i = 0; i < requests; ++i) lines += request_line(fmt::format("r{}", i), 64, 0, "fa9");
  client.ask(lines + end_line() + "\n");
  EXPECT_EQ(client.end().exit_code, 0);
  EXPECT_EQ(client.answers().size(), requests);
}

TEST_F(Serve, closed_stdout_ends_the_session) {
  SessionClient client(folder_, command());
  client.ask(many_requests());
  client.until<StartedEvent>();
  client.process().close_stdout();
  // stdin stays open: the session ends because stdout is closed
  while (the_run().state == StoredRunState::running) std::this_thread::yield();
  EXPECT_EQ(the_run().state, StoredRunState::cancelled);
  EXPECT_EQ(client.process().wait().exit_code, 5);
  EXPECT_LT(stored().size(), 1000U);
}

TEST_F(Serve, plan_options_exclude_serve) {
  for (const Words& more :
       {Words{"--preset", "quick"}, Words{"-a", "N=64"}, Words{"--resume"}, Words{"--dry-run"}, Words{"--csv"}}) {
    EXPECT_THAT(expect_exit(2, run(folder_, command(more))).err, HasSubstr("--serve"));
    EXPECT_FALSE(std::filesystem::exists(file_));
  }
  SessionClient warm(folder_, command({"--cache-control", "none"}));
  warm.ask(request_line("a", 64) + request_line("b", 64, 0, "fa2", R"(,"cache":"cold")") + end_line() + "\n");
  EXPECT_EQ(warm.end().exit_code, 0);
  EXPECT_EQ(warm.points().at("a").spec.cache, CacheState::warm);
  EXPECT_EQ(warm.points().at("b").spec.cache, CacheState::cold);
}

TEST_F(Serve, write_error_is_the_last_event) {
  Words words = command();
  words.back() = folder_ / "no/such/file.attnscope";
  SessionClient client(folder_, words);
  const Outcome outcome = expect_exit(1, client.end());
  ASSERT_TRUE(client.done());
  EXPECT_EQ(client.done()->state, "failed");
  EXPECT_THAT(outcome.err, HasSubstr(text(client.done()->reason)));
}

}  // namespace
}  // namespace attnscope::testing
