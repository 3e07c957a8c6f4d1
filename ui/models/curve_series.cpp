// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/curve_series.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "kernels/algorithm.h"
#include "kernels/model/io_model.h"
#include "profiler/analysis/fit.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"

namespace attnscope::ui {
namespace {

constexpr int theory_points_per_octave = 12;
constexpr std::ptrdiff_t fewest_fitted = 3;

using TileKey = std::tuple<int, int, Raster, int, int, int>;
TileKey key_of(const TileShape& tile) {
  return {tile.br, tile.bc, tile.raster, tile.splits, tile.warps, tile.stages};
}

/// One algorithm on one device by one kind of measurement: what becomes one family of curves.
struct Family {
  std::string algorithm;
  Provenance provenance = Provenance::measured;
  QString label;  ///< of an imported one: what its runs were imported under
  RunPtr run;     ///< any of its runs: the device's limits
  std::vector<const ShownPoint*> points;
};

std::optional<double> value_of(const PointRecord& record, std::string_view key) {
  const auto value = evaluate(key, record);
  return value ? std::optional(value->value) : std::nullopt;
}

std::optional<double> median_time(const PointRecord& record) {
  return value_of(record, metric_key::time_median_ns);
}

bool has_value(const PointRecord& record, Ordinate ordinate) {
  if (ordinate != Ordinate::bytes) return median_time(record).has_value();
  return traffic_bytes(record, Quantity::dram) || traffic_bytes(record, Quantity::sm_l2);
}

/// A value and how far its samples scatter.
struct Reading {
  double value = 0;
  double low = 0;
  double high = 0;
};

std::optional<Reading> read(const PointRecord& record, Quantity quantity) {
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    const auto bytes = traffic_bytes(record, quantity);
    // A wrong result's traffic would be drawn beside right ones: it is kept in the table, not on the curve.
    if (!bytes || *bytes <= 0 || record.disposition != Disposition::ok) return {};
    return Reading{*bytes, *bytes, *bytes};
  }
  // Without counters there is still a time.
  if (record.disposition != Disposition::ok && record.disposition != Disposition::no_counters) return {};
  const auto time = median_time(record);
  if (!time || *time <= 0) return {};
  const double q1 = value_of(record, metric_key::time_q1_ns).value_or(*time);
  const double q3 = value_of(record, metric_key::time_q3_ns).value_or(*time);
  if (quantity == Quantity::time) return Reading{*time, q1, q3};
  const auto rate = value_of(record, metric_key::tflops);
  if (!rate || *rate <= 0 || q1 <= 0 || q3 <= 0) return {};
  return Reading{*rate, *rate * *time / q3, *rate * *time / q1};
}

/// What the horizontal axis means: n_q of a decoding problem, nothing where there are as many queries as keys.
std::optional<std::int64_t> queries_of(const AttentionProblem& problem) {
  return problem.n_q == problem.n_k ? std::nullopt : std::optional(problem.n_q);
}

TileShape widest_tile(const Family& family, Ordinate ordinate) {
  struct Cover {
    TileShape tile;
    std::set<std::int64_t> lengths;
    double time = 0;
  };
  std::map<TileKey, Cover> covers;
  for (const ShownPoint* point : family.points) {
    Cover& cover = covers[key_of(point->spec().tile)];
    cover.tile = point->spec().tile;
    if (!has_value(point->record(), ordinate)) continue;
    cover.lengths.insert(point->spec().problem.n_k);
    cover.time += median_time(point->record()).value_or(0);
  }
  const auto best = std::max_element(covers.begin(), covers.end(), [](const auto& a, const auto& b) {
    if (a.second.lengths.size() != b.second.lengths.size()) {
      return a.second.lengths.size() < b.second.lengths.size();
    }
    return a.second.time > b.second.time;
  });
  return best->second.tile;
}

/// Numbers of splits of an algorithm's points, where one N has several; else empty.
std::set<int> swept_splits(const std::vector<const ShownPoint*>& points) {
  std::map<std::int64_t, std::set<int>> at_length;
  std::set<int> all;
  for (const ShownPoint* point : points) {
    at_length[point->spec().problem.n_k].insert(point->spec().tile.splits);
    all.insert(point->spec().tile.splits);
  }
  const bool swept =
      std::any_of(at_length.begin(), at_length.end(), [](const auto& entry) { return entry.second.size() > 1; });
  return swept ? all : std::set<int>{};
}

/// The points that stand for the family: one tile each N.
std::map<std::int64_t, std::vector<const ShownPoint*>> points_by_length(Family family, const TileSelection& choice,
                                                                        Ordinate ordinate) {
  std::map<std::int64_t, std::vector<const ShownPoint*>> by_length;
  if (choice.splits && !swept_splits(family.points).empty()) {
    std::erase_if(family.points, [&](const ShownPoint* point) { return point->spec().tile.splits != *choice.splits; });
    if (family.points.empty()) return by_length;
  }
  if (choice.rule == TileSelection::Rule::fastest) {
    std::map<std::int64_t, std::pair<double, TileShape>> fastest;
    for (const ShownPoint* point : family.points) {
      const double time = median_time(point->record()).value_or(std::numeric_limits<double>::infinity());
      const auto [entry, fresh] = fastest.try_emplace(point->spec().problem.n_k, time, point->spec().tile);
      if (!fresh && time < entry->second.first) entry->second = {time, point->spec().tile};
    }
    for (const ShownPoint* point : family.points) {
      const std::int64_t n = point->spec().problem.n_k;
      if (point->spec().tile == fastest.at(n).second) by_length[n].push_back(point);
    }
    return by_length;
  }
  const bool exact = choice.rule == TileSelection::Rule::exact;
  const TileShape tile = exact ? choice.tile : widest_tile(family, ordinate);
  for (const ShownPoint* point : family.points) {
    // Who does not say a tile cannot be asked for one.
    const bool meant = point->spec().tile == tile || (exact && !tile_stated(point->spec().tile));
    if (meant) by_length[point->spec().problem.n_k].push_back(point);
  }
  if (choice.rule == TileSelection::Rule::widest) {
    // Where a sweep changed its default tile with N, the other N keep theirs rather than go missing.
    std::map<std::int64_t, TileShape> other;
    for (const ShownPoint* point : family.points) {
      const std::int64_t n = point->spec().problem.n_k;
      if (!by_length.contains(n)) other.try_emplace(n, point->spec().tile);
    }
    for (const ShownPoint* point : family.points) {
      const auto entry = other.find(point->spec().problem.n_k);
      if (entry != other.end() && point->spec().tile == entry->second) by_length[entry->first].push_back(point);
    }
  }
  return by_length;
}

std::vector<std::int64_t> theory_lengths(std::int64_t first, std::int64_t last, std::set<std::int64_t> lengths) {
  const double octaves = std::log2(static_cast<double>(last) / static_cast<double>(first));
  const int steps = static_cast<int>(std::ceil(octaves * theory_points_per_octave));
  for (int i = 1; i < steps; ++i) {
    const double n = static_cast<double>(first) * std::exp2(octaves * i / steps);
    // Multiples of 64 fill the tiles of most shapes: the curve shows the law, not the ragged edges between points.
    const auto rounded = static_cast<std::int64_t>(std::round(n / 64) * 64);
    if (rounded > first && rounded < last) lengths.insert(rounded);
  }
  return {lengths.begin(), lengths.end()};
}

AttentionProblem at_length(AttentionProblem problem, std::int64_t n) {
  if (!queries_of(problem)) problem.n_q = n;
  problem.n_k = n;
  return problem;
}

std::optional<L2Boundary> l2_boundary(const Algorithm& algorithm, const AttentionProblem& problem,
                                      const TileShape& tile, const DeviceLimits& limits) {
  // Lengths given one by one fit no other N.
  if (limits.l2_bytes <= 0 || problem.mask.lengths == Mask::Lengths::list) return {};
  const auto working_set = [&](double n) {
    return static_cast<double>(
        algorithm.working_set_bytes(at_length(problem, static_cast<std::int64_t>(n)), tile, limits));
  };
  double low = 16;
  double high = 1 << 20;
  const auto target = static_cast<double>(limits.l2_bytes);
  if (working_set(low) > target || working_set(high) < target) return {};
  while (high / low > 1.002) {
    const double middle = std::sqrt(low * high);
    (working_set(middle) < target ? low : high) = middle;
  }
  return L2Boundary{std::string(algorithm.name()), {}, high, target};
}

Curve theory_curve(CurveKind kind, const std::string& algorithm, QString label,
                   const std::vector<std::int64_t>& lengths, const std::function<double(std::int64_t)>& bytes) {
  Curve curve;
  curve.algorithm = algorithm;
  curve.kind = kind;
  curve.provenance = Provenance::modelled;
  curve.label = std::move(label);
  for (const std::int64_t n : lengths) {
    const double value = bytes(n);
    curve.points.push_back({static_cast<double>(n), value, value, value, 1, false, nullptr, nullptr});
  }
  return curve;
}

class Builder {
 public:
  Builder(const ProblemFilter& filter, const CurveRequest& request) : filter_(filter), request_(request) {
    set_.ordinate = request.ordinate;
    set_.per_head = request.per_head && request.ordinate == Ordinate::bytes;
    set_.title = filter.summary();
    if (request.tile.splits) set_.title += QStringLiteral(" · splits ") + format_splits(*request.tile.splits);
  }

