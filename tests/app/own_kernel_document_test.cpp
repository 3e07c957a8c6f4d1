// SPDX-License-Identifier: Apache-2.0
// The statements in assets/docs/own-kernel.md are ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/model/gpu_values.h"
#include "kernels/user/user_kernel.h"
#include "tests/temporary_folder.h"

namespace attnscope::testing {
namespace {

/// The whole objects among the document's JSON.
std::vector<std::string> statements() {
  const std::string document = content(std::filesystem::path(ATTNSCOPE_DOCUMENTS) / "own-kernel.md");
  const std::string begin = "```json\n";
  std::vector<std::string> all;
  for (std::size_t at = document.find(begin); at != std::string::npos; at = document.find(begin, at)) {
    at += begin.size();
    if (document[at] == '{') all.push_back(document.substr(at, document.find("```", at) - at));
  }
  return all;
}

TEST(OwnKernelDocument, ItsStatementsHaveLaunchesAndALaw) {
  const TemporaryFolder folder;
  for (const char* source : {"my-kernel.cu", "in-parts.cu"}) std::ofstream(folder / source) << "\n";
  const DeviceLimits gpu = *find_gpu("h100");
  const AttentionProblem problem{.batch = 2, .heads_q = 4, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 64};
  std::vector<std::size_t> launches;
  for (const std::string& text : statements()) {
    const std::filesystem::path file = folder / "own.json";
    std::ofstream(file) << text;
    const auto kernel = user::load_kernel(file);
    ASSERT_TRUE(kernel) << kernel.error();
    const Config config = (*kernel)->default_config(problem, gpu);
    const auto refusal = (*kernel)->refusal(problem, config, gpu);
    ASSERT_FALSE(refusal) << refusal->reason;
    EXPECT_TRUE((*kernel)->facts().states_bytes);
    EXPECT_GT((*kernel)->model(problem, config, gpu).traffic().l2_to_sm_bytes, 0);
    launches.push_back((*kernel)->plan(problem, config, gpu).launches.size());
  }
  EXPECT_EQ(launches, (std::vector<std::size_t>{1, 2}));
}

}  // namespace
}  // namespace attnscope::testing
