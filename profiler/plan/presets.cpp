// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/presets.h"

#include <algorithm>
#include <utility>

#include "messages/preset.h"

namespace attnscope {
namespace {

std::vector<Preset> all_presets() {
  std::vector<Preset> table{
      {"quick",
       msg::preset::quick{},
       {{{"d=[64,128]", "heads=64", "N[pow2]=[8:12]"}, Group::prefill},
        {{"d=64", "heads=64", "N=4096", "br=[32,64,128,256]", "bc=[32,64,128,256]"}, Group::tile_maps}}},
      // 264 blocks are two full waves on the 132 SMs of an H200. S and P of naive at N 16384 are 132 GiB each.
      {"memory-wall",
       msg::preset::memory_wall{},
       {{{"d=[64,128]", "batch=2", "heads=132", "N[pow2]=[8:14]"}, Group::prefill}}},
      {"tiles",
       msg::preset::tiles{},
       {{{"d=128", "heads=132", "N=1024", "br=[16,32,48,64,80,96,112,128,160,192,224,256]",
          "bc=[16,32,48,64,80,96,112,128,160,192,224,256,320,384,448]"},
         Group::tile_maps}}},
      {"paper",
       msg::preset::paper{},
       {{{"pass=fwd+bwd", "d=64", "batch=64", "heads=16", "N=1024"}, Group::paper},
        {{"pass=fwd", "d=64", "batch=64", "heads=16", "N=1024", "bc=[64,128,256,512]"}, Group::paper_blocks}}},
      // S, P, dP and dS of naive at N 16384 are 16 GiB each.
      {"backward",
       msg::preset::backward{},
       {{{"pass=bwd", "d=[64,128]", "heads=32", "N[pow2]=[10:14]"}, Group::prefill}}},
      {"masks",
       msg::preset::masks{},
       {{{"d=128", "batch=4", "heads=16", "N[pow2]=[12:14]",
          "mask=[full,causal,window:1024:0,blocks:128:butterfly,lengths:ramp]"},
         Group::prefill}}},
      {"decode",
       msg::preset::decode{},
       {{{"d=128", "heads_q=16", "heads_kv=2", "n_q=1", "n_k[pow2]=[12:17]"}, Group::decoding}}},
      // The lengths are near multiples of 448 and 896 rows and exceed L2 for FA1's working set. M goes up to 224 KiB of
      // 16-bit elements.
      {"law",
       msg::preset::law{},
       {{{"d=[32,64,128]", "heads=132", "N=[3072,6144,12288]", "M=[8192,16384,32768,65536,114688]"}, Group::law}}},
  };
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const AlgorithmPreset& stated : algorithm->facts().presets) {
      Preset& preset = table.emplace_back(Preset{stated.name, stated.description, {}});
      for (const PresetGrid& grid : stated.grids) {
        std::vector<std::string> algorithms = grid.companions;
        algorithms.push_back(algorithm->name());
        preset.grids.push_back({.axes = grid.axes, .algorithms = std::move(algorithms)});
      }
    }
  }
  return table;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = all_presets();
  return table;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace attnscope
