// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "kernels/registry.h"
#include "profiler/worker/request_queue.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Request, RefusedEvent> parse(std::string_view line) {
  return parse_request(line, CacheState::cold, *find_gpu("H200"), built_in_algorithms());
}

MeasureRequest measure_of(std::string_view line) {
  const auto request = parse(line);
  EXPECT_TRUE(request.ok()) << line << ": " << (request.ok() ? "" : text(request.error().reason));
  return request.ok() ? std::get<MeasureRequest>(*request) : MeasureRequest{};
}

RefusedEvent import_error_of(std::string_view line) {
  const auto request = parse(line);
  EXPECT_FALSE(request.ok()) << line;
  return request.ok() ? RefusedEvent{} : request.error();
}

TEST(Requests, ParsesFieldsKnobsAndAxes) {
  const MeasureRequest fields = measure_of(
      R"({"request":"measure","id":"a 1","priority":-3,"point":{"algorithm":"splitkv","pass":"fwd","dtype":"bf16",)"
      R"("batch":2,"heads_q":32,"heads_kv":8,"n_q":1,"n_k":4096,"d":128,"mask":"causal","cache":"warm","dropout":0,)"
      R"("deterministic":false,"knobs":{"splits":4}}})");
  EXPECT_EQ(fields.id, "a 1");
  EXPECT_EQ(fields.priority, -3);
  EXPECT_EQ(fields.spec.algorithm, "splitkv");
  EXPECT_EQ(fields.spec.problem.dtype, DType::bf16);
  EXPECT_EQ(fields.spec.problem.heads_kv, 8);
  EXPECT_EQ(fields.spec.problem.n_q, 1);
  EXPECT_EQ(fields.spec.problem.n_k, 4096);
  EXPECT_EQ(fields.spec.problem.mask, Mask::causal);
  EXPECT_EQ(fields.spec.cache, CacheState::warm);
  EXPECT_EQ(fields.spec.knobs.number("splits"), 4);

  const MeasureRequest axes = measure_of(
      R"({"request":"measure","id":"b","point":{"algorithm":"fa2","N":512,"heads":4,"tile":"64x32","deterministic":true}})");
  EXPECT_EQ(axes.priority, 0);
  EXPECT_EQ(axes.spec.problem.n_q, 512);
  EXPECT_EQ(axes.spec.problem.n_k, 512);
  EXPECT_EQ(axes.spec.problem.heads_kv, 4);
  EXPECT_EQ(axes.spec.tile, (TileShape{.br = 64, .bc = 32}));
  EXPECT_EQ(axes.spec.cache, CacheState::cold);
  EXPECT_TRUE(axes.spec.problem.deterministic);
}

TEST(Requests, AcceptsInfeasiblePoints) {
  EXPECT_EQ(measure_of(R"({"request":"measure","id":"c","point":{"algorithm":"fa2","N":512,"d":72}})").spec.problem.d,
            72);
}

TEST(Requests, AcceptsLimits) {
  for (const std::int64_t priority : {-1'000'000, 1'000'000}) {
    const std::string id(max_request_id_bytes, 'x');
    std::string line =
        measure_line(id, priority, {.algorithm = "fa2", .problem = {}, .tile = {}}, built_in_algorithms());
    line.resize(max_request_bytes, ' ');
    const MeasureRequest read = measure_of(line);
    EXPECT_EQ(read.id, id);
    EXPECT_EQ(read.priority, priority);
    EXPECT_THAT(text(import_error_of(line + ' ').reason), HasWords("65536"));
  }
}

TEST(Requests, MeasureLineRoundTrips) {
  // An unset knob means the algorithm's default, not the value in the table of tiles.
  const PointSpec spec{.algorithm = "fa2",
                       .problem = {.dtype = DType::bf16,
                                   .pass = Pass::bwd,
                                   .mask = *parse_mask("causal+lengths:300/512"),
                                   .batch = 2,
                                   .heads_q = 8,
                                   .heads_kv = 4,
                                   .n_q = 512,
                                   .n_k = 512,
                                   .d = 128,
                                   .dropout = 0.1,
                                   .deterministic = true},
                       .tile = {.br = 64, .bc = 128},
                       .cache = CacheState::warm};
  PointSpec with_knob = spec;
  with_knob.knobs.set("warps", std::int64_t{4});
  for (const PointSpec& asked : {spec, with_knob}) {
    const std::string line = measure_line("7", 5, asked, built_in_algorithms());
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const MeasureRequest read = measure_of(line);
    EXPECT_EQ(read.id, "7");
    EXPECT_EQ(read.priority, 5);
    EXPECT_EQ(read.spec, asked) << line;
  }
}

TEST(Requests, DefaultTilesRoundTrip) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    const std::string name(algorithm->name());
    const MeasureRequest chosen = measure_of(
        R"({"request":"measure","id":"1","point":{"N":2048,"d":64,"tile":"auto","algorithm":")" + name + "\"}}");
    EXPECT_EQ(measure_of(measure_line("1", 0, chosen.spec, built_in_algorithms())).spec, chosen.spec) << name;
  }
}

