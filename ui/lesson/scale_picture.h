// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes as squares whose areas are to one scale.
#pragma once

#include <QRectF>
#include <vector>

#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/lesson_picture.h"

namespace attnscope::ui {

class ScaledSquares : public QWidget {
  Q_OBJECT
 public:
  /// The largest of them has a side of so many lines of text.
  ScaledSquares(std::vector<lesson::Sized> sizes, double lines, QWidget* parent);

  /// Others of as many labels' width at the most; nothing is laid out again.
  void show_sizes(std::vector<lesson::Sized> sizes);
  /// As they are drawn; of what is too small for a pixel, a pixel.
  [[nodiscard]] std::vector<QRectF> squares() const;
  [[nodiscard]] const std::vector<lesson::Sized>& sizes() const { return sizes_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] double line() const;
  [[nodiscard]] double label_width(const lesson::Sized& size) const;

  std::vector<lesson::Sized> sizes_;
  double lines_;
};

class FrameText;

/// The ledger, N doubling with every frame.
class LedgerPicture : public LessonPicture {
  Q_OBJECT
 public:
  LedgerPicture(const PictureOf& of, QWidget* parent);

  [[nodiscard]] Transport* transport() const override { return transport_; }

 private:
  void show_frame(int frame);

  std::vector<lesson::LedgerFrame> frames_;
  std::vector<ScaledSquares*> squares_;
  FrameText* n_ = nullptr;
  Transport* transport_ = nullptr;
};

class BackwardPicture : public LessonPicture {
  Q_OBJECT
 public:
  BackwardPicture(const PictureOf& of, QWidget* parent);
};

}  // namespace attnscope::ui