  CurveSet build(const std::vector<ShownPoint>& points) {
    std::map<std::tuple<std::size_t, std::string, Provenance, std::string, QString>, Family> families;
    std::set<std::string> devices;
    for (const ShownPoint& point : points) {
      const PointSpec& spec = point.spec();
      if (!filter_.matches(point)) continue;
      if (problem_ && queries_of(*problem_) != queries_of(spec.problem)) continue;
      first_ = std::min(first_, spec.problem.n_k);
      last_ = std::max(last_, spec.problem.n_k);
      measured_.insert(spec.problem.n_k);
      problem_ = spec.problem;
      const RunSummary& run = point.run->summary;
      const Provenance origin = run.provenance;
      if (!run.device_name.empty()) devices.insert(run.device_name);
      if (origin == Provenance::measured) measured_algorithms_.insert(spec.algorithm);
      if (!request_.algorithms.contains(spec.algorithm)) continue;
      // Two programs' or two versions' numbers of one name are not repeats of one another.
      const QString label = origin == Provenance::imported ? run_title(run) : QString();
      if (!label.isEmpty()) labels_[spec.algorithm].insert(label);
      Family& family = families[{place_of(spec.algorithm), spec.algorithm, origin, run.device_uuid, label}];
      family.label = label;
      family.algorithm = spec.algorithm;
      family.provenance = origin;
      family.run = point.run;
      family.points.push_back(&point);
    }
    if (!problem_) return std::move(set_);
    set_.queries = queries_of(*problem_);
    set_.pass = problem_->pass;
    name_devices_ = devices.size() > 1;
    scale_ = set_.per_head ? 1.0 / static_cast<double>(problem_->instances()) : 1.0;
    // Lengths given one by one fit the N that they were given for.
    lengths_ = problem_->mask.lengths == Mask::Lengths::list
                   ? std::vector<std::int64_t>(measured_.begin(), measured_.end())
                   : theory_lengths(first_, last_, measured_);
    std::erase_if(lengths_, [&](std::int64_t n) { return !invalid_reason(at_length(*problem_, n)).empty(); });
    for (const auto& [key, family] : families) add_family(family);
    name_model_tiles();
    if (request_.compulsory && request_.ordinate == Ordinate::bytes) add_compulsory();
    return std::move(set_);
  }

