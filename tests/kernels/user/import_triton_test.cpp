// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/import_triton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "kernels/model/gpu_values.h"
#include "kernels/user/user_kernel.h"
#include "triton_files.h"

namespace attnscope::user {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ImportTriton : public ::testing::Test {
 protected:
  ImportTriton()
      : folder_(fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(cache());
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path cache() const { return folder_ / "cache"; }

  [[nodiscard]] TritonKernel read(const std::string& kernel = "_attn_fwd") const {
    auto read = read_triton_cache(cache(), kernel);
    if (read) return std::move(read).value();
    ADD_FAILURE() << read.error();
    return {};
  }
  /// Why the only variant, changed like this, is not read.
  [[nodiscard]] std::string refused(const std::function<void(TritonFiles&)>& change, bool descriptors = false) const {
    TritonFiles files = descriptors ? triton_with_descriptors("aa") : triton_with_pointers("aa");
    const std::string kernel = files.metadata.at("name");
    change(files);
    fs::remove_all(cache());
    files.write(cache(), "ONE", kernel);
    const auto read = read_triton_cache(cache(), kernel);
    return read ? "" : english_text(read.error());
  }

  static TritonImport wanted() {
    return {.name = "mine",
            .grid = {"ceil_div(n_q, br)", "batch * heads"},
            .variants = {"aa:br=64,bc=32,d=64,causal=0", "bb:br=64,bc=32,d=64,causal=1"},
            .arguments = {"Q=q", "K=k", "V=v", "sm_scale=1 / sqrt(d)", "M=lse", "Out=o", "stride_qz=heads * n_q * d",
                          "H=heads", "N_CTX=n_q"},
            .requirements = {"n_q == n_k:One N: no other."},
            .dtype = "fp16",
            .lse = "2",
            .like = "fa2"};
  }
  /// Why an import of aa and bb, changed like this, is refused.
  [[nodiscard]] std::string refused_import(const std::function<void(TritonImport&)>& change) const {
    TritonImport changed = wanted();
    change(changed);
    const auto statement = import_triton(read(), changed, folder_);
    return statement ? "" : english_text(statement.error());
  }
  [[nodiscard]] std::unique_ptr<const Algorithm> imported(const TritonKernel& kernel,
                                                          const TritonImport& import) const {
    const auto file = import_triton(kernel, import, folder_);
    if (!file) {
      ADD_FAILURE() << file.error();
      return nullptr;
    }
    auto loaded = load_kernel(*file);
    if (!loaded) {
      ADD_FAILURE() << loaded.error();
      return nullptr;
    }
    return std::move(loaded).value();
  }
  void write_two(const std::function<void(TritonFiles&)>& change = {}) const {
    triton_with_pointers("aa").write(cache(), "ONE");
    TritonFiles second = triton_with_pointers("bb");
    if (change) change(second);
    second.write(cache(), "TWO");
  }

  fs::path folder_;
  DeviceLimits gpu_ = *find_gpu("h100");
};

AttentionProblem problem(std::int64_t n, bool causal = false) {
  AttentionProblem problem{.batch = 2, .heads_q = 4, .heads_kv = 4, .n_q = n, .n_k = n, .d = 64};
  if (causal) problem.mask.right = 0;
  return problem;
}

TEST_F(ImportTriton, LaunchesAsTritonWould) {
  write_two([](TritonFiles& files) { files.metadata["launch_cooperative_grid"] = true; });
  triton_with_pointers("cc").write(cache(), "LEFT");
  const auto kernel = imported(read(), wanted());
  ASSERT_NE(kernel, nullptr);
  const TileShape tile{.br = 64, .bc = 32};
  ASSERT_FALSE(kernel->refusal(problem(256), tile, gpu_)) << kernel->refusal(problem(256), tile, gpu_)->reason;
  const AttentionPlan plan = kernel->plan(problem(256), tile, gpu_);
  ASSERT_EQ(plan.launches.size(), 1U);
  const KernelLaunch& launch = plan.launches[0];
  EXPECT_EQ(launch.source.entry, "_attn_fwd");
  EXPECT_EQ(launch.source.own->kind, OwnSource::Kind::cubin);
  std::ifstream cubin(launch.source.own->file);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(cubin), {}), HasSubstr("ELF of \"aa00"));
  EXPECT_THAT(launch.grid, ElementsAre(4, 8, 1));
  EXPECT_THAT(launch.block, ElementsAre(128, 1, 1));
  EXPECT_EQ(launch.dynamic_shared_bytes, 32768);
  EXPECT_FALSE(launch.cooperative);
  ASSERT_EQ(launch.arguments.size(), 11U);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[4]).name, "lse");
  EXPECT_EQ(std::get<float>(launch.arguments[3]), 0.125F);
  EXPECT_EQ(std::get<std::int32_t>(launch.arguments[6]), 4 * 256 * 64);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[9]).name, "") << "Triton's own, which it needs no scratch for";
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[10]).name, "");
  EXPECT_TRUE(plan.lse_base_2);

  const AttentionPlan causal = kernel->plan(problem(256, true), tile, gpu_);
  EXPECT_TRUE(causal.launches[0].cooperative);
  EXPECT_THAT(causal.launches[0].source.own->file.filename().string(), HasSubstr("_attn_fwd-bb00"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "mine"), {}), 3) << "statement and the two cubins";
}