TEST(Requests, ParsesCancelAndEnd) {
  EXPECT_EQ(std::get<CancelRequest>(*parse(cancel_line("x\"\n"))).id, "x\"\n");
  EXPECT_TRUE(std::holds_alternative<EndRequest>(*parse(end_line())));
}

TEST(Requests, RejectsInvalidRequestsWithId) {
  struct Case {
    std::string line;
    std::string request;
    std::string id;
    std::string words;
  };
  const std::string measure = R"({"request":"measure","id":"7",)";
  for (const Case& wrong : std::vector<Case>{
           {"noise", "", "", "JSON"},
           {"[]", "", "", "JSON array"},
           {"{}", "", "", "request"},
           {R"({"request":"end","request":"cancel"})", "", "", "line 1 request"},
           {R"({"request":"later","id":"7"})", "later", "7", "later measure cancel end"},
           {R"({"request":"measure","point":{}})", "measure", "", "id 128"},
           {R"({"request":"measure","id":7,"point":{}})", "measure", "", "id 128"},
           {R"({"request":"measure","id":")" + std::string(129, 'x') + "\"}", "measure", "", "id 128"},
           {R"({"request":"cancel"})", "cancel", "", "id 128"},
           {R"({"request":"cancel","id":"7","point":{}})", "cancel", "7", "point"},
           {R"({"request":"end","id":"7"})", "end", "7", "id"},
           {measure + R"("priorty":1,"point":{}})", "measure", "7", "priorty priority"},
           {measure + R"("priority":1.5,"point":{}})", "measure", "7", "priority"},
           {measure + R"("priority":18446744073709551615,"point":{}})", "measure", "7", "priority -1000000 1000000"},
           {measure + R"("priority":1000001,"point":{}})", "measure", "7", "priority -1000000 1000000"},
           {measure + R"("priority":-1000001,"point":{}})", "measure", "7", "priority -1000000 1000000"},
           {measure + R"("priority":-1000000,"point":7})", "measure", "7", "point"},
           {measure + R"("point":[]})", "measure", "7", "point"},
           {measure + R"("point":{}})", "measure", "7", "algorithm"},
           {measure + R"("point":{"algorithm":"fa9"}})", "measure", "7", "fa9"},
           {measure + R"("point":{"algorithm":"fa2","N":"[64,128]"}})", "measure", "7", "N 2"},
           {measure + R"("point":{"algorithm":"fa2","N":0}})", "measure", "7", "N"},
           {measure + R"("point":{"algorithm":"fa2","N":1e9}})", "measure", "7", "1000000000.0"},
           {measure + R"("point":{"algorithm":"fa2","N":999999999}})", "measure", "7", "16777216"},
           {measure + R"("point":{"algorithm":"fa2","N":64,"n_q":64}})", "measure", "7", "n_q"},
           {measure + R"("point":{"algorithm":"fa2","N":null}})", "measure", "7", "N"},
           {measure + R"("point":{"algorithm":"fa2","dropout":1.5}})", "measure", "7", "1.5"},
           {measure + R"("point":{"algorithm":"fa2","sparkle":1}})", "measure", "7", "sparkle"},
           {measure + R"("point":{"algorithm":"fa2","knobs":3}})", "measure", "7", "knobs"},
           {measure + R"("point":{"algorithm":"fa2","knobs":{"splits":-1}}})", "measure", "7", "splits"},
           {measure + R"("point":{"algorithm":"fa2","knobs":{"warps":4,"sparkle":1}}})", "measure", "7", "sparkle"},
       }) {
    const RefusedEvent refused = import_error_of(wrong.line);
    EXPECT_EQ(refused.request, wrong.request) << wrong.line;
    EXPECT_EQ(refused.id, wrong.id) << wrong.line;
    EXPECT_THAT(text(refused.reason), HasWords(wrong.words)) << wrong.line;
    EXPECT_EQ(text(refused.reason).find('\n'), std::string::npos) << wrong.line;
  }
  EXPECT_FALSE(parse(std::string(max_request_bytes, '[')).ok());
}

class RequestQueueTest : public ::testing::Test {
 protected:
  static MeasureRequest request(const std::string& id, std::int64_t priority = 0) {
    return {.id = id, .priority = priority, .spec = {}};
  }
  std::vector<std::string> take_all() {
    std::vector<std::string> ids;
    while (const auto next = queue.take({})) {
      ids.push_back(next->id);
      queue.mark_answered();
    }
    return ids;
  }

  CancelToken session;
  RequestQueue queue{session};
  std::vector<std::string> gone;
  RequestQueue::OnRemoved note = [this](const std::string& id) { gone.push_back(id); };
};