 private:
  static std::size_t place_of(const std::string& name) {
    const auto all = algorithms();
    return static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(), [&](const Algorithm* item) { return item->name() == name; }) -
        all.begin());
  }

  /// Empty while one device is shown.
  QString device_of(const Family& family) const {
    if (!name_devices_ || family.run->summary.device_name.empty()) return {};
    return QString::fromStdString(family.run->summary.device_name).remove(QStringLiteral("NVIDIA "));
  }

  QString prefix(const Family& family) const {
    QString text = short_title(family.algorithm);
    const auto labels = labels_.find(family.algorithm);
    if (!family.label.isEmpty() && labels->second.size() > 1) text += QStringLiteral(" (%1)").arg(family.label);
    if (const QString device = device_of(family); !device.isEmpty()) text += QStringLiteral(" on ") + device;
    return text;
  }

  void add_family(const Family& family) {
    const auto by_length = points_by_length(family, request_.tile, request_.ordinate);
    if (by_length.empty()) return;
    const bool bytes = request_.ordinate == Ordinate::bytes;
    if (bytes && request_.dram) add_measured(family, by_length, Quantity::dram);
    if (bytes && request_.sm_l2) add_measured(family, by_length, Quantity::sm_l2);
    if (request_.ordinate == Ordinate::time) add_measured(family, by_length, Quantity::time);
    if (request_.ordinate == Ordinate::rate) add_measured(family, by_length, Quantity::rate);
    add_failed(family, by_length);
    // Where we have measured an algorithm, the simulator's or another program's numbers of it are drawn, but nothing is
    // derived from them.
    const bool stands_for_algorithm =
        family.provenance == Provenance::measured || !measured_algorithms_.contains(family.algorithm);
    if (bytes && stands_for_algorithm) add_stacks(family, by_length);

    const Algorithm* algorithm = find_algorithm(family.algorithm);
    if (algorithm == nullptr) return;  // not ours: there is no theory of it
    const TileShape tile = model_tile(by_length);
    if (tile_stated(tile)) add_tile_theory(family, *algorithm, tile);
    if (bytes && request_.asymptote && stands_for_algorithm) {
      add_asymptote(family, by_length, algorithm->growth(), family.run->summary.limits);
    }
  }

  /// What depends on the tile: exact model, paper's count, and where the working set leaves the L2.
  void add_tile_theory(const Family& family, const Algorithm& algorithm, const TileShape& tile) {
    const DeviceLimits& limits = family.run->summary.limits;
    if (algorithm.refusal(at_length(*problem_, last_), tile, limits)) return;
    if (request_.l2_boundary) add_boundary(family, l2_boundary(algorithm, *problem_, tile, limits));
    if (request_.ordinate != Ordinate::bytes) return;
    if (request_.model && models_done_.insert({family.algorithm, key_of(tile), limits.name}).second) {
      std::vector<std::int64_t> lengths(measured_.begin(), measured_.end());
      std::erase_if(lengths, [&](std::int64_t n) {
        const AttentionProblem problem = at_length(*problem_, n);
        return !invalid_reason(problem).empty() || algorithm.refusal(problem, tile, limits);
      });
      Curve curve = theory_curve(
          CurveKind::model, family.algorithm,
          QStringLiteral("%1 · SM↔L2 · exact model").arg(short_title(family.algorithm)), lengths, [&](std::int64_t n) {
            return scale_ *
                   static_cast<double>(algorithm.plan(at_length(*problem_, n), tile, limits).traffic().total());
          });
      curve.quantity = Quantity::sm_l2;
      // What runs for the tile may differ from one architecture to the next; mostly it does not.
      const bool known = std::any_of(models_.begin(), models_.end(), [&](const Model& other) {
        return set_.curves[other.place].algorithm == curve.algorithm && key_of(other.tile) == key_of(tile) &&
               same_values(set_.curves[other.place], curve);
      });
      if (!known) {
        models_.push_back({set_.curves.size(), tile, device_of(family)});
        set_.curves.push_back(std::move(curve));
      }
    }
    // The papers count for n_q = n_k.
    if (!request_.paper_count || set_.queries || !counts_done_.insert({family.algorithm, key_of(tile)}).second) return;
    if (const auto count = algorithm.paper_count(*problem_, tile)) {
      set_.curves.push_back(theory_curve(
          CurveKind::paper_count, family.algorithm,
          QStringLiteral("%1 · paper's count %2").arg(short_title(family.algorithm), to_qstring(count->formula)),
          lengths_, [&](std::int64_t n) {
            return scale_ * static_cast<double>(algorithm.paper_count(at_length(*problem_, n), tile)->bytes);
          }));
    }
  }

  /// A device that was measured and simulated has one line, not two on top of each other.
  void add_boundary(const Family& family, std::optional<L2Boundary> boundary) {
    if (!boundary) return;
    boundary->device = device_of(family);
    const bool known = std::any_of(set_.boundaries.begin(), set_.boundaries.end(), [&](const L2Boundary& other) {
      return other.algorithm == boundary->algorithm && other.device == boundary->device && other.n == boundary->n;
    });
    if (!known) set_.boundaries.push_back(*std::move(boundary));
  }

  using ByLength = std::map<std::int64_t, std::vector<const ShownPoint*>>;

  static TileShape model_tile(const ByLength& by_length) {
    std::map<TileKey, std::pair<int, TileShape>> votes;
    for (const auto& [n, points] : by_length) {
      auto& vote = votes[key_of(points.front()->spec().tile)];
      ++vote.first;
      vote.second = points.front()->spec().tile;
    }
    return std::max_element(votes.begin(), votes.end(),
                            [](const auto& a, const auto& b) { return a.second.first < b.second.first; })
        ->second.second;
  }

  void add_measured(const Family& family, const ByLength& by_length, Quantity quantity) {
    Curve curve;
    curve.algorithm = family.algorithm;
    curve.kind = CurveKind::measured;
    curve.quantity = quantity;
    // A rate is computed from a measured time and a counted number of operations.
    const bool derived = quantity == Quantity::rate && family.provenance == Provenance::measured;
    curve.provenance = derived ? Provenance::derived : family.provenance;
    curve.label = QStringLiteral("%1 · %2 · %3")
                      .arg(prefix(family), to_string(quantity), to_qstring(attnscope::to_string(curve.provenance)));
    for (const auto& [n, points] : by_length) {
      std::vector<double> values;
      double low = std::numeric_limits<double>::infinity();
      double high = 0;
      bool throttled = false;
      const ShownPoint* source = nullptr;
      for (const ShownPoint* point : points) {
        const auto reading = read(point->record(), quantity);
        if (!reading) continue;
        values.push_back(reading->value * scale_);
        low = std::min(low, reading->low * scale_);
        high = std::max(high, reading->high * scale_);
        throttled = throttled || (point->record().clocks && point->record().clocks->throttled);
        source = point;
      }
      if (source == nullptr) continue;
      curve.points.push_back({static_cast<double>(n), summarize(values)->median, low, high,
                              static_cast<int>(values.size()), throttled, source->point, source->run});
    }
    if (!curve.points.empty()) set_.curves.push_back(std::move(curve));
  }

  void add_failed(const Family& family, const ByLength& by_length) {
    for (const auto& [n, points] : by_length) {
      const bool any_ok = std::any_of(points.begin(), points.end(), [&](const ShownPoint* point) {
        return point->record().disposition == Disposition::ok ||
               (request_.ordinate != Ordinate::bytes && read(point->record(), Quantity::time));
      });
      const ShownPoint& last = *points.back();
      // A cancelled point says nothing of the kernel.
      if (any_ok || last.record().disposition == Disposition::cancelled) continue;
      const bool known = std::any_of(set_.failed.begin(), set_.failed.end(), [&](const FailedPoint& other) {
        return other.algorithm == family.algorithm && other.source->record.spec == last.spec() &&
               other.reason.toStdString() == last.record().reason;
      });
      if (known) continue;
      set_.failed.push_back({family.algorithm, static_cast<double>(n), last.record().disposition,
                             QString::fromStdString(last.record().reason), last.point, last.run});
    }
  }

  void add_stacks(const Family& family, const ByLength& by_length) {
    for (const auto& [n, points] : by_length) {
      const ShownPoint& last = *points.back();
      const PointRecord& record = last.record();
      if (record.disposition != Disposition::ok) continue;
      KernelStack stack;
      stack.algorithm = family.algorithm;
      stack.provenance = record.provenance;
      stack.n = static_cast<double>(n);
      stack.reference_bytes = static_cast<double>(standard_attention_bytes(record.spec.problem));
      for (const KernelRecord& kernel : record.kernels) {
        if (kernel.kernel == "all") continue;
        stack.kernels.push_back({QString::fromStdString(kernel.kernel),
                                 traffic_bytes(record, Quantity::dram, kernel.kernel).value_or(0),
                                 traffic_bytes(record, Quantity::sm_l2, kernel.kernel).value_or(0)});
      }
      if (stack.kernels.size() > 1) set_.stacks.push_back(std::move(stack));
    }
  }

  /// The law that an algorithm's bytes follow, without its constant, and how it is written.
  struct Law {
    QString text;
    bool from_m = false;  ///< it holds for N d >= M
    std::function<double(std::int64_t)> bytes;
  };

  [[nodiscard]] Law law_of(Growth growth, const DeviceLimits& limits) const {
    const double element = bytes_per_element(problem_->dtype);
    // With n_q fixed, whatever the algorithm passes through grows as the keys do.
    if (set_.queries || growth == Growth::nd) {
      return {set_.queries ? QStringLiteral("n_k·d") : QStringLiteral("N·d"), false, [this, element](std::int64_t n) {
                return static_cast<double>(problem_->kv_instances() * n * problem_->d) * element;
              }};
    }
    if (growth == Growth::n2) {  // every score is in memory, whatever the mask leaves of it
      return {QStringLiteral("N²"), false, [this, element](std::int64_t n) {
                return static_cast<double>(problem_->instances()) * static_cast<double>(n) * static_cast<double>(n) *
                       element;
              }};
    }
    // A mask that is neither full nor causal leaves a share of the pairs that changes with N: P counts those pairs.
    const bool masked = problem_->mask != Mask::none && problem_->mask != Mask::causal;
    const auto pairs = [this, masked](std::int64_t n) {
      const AttentionProblem problem = at_length(*problem_, n);
      return masked ? static_cast<double>(unmasked_pairs(problem))
                    : static_cast<double>(problem.instances()) * static_cast<double>(n) * static_cast<double>(n);
    };
    const auto m = static_cast<double>(limits.sram_elements(bytes_per_element(problem_->dtype)));
    const auto d = static_cast<double>(problem_->d);
    return {masked ? QStringLiteral("P·d²/M") : QStringLiteral("N²d²/M"), true,
            [pairs, element, m, d](std::int64_t n) { return m > 0 ? pairs(n) * d * d / m * element : 0; }};
  }

  void add_asymptote(const Family& family, const ByLength& by_length, Growth growth, const DeviceLimits& limits) {
    const Quantity quantity = request_.sm_l2 || !request_.dram ? Quantity::sm_l2 : Quantity::dram;
    const std::int64_t m = limits.sram_elements(bytes_per_element(problem_->dtype));
    const Law law = law_of(growth, limits);
    struct Sample {
      std::int64_t n;
      double bytes;
    };
    std::vector<Sample> samples;
    for (const auto& [n, points] : by_length) {
      for (auto point = points.rbegin(); point != points.rend(); ++point) {
        const PointRecord& record = (*point)->record();
        const auto value = traffic_bytes(record, quantity);
        if (!value || *value <= 0 || record.disposition != Disposition::ok) continue;
        samples.push_back({n, *value});
        break;
      }
    }
    // Theorem 2 speaks of M <= N d: below that, one tile holds a head and nothing grows as N². Too few points beyond
    // it, and all are taken rather than none.
    const auto in_range = std::find_if(samples.begin(), samples.end(), [&](const Sample& sample) {
      return !law.from_m || sample.n * problem_->d >= m;
    });
    if (samples.end() - in_range >= fewest_fitted) samples.erase(samples.begin(), in_range);
    std::vector<double> lengths;
    std::vector<double> references;
    std::vector<double> bytes;
    for (const Sample& sample : samples) {
      lengths.push_back(static_cast<double>(sample.n));
      references.push_back(law.bytes(sample.n));
      bytes.push_back(sample.bytes);
    }
    const auto scale = fit_scale(references, bytes);
    const auto power = fit_power_law(lengths, bytes);
    if (!scale || !power) return;
    const std::int64_t from = samples.front().n;
    // What is fitted to simulated or imported bytes is no more than they are.
    const bool measured = family.provenance == Provenance::measured;
    QString label =
        QStringLiteral("%1 · %2 %3fit %4·%5\nslope %6")
            .arg(prefix(family), to_string(quantity),
                 measured ? QString() : to_qstring(attnscope::to_string(family.provenance)) + QStringLiteral(", "),
                 format_number(scale->scale), law.text, QString::number(power->slope, 'f', 2));
    if (power->points > 2) {
      label += QStringLiteral(" [%1, %2]")
                   .arg(power->slope_interval.low, 0, 'f', 2)
                   .arg(power->slope_interval.high, 0, 'f', 2);
    }
    if (from > first_) {
      label += QStringLiteral(", %1 ≥ %2")
                   .arg(set_.queries ? QStringLiteral("n_k") : QStringLiteral("N"),
                        format_length(static_cast<double>(from)));
    }
    std::vector<std::int64_t> drawn(std::lower_bound(lengths_.begin(), lengths_.end(), from), lengths_.end());
    // Counting the pairs of a block mask takes a while: only at the points.
    if (problem_->mask.sparse()) std::erase_if(drawn, [&](std::int64_t n) { return !measured_.contains(n); });
    Curve curve = theory_curve(CurveKind::asymptote, family.algorithm, label, drawn,
                               [&](std::int64_t n) { return scale_ * scale->scale * law.bytes(n); });
    curve.quantity = quantity;
    curve.provenance = measured ? Provenance::derived : family.provenance;
    set_.curves.push_back(std::move(curve));
  }

  static bool same_values(const Curve& a, const Curve& b) {
    return std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(),
                      [](const CurvePoint& x, const CurvePoint& y) { return x.n == y.n && x.value == y.value; });
  }

  /// Two models of one algorithm differ in their tile or their device: then the legend says which is which.
  void name_model_tiles() {
    for (const Model& model : models_) {
      Curve& curve = set_.curves[model.place];
      bool other_tile = false;
      bool other_device = false;
      for (const Model& other : models_) {
        if (set_.curves[other.place].algorithm != curve.algorithm) continue;
        const bool same_tile = key_of(other.tile) == key_of(model.tile);
        other_tile = other_tile || !same_tile;
        other_device = other_device || (same_tile && other.device != model.device);
      }
      if (other_tile) curve.label += QLatin1Char(' ') + format_tile(model.tile);
      if (other_device) curve.label += QStringLiteral(" on ") + model.device;
    }
  }

  void add_compulsory() {
    set_.curves.push_back(theory_curve(
        CurveKind::compulsory, {}, QStringLiteral("Compulsory minimum · modelled"), lengths_, [&](std::int64_t n) {
          return scale_ * static_cast<double>(compulsory_traffic(at_length(*problem_, n)).total());
        }));
  }

  const ProblemFilter& filter_;
  const CurveRequest& request_;
  CurveSet set_;
  std::optional<AttentionProblem> problem_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ = 0;
  double scale_ = 1;
  bool name_devices_ = false;
  std::set<std::string> measured_algorithms_;
  std::map<std::string, std::set<QString>> labels_;  ///< of an algorithm's imported runs
  std::set<std::int64_t> measured_;
  std::vector<std::int64_t> lengths_;
  std::set<std::tuple<std::string, TileKey, std::string>> models_done_;  ///< algorithm, tile, device
  std::set<std::pair<std::string, TileKey>> counts_done_;
  struct Model {
    std::size_t place = 0;  ///< in set_.curves
    TileShape tile;
    QString device;
  };
  std::vector<Model> models_;
};

}  // namespace

