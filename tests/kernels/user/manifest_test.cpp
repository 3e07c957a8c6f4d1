// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/user/new_kernel.h"
#include "tests/kernels/user/manifest_text.h"
#include "tests/message_matchers.h"

namespace attnscope::user {
namespace {

using test::HasWords;
using ::testing::ElementsAre;

std::string error_of(const std::string& text) {
  const auto parsed = parse_manifest(text, "/somewhere");
  return parsed ? "accepted" : english_text(parsed.error());
}

TEST(KernelManifest, TemplateIsComplete) {
  const auto parsed = parse_manifest(template_text(), "/somewhere");
  ASSERT_TRUE(parsed.ok()) << parsed.error();
  EXPECT_EQ(parsed->name, "my-kernel");
  EXPECT_EQ(parsed->launches.at(0).source->file, "/somewhere/my-kernel.cu");
  EXPECT_EQ(parsed->launches.at(0).source->kind, UserSource::Kind::cuda);
  EXPECT_THAT(parsed->head_dims, ElementsAre(32, 64, 128));
  EXPECT_THAT(parsed->dtypes, ElementsAre(DType::fp16, DType::bf16));
  EXPECT_TRUE(parsed->causal);
  EXPECT_TRUE(parsed->reports_traffic());
  ASSERT_EQ(parsed->launches.size(), 1U);
  EXPECT_EQ(parsed->launches[0].arguments.size(), 10U);
  EXPECT_EQ(parsed->launches[0].arguments[9].type, ArgumentSpec::Type::float32);
}

TEST(KernelManifest, ErrorsHaveLines) {
  struct Case {
    const char* from;
    const char* to;
    int line;
    const char* words;
  };
  const Case cases[] = {
      {"\"attnscope_kernel\": 1", "\"attnscope_kernel\": 2", 2, "attnscope_kernel 1"},
      {"\"name\": \"my-kernel\"", "\"name\": \"My Kernel\"", 3, "name"},
      {"\"name\": \"my-kernel\"", "\"name\": \"fa2\"", 3, "fa2"},
      {"my-kernel.cu", "my-kernel.txt", 4, "source cu cuh ptx cubin so py"},
      {"\"supports\"", "\"suports\"", 6, "suports supports"},
      {"[\"fp16\", \"bf16\"]", "[\"fp16\", \"fp8\"]", 7, "2 dtype fp16 bf16 fp32"},
      {"[32, 64, 128]", "[32, \"64\"]", 8, "2 d 1 1024"},
      {"[\"full\", \"causal\"]", "[]", 10, "mask"},
      {"\"gqa\": true", "\"gqa\": 1", 11, "gqa true false"},
      {"[64, 16, 32, 128]", "[64, -16]", 15, "2 br 1"},
      {"\"entry\": \"own_forward\",", "", 20, "entry"},
      {"\"TILE_BR\": \"br\"", "\"TILE_BR\": \"bz\"", 23, "bz batch"},
      {"\"ceil_div(n_q, br)\"", "\"ceil_div(n_q, br\"", 24, "ceil_div(n_q, br"},
      {"[\"4 * br\"]", "[\"1\", \"1\", \"1\", \"1\"]", 25, "block 1 3"},
      {"\"lse\", \"int n_q\"", "\"lss\", \"int n_q\"", 27, "lss q k v o lse null"},
      {"\"like\": \"fa2\"", "\"like\": \"fa9\"", 31, "like naive"},
      {"\"bc\": [32", "\"br\": [32", 16, "br"},
      {"\"gqa\": true", "\"gqa\": true, \"paged\": true", 11, "paged"},
  };
  for (const Case& each : cases) {
    std::string text = template_text();
    const std::size_t at = text.find(each.from);
    ASSERT_NE(at, std::string::npos) << each.from;
    text.replace(at, std::string(each.from).size(), each.to);
    EXPECT_THAT(error_of(text), HasWords("line " + std::to_string(each.line) + " " + each.words)) << each.to;
  }
}

TEST(KernelManifest, JsonErrorsHavePositions) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "line 1 column 1"},
      {"{\n\"attnscope_kernel\": 1,\n}", "line 3 column 1"},
      {"{\n  \"a\": 1\n  \"b\": 2 }", "line 3 column 5"},
      {"{ \"a\": 1, // one\n }", "line 1 column 11"},
      {"{} {}", "line 1 column 4"},
      {"[1]", "line 1"},
  };
  for (const auto& [manifest, words] : cases) EXPECT_THAT(error_of(manifest), HasWords(words)) << manifest;
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasWords("32"));
  EXPECT_THAT(error_of("\xff\xfe{\0}"), HasWords("line 1 column"));
}

