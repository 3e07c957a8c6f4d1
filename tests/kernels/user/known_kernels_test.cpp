// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/known_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <array>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/gpu_values.h"
#include "kernels/registry.h"
#include "kernels/user/new_kernel.h"
#include "tests/kernels/user/manifest_text.h"
#include "tests/message_matchers.h"
#include "tests/temporary_folder.h"

namespace attnscope::user {
namespace {

using test::HasWords;

std::string manifest_named(const std::string& name) {
  std::string text = template_text();
  for (std::size_t at = 0; (at = text.find("my-kernel", at)) != std::string::npos; at += name.size()) {
    text.replace(at, 9, name);
  }
  return text;
}

/// All messages about one manifest to which points of `kernel` refer.
std::string add_manifest(const std::string& manifest, const char* file, const std::string& kernel = {}) {
  const std::string_view one = manifest;
  std::string lines;
  for (const Message& each : add_manifests_from_file({&one, 1}, file, [&](std::size_t) {
         return kernel.empty() ? std::vector<std::string>() : std::vector{kernel};
       })) {
    lines += (lines.empty() ? "" : "\n") + text(each);
  }
  return lines;
}

const AttentionProblem asked{.batch = 1, .heads_q = 2, .heads_kv = 2, .n_q = 1024, .n_k = 1024, .d = 64};
const TileShape tile{.br = 64, .bc = 64};

TEST(ManifestsFromFile, IsModeledButNotMeasurable) {
  const Registry& before = known_algorithms();
  EXPECT_EQ(add_manifest(manifest_named("read-only"), "runs.attnscope"), "");
  EXPECT_EQ(before.find("read-only"), nullptr) << "whoever looks at the registry goes on to see what was there";
  const Algorithm* kernel = known_algorithms().find("read-only");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->facts().model_only);
  const DeviceLimits& gpu = *find_gpu("h100");
  const AttentionModel model = kernel->model(asked, tile, gpu);
  EXPECT_FALSE(model.refusal.has_value());
  EXPECT_EQ(model.traffic(), built_in_algorithms().find("fa2")->model(asked, tile, gpu).traffic());
  for (const KernelLaunch& launch : kernel->plan(asked, tile, gpu).launches) {
    ASSERT_NE(launch.source.user_source, nullptr);
    EXPECT_TRUE(launch.source.user_source->file.empty());
    EXPECT_TRUE(launch.source.user_source->include_folders.empty());
    EXPECT_EQ(launch.source.file, "read-only/read-only.cu") << "as people know it";
  }
  EXPECT_EQ(add_manifest(manifest_named("read-only"), "other.attnscope"), "") << "the same again";
  EXPECT_EQ(known_algorithms().find("read-only"), kernel);
}

TEST(ManifestsFromFile, ConflictingManifestsHaveNoLaw) {
  EXPECT_EQ(add_manifest(manifest_named("two-ways"), "a.attnscope"), "");
  const std::string other = manifest_named("two-ways") + " ";
  EXPECT_THAT(add_manifest(other, "b.attnscope"), HasWords("two-ways a.attnscope b.attnscope --kernel"));
  EXPECT_FALSE(known_algorithms().find("two-ways")->facts().reports_traffic);
  EXPECT_EQ(add_manifest(other, "b.attnscope"), "") << "reported once";
  EXPECT_EQ(add_manifest(manifest_named("two-ways"), "a.attnscope"), "");
  EXPECT_FALSE(known_algorithms().find("two-ways")->facts().reports_traffic);
}

TEST(ManifestsFromFile, OneFileCanHaveConflictingManifests) {
  EXPECT_EQ(add_manifest(manifest_named("twice"), "a.attnscope"), "");
  EXPECT_THAT(add_manifest(manifest_named("twice") + " ", "a.attnscope"), HasWords("a.attnscope twice --kernel"));
  EXPECT_FALSE(known_algorithms().find("twice")->facts().reports_traffic);
}

TEST(ManifestsFromFile, ComparedVersionsKeepTheirLaws) {
  const std::string first = manifest_named("versions");
  const std::string second = first + " ";
  const std::array<std::string_view, 2> texts{second, first};
  const std::vector<Message> lines = add_manifests_from_file(texts, "ab.attnscope", [](std::size_t i) {
    return std::vector<std::string>{i == 0 ? "versions.2" : "versions"};
  });
  EXPECT_TRUE(lines.empty());
  for (const char* name : {"versions", "versions.2"}) {
    ASSERT_NE(known_algorithms().find(name), nullptr) << name;
    EXPECT_TRUE(known_algorithms().find(name)->facts().reports_traffic);
  }
}

TEST(ManifestsFromFile, LoadedKernelTakesPrecedence) {
  const attnscope::testing::TemporaryFolder folder;
  const auto manifest = write_new_kernel("own-one", folder.path());
  ASSERT_TRUE(manifest) << manifest.error();
  EXPECT_EQ(add_manifest(manifest_named("own-one"), "a.attnscope"), "");
  EXPECT_EQ(text(load_known_kernel(*manifest)), "");
  ASSERT_NE(known_algorithms().find("own-one"), nullptr);
  EXPECT_FALSE(known_algorithms().find("own-one")->facts().model_only);
  const std::string own = manifest_named("own-one");
  EXPECT_EQ(add_manifest(own, "b.attnscope"), "") << "it is known anyway";
  EXPECT_THAT(add_manifest(own + " ", "b.attnscope"), HasWords("b.attnscope own-one"));
  EXPECT_EQ(add_manifest(own + "  ", "b.attnscope"), "") << "reported once";
  EXPECT_FALSE(known_algorithms().find("own-one")->facts().model_only);
}

TEST(ManifestsFromFile, InvalidManifestIsReportedOnce) {
  EXPECT_THAT(add_manifest("{}", "bad.attnscope", "bad"), HasWords("bad.attnscope bad line 1 attnscope_kernel"));
  EXPECT_EQ(add_manifest("{}", "bad.attnscope", "bad"), "");
  EXPECT_THAT(add_manifest(manifest_named("fa2"), "bad.attnscope", "fa2"), HasWords("bad.attnscope fa2"));
  EXPECT_FALSE(known_algorithms().find("fa2")->facts().user_defined);
  EXPECT_TRUE(known_algorithms().find("fa2")->facts().reports_traffic);
}

TEST(ManifestsFromFile, InvalidManifestHidesTheLaw) {
  EXPECT_EQ(add_manifest(manifest_named("unreadable"), "a.attnscope"), "");
  EXPECT_THAT(add_manifest("[1]", "b.attnscope", "unreadable"), HasWords("b.attnscope unreadable a.attnscope line 1"));
  EXPECT_FALSE(known_algorithms().find("unreadable")->facts().reports_traffic);
  EXPECT_EQ(add_manifest("[1]", "b.attnscope", "unreadable"), "") << "reported once";
  // Afterwards: its knobs are known, its law is not.
  EXPECT_THAT(add_manifest("[2]", "b.attnscope", "unreadable-2"), HasWords("b.attnscope unreadable-2 line 1"));
  EXPECT_EQ(known_algorithms().find("unreadable-2"), nullptr);
  EXPECT_THAT(add_manifest(manifest_named("unreadable-2"), "a.attnscope"),
              HasWords("a.attnscope unreadable-2 b.attnscope"));
  ASSERT_NE(known_algorithms().find("unreadable-2"), nullptr);
  EXPECT_FALSE(known_algorithms().find("unreadable-2")->facts().reports_traffic);
  EXPECT_EQ(add_manifest(manifest_named("unreadable-2"), "a.attnscope"), "");
  // Same text in another file, for another kernel.
  EXPECT_EQ(add_manifest(manifest_named("unreadable-3"), "a.attnscope"), "");
  EXPECT_THAT(add_manifest("[2]", "c.attnscope", "unreadable-3"), HasWords("c.attnscope unreadable-3"));
  EXPECT_FALSE(known_algorithms().find("unreadable-3")->facts().reports_traffic);
}

TEST(KnownKernels, ReloadCanRenameButNotCollide) {
  const attnscope::testing::TemporaryFolder folder;
  const auto first = write_new_kernel("first-own", folder.path()).value();
  const auto second = write_new_kernel("second-own", folder.path()).value();
  ASSERT_EQ(text(load_known_kernel(first)), "");
  ASSERT_EQ(text(load_known_kernel(second)), "");
  const Algorithm* const others = known_algorithms().find("second-own");
  const auto rename = [&](const std::string& to) {
    std::string stated = manifest_named(to);
    stated.replace(stated.find(to + ".cu"), to.size(), "first-own");
    std::ofstream(first) << stated;
    return text(load_known_kernel(first));
  };
  EXPECT_THAT(rename("second-own"), HasWords(first.string() + " second-own"));
  EXPECT_EQ(known_algorithms().find("second-own"), others);
  EXPECT_NE(known_algorithms().find("first-own"), nullptr) << "nothing changed";
  EXPECT_EQ(rename("third-own"), "");
  EXPECT_NE(known_algorithms().find("third-own"), nullptr);
  EXPECT_EQ(known_algorithms().find("first-own"), nullptr) << "nothing states it";
  EXPECT_EQ(rename("first-own"), "");
  EXPECT_NE(known_algorithms().find("first-own"), nullptr);
}

TEST(PythonFunction, IsNamedAfterTheLastColon) {
  const auto function = parse_python_function("a:b/my.py:flash");
  ASSERT_TRUE(function.has_value());
  EXPECT_EQ(function->file, "a:b/my.py");
  EXPECT_EQ(function->name, "flash");
  EXPECT_TRUE(parse_python_function("f.pkl:flash").has_value());
  for (const char* other : {"my.py", "my.py:", "my.json:flash", "my.py:a/b", "/a:b/my.py", ""}) {
    EXPECT_FALSE(parse_python_function(other).has_value()) << other;
  }
}

std::string python_manifest(const std::string& name, const std::string& file) {
  return R"({"attnscope_kernel":1,"name":")" + name + R"(","source":")" + file +
         R"(","supports":{"dtype":["fp16"],"d":[64]},"layout":"bnhd","launches":[{"entry":")" + name +
         R"(","pass":"fwd"}]})";
}

