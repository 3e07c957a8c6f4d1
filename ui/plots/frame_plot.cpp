// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/frame_plot.h"

#include <cmath>
#include <functional>
#include <utility>

namespace attnscope::ui {
namespace {

/// What is drawn, on the plot's background: it covers all that lies below, so that a frame is copied. QCustomPlot's own
/// is transparent, and costs filling the background and laying the picture over it at every frame.
class OpaqueBuffer : public QCPAbstractPaintBuffer {
 public:
  OpaqueBuffer(const QSize& size, double pixel_ratio, std::function<QColor()> background)
      : QCPAbstractPaintBuffer(size, pixel_ratio), background_(std::move(background)) {
    OpaqueBuffer::reallocateBuffer();
  }
  QCPPainter* startPainting() override { return new QCPPainter(&image_); }
  void clear(const QColor& /*color*/) override { image_.fill(background_()); }
  void draw(QCPPainter* painter) const override {
    if (image_.isNull()) return;
    QImage opaque(image_.constBits(), image_.width(), image_.height(), image_.bytesPerLine(), QImage::Format_RGB32);
    opaque.setDevicePixelRatio(mDevicePixelRatio);
    painter->drawImage(0, 0, opaque);
  }

 protected:
  void reallocateBuffer() override {
    setInvalidated();
    // Not a format without transparency: letters on it would have coloured rims.
    image_ = QImage(mSize * mDevicePixelRatio, QImage::Format_ARGB32_Premultiplied);
    image_.setDevicePixelRatio(mDevicePixelRatio);
  }

 private:
  QImage image_;
  std::function<QColor()> background_;
};

}  // namespace

FramePlot::FramePlot(QWidget* parent) : QCustomPlot(parent) {
  mPaintBuffers = {QSharedPointer<OpaqueBuffer>::create(size(), bufferDevicePixelRatio(),
                                                        [this] { return mBackgroundBrush.color(); })};
  setPlottingHint(QCP::phImmediateRefresh, false);
  // A layer of its own costs a picture of the plot's size, cleared and laid over at every drawing; nothing is in it.
  layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmLogical);
  connect(this, &QCustomPlot::afterReplot, this, [this] { due_ = false; });
}

void FramePlot::replot(RefreshPriority priority) {
  if (priority != rpQueuedReplot) return QCustomPlot::replot(priority);
  due_ = true;
  update();
  if (std::exchange(queued_, true)) return;
  const auto unpainted = [this] {
    queued_ = false;
    if (due_ && visibleRegion().isEmpty()) QCustomPlot::replot(rpQueuedRefresh);
  };
  QMetaObject::invokeMethod(this, unpainted, Qt::QueuedConnection);
}

void FramePlot::draw_due() {
  if (!due_) return;
  // QCustomPlot would have it painted once more.
  setAttribute(Qt::WA_UpdatesDisabled);
  QCustomPlot::replot(rpQueuedRefresh);
  setAttribute(Qt::WA_UpdatesDisabled, false);
}

void FramePlot::resizeEvent(QResizeEvent* /*event*/) {
  setViewport(rect());
  replot(rpQueuedReplot);
}

void FramePlot::paintEvent(QPaintEvent* /*event*/) {
  if (!qFuzzyCompare(bufferDevicePixelRatio(), devicePixelRatioF())) {
    setBufferDevicePixelRatio(devicePixelRatioF());
    due_ = true;
  }
  // Now that everything has its place and size.
  draw_due();
  QCPPainter painter(this);
  // A picture of so many and a half pixels ends before the plot does.
  if (bufferDevicePixelRatio() != std::floor(bufferDevicePixelRatio())) painter.fillRect(rect(), mBackgroundBrush);
  for (const auto& buffer : mPaintBuffers) buffer->draw(&painter);
}

}  // namespace attnscope::ui
