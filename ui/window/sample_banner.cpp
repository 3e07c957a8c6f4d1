// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/sample_banner.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QSettings>
#include <QToolButton>
#include <algorithm>
#include <array>

#include "messages/window.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

QString dismissed_key() {
  return QStringLiteral("window/sample_banner_dismissed");
}

}  // namespace

bool is_low_window(const QWidget& window) {
  constexpr int lowest = 700;
  return window.height() < lowest * font_scale(window.font());
}

SampleBanner::SampleBanner(const Workspace& workspace, const DeviceList& devices, bool remember, QWidget* parent)
    : QFrame(parent), workspace_(workspace), devices_(devices), remember_(remember) {
  dismissed_ = remember && QSettings().value(dismissed_key()).toBool();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 4, 6, 4);
  auto* content = new QWidget(this);
  auto* flow = new FlowLayout(content, 8);
  origin_ = new QLabel(content);
  no_gpu_ = new QLabel(qtext(msg::window::no_gpu{}), content);
  const auto add_button = [&](const Message& text, void (SampleBanner::*pressed)()) {
    auto* button = new QPushButton(qtext(text), content);
    connect(button, &QPushButton::clicked, this, pressed);
    return button;
  };
  measure_ = add_button(msg::window::measure_here{}, &SampleBanner::measure_requested);
  doctor_ = add_button(msg::window::open_doctor{}, &SampleBanner::doctor_requested);
  QPushButton* explore = add_button(msg::window::explore_tiles{}, &SampleBanner::explorer_requested);
  QPushButton* lesson = add_button(msg::window::take_lesson{}, &SampleBanner::lesson_requested);
  for (QWidget* widget : std::initializer_list<QWidget*>{origin_, measure_, no_gpu_, doctor_, explore, lesson}) {
    flow->addWidget(widget);
  }
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("✕"));
  close->setAutoRaise(true);
  close->setToolTip(qtext(msg::window::dismiss{}));
  close->setAccessibleName(qtext(msg::window::dismiss_message{}));
  connect(close, &QToolButton::clicked, this, &SampleBanner::dismiss);
  row->addWidget(content, 1);
  row->addWidget(close, 0, Qt::AlignTop);
  connect(&workspace, &Workspace::runs_changed, this, &SampleBanner::show_origin);
  connect(&devices, &DeviceList::changed, this, &SampleBanner::show_devices);
  parent->window()->installEventFilter(this);
  show_origin();
  show_devices();
}

void SampleBanner::show_origin() {
  const QString sample = sample_path();
  const auto run =
      std::ranges::find_if(workspace_.runs(), [&](const LoadedRun& each) { return each.info->file == sample; });
  origin_->clear();
  if (run != workspace_.runs().end()) {
    const RunSummary& summary = run->info->summary;
    constexpr std::size_t date_length = std::string_view("2026-11-27").size();
    origin_->setText(qtext(msg::window::recorded_sample{.date = summary.started_at.substr(0, date_length),
                                                        .gpu = device_title(summary).toStdString()}));
  }
  update_visibility();
}

void SampleBanner::show_devices() {
  const QString why = devices_.local_problem();
  measure_->setEnabled(why.isEmpty());
  measure_->setToolTip(plain_tooltip(why));
  no_gpu_->setToolTip(plain_tooltip(why));
  no_gpu_->setVisible(!why.isEmpty());
  doctor_->setVisible(!why.isEmpty());
}

void SampleBanner::update_visibility() {
  const QWidget* shown_in = window();
  const bool wanted = !origin_->text().isEmpty() && !dismissed_;
  if (wanted && is_low_window(*shown_in)) {
    if (shown_in->isVisible()) return dismiss();
    return hide();
  }
  setVisible(wanted);
}

void SampleBanner::dismiss() {
  dismissed_ = true;
  if (remember_) QSettings().setValue(dismissed_key(), true);
  hide();
}

bool SampleBanner::eventFilter(QObject* watched, QEvent* event) {
  constexpr std::array types{QEvent::Resize, QEvent::Show, QEvent::FontChange};
  if (std::ranges::find(types, event->type()) != types.end()) update_visibility();
  return QFrame::eventFilter(watched, event);
}

void SampleBanner::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  painter.fillRect(rect(), with_opacity(colors.accent, 0.1));
  painter.fillRect(QRect(0, height() - 1, width(), 1), colors.grid);
}

}  // namespace attnscope::ui
