// SPDX-License-Identifier: Apache-2.0
// A compilation as Triton 3.6.0 left it in its cache: real metadata and signatures of the fused-attention tutorial,
// shortened (fewer strides, no bodies). A few bytes stand for the cubin.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace attnscope::user {

struct TritonFiles {
  nlohmann::json metadata;
  std::string ttir;
  std::string ptx;

  void write(const std::filesystem::path& cache, const std::string& folder,
             const std::string& kernel = "_attn_fwd") const {
    std::filesystem::create_directories(cache / folder);
    const auto file = [&](const std::string& suffix) { return std::ofstream(cache / folder / (kernel + suffix)); };
    file(".json") << metadata;
    file(".ttir") << ttir;
    file(".ptx") << ptx;
    file(".cubin") << "\x7f"
                   << "ELF of " << metadata.at("hash");
    std::ofstream(cache / folder / ("__grp__" + kernel + ".json")) << R"({"child_paths": {"a.ttir": "/etc/passwd"}})";
  }
};

inline nlohmann::json triton_metadata(const std::string& hash) {
  nlohmann::json all = nlohmann::json::parse(R"({
    "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4, "num_ctas": 1, "num_stages": 3,
    "maxnreg": null, "launch_cooperative_grid": false, "launch_pdl": false,
    "extern_libs": [["libdevice", "/usr/lib/triton/libdevice.10.bc"]], "arch": "sm90", "triton_version": "3.6.0",
    "tensordesc_meta": [], "shared": 32768, "global_scratch_size": 0, "global_scratch_align": 1,
    "profile_scratch_size": 0, "profile_scratch_align": 1, "name": "_attn_fwd"})");
  all["hash"] = hash + std::string(64 - hash.size(), '0');
  return all;
}

inline TritonFiles triton_with_pointers(const std::string& hash) {
  return {.metadata = triton_metadata(hash),
          .ttir = R"(#loc = loc("fa_tutorial.py":43:0)
module {
  tt.func public @_attn_fwd(%Q: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("Q"(#loc)), %K: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("K"(#loc)), %V: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("V"(#loc)), %sm_scale: f32 loc("sm_scale"(#loc)), %M: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("M"(#loc)), %Out: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("Out"(#loc)), %stride_qz: i32 {tt.divisibility = 16 : i32} loc("stride_qz"(#loc)), %H: i32 loc("H"(#loc)), %N_CTX: i32 {tt.divisibility = 16 : i32} loc("N_CTX"(#loc))) attributes {noinline = false} {
    %c32_i64 = arith.constant 32 : i64 loc(#loc1)
)",
          .ptx = R"(.target sm_90a
.global .align 1 .b8 _$_str[11] = {95, 95, 67, 85};
.visible .entry _attn_fwd(
	.param .u64 .ptr .global .align 1 _attn_fwd_param_0,
	.param .u64 .ptr .global .align 1 _attn_fwd_param_1,
	.param .u64 .ptr .global .align 1 _attn_fwd_param_2,
	.param .f32 _attn_fwd_param_3,
	.param .u64 .ptr .global .align 1 _attn_fwd_param_4,
	.param .u64 .ptr .global .align 1 _attn_fwd_param_5,
	.param .u32 _attn_fwd_param_6,
	.param .u32 _attn_fwd_param_7,
	.param .u32 _attn_fwd_param_8,
	.param .u64 .ptr .global .align 1 _attn_fwd_param_9,
	.param .u64 .ptr .global .align 1 _attn_fwd_param_10
)
.reqntid 128
)"};
}

inline TritonFiles triton_with_descriptors(const std::string& hash) {
  TritonFiles files{.metadata = triton_metadata(hash),
                    .ttir = R"(module {
  tt.func public @_attn_fwd_tma(%sm_scale: f32 loc("sm_scale"(#loc)), %desc_q: !tt.tensordesc<tensor<128x64xf16>> loc("desc_q"(#loc)), %desc_q_0: i32 loc("desc_q"(#loc)), %desc_q_1: i32 loc("desc_q"(#loc)), %desc_q_2: i64 loc("desc_q"(#loc)), %desc_q_3: i64 loc("desc_q"(#loc)), %desc_k: !tt.tensordesc<tensor<32x64xf16>> loc("desc_k"(#loc)), %desc_k_4: i32 loc("desc_k"(#loc)), %desc_k_5: i32 loc("desc_k"(#loc)), %desc_k_6: i64 loc("desc_k"(#loc)), %desc_k_7: i64 loc("desc_k"(#loc))) attributes {noinline = false} {
)",
                    .ptx = R"(.visible .entry _attn_fwd_tma(
	.param .f32 _attn_fwd_tma_param_0,
	.param .align 64 .b8 _attn_fwd_tma_param_1[128],
	.param .u32 _attn_fwd_tma_param_2,
	.param .u32 _attn_fwd_tma_param_3,
	.param .u64 _attn_fwd_tma_param_4,
	.param .u64 _attn_fwd_tma_param_5,
	.param .align 64 .b8 _attn_fwd_tma_param_6[128],
	.param .u32 _attn_fwd_tma_param_7,
	.param .u32 _attn_fwd_tma_param_8,
	.param .u64 _attn_fwd_tma_param_9,
	.param .u64 _attn_fwd_tma_param_10,
	.param .u64 .ptr .global .align 1 _attn_fwd_tma_param_11,
	.param .u64 .ptr .global .align 1 _attn_fwd_tma_param_12
)
)"};
  files.metadata["name"] = "_attn_fwd_tma";
  files.metadata["tensordesc_meta"] = nlohmann::json::parse(R"([
    {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [128, 64], "fp4_padded": false},
    {"swizzle": 0, "elem_size": 2, "elem_type": 6, "block_size": [32, 64], "fp4_padded": false}])");
  return files;
}

}  // namespace attnscope::user
