// SPDX-License-Identifier: Apache-2.0
// `attnscope kernels import-triton`, from a cache to a kernel that other commands take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "subprocess.h"
#include "tests/kernels/user/triton_files.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ImportTriton, lists_what_there_is_and_asks_for_the_rest) {
  const TemporaryFolder folder;
  user::triton_with_pointers("aa").write(folder.path() / "cache", "ONE");
  user::TritonFiles old = user::triton_with_pointers("bb");
  old.metadata["triton_version"] = "2.1.0";
  old.write(folder.path() / "cache", "OLD");
  const Outcome which = run(folder, {"kernels", "import-triton", (folder.path() / "cache").string()});
  EXPECT_EQ(which.exit_code, 2);
  EXPECT_THAT(which.err, HasSubstr("/cache has _attn_fwd"));
  const Outcome rest =
      run(folder, {"kernels", "import-triton", (folder.path() / "cache").string(), "--kernel", "_attn_fwd"});
  EXPECT_EQ(rest.exit_code, 2);
  EXPECT_THAT(rest.out,
              AllOf(HasSubstr("aa000000"), HasSubstr("32768"), HasSubstr("sm_90"), HasSubstr("M: !tt.ptr<f32>")));
  EXPECT_THAT(rest.err,
              AllOf(HasSubstr("OLD is left out: it is of Triton 2.1.0"), HasSubstr("still to be said: --name")));
}

TEST(ImportTriton, writes_a_kernel_that_model_takes) {
  const TemporaryFolder folder;
  user::triton_with_pointers("aa").write(folder.path() / "cache", "ONE");
  const std::string cache = (folder.path() / "cache").string();
  std::vector<std::string> words{
      "kernels", "import-triton", cache,   "--kernel", "_attn_fwd", "--name", "mine", "-o",     folder.path().string(),
      "--grid",  "n_q / br",      "heads", "--dtype",  "fp16",      "--lse",  "2",    "--like", "fa2"};
  words.insert(words.end(), {"--variant", "aa:br=64,bc=32,d=64,causal=0"});
  words.insert(words.end(), {"--requires", "n_q % br == 0:N must be whole tiles."});
  for (const char* argument :
       {"Q=q", "K=k", "V=v", "M=lse", "Out=o", "sm_scale=1 / sqrt(d)", "H=heads", "N_CTX=n_q", "stride_qz=n_q * d"}) {
    words.insert(words.end(), {"--argument", argument});
  }
  const Outcome written = run(folder, words);
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("mine/mine.json: 1 of 1 variants of _attn_fwd"));
  const Outcome model =
      run(folder, {"model", "--kernel", (folder.path() / "mine" / "mine.json").string(), "--algorithms", "mine", "-a",
                   "N=[1024,1000]", "-a", "d=64", "-a", "heads=16", "--gpu", "h100", "--csv"});
  EXPECT_EQ(model.exit_code, 0) << model.err;
  EXPECT_THAT(model.out, AllOf(HasSubstr("16x16x1"), HasSubstr("N must be whole tiles.")));
}

}  // namespace
}  // namespace attnscope::testing
