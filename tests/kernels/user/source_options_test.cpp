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

}  // namespace
}  // namespace attnscope::user
