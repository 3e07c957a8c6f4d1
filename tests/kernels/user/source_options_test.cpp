// SPDX-License-Identifier: Apache-2.0
// Compiler options of user-defined sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/user/manifest.h"
#include "manifest_text.h"

namespace attnscope::user {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

UserSource source_with(const std::string& keys) {
  std::string text = template_text();
  text.insert(text.find("\"supports\""), keys + ", ");
  const auto manifest = parse_manifest(text, std::filesystem::path("folder"));
  EXPECT_TRUE(manifest.ok()) << english_text(manifest.error());
  return manifest.ok() ? *manifest->launches.front().source : UserSource{};
}

TEST(SourceOptions, SpellingsOfNvccAreAccepted) {
  const UserSource source = source_with(
      R"("options": ["-O3", "-std=c++20", "-use_fast_math", "-DN", "-lineinfo", "--expt-relaxed-constexpr"])");
  EXPECT_THAT(source.options, ElementsAre("--std=c++20", "--use_fast_math", "-DN"));
  EXPECT_THAT(source.ignored_options, ElementsAre("-O3", "--lineinfo", "--expt-relaxed-constexpr"));
}

TEST(SourceOptions, MacroNamesAreIdentifiers) {
  const auto id_of = [](const std::string& at, const std::string& keys) {
    std::string text = template_text();
    text.insert(text.find(at), keys + ", ");
    const auto manifest = parse_manifest(text, std::filesystem::path("folder"));
    return manifest.ok() ? std::string() : english_text(manifest.error());
  };
  for (const char* option : {"-D", "-D=1", "-D1", "-DX$(touch F)=1", "-DX Y=1"})
    EXPECT_THAT(id_of("\"supports\"", std::string("\"options\": [\"") + option + "\"]"), HasSubstr("-D")) << option;
  EXPECT_EQ(id_of("\"supports\"", "\"options\": [\"-D_x1=a+b\"]"), "");
  std::string text = template_text();
  const std::size_t at = text.find("\"defines\": {") + 12;
  text.insert(at, "\"Y$(touch F)\": \"1\", ");
  EXPECT_THAT(english_text(parse_manifest(text, std::filesystem::path("folder")).error()), HasSubstr("'Y$(touch F)'"));
}

TEST(SourceOptions, NvccTakesItsOptions) {
  const UserSource source = source_with(R"("compiler": "nvcc", "options": ["-O3", "--expt-relaxed-constexpr"])");
  EXPECT_EQ(source.compiler, UserSource::Compiler::nvcc);
  EXPECT_THAT(source.options, ElementsAre("--expt-relaxed-constexpr"));
  EXPECT_THAT(source.ignored_options, ElementsAre("-O3"));
}

TEST(SourceOptions, LaunchesMayHaveTheirOwnCompiler) {
  std::string text = template_text();
  text.insert(text.find("\"entry\""), "\"compiler\": \"nvcc\", ");
  const auto manifest = parse_manifest(text, std::filesystem::path("folder"));
  ASSERT_TRUE(manifest.ok()) << english_text(manifest.error());
  EXPECT_EQ(manifest->launches.front().source->compiler, UserSource::Compiler::nvcc);
  text.replace(text.find("nvcc"), 4, "clan");
  EXPECT_THAT(english_text(parse_manifest(text, {}).error()), ::testing::HasSubstr("\"nvrtc\", \"nvcc\""));
}

}  // namespace
}  // namespace attnscope::user