TEST(KernelManifest, RejectsOptionsThatWriteFiles) {
  const auto with_option = [](const std::string& option) {
    std::string text = template_text();
    return text.insert(text.find("\"supports\""), "\"options\": [\"" + option + "\"], ");
  };
  EXPECT_EQ(error_of(with_option("--use_fast_math")), "accepted");
  EXPECT_EQ(error_of(with_option("--maxrregcount=128")), "accepted");
  for (const char* option : {"--time=/etc/passwd", "--create-pch=x", "-I/etc", "x"}) {
    EXPECT_THAT(error_of(with_option(option)), HasWords("options --use_fast_math")) << option;
  }
}

TEST(KernelManifest, KnobsAreNamesInExpressions) {
  std::string text = template_text();
  text.insert(text.find("\"launches\""), "\"knobs\": { \"unroll\": { \"values\": [8, 4], \"means\": \"keys\" } },\n  ");
  text.replace(text.find("BR\": \"br\""), 9, "BR\": \"br * unroll / unroll\"");
  EXPECT_EQ(error_of(text), "accepted");
  text.replace(text.find("unroll"), 6, "n_q___");
  EXPECT_THAT(error_of(text), HasWords("unroll"));
  text.replace(text.find("n_q___"), 6, "n_q");
  EXPECT_THAT(error_of(text), HasWords("n_q"));
}

TEST(KernelManifest, TensorMapRequires16BitElements) {
  std::string text = template_text();
  text.replace(text.find("\"lse\", "), 7, R"({ "map": "lse", "extents": ["n_q"], "box": [64] }, )");
  EXPECT_THAT(error_of(text), HasWords("tensor map lse"));
}

TEST(KernelManifest, AKernelHasOneLaw) {
  std::string text = template_text();
  text.insert(text.find("\"arguments\""), "\"bytes\": { \"Q\": { \"load\": \"n_q\" } }, ");
  EXPECT_THAT(error_of(text), HasWords("law bytes"));
  text.replace(text.find("\"Q\": {"), 6, "\"X\": {");
  EXPECT_THAT(error_of(text), HasWords("X Q K V O"));
}

TEST(KernelManifest, LawWithoutATileNeedsItsTile) {
  std::string text = template_text();
  const std::size_t tile = text.find("\"tile\"");
  text.erase(tile, text.find('}', tile) + 1 - tile + 1);
  EXPECT_THAT(error_of(text), HasWords("my-kernel has no tile br bc law"));
  text.replace(text.find("\"fa2\""), 5, R"("fa2", "br": "64", "bc": "32")");
  EXPECT_EQ(error_of(text), "accepted");
}

TEST(KernelManifest, LibraryHasOneLaunchPerPass) {
  const std::string begin = R"({"attnscope_kernel": 1, "name": "own", "source": "own.so",
"computes": {"lse": "e"}, "supports": {"dtype": ["fp16"], "d": [64], "pass": ["fwd", "bwd"]},
"tile": {"br": [64], "bc": [64]},
"launches": [
)";
  const auto whole =
      parse_manifest(begin + R"({"pass": "fwd"}, {"pass": "bwd", "source": "other.so"}]})", "/somewhere");
  ASSERT_TRUE(whole.ok()) << whole.error();
  EXPECT_TRUE(whole->has_host_code());
  EXPECT_TRUE(whole->lse);
  ASSERT_EQ(whole->launches.size(), 2U);
  EXPECT_EQ(whole->launches[0].name, "fwd");
  EXPECT_EQ(whole->launches[1].name, "bwd");
  EXPECT_EQ(whole->launches[1].source->file, "/somewhere/other.so");
  EXPECT_EQ(whole->launches[1].source->kind, UserSource::Kind::library);
  EXPECT_THAT(error_of(begin + "{},\n{\"name\": \"again\"}]}"), HasWords("line 6 pass fwd"));
  EXPECT_THAT(error_of(begin + "{\"name\": \"x\",\n\"grid\": [\"1\"]}]}"), HasWords("line 6 grid"));
  EXPECT_FALSE(parse_manifest(template_text(), "/somewhere")->has_host_code());
}

