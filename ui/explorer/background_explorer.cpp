// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/background_explorer.h"

namespace attnscope::ui {

BackgroundExplorer::BackgroundExplorer(QObject* parent) : QObject(parent) {
  pool_.setMaxThreadCount(1);
}

BackgroundExplorer::~BackgroundExplorer() {
  drop();
  pool_.waitForDone();
}

void BackgroundExplorer::drop() {
  ++generation_;
  busy_ = false;
  pool_.clear();
}

void BackgroundExplorer::ask(const ExplorerChoices& choices) {
  begin(choices, false);
}

void BackgroundExplorer::ask_picture(const ExplorerChoices& choices) {
  begin(choices, true);
}

void BackgroundExplorer::begin(const ExplorerChoices& choices, bool picture_alone) {
  drop();
  busy_ = true;
  const std::uint64_t mine = generation_;
  pool_.start([this, choices, picture_alone, mine] {
    const auto outdated = [this, mine] { return generation_.load() != mine; };
    const auto deliver = [this, mine](auto then) {
      QMetaObject::invokeMethod(
          this,
          [this, mine, then] {
            if (generation_.load() == mine) then();
          },
          Qt::QueuedConnection);
    };
    if (outdated()) return;
    ExplorerChoices of = choices;
    if (!picture_alone) {
      const auto explored = std::make_shared<const Explored>(work_out(choices));
      const bool runs = !explored->exploration.refusal;
      deliver([this, explored, runs] {
        if (!runs) busy_ = false;
        emit this->explored(explored);
      });
      if (!runs) return;
      of = explored->choices;
    }
    if (auto picture = picture_of(of, outdated)) {
      const auto shared = std::make_shared<const analysis::TilePicture>(std::move(*picture));
      deliver([this, shared] {
        busy_ = false;
        emit pictured(shared);
      });
    }
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
