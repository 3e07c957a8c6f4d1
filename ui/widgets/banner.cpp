// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/banner.h"

#include <QHBoxLayout>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "messages/window.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t max_messages = 6;
constexpr qsizetype max_line_length = 500;

}  // namespace

Banner::Banner(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("banner"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 6, 6);
  label_ = new QLabel(this);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long word must not widen the window
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(qtext(msg::window::dismiss{}));
  close->setAccessibleName(qtext(msg::window::dismiss_message{}));
  row->addWidget(label_, 1);
  action_ = new QToolButton(this);
  action_->setObjectName(QStringLiteral("action"));
  row->addWidget(action_, 0, Qt::AlignTop);
  connect(action_, &QToolButton::clicked, this, [this] {
    const auto offered = std::ranges::find_if(messages_, [](const Message& message) { return message.act != nullptr; });
    if (offered == messages_.end()) return;
    const std::function<void()> act = std::move(offered->act);
    messages_.erase(offered);
    refresh();
    act();
  });
  row->addWidget(close, 0, Qt::AlignTop);
  connect(close, &QToolButton::clicked, this, &Banner::clear_all);
  refresh();
}

void Banner::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  const QColor strip = token_color(style::Token::slower, colors.dark);
  QPainter painter(this);
  painter.fillRect(rect(), with_opacity(strip, 0.12));
  painter.fillRect(QRect(0, 0, width(), 1), with_opacity(strip, 0.5));
  painter.fillRect(QRect(0, 0, 4, height()), strip);
}

void Banner::add(Topic topic, const QString& text, const QString& about) {
  const QString message = one_line(text);
  std::erase_if(messages_, [&](const Message& known) {
    return known.text == message || (!about.isEmpty() && known.topic == topic && known.about == about);
  });
  messages_.push_back({topic, message, about});
  refresh();
}

void Banner::offer(Topic topic, const QString& message, const QString& about, const QString& action,
                   std::function<void()> act) {
  std::erase_if(messages_, [](const Message& known) { return known.act != nullptr; });
  messages_.push_back({topic, one_line(message), about, action, std::move(act)});
  refresh();
}

void Banner::clear(Topic topic) {
  std::erase_if(messages_, [topic](const Message& message) { return message.topic == topic; });
  refresh();
}

void Banner::remove_messages(Topic topic, const QString& about) {
  std::erase_if(messages_, [&](const Message& message) { return message.topic == topic && message.about == about; });
  refresh();
}

void Banner::remove_messages(const QString& about) {
  std::erase_if(messages_, [&](const Message& message) { return message.about == about; });
  refresh();
}

void Banner::keep_for_open_files(const QStringList& open) {
  std::erase_if(messages_, [&](const Message& message) {
    const bool is_about_shown = message.topic == Topic::rows || message.topic == Topic::replaced;
    return (is_about_shown || message.act != nullptr) && !message.about.isEmpty() && !open.contains(message.about);
  });
  refresh();
}

void Banner::clear_all() {
  messages_.clear();
  refresh();
}

QString Banner::text() const {
  QStringList lines;
  for (const Message& message : messages_) lines << message.text;
  return lines.join(QLatin1Char('\n'));
}

void Banner::refresh() {
  QStringList lines;
  bool whole = messages_.size() <= max_messages;
  for (std::size_t i = 0; i < std::min(max_messages, messages_.size()); ++i) {
    lines << shortened(messages_[i].text, max_line_length);
    whole = whole && lines.constLast() == messages_[i].text;
  }
  if (messages_.size() > max_messages)
    lines << qtext(msg::window::more_messages{.messages = messages_.size() - max_messages});
  label_->setText(lines.join(QLatin1Char('\n')));
  label_->setToolTip(whole ? QString() : plain_tooltip(text()));
  const auto offered = std::ranges::find_if(messages_, [](const Message& message) { return message.act != nullptr; });
  action_->setVisible(offered != messages_.end());
  if (offered != messages_.end()) action_->setText(offered->action);
  setAccessibleName(text());
  setVisible(!messages_.empty());
}

}  // namespace attnscope::ui
