// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/pictures.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/registry.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/ledger.h"

namespace attnscope::analysis::lesson {
Evidence evidence_of(const PointTable& points) {
  Evidence evidence{
      .points = points, .rows = points.rows(), .gpu = known_gpus().front(), .registry = built_in_algorithms()};
  std::string newest;
  for (const Run& run : points.runs()) {
    if (run.provenance == Provenance::imported || run.started_at < newest) continue;
    newest = run.started_at;
    evidence.gpu = run.limits;
  }
  return evidence;
}

std::vector<std::vector<Sized>> ledger_squares(const LessonTexts& texts, const Setting& setting,
                                               const DeviceLimits& gpu) {
  const Ledger one = ledger_of(setting.one_head());
  const Hierarchy memories = hierarchy_of(gpu);
  const auto size = [&](Rung rung) { return memories.at(rung).bytes->value; };
  const auto scores = static_cast<double>(one.find(Tensor::s)->one());
  const auto all = static_cast<double>(ledger_of(setting.all_heads()).find(Tensor::s)->all());
  return {{{"S", scores},
           {"P", scores},
           {"Q + K + V + O", static_cast<double>(one.kept())},
           {texts.word("registers"), size(Rung::registers)},
           {texts.word("shared"), size(Rung::shared)},
           {"L2", size(Rung::l2)}},
          {{texts.word("dram"), size(Rung::dram)},
           {fmt::format("S, {} × {}, N {}", setting.heads, setting.batch, setting.n), all},
           {fmt::format("S, N {}", 2 * setting.n), 4 * all},
           {"L2", size(Rung::l2)}}};
}

std::vector<LedgerFrame> ledger_frames(const LessonTexts& texts, const Setting& setting, const DeviceLimits& gpu) {
  std::vector<LedgerFrame> frames;
  for (const std::int64_t n : {setting.n / 8, setting.n / 4, setting.n / 2, setting.n, 2 * setting.n, 4 * setting.n}) {
    if (n < 16) continue;
    Setting other = setting;
    other.n = n;
    frames.push_back({n, ledger_squares(texts, other, gpu)});
  }
  return frames;
}

std::vector<Sized> backward_squares(const Setting& setting) {
  const Ledger one = ledger_of(setting.one_head());
  const auto bytes = [&](Tensor tensor) { return static_cast<double>(one.find(tensor)->one()); };
  return {{"P", bytes(Tensor::p)},
          {"Q + K + V + O", static_cast<double>(one.kept())},
          {"m + ℓ", bytes(Tensor::m) + bytes(Tensor::l)},
          {"LSE", bytes(Tensor::lse)}};
}

}  // namespace attnscope::analysis::lesson
