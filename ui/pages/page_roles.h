// SPDX-License-Identifier: GPL-3.0-or-later
// What some pages do besides showing points. The window asks each page whether it is one of these.
#pragma once

#include <QString>
#include <cstdint>
#include <string>

#include "profiler/plan/point_spec.h"

namespace attnscope::ui {

/// One explores points on it, on a GPU by its name. Both return false where the GPU is none that the page knows, and
/// another one stays.
class PointExplorer {
 public:
  virtual ~PointExplorer() = default;
  /// Takes over that point.
  virtual bool explore(const PointSpec& spec, const QString& gpu) = 0;
  /// Stands that point beside what it shows, in place of the oldest where there is no room.
  virtual bool pin_point(const PointSpec& spec, const QString& gpu) = 0;
  /// Turns to that algorithm, with all else that it shows as far as the algorithm takes it.
  virtual void explore_algorithm(const std::string& name) = 0;
  /// Sources of a kernel of the user's own are others, and what it states is as it was.
  virtual void sources_saved() = 0;
};

/// It draws points over two axes that the tile may be.
class PointMap {
 public:
  virtual ~PointMap() = default;
  /// Turns to the problem of that point, by its id in `file`, whatever was chosen. False: the page shows none of its
  /// kind, or a filter leaves it out.
  virtual bool turn_to(const QString& file, std::int64_t point) = 0;
};

/// It shows one problem at a time, and turns to what a sweep measures.
class RunFollower {
 public:
  virtual ~RunFollower() = default;
  /// A sweep has been started: what the user chooses on the page from now on holds against it.
  virtual void expect_sweep() = 0;
  enum class Followed { no_points, shown, kept, later };
  /// Turns the page to the problem of a run, where it shows none of its points. `kept`: the user has chosen something
  /// since expect_sweep(), and does not insist. `later`: it does so when it is turned to.
  virtual Followed follow(const QString& file, std::int64_t run, bool insist) = 0;
  /// That problem in words: "d 64 · batch × heads 1×8".
  [[nodiscard]] virtual QString problem_of(const QString& file, std::int64_t run) const = 0;
};

/// It says how a GPU itself is measured, which the window does.
class DeviceProgress {
 public:
  virtual ~DeviceProgress() = default;
  /// `words`: how far that is, or how it ended; empty: nothing of it is to be said. `busy`: something is measured, and
  /// nothing else can begin.
  virtual void show_progress(const QString& words, bool busy) = 0;
};

/// It measures, or has others measure.
class MeasuringPage {
 public:
  virtual ~MeasuringPage() = default;
  /// Of what the page has under way and closing the window would end: "3 to measure, into FILE"; empty without any.
  [[nodiscard]] virtual QString under_way() const = 0;
  /// Lets go of it.
  virtual void end_work() = 0;
};

}  // namespace attnscope::ui
