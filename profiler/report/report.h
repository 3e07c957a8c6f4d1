// SPDX-License-Identifier: Apache-2.0
// A report of points. It knows no files; who calls it has read them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/ceilings.h"
#include "kernels/model/result.h"
#include "profiler/compare/comparison.h"
#include "profiler/metrics/statement.h"
#include "profiler/points/point_table.h"
#include "profiler/report/document.h"

namespace attnscope::report {

/// What is said of a run beside its points. Empty where its file does not say it.
struct RunFacts {
  std::string file;
  std::string state;  ///< "complete"
  std::string started_at;
  std::vector<std::string> argv;
  std::string program;  ///< its version
  std::string driver;
  std::string cupti;
  std::string nvrtc;
  std::string system;
  bool counters = false;
  int min_samples = 0;
  int max_samples = 0;
  double max_noise = 0;
  int rounds = 1;  ///< that were planned
  std::string simulated_because;
  std::string l2_from;
  std::string rates_from;
  std::size_t looks = 1;  ///< analysis::ComparisonRequest's
  analysis::RunConditions conditions;
};

/// What is said of a point beside what analysis knows of it.
struct PointFacts {
  std::optional<double> max_abs_error = {};
  std::optional<double> error_bound = {};
  std::shared_ptr<const KernelStatement> statement = nullptr;  ///< of a user's kernel
};

/// What a device was found to be capable of.
struct CeilingFacts {
  std::string device_id;
  std::string device_name;
  std::string measured_at;  ///< ISO 8601, UTC
  std::vector<Ceiling> ceilings;
};

struct Input {
  analysis::PointTable table;
  std::vector<RunFacts> runs;      ///< by run of the table
  std::vector<PointFacts> points;  ///< by row of the table
  std::vector<CeilingFacts> ceilings;
  /// Points that several files hold, of which the copy with more rounds than the first one's is the one here.
  std::size_t fuller_copies = 0;
  /// Rows of the files that are not what was written, left out with all that belongs to them; of the first where it
  /// stands and what is wrong with it.
  std::size_t damaged_rows = 0;
  Message first_damage;
  std::size_t unverified_runs = 0;  ///< without a checksum
  std::string filter;               ///< that the points fit; empty: all of them
  std::size_t filtered_from = 0;    ///< with a filter: as many points there are without it
  std::string version;              ///< of the program that writes the report
};

struct Request {
  std::string title = {};  ///< empty: made of what was measured
  /// Runs of the table that all others are held to; none: nothing is compared.
  std::vector<analysis::RunIndex> baseline = {};
};

/// An error in one sentence: no points.
[[nodiscard]] Result<Document, Message> make_report(const Input&, const Request&);

}  // namespace attnscope::report