class PythonKernels : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(file) << "def flash(q, k, v): ..."; }
  void TearDown() override { set_python_describer({}); }

  attnscope::testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "my.py";
  const std::string word = file.string() + ":flash";
};

TEST_F(PythonKernels, AreLoadedFromTheDescribedManifest) {
  std::vector<std::string> asked;
  set_python_describer([&](const PythonFunction& function) -> Result<std::string, Message> {
    asked.push_back(function.file.string() + " " + function.name);
    return python_manifest("flash-py", "my.py");
  });
  ASSERT_EQ(text(load_known_kernel(word)), "");
  EXPECT_THAT(asked, ::testing::ElementsAre(file.string() + " flash"));
  const KernelFiles kernel = loaded_kernel_files().back();
  EXPECT_EQ(kernel.manifest, word);
  EXPECT_EQ(kernel.name, "flash-py");
  EXPECT_THAT(kernel.sources, ::testing::ElementsAre(file));
  EXPECT_EQ(defining_file(kernel), file);
  EXPECT_TRUE(has_python_kernels());
  EXPECT_TRUE(known_algorithms().find("flash-py")->facts().host_code);
  EXPECT_TRUE(is_unchanged(kernel));
  std::ofstream(file) << "def flash(q, k, v): return q";
  EXPECT_FALSE(is_unchanged(kernel));

  asked.clear();
  EXPECT_EQ(load_kernel_version(word).value(), "flash-py.2");
  EXPECT_EQ(asked.size(), 1U) << "described once";
  ::setenv("ATTNSCOPE_KERNELS", (word + "\n" + word + "\n").c_str(), 1);  // without those of other tests
  ASSERT_EQ(text(load_inherited_kernels()), "");
  EXPECT_NE(known_algorithms().find("flash-py"), nullptr);
  EXPECT_NE(known_algorithms().find("flash-py.2"), nullptr);
  EXPECT_EQ(known_algorithms().find("flash-py.3"), nullptr) << "kernels of before are unloaded";
  EXPECT_TRUE(is_unchanged(loaded_kernel_files().back()));
}

