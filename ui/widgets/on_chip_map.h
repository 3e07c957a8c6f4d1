// SPDX-License-Identifier: GPL-3.0-or-later
// An SM's shared memory and registers, to scale: the blocks on it and what is free; below, one block with what it
// keeps there.
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

#include "profiler/predict/exploration.h"

namespace attnscope::ui {

/// The colour of what a block keeps under that name, the same on every map.
[[nodiscard]] QColor part_color(const std::string& name, bool dark);

class OnChipMap : public QWidget {
  Q_OBJECT
 public:
  explicit OnChipMap(QWidget* parent = nullptr);

  /// Nothing: the configuration does not run. Of one that takes more than there is, what is too much is hatched.
  void set_kernel(const analysis::ExploredKernel* kernel);

  struct DrawnSpan {
    analysis::MemorySpan span;
    QRectF rect;
    QColor color;
  };
  /// Of the enlarged block, from left to right.
  [[nodiscard]] std::vector<DrawnSpan> block_spans(OnChipPlace place) const;
  /// The whole SM's bar, its blocks, and what of it is free.
  [[nodiscard]] QRectF sm_rect(OnChipPlace place) const;
  [[nodiscard]] std::vector<QRectF> block_rects(OnChipPlace place) const;
  [[nodiscard]] QRectF free_rect(OnChipPlace place) const;
  /// What a block takes beyond what it may have, of the enlarged block; empty where it does not.
  [[nodiscard]] QRectF overrun_rect(OnChipPlace place) const;
  /// The heading: "Shared memory: 3 × 65 KiB, 33 KiB free of 228 KiB".
  [[nodiscard]] QString heading(OnChipPlace place) const;
  /// What stands below a block: "Q 32 KiB", "K 2 × 16 KiB", ...
  [[nodiscard]] QStringList legend(OnChipPlace place) const;

  [[nodiscard]] QSize sizeHint() const override { return {360, heightForWidth(360)}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 0}; }
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] const analysis::MemoryMap& map_of(OnChipPlace place) const {
    return place == OnChipPlace::shared ? shared_ : registers_;
  }
  /// The bars of a memory stand at this height.
  [[nodiscard]] double top_of(OnChipPlace place) const;
  [[nodiscard]] double heading_height(OnChipPlace place, int width) const;
  /// Of the enlarged block and what stands below it.
  [[nodiscard]] double below_sm(OnChipPlace place, int width) const;
  [[nodiscard]] int legend_rows(OnChipPlace place, int width) const;
  void paint_memory(QPainter& painter, OnChipPlace place) const;
  void paint_legend(QPainter& painter, OnChipPlace place) const;

  bool known_ = false;
  analysis::MemoryMap shared_;
  analysis::MemoryMap registers_;
};

}  // namespace attnscope::ui
