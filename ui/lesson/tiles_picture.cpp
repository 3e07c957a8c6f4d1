// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/tiles_picture.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>
#include <utility>

#include "profiler/analysis/lesson/spoken.h"
#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/transport.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"

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
      masks_(lesson::staged_masks(front_)),
      staged_knobs_(lesson::staged_knobs(front_, of.data.evidence().registry)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  choices_ = new FlowLayout(nullptr);
  column->addLayout(choices_);
  transport_ = new Transport(data_, this);
  column->addWidget(transport_);
  add_legend();
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

QComboBox* TilesPicture::add_choice(const QString& name, const QString& shown) {
  // A name and its box stay together when the row is too short for all.
  auto* pair = new QWidget(this);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  if (!name.isEmpty()) row->addWidget(new QLabel(shown.isEmpty() ? name : shown, pair));
  auto* box = new QComboBox(pair);
  box->setAccessibleName(name);
  box->setObjectName(name);
  box->setFocusPolicy(Qt::ClickFocus);
  row->addWidget(box);
  choices_->addWidget(pair);
  connect(box, &QComboBox::currentIndexChanged, this, &TilesPicture::play_again);
  return box;
}

QComboBox* TilesPicture::add_sizes(const QString& name, std::initializer_list<int> values) {
  QComboBox* box = add_choice(name);
  const QSignalBlocker quiet(box);
  box->addItem(data_.word("preset"), 0);
  for (const int value : values) {
    box->addItem(QString::fromStdString(lesson::figure_text(value, lesson::Unit::plain)), value);
  }
  return box;
}

void TilesPicture::add_choices() {
  which_ = add_choice({});
  const QSignalBlocker quiet(which_);
  if (algorithms_.size() > 1) which_->addItem(data_.word("side_by_side"), -1);
  for (std::size_t i = 0; i < algorithms_.size(); ++i) {
    which_->addItem(QString::fromStdString(lesson::title_of(data_.texts(), *algorithms_[i])), static_cast<int>(i));
  }
  mask_ = add_choice({});
  mask_->setObjectName(QStringLiteral("mask"));
  const QSignalBlocker quiet_mask(mask_);
  for (std::size_t i = 0; i < masks_.size(); ++i) {
    mask_->addItem(masks_[i] == Mask::none ? data_.word("no_mask") : in_terms_of(format_mask(masks_[i])),
                   static_cast<int>(i));
  }
  n_ = add_sizes(QStringLiteral("N"), {128, 256, 512, 1024, 2048});
  heads_ = add_sizes(data_.word("heads"), {1, 2, 4});
  heads_->setObjectName(QStringLiteral("heads"));
  br_ = add_sizes(QStringLiteral("Br"), {16, 32, 64, 128});
  bc_ = add_sizes(QStringLiteral("Bc"), {16, 32, 64, 128});
  m_ = add_sizes(QStringLiteral("M"), {4096, 8192, 16384, 32768, 65536});
  for (const lesson::StagedKnob& staged : staged_knobs_) {
    QComboBox* box = add_choice(to_qstring(staged.knob->name), in_terms_of(to_qstring(staged.knob->name)));
    const QSignalBlocker quiet_knob(box);
    box->setToolTip(qtext(staged.knob->meaning));
    if (staged.knob->words.empty()) box->addItem(data_.word("preset"), -1);
    for (std::size_t i = 0; i < staged.values.size(); ++i) {
      box->addItem(in_terms_of(QString::fromStdString(attnscope::to_string(staged.values[i]))), static_cast<int>(i));
    }
    knobs_.push_back(box);
  }
  l2_ = add_choice(QStringLiteral("L2"));
  const QSignalBlocker quiet_l2(l2_);
  l2_->addItem(to_qstring(data_.evidence().gpu.name), 0);
  for (const int kib : {32, 64, 128, 256, 1024}) l2_->addItem(qtext(Capacity(kib * 1024.0)), kib * 1024);
}

void TilesPicture::add_legend() {
  const bool dark = plot_colors(palette()).dark;
  QString html;
  for (const auto& [kind, word] : {std::pair(TileMove::hit, "l2_hit"), std::pair(TileMove::miss, "l2_miss"),
                                   std::pair(TileMove::stored, "written"), std::pair(TileMove::added, "added")}) {
    html += QStringLiteral("<span style='color:%1'>■</span>&nbsp;%2&nbsp;&nbsp; ")
                .arg(tile_move_color(kind, dark).name(), data_.word(word).toHtmlEscaped());
  }
  legend_ = new QLabel(html, this);
  legend_->setObjectName(QStringLiteral("legend"));
  legend_->setTextFormat(Qt::RichText);
  legend_->setWordWrap(true);
  layout()->addWidget(legend_);
}

QString TilesPicture::in_terms_of(const QString& line) const {
  return QString::fromStdString(lesson::in_terms(data_.texts(), line.toStdString()));
}

void TilesPicture::set_room(const QSize& room) {
  room_ = room;
  for (TileStage* stage : stages_) stage->set_room(stage_room());
}

void TilesPicture::resizeEvent(QResizeEvent* event) {
  LessonPicture::resizeEvent(event);
  // How many rows the choices take is known now.
  if (event->size().width() != event->oldSize().width()) set_room(room_);
}

double TilesPicture::stage_room() const {
  constexpr int least_room = 300;  // less is a page that is not shown yet
  if (room_.height() < least_room) return 0;
  const int wide = std::min(room_.width(), std::max(width(), 300)) - 2 * layout()->spacing();
  const int above = choices_->heightForWidth(wide) + transport_->sizeHint().height() + legend_->heightForWidth(wide);
  return std::max(least_room, room_.height() - above - 4 * layout()->spacing());
}

lesson::StageChoice TilesPicture::choice() const {
  lesson::StageChoice choice{.n = chosen(n_),
                             .br = static_cast<int>(chosen(br_)),
                             .bc = static_cast<int>(chosen(bc_)),
                             .l2_bytes = chosen(l2_),
                             .heads = static_cast<int>(chosen(heads_)),
                             .m_elements = chosen(m_)};
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const std::int64_t value = chosen(knobs_[i]);
    if (value >= 0)
      choice.knobs.set(staged_knobs_[i].knob->name, staged_knobs_[i].values[static_cast<std::size_t>(value)]);
  }
  return choice;
}

