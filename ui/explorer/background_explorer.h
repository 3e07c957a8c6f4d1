// SPDX-License-Identifier: GPL-3.0-or-later
// What takes longer than a frame is worked out in a thread of its own: block masks, and grids of many tiles. Of several
// requests the latest one wins; what was asked before it is broken off and never heard of.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <memory>
#include <optional>

#include "profiler/analysis/tile_picture.h"
#include "ui/explorer/choices.h"

namespace attnscope::ui {

class BackgroundExplorer : public QObject {
  Q_OBJECT
 public:
  explicit BackgroundExplorer(QObject* parent = nullptr);
  ~BackgroundExplorer() override;

  /// Ends in explored(), and, where the configuration runs, in pictured().
  void ask(const ExplorerChoices& choices);
  /// Ends in pictured() alone. Pre: the configuration runs.
  void ask_picture(const ExplorerChoices& choices);
  /// Nothing is wanted any more.
  void drop();
  [[nodiscard]] bool busy() const { return busy_; }

 signals:
  void explored(const std::shared_ptr<const attnscope::ui::Explored>& explored);
  void pictured(const std::shared_ptr<const attnscope::analysis::TilePicture>& picture);

 private:
  void begin(const ExplorerChoices& choices, bool picture_alone);

  std::atomic<std::uint64_t> generation_{0};
  bool busy_ = false;
  QThreadPool pool_;
};

/// The picture of the batch entry with the most keys.
[[nodiscard]] std::optional<analysis::TilePicture> picture_of(const ExplorerChoices& choices,
                                                              const std::function<bool()>& cancelled = {});

}  // namespace attnscope::ui
