// SPDX-License-Identifier: GPL-3.0-or-later
// What of a configuration takes longer than a frame is worked out aside:
// block masks, and grids of many tiles.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <optional>

#include "profiler/analysis/tile_picture.h"
#include "ui/explorer/choices.h"
#include "ui/process/background_work.h"

namespace attnscope::ui {

class BackgroundExplorer : public QObject {
  Q_OBJECT
 public:
  explicit BackgroundExplorer(QObject* parent = nullptr);

  /// Ends in explored(), and, where the configuration runs, in pictured().
  void ask(const ExplorerChoices& choices);
  /// Ends in pictured() alone. Pre: the configuration runs.
  void ask_picture(const ExplorerChoices& choices);
  /// Nothing is wanted any more.
  void drop() { background_.drop(); }
  [[nodiscard]] bool busy() const { return background_.busy(); }

 signals:
  void explored(const std::shared_ptr<const attnscope::ui::Explored>& explored);
  void pictured(const std::shared_ptr<const attnscope::analysis::TilePicture>& picture);

 private:
  BackgroundWork background_;
};

/// The picture of the batch entry with the most keys.
[[nodiscard]] std::optional<analysis::TilePicture> picture_of(const ExplorerChoices& choices,
                                                              const std::function<bool()>& cancelled = {});

}  // namespace attnscope::ui
