// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/presets.h"

#include <algorithm>

namespace attnscope {
namespace {

struct Preset {
  PresetInfo info;
  std::vector<Grid> grids;
};

const std::vector<Preset>& preset_table() {
  static const std::vector<Preset> table{
      {{"quick", "A first look in seconds: traffic against N for every algorithm, and a small tile grid"},
       {{{"d=[64,128]", "heads=64", "N[pow2]=[8:12]"}, Group::prefill},
        {{"d=64", "heads=64", "N=4096", "br=[32,64,128,256]", "bc=[32,64,128,256]"}, Group::tile_maps}}},
      // 264 blocks are two full waves of an H200's 132 SMs; naive's S and P at N 16384 are 132 GiB each.
      {{"memory-wall", "Traffic against N from 256 to 16384 with 264 heads in flight: where N^2 meets DRAM"},
       {{{"d=[64,128]", "batch=2", "heads=132", "N[pow2]=[8:14]"}, Group::prefill}}},
      {{"tiles",
        "Br x Bc, 12 x 15, for every algorithm that tiles decide, at a shape that L2 cannot hold, up to tiles that no "
        "SM can"},
       {{{"d=128", "heads=132", "N=1024", "br=[16,32,48,64,80,96,112,128,160,192,224,256]",
          "bc=[16,32,48,64,80,96,112,128,160,192,224,256,320,384,448]"},
         Group::tile_maps}}},
      {{"paper",
        "Fig. 2 of the FlashAttention paper, batch 64, 16 heads, N 1024, d 64: forward and backward of each, and the "
        "forward pass against Bc"},
       {{{"pass=fwd+bwd", "d=64", "batch=64", "heads=16", "N=1024"}, Group::paper},
        {{"pass=fwd", "d=64", "batch=64", "heads=16", "N=1024", "bc=[64,128,256,512]"}, Group::paper_blocks}}},
      // naive's S, P, dP and dS at N 16384 are 16 GiB each.
      {{"backward", "The backward pass of every algorithm against N from 1024 to 16384, 32 heads"},
       {{{"pass=bwd", "d=[64,128]", "heads=32", "N[pow2]=[10:14]"}, Group::prefill}}},
      {{"masks", "Forward under every kind of mask, N 4096 to 16384: what skipped tiles save"},
       {{{"d=128", "batch=4", "heads=16", "N[pow2]=[12:14]",
          "mask=[none,causal,window:1024:0,blocks:128:butterfly,lengths:ramp]"},
         Group::prefill}}},
      {{"decode", "One query against a K/V cache of 4096 to 131072 keys, 16 heads on 2 K/V heads"},
       {{{"d=128", "heads_q=16", "heads_kv=2", "n_q=1", "n_k[pow2]=[12:17]"}, Group::decoding}}},
  };
  return table;
}

}  // namespace

std::span<const PresetInfo> presets() {
  static const std::vector<PresetInfo> infos = [] {
    std::vector<PresetInfo> result;
    for (const Preset& preset : preset_table()) result.push_back(preset.info);
    return result;
  }();
  return infos;
}

std::span<const Grid> preset_grids(std::string_view name) {
  const auto found = std::ranges::find(preset_table(), name, [](const Preset& preset) { return preset.info.name; });
  return found == preset_table().end() ? std::span<const Grid>() : std::span<const Grid>(found->grids);
}

}  // namespace attnscope