QString to_string(Ordinate ordinate) {
  switch (ordinate) {
    case Ordinate::bytes:
      return QStringLiteral("io");
    case Ordinate::time:
      return QStringLiteral("time");
    case Ordinate::rate:
      return QStringLiteral("tflops");
  }
  return {};
}

QString to_string(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return QStringLiteral("DRAM");
    case Quantity::sm_l2:
      return QStringLiteral("SM↔L2");
    case Quantity::time:
      return QStringLiteral("time");
    case Quantity::rate:
      return QStringLiteral("TFLOP/s");
  }
  return {};
}

std::string_view metric_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return metric_key::dram_bytes;
    case Quantity::sm_l2:
      return metric_key::l2_sm_bytes;
    case Quantity::time:
      return metric_key::time_median_ns;
    case Quantity::rate:
      return metric_key::tflops;
  }
  return {};
}

QString format_quantity(double value, Quantity quantity) {
  if (quantity == Quantity::time) return format_duration(value);
  if (quantity == Quantity::rate) return format_value(value, "Tflop/s");
  return format_bytes(value);
}

QString failure_words(Disposition disposition) {
  const QString word = to_qstring(attnscope::to_string(disposition));
  switch (disposition) {
    case Disposition::incorrect:
      return QStringLiteral("ran, result ") + word;
    case Disposition::no_counters:
      return QStringLiteral("ran, ") + word;
    case Disposition::timeout:
    case Disposition::crashed:
    case Disposition::cancelled:
      return QStringLiteral("did not end: ") + word;
    default:
      return QStringLiteral("could not run: ") + word;
  }
}