TEST_F(RequestQueueTest, OrdersByPriorityThenArrival) {
  for (const auto& [id, priority] : {std::pair("a", 0), {"b", 5}, {"c", 0}, {"d", -1}, {"e", 5}}) {
    EXPECT_TRUE(queue.add(request(id, priority)).empty());
  }
  EXPECT_THAT(take_all(), ElementsAre("b", "e", "a", "c", "d"));
}

TEST_F(RequestQueueTest, RejectsDuplicateIds) {
  EXPECT_TRUE(queue.add(request("a")).empty());
  EXPECT_THAT(text(queue.add(request("a"))), HasSubstr("'a'"));
  ASSERT_TRUE(queue.take({}));
  EXPECT_FALSE(queue.add(request("a")).empty());
  queue.mark_answered();
  EXPECT_TRUE(queue.add(request("a")).empty());
}

TEST_F(RequestQueueTest, CancelsWaitingAndSignalsInFlight) {
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(queue.add(request(id)).empty());
  ASSERT_EQ(queue.take({})->id, "a");
  EXPECT_TRUE(queue.cancel("b", note));
  EXPECT_THAT(gone, ElementsAre("b"));
  EXPECT_FALSE(queue.cancel("b", note)) << "already removed";
  EXPECT_TRUE(queue.add(request("b")).empty()) << "its id is free";
  EXPECT_TRUE(queue.cancel("b", [](const std::string&) {}));
  EXPECT_FALSE(queue.in_flight().cancelled());
  EXPECT_TRUE(queue.cancel("a", note));
  EXPECT_TRUE(queue.in_flight().cancelled());
  EXPECT_THAT(gone, ElementsAre("b")) << "the measuring thread reports its result";
  queue.mark_answered();
  ASSERT_EQ(queue.take({})->id, "c");
  EXPECT_FALSE(queue.in_flight().cancelled()) << "each request has its own token";
  session.cancel();
  EXPECT_TRUE(queue.in_flight().cancelled()) << "the session cancels all tokens";
}

TEST_F(RequestQueueTest, CancelsAll) {
  EXPECT_EQ(queue.cancel_all(note), 0U);
  for (const auto& [id, priority] : {std::pair("a", 0), {"b", 0}, {"c", 5}, {"d", 0}}) {
    EXPECT_TRUE(queue.add(request(id, priority)).empty());
  }
  ASSERT_EQ(queue.take({})->id, "c");
  EXPECT_EQ(queue.cancel_all(note), 4U);
  EXPECT_THAT(gone, ElementsAre("a", "b", "d")) << "the measuring thread reports 'c'";
  EXPECT_TRUE(queue.in_flight().cancelled());
  EXPECT_FALSE(queue.cancel("d", note));
  queue.mark_answered();
  EXPECT_EQ(queue.open(), 0U);
  EXPECT_TRUE(queue.add(request("a")).empty()) << "its id is free";
}

TEST_F(RequestQueueTest, RejectsWhenFull) {
  for (std::size_t i = 0; i < RequestQueue::max_waiting; ++i)
    ASSERT_TRUE(queue.add(request(std::to_string(i))).empty());
  EXPECT_FALSE(queue.add(request("one more")).empty());
  ASSERT_TRUE(queue.take({}));
  EXPECT_TRUE(queue.add(request("one more")).empty());
}

TEST_F(RequestQueueTest, PutBackKeepsPosition) {
  for (const char* id : {"a", "b"}) EXPECT_TRUE(queue.add(request(id)).empty());
  auto first = queue.take({});
  ASSERT_TRUE(first);
  for (const auto& [id, priority] : {std::pair("c", 0), {"d", 1}}) {
    EXPECT_TRUE(queue.add(request(id, priority)).empty());
  }
  queue.requeue(*std::move(first));
  EXPECT_EQ(queue.open(), 4U);
  EXPECT_THAT(take_all(), ElementsAre("d", "a", "b", "c"));
}

TEST_F(RequestQueueTest, DrainedWhenClosedAndAnswered) {
  EXPECT_TRUE(queue.add(request("a")).empty());
  queue.close();
  EXPECT_THAT(text(queue.add(request("b"))), HasSubstr("ending"));
  EXPECT_FALSE(queue.is_drained());
  ASSERT_TRUE(queue.take({}));
  EXPECT_FALSE(queue.is_drained());
  queue.mark_answered();
  EXPECT_TRUE(queue.is_drained());
}

TEST_F(RequestQueueTest, WakesWaitingThread) {
  std::string taken;
  std::thread waiting([&] {
    if (const auto request = queue.take(std::chrono::minutes(5))) taken = request->id;
    EXPECT_FALSE(queue.take(std::chrono::minutes(5))) << "closed";
  });
  EXPECT_TRUE(queue.add(request("a")).empty());
  queue.close();
  waiting.join();
  EXPECT_EQ(taken, "a");
}

}  // namespace
}  // namespace attnscope