TEST_F(ImportTriton, RefusesWhatItsCodeWasNotMadeFor) {
  write_two();
  const auto kernel = imported(read(), wanted());
  ASSERT_NE(kernel, nullptr);
  const TileShape tile{.br = 64, .bc = 32};
  const auto why = [&](const AttentionProblem& p, const DeviceLimits& gpu) {
    const auto refusal = kernel->refusal(p, tile, gpu);
    return refusal ? english_text(refusal->reason) : "";
  };
  EXPECT_THAT(why(problem(264), gpu_), HasSubstr("N_CTX being a multiple of 16; it is n_q here"));
  EXPECT_THAT(why(problem(256), *find_gpu("a100")), HasSubstr("compute capability 9.0 (Triton 3.6.0)"));
  AttentionProblem oblong = problem(256);
  oblong.n_k = 512;
  EXPECT_EQ(why(oblong, gpu_), "One N: no other.");
}

TEST_F(ImportTriton, TakesAVariantForBothMasks) {
  write_two();
  TritonImport import = wanted();
  import.variants = {"aa:br=64,bc=32,d=64,causal=0", "aa:br=64,bc=32,d=64,causal=1"};
  const auto kernel = imported(read(), import);
  ASSERT_NE(kernel, nullptr);
  const TileShape tile{.br = 64, .bc = 32};
  EXPECT_EQ(kernel->plan(problem(256), tile, gpu_).launches[0].source.own->file,
            kernel->plan(problem(256, true), tile, gpu_).launches[0].source.own->file);
}

TEST_F(ImportTriton, AsksForMultiplesOnlyOfTheVariantsThatNeedThem) {
  write_two([](TritonFiles& files) {
    const std::string divisible = "%N_CTX: i32 {tt.divisibility = 16 : i32}";
    files.ttir.replace(files.ttir.find(divisible), divisible.size(), "%N_CTX: i32");
  });
  const auto kernel = imported(read(), wanted());
  ASSERT_NE(kernel, nullptr);
  const TileShape tile{.br = 64, .bc = 32};
  EXPECT_TRUE(kernel->refusal(problem(264), tile, gpu_));
  EXPECT_FALSE(kernel->refusal(problem(264, true), tile, gpu_));
}