void TilesPicture::play_again() {
  for (TileStage* stage : stages_) stage->deleteLater();
  stages_.clear();
  while (QLayoutItem* item = stage_row_->takeAt(0)) delete item;
  const auto only = static_cast<int>(chosen(which_));
  const lesson::StageChoice asked = choice();
  int frames = 1;
  QStringList notes;
  for (std::size_t i = 0; i < algorithms_.size(); ++i) {
    if (algorithms_.size() > 1 && only >= 0 && only != static_cast<int>(i)) continue;
    const Algorithm& algorithm = *algorithms_[i];
    const Mask& mask = masks_[static_cast<std::size_t>(chosen(mask_))];
    auto player = lesson::staged_player(front_, data_.evidence(), algorithm, mask, most_stage_frames, asked);
    const QString title = QString::fromStdString(lesson::title_of(data_.texts(), algorithm));
    if (!player) {
      notes << QStringLiteral("%1: %2").arg(title, data_.word("refused"));
      continue;
    }
    QString otherwise;
    if (!lesson::plays_what_was_chosen(*player, asked)) otherwise += data_.word("own_tile") + QLatin1Char(' ');
    if (lesson::plays_a_shorter_n(front_, *player, asked)) otherwise += data_.word("shorter_n") + QLatin1Char(' ');
    auto* stage = new TileStage(data_, std::make_shared<const lesson::TilePlayer>(std::move(*player)), algorithm, this);
    stage->set_room(stage_room());
    stages_.push_back(stage);
    stage_row_->addWidget(stage, 1, Qt::AlignTop);
    frames = std::max(frames, stage->frames());
    notes << QStringLiteral("%1: %2%3").arg(title, otherwise, stage->notes());
  }
  if (algorithms_.empty()) notes << data_.word("no_algorithm");
  notes_->setText(notes.join(QLatin1Char('\n')));
  transport_->set_frames(frames);
}

QString TilesPicture::words() const {
  return stages_.empty() ? notes_->text() : QString();
}

}  // namespace attnscope::ui
