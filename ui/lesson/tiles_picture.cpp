// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/tiles_picture.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/analysis/lesson/stage.h"
#include "ui/format.h"
#include "ui/lesson/transport.h"

namespace attnscope::ui {
namespace {

/// Longer ones are not made: a shorter N is played then.
constexpr std::size_t most_stage_frames = std::size_t{1} << 17;

std::int64_t chosen(const QComboBox* box) {
  return box == nullptr ? 0 : box->currentData().toLongLong();
}

}  // namespace

TilesPicture::TilesPicture(const PictureOf& of, QWidget* parent)
    : LessonPicture(parent),
      data_(of.data),
      front_(of.step.document.front),
      algorithms_(lesson::staged_algorithms(front_, of.data.evidence().registry)),
      masks_(lesson::staged_masks(front_)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  choices_ = new QHBoxLayout;
  column->addLayout(choices_);
  transport_ = new Transport(data_, this);
  column->addWidget(transport_);
  stage_row_ = new QHBoxLayout;
  column->addLayout(stage_row_);
  notes_ = new QLabel(this);
  notes_->setWordWrap(true);
  notes_->setTextFormat(Qt::PlainText);
  column->addWidget(notes_);
  add_choices();
  connect(transport_, &Transport::shown, this, [this](int frame) {
    for (TileStage* stage : stages_) stage->show_frame(frame);
  });
  play_again();
}

QComboBox* TilesPicture::add_choice(const QString& name) {
  if (!name.isEmpty()) choices_->addWidget(new QLabel(name, this));
  auto* box = new QComboBox(this);
  box->setAccessibleName(name);
  box->setFocusPolicy(Qt::ClickFocus);
  choices_->addWidget(box);
  connect(box, &QComboBox::currentIndexChanged, this, &TilesPicture::play_again);
  return box;
}

void TilesPicture::add_choices() {
  which_ = add_choice({});
  const QSignalBlocker quiet(which_);
  if (algorithms_.size() > 1) which_->addItem(data_.word("side_by_side"), -1);
  for (std::size_t i = 0; i < algorithms_.size(); ++i) {
    which_->addItem(to_qstring(algorithms_[i]->facts().title), static_cast<int>(i));
  }
  mask_ = add_choice({});
  mask_->setObjectName(QStringLiteral("mask"));
  const QSignalBlocker quiet_mask(mask_);
  for (std::size_t i = 0; i < masks_.size(); ++i) mask_->addItem(format_mask(masks_[i]), static_cast<int>(i));
  const auto sizes = [this](const QString& name, std::initializer_list<int> values) {
    QComboBox* box = add_choice(name);
    box->setObjectName(name);
    const QSignalBlocker quiet_box(box);
    box->addItem(QStringLiteral("–"), 0);
    for (const int value : values) box->addItem(QString::number(value), value);
    return box;
  };
  n_ = sizes(QStringLiteral("N"), {128, 256, 512, 1024, 2048});
  br_ = sizes(QStringLiteral("Br"), {16, 32, 64, 128});
  bc_ = sizes(QStringLiteral("Bc"), {16, 32, 64, 128});
  l2_ = add_choice(QStringLiteral("L2"));
  const QSignalBlocker quiet_l2(l2_);
  l2_->addItem(to_qstring(data_.evidence().gpu.name), 0);
  for (const int kib : {32, 64, 128, 256, 1024}) l2_->addItem(format_capacity(kib * 1024.0), kib * 1024);
  choices_->addStretch(1);
}

void TilesPicture::play_again() {
  for (TileStage* stage : stages_) stage->deleteLater();
  stages_.clear();
  while (QLayoutItem* item = stage_row_->takeAt(0)) delete item;
  const auto only = static_cast<int>(chosen(which_));
  const lesson::StageChoice choice{.n = chosen(n_),
                                   .br = static_cast<int>(chosen(br_)),
                                   .bc = static_cast<int>(chosen(bc_)),
                                   .l2_bytes = chosen(l2_)};
  int frames = 1;
  QStringList notes;
  for (std::size_t i = 0; i < algorithms_.size(); ++i) {
    if (algorithms_.size() > 1 && only >= 0 && only != static_cast<int>(i)) continue;
    const Algorithm& algorithm = *algorithms_[i];
    const Mask& mask = masks_[static_cast<std::size_t>(chosen(mask_))];
    auto player = lesson::staged_player(front_, data_.evidence(), algorithm, mask, most_stage_frames, choice);
    const QString title = to_qstring(algorithm.facts().title);
    if (!player) {
      notes << QStringLiteral("%1: %2").arg(title, data_.word("refused"));
      continue;
    }
    auto* stage = new TileStage(data_, std::make_shared<const lesson::TilePlayer>(std::move(*player)), algorithm, this);
    stages_.push_back(stage);
    stage_row_->addWidget(stage, 1, Qt::AlignTop);
    frames = std::max(frames, stage->frames());
    notes << QStringLiteral("%1: %2").arg(title, stage->notes());
  }
  if (algorithms_.empty()) notes << data_.word("no_algorithm");
  notes_->setText(notes.join(QLatin1Char('\n')));
  transport_->set_frames(frames);
}

QString TilesPicture::words() const {
  return stages_.empty() ? notes_->text() : QString();
}

}  // namespace attnscope::ui