TEST_F(PythonKernels, ErrorsNameTheFunction) {
  const auto error = [](const std::filesystem::path& kernel) { return english_text(load_known_kernel(kernel)); };
  EXPECT_THAT(error(word), HasWords(word + " not supported"));
  set_python_describer(
      [](const PythonFunction&) -> Result<std::string, Message> { return Failure{Message("no such function")}; });
  EXPECT_EQ(error(word), word + ": no such function");
  EXPECT_THAT(error(folder / "none.py:flash"), HasWords((folder / "none.py").string()));
  EXPECT_THAT(error(file), HasWords(file.string() + " function my.py:NAME"));
  set_python_describer([](const PythonFunction&) -> Result<std::string, Message> { return std::string("{}"); });
  EXPECT_THAT(error(word), HasWords(word + " line 1 attnscope_kernel"));
  set_python_describer([](const PythonFunction&) -> Result<std::string, Message> { return std::string(); });
  EXPECT_THAT(error(word), HasWords(word + " manifest empty"));
}

TEST(ManifestsFromFile, BatchCreatesOneRegistry) {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back(manifest_named("one-of-" + std::to_string(i)));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto nobodys = [](std::size_t) { return std::vector<std::string>(); };
  EXPECT_THAT(add_manifests_from_file(views, "many.attnscope", nobodys), ::testing::IsEmpty());
  const Registry& all = known_algorithms();
  for (int i = 0; i < 300; ++i) EXPECT_NE(all.find("one-of-" + std::to_string(i)), nullptr) << i;
  EXPECT_THAT(add_manifests_from_file(views, "many.attnscope", nobodys), ::testing::IsEmpty());
  EXPECT_EQ(&known_algorithms(), &all) << "nothing is new";
}