QString short_title(std::string_view algorithm) {
  QString name = to_qstring(algorithm);
  const Algorithm* ours = find_algorithm(algorithm);
  if (ours == nullptr) return name;
  // As the title writes it, where the name is part of it: "splitkv" of "Flash-Decoding (split-KV)".
  const QString title = to_qstring(ours->title());
  for (qsizetype first = 0; first < title.size(); ++first) {
    qsizetype matched = 0;
    for (qsizetype i = first; i < title.size(); ++i) {
      if (title[i].toLower() == name[matched]) {
        if (++matched == name.size()) return title[first].toUpper() + title.mid(first + 1, i - first);
      } else if (title[i].isLetterOrNumber() || matched == 0) {
        break;
      }
    }
  }
  return name.size() <= 4 ? name.toUpper() : name.left(1).toUpper() + name.mid(1);
}

bool shows_on(const PointRecord& record, Ordinate ordinate) {
  return has_value(record, ordinate) || record.disposition != Disposition::ok;
}

std::optional<double> traffic_bytes(const PointRecord& record, Quantity quantity, std::string_view kernel) {
  const auto bytes = evaluate(metric_of(quantity), record, kernel);
  return bytes ? std::optional(bytes->value) : std::nullopt;
}

CurveSet build_curves(const std::vector<ShownPoint>& points, const ProblemFilter& filter, const CurveRequest& request) {
  return Builder(filter, request).build(points);
}

