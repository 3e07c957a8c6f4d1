// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/lesson_picture.h"

#include <algorithm>
#include <array>

#include "ui/lesson/hierarchy_picture.h"
#include "ui/lesson/occupancy_picture.h"
#include "ui/lesson/program_picture.h"
#include "ui/lesson/scale_picture.h"
#include "ui/lesson/softmax_picture.h"
#include "ui/lesson/theory_picture.h"
#include "ui/lesson/tiles_picture.h"

namespace attnscope::ui {
namespace {

struct PictureKind {
  std::string_view name;
  LessonPicture* (*make)(const PictureOf& of, QWidget* parent);
};

template <class Picture>
LessonPicture* make_picture(const PictureOf& of, QWidget* parent) {
  return new Picture(of, parent);
}

constexpr std::array picture_kinds{
    PictureKind{"ledger", make_picture<LedgerPicture>},     PictureKind{"hierarchy", make_picture<HierarchyPicture>},
    PictureKind{"backward", make_picture<BackwardPicture>}, PictureKind{"tiles", make_picture<TilesPicture>},
    PictureKind{"softmax", make_picture<SoftmaxPicture>},   PictureKind{"program", make_picture<ProgramPicture>},
    PictureKind{"theory", make_picture<TheoryPicture>},     PictureKind{"occupancy", make_picture<OccupancyPicture>},
};

}  // namespace

LessonPicture* make_lesson_picture(std::string_view name, const PictureOf& of, QWidget* parent) {
  const auto kind = std::ranges::find(picture_kinds, name, &PictureKind::name);
  return kind == picture_kinds.end() ? nullptr : kind->make(of, parent);
}

}  // namespace attnscope::ui