TEST_F(ImportTriton, ExpandsATensorDescriptor) {
  triton_with_descriptors("aa").write(cache(), "ONE", "_attn_fwd_tma");
  TritonImport import = wanted();
  import.variants = {"aa:br=128,bc=32,d=64,causal=0"};
  import.arguments = {"sm_scale=1 / sqrt(d)", "desc_q=o:batch * heads * n_q,d",
                      "desc_k=k:max(batch * heads, 1) * n_k,d"};
  const auto kernel = imported(read("_attn_fwd_tma"), import);
  ASSERT_NE(kernel, nullptr);
  const AttentionPlan plan = kernel->plan(problem(256), TileShape{.br = 128, .bc = 32}, gpu_);
  const std::vector<Argument>& arguments = plan.launches[0].arguments;
  ASSERT_EQ(arguments.size(), 13U);
  const auto& map = std::get<TensorMapArgument>(arguments[6]);
  EXPECT_EQ(map.buffer, "k");
  EXPECT_THAT(map.extents, ElementsAre(64, 2048));
  EXPECT_THAT(map.strides, ElementsAre(128));
  EXPECT_THAT(map.box, ElementsAre(64, 32));
  EXPECT_EQ(map.swizzle_bytes, 0);
  EXPECT_EQ(std::get<TensorMapArgument>(arguments[1]).swizzle_bytes, 128);
  EXPECT_EQ(std::get<std::int32_t>(arguments[7]), 2048);
  EXPECT_EQ(std::get<std::int32_t>(arguments[8]), 64);
  EXPECT_EQ(std::get<std::int64_t>(arguments[9]), 64);
  EXPECT_EQ(std::get<std::int64_t>(arguments[10]), 1);

  import.arguments.back() = "desc_k=k:n_k";
  EXPECT_THAT(english_text(import_triton(read("_attn_fwd_tma"), import, folder_).error()),
              HasSubstr("desc_k=BUFFER:EXTENT,EXTENT, 2 extents"));
}

TEST_F(ImportTriton, MakesKnobsOfWhatVariantsOfATileDifferIn) {
  write_two([](TritonFiles& files) { files.metadata["num_warps"] = 8; });
  TritonFiles third = triton_with_pointers("cc");
  third.metadata["num_warps"] = 8;
  third.write(cache(), "THREE");
  TritonImport import = wanted();
  import.variants = {"aa:br=64,bc=32,d=64,causal=0", "bb:br=64,bc=32,d=64,causal=0", "cc:br=128,bc=32,d=64,causal=0"};
  const auto kernel = imported(read(), import);
  ASSERT_NE(kernel, nullptr);
  const auto threads = [&](const TileShape& tile, std::int64_t warps) {
    const Config config = warps == 0 ? Config(tile) : Config(tile, {{"warps", warps}});
    if (kernel->refusal(problem(256), config, gpu_)) return 0U;
    return kernel->plan(problem(256), config, gpu_).launches[0].block[0];
  };
  EXPECT_EQ(threads({.br = 64, .bc = 32}, 0), 128U) << "the first that is named";
  EXPECT_EQ(threads({.br = 64, .bc = 32}, 8), 256U);
  EXPECT_EQ(threads({.br = 128, .bc = 32}, 8), 256U);
  EXPECT_EQ(threads({.br = 128, .bc = 32}, 4), 0U);
  EXPECT_EQ(kernel->facts().knobs.size(), 1U) << "stages are the same";

  import.variants[1] = "cc:br=64,bc=32,d=64,causal=0";
  import.variants[2] = "bb:br=64,bc=32,d=64,causal=0";
  EXPECT_THAT(english_text(import_triton(read(), import, folder_).error()),
              HasSubstr("variants cc000000 and bb000000 have the same constants"));
}

