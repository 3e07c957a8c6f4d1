// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/background_explorer.h"

#include <utility>

namespace attnscope::ui {

BackgroundExplorer::BackgroundExplorer(QObject* parent) : QObject(parent) {}

void BackgroundExplorer::ask(const ExplorerChoices& choices) {
  background_.ask(
      [choices](const BackgroundWork::Outdated& /*outdated*/) {
        return std::make_shared<const Explored>(work_out(choices));
      },
      [this](const std::shared_ptr<const Explored>& explored) {
        // Before it is told: nobody is to think that all was there.
        if (!explored->exploration.refusal) ask_picture(explored->choices);
        emit this->explored(explored);
      });
}

void BackgroundExplorer::ask_picture(const ExplorerChoices& choices) {
  background_.ask([choices](const BackgroundWork::Outdated& outdated) { return picture_of(choices, outdated); },
                  [this](std::optional<analysis::TilePicture> picture) {
                    if (picture) emit pictured(std::make_shared<const analysis::TilePicture>(std::move(*picture)));
                  });
}

std::optional<analysis::TilePicture> picture_of(const ExplorerChoices& choices,
                                                const std::function<bool()>& cancelled) {
  const PointSpec& spec = choices.point.spec;
  // Lengths in a list may stand in any order.
  std::int64_t longest = 0;
  if (spec.problem.mask.padded()) {
    for (std::int64_t entry = 1; entry < spec.problem.batch; ++entry) {
      if (key_length(spec.problem, entry) > key_length(spec.problem, longest)) longest = entry;
    }
  }
  return analysis::tile_picture(*built_in_algorithms().find(spec.algorithm), spec.problem, spec.config(),
                                limits_of(choices), longest, cancelled);
}

}  // namespace attnscope::ui
