// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/frame_text.h"

#include <QAbstractTextDocumentLayout>
#include <QEvent>
#include <QPainter>
#include <QSizePolicy>
#include <algorithm>
#include <cmath>

namespace attnscope::ui {
namespace {

/// The longest of many texts are the tallest ones, near enough: of so many of them the height is taken.
constexpr qsizetype most_measured = 4;

}  // namespace

FrameText::FrameText(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  shown_.setDocumentMargin(0);
  shown_.setDefaultFont(font());
}

void FrameText::set_text(const QString& html) {
  if (html == html_) return;
  html_ = html;
  shown_.setHtml(html_);
  setAccessibleName(shown_.toPlainText());
  update();
}

void FrameText::make_room(const QStringList& texts) {
  QStringList longest = texts;
  std::ranges::sort(longest, [](const QString& a, const QString& b) { return a.size() > b.size(); });
  longest = longest.mid(0, most_measured);
  if (longest == room_) return;
  room_ = longest;
  fit();
}

void FrameText::set_ink(const QColor& ink) {
  ink_ = ink;
  update();
}

void FrameText::fit() {
  shown_.setDefaultFont(font());
  shown_.setTextWidth(width());
  QTextDocument tried;
  tried.setDocumentMargin(0);
  tried.setDefaultFont(font());
  tried.setTextWidth(width());
  double tallest = 0;
  for (const QString& text : room_) {
    tried.setHtml(text);
    tallest = std::max(tallest, tried.size().height());
  }
  setFixedHeight(static_cast<int>(std::ceil(tallest)));
}

void FrameText::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fit();
}

void FrameText::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit();
}

void FrameText::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  QAbstractTextDocumentLayout::PaintContext context;
  context.palette = palette();
  if (ink_.isValid()) context.palette.setColor(QPalette::Text, ink_);
  context.clip = QRectF(rect());
  shown_.documentLayout()->draw(&painter, context);
}

}  // namespace attnscope::ui