TEST_F(ImportTriton, GivesScratchAndClustersWhatTheyNeed) {
  write_two([](TritonFiles& files) {
    files.metadata["num_ctas"] = 2;
    files.metadata["global_scratch_size"] = 384;
  });
  const auto kernel = imported(read(), wanted());
  ASSERT_NE(kernel, nullptr);
  const AttentionPlan plan = kernel->plan(problem(256, true), TileShape{.br = 64, .bc = 32}, gpu_);
  EXPECT_THAT(plan.launches[0].grid, ElementsAre(8, 8, 1));
  EXPECT_THAT(plan.launches[0].cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(std::get<BufferArgument>(plan.launches[0].arguments[9]).name, "global_scratch");
  EXPECT_EQ(plan.buffers.back().name, "global_scratch");
  EXPECT_EQ(plan.buffers.back().bytes, 384 * 64);
}

TEST_F(ImportTriton, AsksInOneGoForWhatIsMissing) {
  write_two();
  TritonImport import;
  EXPECT_THAT(english_text(import_triton(read(), import, folder_).error()),
              AllOf(HasSubstr("--name"), HasSubstr("--grid"), HasSubstr("--dtype"), HasSubstr("--variant HASH"),
                    HasSubstr("--argument stride_qz="), Not(HasSubstr("--lse"))));
  import = wanted();
  import.lse = "";
  import.arguments.erase(import.arguments.begin());
  import.variants = {"aa:br=64"};
  EXPECT_EQ(english_text(import_triton(read(), import, folder_).error()),
            "still to be said: --variant aa000000:bc=; --variant aa000000:d=; --variant aa000000:causal=; "
            "--argument Q=; --lse e or 2");
}

TEST_F(ImportTriton, RefusesWhatIsSaidWrongly) {
  write_two([](TritonFiles& files) { files.metadata["hash"] = std::string(63, 'a') + "b"; });
  const auto variant = [&](const std::string& text) {
    return refused_import([&](TritonImport& i) { i.variants = {text}; });
  };
  EXPECT_THAT(variant("aa:br=64,bc=32,d=64,causal=0"), HasSubstr("begins the hashes of 2 variants"));
  EXPECT_THAT(variant("ff:br=64"), HasSubstr("begins the hashes of 0 variants"));
  EXPECT_THAT(variant("aaaa:br=6x"), HasSubstr("a --variant is written HASH:"));
  EXPECT_THAT(variant("aaaa:br=64,br=32"), HasSubstr("a --variant is written HASH:"));
  EXPECT_THAT(variant("aaaaaa:br=64,bc=32,d=64,causal=0,stage=3"), HasSubstr("there is no 'stage'"));
  const auto argument = [&](const std::string& text) {
    return refused_import([&](TritonImport& i) {
      i.variants = {"aaaaaa:br=64,bc=32,d=64,causal=0"};
      i.arguments[0] = text;
    });
  };
  EXPECT_THAT(argument("Q"), HasSubstr("'Q': an --argument is written NAME=VALUE"));
  EXPECT_THAT(argument("K=q"), HasSubstr("'K=k': an --argument is written NAME=VALUE, once"));
  EXPECT_THAT(argument("q=q"), HasSubstr("has an argument 'q'; they have Q, K, V"));
  EXPECT_THAT(argument("Q=nowhere"), HasSubstr("there is no buffer 'nowhere'"));
  EXPECT_THAT(argument("Q=lse"), HasSubstr("argument Q is !tt.ptr<f16>, and lse has f32"));
  const auto other = [&](const std::function<void(TritonImport&)>& change) {
    return refused_import([&](TritonImport& i) {
      i.variants = {"aaaaaa:br=64,bc=32,d=64,causal=0"};
      change(i);
    });
  };
  EXPECT_THAT(other([](TritonImport& i) { i.dtype = "bf16"; }), HasSubstr("and q has bf16 here"));
  EXPECT_THAT(other([](TritonImport& i) { i.requirements = {"n_q > 1"}; }),
              HasSubstr("--requires is written CONDITION:WORDS"));
  EXPECT_THAT(other([](TritonImport& i) { i.grid = {"rows"}; }), HasSubstr("there is no 'rows'"));
  EXPECT_THAT(other([](TritonImport& i) { i.like = "nothing"; }), HasSubstr("'like' must be one of"));
  EXPECT_THAT(other([](TritonImport& i) { i.name = "../up"; }), HasSubstr("'name' must be a name"));
}

TEST_F(ImportTriton, RefusesVariantsOfAnotherArchitectureOrVersion) {
  write_two([](TritonFiles& files) { files.metadata["target"]["arch"] = 80; });
  EXPECT_THAT(refused_import([](TritonImport&) {}), HasSubstr("variants aa000000 and bb000000 are not of one"));
  write_two([](TritonFiles& files) { files.metadata["triton_version"] = "3.5.1"; });
  EXPECT_THAT(refused_import([](TritonImport&) {}), HasSubstr("variants aa000000 and bb000000 are not of one"));
  write_two([](TritonFiles& files) { files.metadata["triton_version"] = "2.1.0"; });
  ASSERT_EQ(read().variants.size(), 1U) << "another's metadata is left out, and said";
  ASSERT_EQ(read().left_out.size(), 1U);
  EXPECT_EQ(english_text(read().left_out[0]), "TWO is left out: it is of Triton 2.1.0; what 3.x writes can be read");
}

TEST_F(ImportTriton, TrustsNoFile) {
  EXPECT_EQ(refused([](TritonFiles&) {}), "");
  EXPECT_EQ(refused([](TritonFiles&) {}, true), "");
  for (const auto& [key, wrong] :
       std::initializer_list<std::pair<const char*, nlohmann::json>>{{"num_warps", 0},
                                                                     {"num_warps", 33},
                                                                     {"num_warps", "4"},
                                                                     {"num_warps", 4.5},
                                                                     {"num_stages", -1},
                                                                     {"shared", 1 << 30},
                                                                     {"num_ctas", 17},
                                                                     {"num_ctas", 18446744073709551615U},
                                                                     {"hash", "../../etc"},
                                                                     {"name", "other"},
                                                                     {"launch_pdl", 1},
                                                                     {"global_scratch_size", -4},
                                                                     {"cluster_dims", {1, 2}},
                                                                     {"triton_version", nullptr},
                                                                     {"target", "cuda"}}) {
    const std::string why =
        refused([&, name = key, value = wrong](TritonFiles& files) { files.metadata[name] = value; });
    const std::string named = key == std::string("target") ? "backend" : key;
    EXPECT_THAT(why, HasSubstr("'" + named + "' is missing in its metadata, or makes no sense there")) << wrong;
  }
  const auto replaced = [](std::string& text, const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(refused([&](TritonFiles& f) { replaced(f.ttir, "%H: i32", "%H: i1"); }),
              HasSubstr("argument H is i1, which"));
  EXPECT_THAT(refused([&](TritonFiles& f) { replaced(f.ttir, "%H: i32", "%H: i64"); }),
              HasSubstr("its PTX has 11 parameters, which are not the 9 of its TTIR and 2 hidden"));
  EXPECT_THAT(refused([](TritonFiles& f) { f.metadata.erase("profile_scratch_size"); }), HasSubstr("and 1 hidden"));
  EXPECT_THAT(refused([](TritonFiles& f) { f.ttir.resize(200); }), HasSubstr("_attn_fwd.ttir has no signature"));
  EXPECT_THAT(refused([](TritonFiles& f) { f.ptx = ".entry other()"; }), HasSubstr("_attn_fwd.ptx has no signature"));
  EXPECT_THAT(refused([](TritonFiles& f) { f.metadata["tensordesc_meta"].erase(1); }, true),
              HasSubstr("'tensordesc_meta'"));
  EXPECT_THAT(refused([](TritonFiles& f) { f.metadata["tensordesc_meta"][0]["swizzle"] = 4; }, true),
              HasSubstr("'swizzle'"));
  EXPECT_THAT(refused(
                  [](TritonFiles& f) {
                    f.metadata["tensordesc_meta"][0]["block_size"] = {128, 64, 1};
                  },
                  true),
              HasSubstr("argument desc_q is !tt.tensordesc<tensor<128x64xf16>>"));
}

TEST_F(ImportTriton, FollowsNoLinkAndNamesWhatIsThere) {
  write_two();
  fs::remove(cache() / "TWO" / "_attn_fwd.cubin");
  fs::create_symlink("/etc/hostname", cache() / "TWO" / "_attn_fwd.cubin");
  EXPECT_THAT(english_text(read().left_out.at(0)), HasSubstr("_attn_fwd.cubin is missing, is no plain file"));
  EXPECT_EQ(read_triton_cache(cache() / "ONE", "_attn_fwd")->variants.size(), 1U) << "one compilation's folder";
  EXPECT_THAT(english_text(read_triton_cache(cache(), "").error()), HasSubstr("has _attn_fwd, and no"));
  EXPECT_THAT(english_text(read_triton_cache(cache(), "../ONE/_attn_fwd").error()),
              HasSubstr("name a kernel by --kernel"));
  EXPECT_THAT(english_text(read_triton_cache(folder_ / "none", "x").error()), HasSubstr("no folder"));
}

}  // namespace
}  // namespace attnscope::user