std::vector<int> splits_of(const std::vector<ShownPoint>& points, const ProblemFilter& filter) {
  std::map<std::pair<std::string, std::string>, std::vector<const ShownPoint*>> of_algorithm;  // on a device
  for (const ShownPoint& point : points) {
    if (!tile_stated(point.spec().tile) || !filter.matches(point)) continue;
    of_algorithm[{point.spec().algorithm, point.run->summary.device_uuid}].push_back(&point);
  }
  std::set<int> all;
  for (const auto& [key, its] : of_algorithm) all.merge(swept_splits(its));
  return {all.begin(), all.end()};
}

std::vector<TileShape> tiles_of(const std::vector<ShownPoint>& points, const ProblemFilter& filter) {
  std::map<TileKey, std::pair<TileShape, std::set<std::int64_t>>> tiles;
  for (const ShownPoint& point : points) {
    const PointSpec& spec = point.spec();
    if (!tile_stated(spec.tile) || !filter.matches(point)) continue;
    auto& entry = tiles[key_of(spec.tile)];
    entry.first = spec.tile;
    entry.second.insert(spec.problem.n_k);
  }
  std::vector<std::pair<TileShape, std::size_t>> ordered;
  ordered.reserve(tiles.size());
  for (const auto& [key, entry] : tiles) ordered.emplace_back(entry.first, entry.second.size());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<TileShape> result;
  result.reserve(ordered.size());
  for (const auto& [tile, count] : ordered) result.push_back(tile);
  return result;
}

}  // namespace attnscope::ui
