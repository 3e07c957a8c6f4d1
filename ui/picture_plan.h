// SPDX-License-Identifier: GPL-3.0-or-later
// Which pictures `--plots` draws of some points. No widgets: values in, values out.
#pragma once

#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/model/result.h"
#include "ui/models/curve_series.h"
#include "ui/models/problem_filter.h"

namespace attnscope::ui {

/// Curves of bytes, time and rate over N, and maps of tiles.
enum class PictureKind { bytes, time, rate, maps };

/// What `--only` narrows the pictures to; nothing said: all.
struct PictureChoice {
  std::set<PictureKind> kinds;
  std::map<QString, QStringList> values;  ///< by a facet's key: "d" -> 64, 128
};
/// Words as "bytes", "maps", "d=128", "mask=causal", "heads=1x132", also several in one, with commas between; the error
/// is one line. Kinds add up, and so do the values of one facet.
[[nodiscard]] Result<PictureChoice, QString> parse_picture_choice(const QStringList& words);

/// One problem: the filter stands on it.
struct PictureProblem {
  ProblemFilter filter;
  std::vector<ShownPoint> points;
};

struct PlannedPicture {
  PictureKind kind = PictureKind::bytes;
  QString stem;  ///< the file's name without its ending
  std::shared_ptr<const PictureProblem> problem;
  TileSelection tile;       ///< of curves
  std::string_view metric;  ///< of a map
};

/// Every problem's curves, as far as its points have something to show, and of problems swept over tiles their maps of
/// time, SM<->L2 and DRAM bytes. An error where a chosen facet or value is none of these points'.
[[nodiscard]] Result<std::vector<PlannedPicture>, QString> plan_pictures(const std::vector<ShownPoint>& points,
                                                                         const PictureChoice& choice);

/// "bytes", "time", "rate", "maps".
[[nodiscard]] QString to_string(PictureKind kind);

}  // namespace attnscope::ui