/// Runs in a separate process, since no manifest is accepted afterwards.
void exceed_manifest_limit() {
  std::vector<std::string> texts;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 2 * max_collected_manifests; ++i) {
    names.push_back("many-" + std::to_string(i));
    texts.push_back(manifest_named(names.back()));
  }
  texts.push_back(manifest_named("many-1") + " ");  // the first manifest of this name is accepted
  names.emplace_back("many-1");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto know = [&] {
    for (const Message& line :
         add_manifests_from_file(views, "many.attnscope", [&](std::size_t i) { return std::vector{names[i]}; })) {
      std::cerr << text(line) << '\n';
    }
  };
  know();
  const Registry& known = known_algorithms();
  const auto read =
      std::ranges::count_if(known.algorithms(), [](const Algorithm* each) { return each->facts().model_only; });
  std::cerr << read << " are known\n";
  std::cerr << "last: " << (known.find(names[names.size() - 2]) != nullptr) << '\n';
  std::cerr << "law of the first: " << known.find("many-0")->facts().reports_traffic << '\n';
  std::cerr << "of the second: " << known.find("many-1")->facts().reports_traffic << '\n';
  know();
  std::exit(0);  // NOLINT(concurrency-mt-unsafe)
}

TEST(ManifestsFromFileDeathTest, AcceptsAtMostAThousand) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(exceed_manifest_limit(), ::testing::ExitedWithCode(0),
              "^many.attnscope: .*1000.*\nmany.attnscope: .*many-1 .*\n"
              "1000 are known\nlast: 0\n"
              "law of the first: 1\nof the second: 0\n$");
}

}  // namespace
}  // namespace attnscope::user
