// SPDX-License-Identifier: GPL-3.0-or-later
// Tile programs, one or several side by side under one transport: algorithm, mask, N, heads, Br, Bc, M, the size of the
// L2 and the knobs that the text names are the learner's to change.
#pragma once

#include <initializer_list>
#include <vector>

#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/lesson_picture.h"
#include "ui/lesson/tile_stage.h"

class QComboBox;
class QHBoxLayout;
class QLabel;

namespace attnscope::ui {

class FlowLayout;

class TilesPicture : public LessonPicture {
  Q_OBJECT
 public:
  TilesPicture(const PictureOf& of, QWidget* parent);

  [[nodiscard]] Transport* transport() const override { return transport_; }
  void set_room(const QSize& room) override;
  [[nodiscard]] const std::vector<TileStage*>& stages() const { return stages_; }
  /// Why there are none, in words; empty where there are some.
  [[nodiscard]] QString words() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_choices();
  QComboBox* add_choice(const QString& name, const QString& shown = {});
  [[nodiscard]] QString in_terms_of(const QString& line) const;
  QComboBox* add_sizes(const QString& name, std::initializer_list<int> values);
  void add_legend();
  [[nodiscard]] lesson::StageChoice choice() const;
  void play_again();
  /// That is left for the stages of what is seen at once; 0: not known yet.
  [[nodiscard]] double stage_room() const;

  const LessonData& data_;
  const lesson::Front& front_;
  std::vector<const Algorithm*> algorithms_;
  std::vector<Mask> masks_;
  std::vector<lesson::StagedKnob> staged_knobs_;
  QComboBox* which_ = nullptr;
  QComboBox* mask_ = nullptr;
  QComboBox* n_ = nullptr;
  QComboBox* br_ = nullptr;
  QComboBox* bc_ = nullptr;
  QComboBox* l2_ = nullptr;
  QComboBox* m_ = nullptr;
  QComboBox* heads_ = nullptr;
  std::vector<QComboBox*> knobs_;
  FlowLayout* choices_ = nullptr;
  QHBoxLayout* stage_row_ = nullptr;
  Transport* transport_ = nullptr;
  QLabel* legend_ = nullptr;
  QLabel* notes_ = nullptr;
  QSize room_{};
  std::vector<TileStage*> stages_;
};

}  // namespace attnscope::ui
