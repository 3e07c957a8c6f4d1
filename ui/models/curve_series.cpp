// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/curve_series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "kernels/algorithm.h"
#include "kernels/io_model.h"
#include "profiler/fit.h"
#include "profiler/metrics.h"
#include "ui/format.h"

namespace attnscope::ui {
namespace {

constexpr int theory_points_per_octave = 12;
constexpr std::ptrdiff_t fewest_fitted = 3;

using TileKey = std::tuple<int, int, Raster>;
TileKey key_of(const TileShape& tile) {
  return {tile.br, tile.bc, tile.raster};
}

/// One algorithm on one device: what becomes one family of curves.
struct Family {
  std::string algorithm;
  RunPtr run;  ///< any of its runs: the device's limits
  std::vector<const ShownPoint*> points;
};

bool has_bytes(const PointRecord& record) {
  return traffic_bytes(record, Quantity::dram) || traffic_bytes(record, Quantity::sm_l2);
}

std::optional<double> median_time(const PointRecord& record) {
  const auto time = evaluate(metric_key::time_median_ns, record);
  return time ? std::optional(time->value) : std::nullopt;
}

TileShape widest_tile(const Family& family) {
  struct Cover {
    TileShape tile;
    std::set<std::int64_t> lengths;
    double time = 0;
  };
  std::map<TileKey, Cover> covers;
  for (const ShownPoint* point : family.points) {
    Cover& cover = covers[key_of(point->spec().tile)];
    cover.tile = point->spec().tile;
    if (!has_bytes(point->record())) continue;
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

/// The points that stand for the family: one tile each N.
std::map<std::int64_t, std::vector<const ShownPoint*>> points_by_length(const Family& family,
                                                                        const TileChoice& choice) {
  std::map<std::int64_t, std::vector<const ShownPoint*>> by_length;
  if (choice.rule == TileChoice::Rule::fastest) {
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
  const TileShape tile = choice.rule == TileChoice::Rule::exact ? choice.tile : widest_tile(family);
  for (const ShownPoint* point : family.points) {
    if (point->spec().tile == tile) by_length[point->spec().problem.n_k].push_back(point);
  }
  if (choice.rule == TileChoice::Rule::widest) {
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
  problem.n_q = n;
  problem.n_k = n;
  return problem;
}

std::optional<L2Boundary> l2_boundary(const Algorithm& algorithm, const AttentionProblem& problem,
                                      const TileShape& tile, const DeviceLimits& limits) {
  if (limits.l2_bytes <= 0) return {};
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
    curve.points.push_back({static_cast<double>(n), value, value, value, 1, nullptr, nullptr});
  }
  return curve;
}

class Builder {
 public:
  Builder(const ProblemFilter& filter, const CurveRequest& request) : filter_(filter), request_(request) {
    set_.per_head = request.per_head;
    set_.title = filter.summary();
  }

  CurveSet build(const std::vector<ShownPoint>& points) {
    std::map<std::pair<std::size_t, std::string>, Family> families;
    std::set<std::string> devices;
    for (const ShownPoint& point : points) {
      const PointSpec& spec = point.spec();
      if (spec.problem.n_q != spec.problem.n_k || !filter_.matches(point)) continue;
      first_ = std::min(first_, spec.problem.n_k);
      last_ = std::max(last_, spec.problem.n_k);
      measured_.insert(spec.problem.n_k);
      problem_ = spec.problem;
      const std::string& device = point.run->summary.device_uuid;
      devices.insert(point.run->summary.device_name);
      if (!point.run->summary.simulated) measured_algorithms_.insert(spec.algorithm);
      if (!request_.algorithms.contains(spec.algorithm)) continue;
      Family& family = families[{place_of(spec.algorithm), device}];
      family.algorithm = spec.algorithm;
      family.run = point.run;
      family.points.push_back(&point);
    }
    if (!problem_) return std::move(set_);
    name_devices_ = devices.size() > 1;
    scale_ = request_.per_head ? 1.0 / static_cast<double>(problem_->instances()) : 1.0;
    lengths_ = theory_lengths(first_, last_, measured_);
    for (const auto& [key, family] : families) add_family(family);
    name_model_tiles();
    if (request_.compulsory) add_compulsory();
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
    if (!name_devices_) return {};
    return QString::fromStdString(family.run->summary.device_name).remove(QStringLiteral("NVIDIA "));
  }

  QString prefix(const Family& family) const {
    QString text = short_title(family.algorithm);
    if (name_devices_) text += QStringLiteral(" on ") + device_of(family);
    return text;
  }

  void add_family(const Family& family) {
    const auto by_length = points_by_length(family, request_.tile);
    if (by_length.empty()) return;
    if (request_.dram) add_measured(family, by_length, Quantity::dram);
    if (request_.sm_l2) add_measured(family, by_length, Quantity::sm_l2);
    add_failed(family, by_length);
    // Where a GPU has measured an algorithm, the simulator's estimate of it is drawn, but nothing is derived from it.
    const bool stands_for_algorithm =
        !family.run->summary.simulated || !measured_algorithms_.contains(family.algorithm);
    if (stands_for_algorithm) add_stacks(family, by_length);

    const Algorithm* algorithm = find_algorithm(family.algorithm);
    if (algorithm == nullptr) return;
    const DeviceLimits& limits = family.run->summary.limits;
    const TileShape tile = model_tile(by_length);
    if (algorithm->refusal(at_length(*problem_, last_), tile, limits)) return;
    // The theory of one tile is the same on every device.
    const bool new_tile = theory_done_.insert({family.algorithm, key_of(tile)}).second;
    if (new_tile && request_.model) {
      Curve curve = theory_curve(
          CurveKind::model, family.algorithm,
          QStringLiteral("%1 · SM↔L2 · exact model").arg(short_title(family.algorithm)),
          {measured_.begin(), measured_.end()}, [&](std::int64_t n) {
            return scale_ * static_cast<double>(algorithm->plan(at_length(*problem_, n), tile).traffic().total());
          });
      curve.quantity = Quantity::sm_l2;
      model_tiles_.emplace_back(set_.curves.size(), tile);
      set_.curves.push_back(std::move(curve));
    }
    if (request_.asymptote && stands_for_algorithm) add_asymptote(family, by_length, algorithm->growth(), limits);
    if (request_.l2_boundary) add_boundary(family, l2_boundary(*algorithm, *problem_, tile, limits));
    if (!new_tile || !request_.paper_count) return;
    if (const auto count = algorithm->paper_count(*problem_, tile)) {
      set_.curves.push_back(theory_curve(
          CurveKind::paper_count, family.algorithm,
          QStringLiteral("%1 · paper's count %2").arg(short_title(family.algorithm), to_qstring(count->formula)),
          lengths_, [&](std::int64_t n) {
            return scale_ * static_cast<double>(algorithm->paper_count(at_length(*problem_, n), tile)->bytes);
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
    curve.provenance = family.run->summary.simulated ? Provenance::simulated : Provenance::measured;
    curve.label = QStringLiteral("%1 · %2 · %3")
                      .arg(prefix(family), to_string(quantity), to_qstring(attnscope::to_string(curve.provenance)));
    for (const auto& [n, points] : by_length) {
      std::vector<double> values;
      const ShownPoint* source = nullptr;
      for (const ShownPoint* point : points) {
        const auto bytes = traffic_bytes(point->record(), quantity);
        // A wrong result's traffic would be drawn beside right ones: it is kept in the table, not on the curve.
        if (!bytes || *bytes <= 0 || point->record().disposition != Disposition::ok) continue;
        values.push_back(*bytes * scale_);
        source = point;
      }
      if (source == nullptr) continue;
      std::sort(values.begin(), values.end());
      const auto summary = summarize(values);
      curve.points.push_back({static_cast<double>(n), summary->median, values.front(), values.back(),
                              static_cast<int>(values.size()), source->point, source->run});
    }
    if (!curve.points.empty()) set_.curves.push_back(std::move(curve));
  }

  void add_failed(const Family& family, const ByLength& by_length) {
    for (const auto& [n, points] : by_length) {
      const bool any_ok = std::any_of(points.begin(), points.end(), [](const ShownPoint* point) {
        return point->record().disposition == Disposition::ok;
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

  void add_asymptote(const Family& family, const ByLength& by_length, Growth growth, const DeviceLimits& limits) {
    const bool scores_written = growth == Growth::n2;
    const Quantity quantity = request_.sm_l2 || !request_.dram ? Quantity::sm_l2 : Quantity::dram;
    const std::int64_t m = limits.sram_elements(bytes_per_element(problem_->dtype));
    const auto reference = [&](std::int64_t n) {
      const AttentionProblem problem = at_length(*problem_, n);
      if (scores_written) {
        return static_cast<double>(problem.instances()) * static_cast<double>(n) * static_cast<double>(n) *
               bytes_per_element(problem.dtype);
      }
      return n2d2_over_m_bytes(problem, m);
    };
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
      return scores_written || sample.n * problem_->d >= m;
    });
    if (samples.end() - in_range >= fewest_fitted) samples.erase(samples.begin(), in_range);
    std::vector<double> lengths;
    std::vector<double> references;
    std::vector<double> bytes;
    for (const Sample& sample : samples) {
      lengths.push_back(static_cast<double>(sample.n));
      references.push_back(reference(sample.n));
      bytes.push_back(sample.bytes);
    }
    const auto scale = fit_scale(references, bytes);
    const auto power = fit_power_law(lengths, bytes);
    if (!scale || !power) return;
    const std::int64_t from = samples.front().n;
    const bool simulated = family.run->summary.simulated;
    // What is fitted to simulated bytes is no more than simulated itself.
    QString label =
        QStringLiteral("%1 · %2 %3fit %4·%5\nslope %6")
            .arg(prefix(family), to_string(quantity), simulated ? QStringLiteral("simulated, ") : QString(),
                 format_number(scale->scale), scores_written ? QStringLiteral("N²") : QStringLiteral("N²d²/M"),
                 QString::number(power->slope, 'f', 2));
    if (power->points > 2) {
      label += QStringLiteral(" [%1, %2]")
                   .arg(power->slope_interval.low, 0, 'f', 2)
                   .arg(power->slope_interval.high, 0, 'f', 2);
    }
    if (from > first_) label += QStringLiteral(", N ≥ %1").arg(format_length(static_cast<double>(from)));
    const std::vector<std::int64_t> drawn(std::lower_bound(lengths_.begin(), lengths_.end(), from), lengths_.end());
    Curve curve = theory_curve(CurveKind::asymptote, family.algorithm, label, drawn,
                               [&](std::int64_t n) { return scale_ * scale->scale * reference(n); });
    curve.quantity = quantity;
    curve.provenance = simulated ? Provenance::simulated : Provenance::derived;
    set_.curves.push_back(std::move(curve));
  }

  /// Two models of one algorithm differ in their tile: then the legend says which is which.
  void name_model_tiles() {
    for (const auto& [place, tile] : model_tiles_) {
      Curve& curve = set_.curves[place];
      const auto models = std::count_if(set_.curves.begin(), set_.curves.end(), [&](const Curve& other) {
        return other.kind == CurveKind::model && other.algorithm == curve.algorithm;
      });
      if (models > 1) curve.label += QLatin1Char(' ') + format_tile(tile);
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
  std::set<std::int64_t> measured_;
  std::vector<std::int64_t> lengths_;
  std::set<std::pair<std::string, TileKey>> theory_done_;
  std::vector<std::pair<std::size_t, TileShape>> model_tiles_;  ///< places in set_.curves
};

}  // namespace

QString to_string(Quantity quantity) {
  return quantity == Quantity::dram ? QStringLiteral("DRAM") : QStringLiteral("SM↔L2");
}

QString short_title(std::string_view algorithm) {
  const QString name = to_qstring(algorithm);
  return name.size() <= 4 ? name.toUpper() : name.left(1).toUpper() + name.mid(1);
}

std::optional<double> traffic_bytes(const PointRecord& record, Quantity quantity, std::string_view kernel) {
  const auto bytes =
      evaluate(quantity == Quantity::dram ? metric_key::dram_bytes : metric_key::l2_sm_bytes, record, kernel);
  return bytes ? std::optional(bytes->value) : std::nullopt;
}

CurveSet build_curves(const std::vector<ShownPoint>& points, const ProblemFilter& filter, const CurveRequest& request) {
  return Builder(filter, request).build(points);
}

std::vector<TileShape> tiles_of(const std::vector<ShownPoint>& points, const ProblemFilter& filter) {
  std::map<TileKey, std::pair<TileShape, std::set<std::int64_t>>> tiles;
  for (const ShownPoint& point : points) {
    const PointSpec& spec = point.spec();
    if (spec.problem.n_q != spec.problem.n_k || !filter.matches(point)) continue;
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