TEST(KernelManifest, PythonFunctionHasOneLaunchPerPass) {
  const auto with = [](const std::string& launches) {
    return R"({"attnscope_kernel": 1, "name": "own", "source": "own.py",
"supports": {"dtype": ["fp16"], "d": [64], "pass": ["fwd", "bwd"]}, "tile": "tuned",
"law": {"like": "fa2", "lse": true},
"launches": [)" +
           launches + "]}";
  };
  const auto whole = parse_manifest(with(R"({"entry": "f"}, {"entry": "f", "pass": "bwd"})"), "/somewhere");
  ASSERT_TRUE(whole.ok()) << whole.error();
  EXPECT_TRUE(whole->has_host_code());
  EXPECT_TRUE(whole->tuned_tile);
  EXPECT_FALSE(whole->reports_traffic()) << "the tile of its law is not known before a call";
  ASSERT_EQ(whole->launches.size(), 2U);
  EXPECT_EQ(whole->launches[0].name, "fwd");
  EXPECT_EQ(whole->launches[0].entry, "f");
  EXPECT_EQ(whole->launches[1].name, "bwd");
  EXPECT_EQ(whole->launches[1].source->file, "/somewhere/own.py");
  EXPECT_EQ(whole->launches[1].source->kind, UserSource::Kind::python);
  EXPECT_THAT(error_of(with("{}")), HasWords("entry"));
  EXPECT_THAT(error_of(with(R"({"entry": "f"}, {"entry": "g", "name": "again"})")), HasWords("pass fwd"));
  EXPECT_THAT(error_of(with(R"({"entry": "f", "grid": ["1"]})")), HasWords("grid host code"));
}

TEST(KernelManifest, FillsNeedALaunchThatTakesThem) {
  const auto with = [](const std::string& fill, const std::string& launches, const char* source = "own.cu") {
    return R"({"attnscope_kernel": 1, "name": "own", "source": ")" + std::string(source) + R"(",
"supports": {"dtype": ["fp16"], "d": [64], "pass": ["fwd", "bwd"]},
"scratch": {"acc": {"bytes": "64"}, "sum": {"bytes": "64"}},
"fill": {")" +
           fill + R"(": 0},
"launches": [)" +
           launches + "]}";
  };
  const auto launch = [](const char* pass, const char* arguments) {
    return std::string(R"({"entry": ")") + pass + R"(", "pass": ")" + pass +
           R"(", "grid": ["1"], "block": ["1"], "arguments": [)" + arguments + "]}";
  };
  const std::string both = launch("fwd", R"("o", "acc")") + "," + launch("bwd", R"({"struct": ["dq", "acc"]}, "sum")");
  EXPECT_EQ(error_of(with("sum", both)), "accepted");
  EXPECT_EQ(error_of(with("o", both)), "accepted");
  EXPECT_THAT(error_of(with("dk", both)), HasWords("line 4 dk launch"));
  EXPECT_THAT(error_of(with("acc", both)), HasWords("line 4 acc passes"));
  EXPECT_THAT(error_of(with("o", R"({"pass": "fwd"}, {"pass": "bwd"})", "own.so")), HasWords("line 4 fill host code"));
}

TEST(KernelManifest, EachPassNeedsALaunch) {
  std::string text = template_text();
  text.replace(text.find("[\"fwd\"]"), 7, "[\"fwd\", \"bwd\"]");
  EXPECT_THAT(error_of(text), HasWords("pass bwd"));
}

}  // namespace
}  // namespace attnscope::user
