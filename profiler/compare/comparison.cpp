// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "profiler/compare/alignment.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/points/impossible_values.h"
#include "profiler/points/row_keys.h"
#include "profiler/predict/published_errors.h"
#include "profiler/stats/recording_noise.h"

namespace attnscope::analysis {
namespace {

constexpr std::array<std::string_view, compared_level_count> level_keys{
    metric_key::dram_bytes, metric_key::dram_settled_bytes, metric_key::l2_sm_bytes};

std::vector<RowKey> alignment_keys(const PointTable& table, const Alignment& alignment) {
  std::vector<RowKey> keys;
  keys.reserve(alignment.fields.size() + alignment.knobs.size() + 2);
  for (const std::string& field : alignment.fields) keys.push_back(key_of_field(table, field));
  for (const std::string& knob : alignment.knobs) keys.push_back(key_of_knob(table, knob));
  if (alignment.all_knobs) keys.push_back(key_of_knobs(table));
  if (alignment.device) keys.push_back(key_of_device(table));
  return keys;
}

/// Position of each point in the shuffled order of its round, if its run recorded the shuffle.
class Moments {
 public:
  explicit Moments(const PointTable& table) : table_(table) {}

  std::optional<double> of(Row row, int round) {
    constexpr std::size_t most_points = 1'000'000;  // limits memory for malformed files
    constexpr std::size_t max_positions = 50'000'000;
    const Run& run = table_.run(row);
    const std::size_t place = run.first_place + table_.points().place(row);
    if (run.rounds.count < 2 || round < 0 || round >= run.rounds.count || place >= run.planned_points ||
        run.planned_points > most_points) {
      return std::nullopt;
    }
    const auto [known, first] = places_.try_emplace({table_.run_index(row), round});
    if (first) {
      if (kept_ + run.planned_points > max_positions) return std::nullopt;
      kept_ += run.planned_points;
      known->second.resize(run.planned_points);
      std::uint32_t next = 0;
      for (const std::size_t point : round_order(run.planned_points, round, run.rounds)) known->second[point] = next++;
    }
    if (known->second.empty()) return std::nullopt;
    return (known->second[place] + 0.5) / static_cast<double>(run.planned_points);
  }

 private:
  const PointTable& table_;
  std::map<std::pair<RunIndex, int>, std::vector<std::uint32_t>> places_;  ///< position of each point, by run and round
  std::size_t kept_ = 0;
};

struct RoundSample {
  /// Identity of the round: first run of the interleaved session, index among the run's rows with equal key, round
  /// number.
  std::tuple<RunIndex, std::size_t, int> place;
  double ns = 0;
  double hz = 0;                                ///< 0 if unknown
  std::optional<double> moment = std::nullopt;  ///< fraction of the round
};

/// Imported rows count even without samples.
bool has_time(const PointTable& table, const ValueColumn& times, Row row) {
  return has_values(table.disposition(row)) && times.at(row).value_or(0) > 0;
}

/// Columns and caches shared by all pairs.
struct ComparisonCache {
  explicit ComparisonCache(const PointTable& of)
      : table(of), moments(of), times(of.values(metric_key::time_median_ns)) {
    std::ranges::transform(level_keys, levels.begin(), [&](std::string_view key) { return &of.values(key); });
  }
  /// Returns nullptr if the simulator was not validated on the row's GPU.
  [[nodiscard]] const PublishedErrors* errors(Row row) const { return validated_errors(table.run(row).limits); }
  /// Returns the run whose rounds the row belongs to; interleaved runs share the first one.
  [[nodiscard]] RunIndex session(Row row) const {
    const std::uint64_t turns = table.run(row).turns;
    if (turns == 0) return table.run_index(row);
    return static_cast<RunIndex>(std::ranges::find(table.runs(), turns, &Run::turns) - table.runs().begin());
  }
  const PointTable& table;
  Moments moments;
  const ValueColumn& times;
  std::array<const ValueColumn*, compared_level_count> levels{};
};

/// Fast path for rows with a single round.
std::optional<RoundSample> single_round(ComparisonCache& looked, Row row, std::size_t nth) {
  const double ns = looked.times.at(row).value_or(0);
  if (!(ns > 0)) return std::nullopt;
  return RoundSample{.place = {looked.session(row), nth, 0},
                     .ns = ns,
                     .hz = looked.table.points().sm_clock_hz(row),
                     .moment = looked.moments.of(row, 0)};
}

std::optional<double> median_of_values(const std::vector<double>& values) {
  if (values.size() == 1) return values.front();
  const std::optional<SampleSummary> summary = summarize(values);
  return summary ? std::optional(summary->median) : std::nullopt;
}

std::vector<RoundSample> rounds_of(ComparisonCache& looked, std::span<const Row> rows) {
  const PointTable& table = looked.table;
  std::vector<RoundSample> rounds;
  std::map<RunIndex, std::vector<RoundSample>> again;  // duplicates in imports are not known to be separate rounds
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    const RunIndex run = table.run_index(row);
    const auto of_run = [&](Row before) { return table.run_index(before) == run; };
    const auto nth = static_cast<std::size_t>(std::ranges::count_if(rows.first(i), of_run));
    if (table.points().sum(row)->rounds() == 0) {
      const std::optional<RoundSample> round = single_round(looked, row, nth);
      if (round && table.run(row).provenance == Provenance::imported) again[run].push_back(*round);
      if (round && table.run(row).provenance != Provenance::imported) rounds.push_back(*round);
      continue;
    }
    const std::vector<std::optional<double>> times = table.points().round_values(row, metric_key::time_median_ns);
    const std::vector<RoundClock> clocks = table.points().round_clocks(row);
    for (std::size_t k = 0; k < std::min(times.size(), clocks.size()); ++k) {
      if (!times[k] || !(*times[k] > 0)) continue;
      rounds.push_back({.place = {looked.session(row), nth, clocks[k].round},
                        .ns = *times[k],
                        .hz = clocks[k].sm_hz,
                        .moment = looked.moments.of(row, clocks[k].round)});
    }
  }
  for (const auto& [run, of_run] : again) {
    std::vector<double> times;
    for (const RoundSample& round : of_run) times.push_back(round.ns);
    rounds.push_back(of_run.front());
    rounds.back().ns = *median_of_values(times);
    if (of_run.size() > 1) rounds.back().hz = 0;
  }
  return rounds;
}

bool is_computed(const PointTable& table, std::span<const Row> rows) {
  return std::ranges::all_of(rows, [&](Row row) {
    const Provenance origin = table.points().origin(row);
    return is_simulated(origin) || origin == Provenance::modeled;
  });
}

void push(SideRounds& side, const RoundSample& round) {
  side.ns.push_back(round.ns);
  side.recordings.push_back(std::get<0>(round.place));
  side.rounds.push_back(static_cast<std::uint32_t>(std::max(0, std::get<2>(round.place))));
  if (round.hz > 0) side.cycles.push_back(round.ns * round.hz / 1e9);
  // Number rounds uniquely across recordings.
  constexpr double max_rounds_per_run = 1 << 20;
  if (!round.moment) return;
  const double first = max_rounds_per_run * static_cast<double>(std::get<0>(round.place));
  side.moments.push_back(first + std::get<2>(round.place) + *round.moment);
}

/// Sets the calibrated variance between recordings if all runs of the side have one.
void add_noise(const PointTable& table, const std::vector<Row>& rows, bool one_clock, SideRounds& side) {
  if (std::ranges::any_of(rows, [&](Row row) { return table.run(row).noise == nullptr; })) return;
  std::map<std::uint32_t, std::size_t> rounds;
  for (const std::uint32_t recording : side.recordings) ++rounds[recording];
  std::size_t fewest = side.ns.size();
  for (const auto& [recording, count] : rounds) fewest = std::min(fewest, count);
  for (const Row row : rows) {
    const std::shared_ptr<const NoiseModel>& noise = table.run(row).noise;
    const VarianceEstimate found =
        noise->of(canonical_text(table.spec(row)), std::exp(log_time_of_medians(side.ns)), fewest, one_clock);
    if (side.place.dof <= 0 || found.variance > side.place.variance) side.place = found;
  }
}

/// Keeps cycles only if every round of both sides has a clock.
void drop_partial_cycles(ComparedRow& row) {
  if (row.base.cycles.size() == row.base.ns.size() && row.other.cycles.size() == row.other.ns.size()) return;
  row.base.cycles.clear();
  row.other.cycles.clear();
}

SampleSpread spread_of(double q1, double q3, double samples) {
  return {.log_range = std::log(q3 / q1), .samples = samples};
}

/// Returns the scatter of the samples of a row, or what an imported file states about it.
std::optional<SampleSpread> sample_spread(const PointTable& table, Row row) {
  const std::optional<RowKernel> sum = table.points().sum(row);
  if (!sum) return std::nullopt;
  if (const std::optional<SampleSummary> times = sum->times(); times && times->count > 1)
    return spread_of(times->q1, times->q3, static_cast<double>(times->count));
  const auto stated = [&](std::string_view key) {
    const std::optional<EvaluatedMetric> metric = sum->stored(key);
    return metric && std::isfinite(metric->value) ? metric->value : -1;
  };
  const double samples = std::max(stated(metric_key::time_samples), 0.0);
  const double q1 = stated(metric_key::time_q1_ns);
  const double q3 = stated(metric_key::time_q3_ns);
  if (q1 > 0 && q3 >= q1) return spread_of(q1, q3, samples);
  const double range = stated(metric_key::time_spread);
  if (range < 0) return std::nullopt;
  return SampleSpread{.log_range = 2 * std::asinh(range / 2), .samples = samples};
}

/// Sets the spread of samples, which only rows with few rounds use. Rows that repeat a point in one import are samples.
void add_sample_spreads(const PointTable& table, const std::vector<Row>& rows, SideRounds& side) {
  if (side.ns.size() >= min_rounds) return;
  std::map<RunIndex, std::vector<double>> repeated;
  for (const Row row : rows) {
    const bool imported = table.run(row).provenance == Provenance::imported;
    const auto same_run = [&](Row other) { return table.run_index(other) == table.run_index(row); };
    if (imported && std::ranges::count_if(rows, same_run) > 1) {
      if (const auto ns = table.values(metric_key::time_median_ns).at(row))
        repeated[table.run_index(row)].push_back(*ns);
    } else if (const std::optional<SampleSpread> spread = sample_spread(table, row)) {
      side.sampled.push_back(*spread);
    }
  }
  for (const auto& [run, times] : repeated) {
    if (const auto found = summarize(times))
      side.sampled.push_back(spread_of(found->q1, found->q3, static_cast<double>(times.size())));
  }
}

ComparedRow compared_row(ComparisonCache& looked, const ComparedPair& pair) {
  constexpr double unknown_error = std::numeric_limits<double>::infinity();
  const PointTable& table = looked.table;
  const std::vector<RoundSample> base = rounds_of(looked, pair.base);
  const std::vector<RoundSample> other = rounds_of(looked, pair.other);
  ComparedRow row;
  std::size_t common_rounds = 0;
  for (const RoundSample& round : base) {
    const auto partner = std::ranges::find(other, round.place, &RoundSample::place);
    if (partner == other.end()) continue;
    push(row.base, round);
    push(row.other, *partner);
    ++common_rounds;
  }
  // Prefer all rounds of separate recordings to a few common rounds.
  row.paired = common_rounds > 0 &&
               (common_rounds >= min_rounds || (common_rounds == base.size() && common_rounds == other.size()));
  if (!row.paired) {
    row = {};
    for (const RoundSample& round : base) push(row.base, round);
    for (const RoundSample& round : other) push(row.other, round);
  }
  const bool is_base_computed = is_computed(table, pair.base);
  const bool is_other_computed = is_computed(table, pair.other);
  if (is_base_computed || is_other_computed) row.paired = false;
  if (is_base_computed && is_other_computed) {
    const Row first = pair.base.front();
    const Row second = pair.other.front();
    // If both sides were simulated with the rates of one GPU, they have the same model error.
    const bool same_simulation =
        looked.session(first) == looked.session(second) ||
        (!row.base.ns.empty() && !row.other.ns.empty() && row.base.ns.front() == row.other.ns.front() &&
         table.run(first).device_name == table.run(second).device_name);
    row.exact = same_simulation && equal_specs(table, first, second);
    if (!row.exact) {
      const bool one_device = table.run(first).device_name == table.run(second).device_name;
      const PointSpec base_spec = table.spec(first);
      const PointSpec other_spec = table.spec(second);
      row.model_error =
          published_ratio_error({base_spec, looked.errors(first)}, {other_spec, looked.errors(second)}, one_device)
              .value_or(unknown_error);
    }
  } else if (is_base_computed || is_other_computed) {
    const Row computed = is_base_computed ? pair.base.front() : pair.other.front();
    const PointSpec spec = table.spec(computed);
    row.model_error = published_time_error({spec, looked.errors(computed)}).value_or(unknown_error);
  }
  for (SideRounds* side : {&row.base, &row.other}) {
    if (!row.paired || side->moments.size() != side->ns.size()) side->moments.clear();
  }
  drop_partial_cycles(row);
  const bool one_gpu = table.run(pair.base.front()).device_id == table.run(pair.other.front()).device_id;
  if (pair.same_point && one_gpu && !is_base_computed && !is_other_computed) normalize_clock(row);
  add_noise(table, pair.base, row.one_clock, row.base);
  add_noise(table, pair.other, row.one_clock, row.other);
  add_sample_spreads(table, pair.base, row.base);
  add_sample_spreads(table, pair.other, row.other);
  return row;
}

std::size_t distinct_count(const std::vector<std::uint32_t>& recordings, const std::vector<std::uint32_t>& more) {
  std::set<std::uint32_t> distinct(recordings.begin(), recordings.end());
  distinct.insert(more.begin(), more.end());
  return distinct.size();
}

std::optional<double> median_of_rows(const ValueColumn& column, const std::vector<Row>& rows) {
  if (rows.size() == 1) return column.at(rows.front());
  std::vector<double> values;
  for (const Row row : rows) {
    if (const std::optional<double> value = column.at(row)) values.push_back(*value);
  }
  return median_of_values(values);
}

void summarize_pair(const ComparisonCache& looked, const ComparedRow& row, ComparedPair& pair) {
  const PointTable& table = looked.table;
  pair.base_ns = median_of_rows(looked.times, pair.base).value_or(0);
  pair.other_ns = median_of_rows(looked.times, pair.other).value_or(0);
  pair.base_cycles = median_of_values(row.base.cycles);
  pair.other_cycles = median_of_values(row.other.cycles);
  pair.paired = row.paired;
  pair.computed = !row.exact && is_computed(table, pair.base) && is_computed(table, pair.other);
  pair.recordings = distinct_count(row.base.recordings, row.other.recordings);
  for (std::size_t level = 0; level < level_keys.size(); ++level) {
    const ValueColumn& column = *looked.levels.at(level);
    pair.levels.at(level) = {.base = median_of_rows(column, pair.base), .other = median_of_rows(column, pair.other)};
  }
  // Cold-L2 simulation counts dirty lines as written DRAM bytes, GPU counters do not. Compare only settled bytes then.
  const bool computed = is_computed(table, pair.base);
  const Row simulated = computed ? pair.base.front() : pair.other.front();
  const bool settles = computed != is_computed(table, pair.other);
  if (settles && table.spec(simulated).cache == CacheState::cold) pair.levels.front() = {};
}

/// Returns whether the rows are repeated measurements of one point: equal spec, conditions, origin and, if known,
/// kernel sources. Computed rows must also have equal times.
bool repeats(const PointTable& table, const std::vector<Row>& rows) {
  if (rows.size() == 1) return true;
  const Row first = rows.front();
  const RunIndex run = table.run_index(first);
  const std::string& sources = table.points().sources(first);
  const bool computed = is_computed(table, rows);
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  return std::ranges::all_of(rows, [&](Row row) {
    const std::string& of_row = table.points().sources(row);
    return equal_specs(table, row, first) && recording_differences(table, table.run_index(row), run).empty() &&
           table.points().origin(row) == table.points().origin(first) &&
           (of_row.empty() || sources.empty() || of_row == sources) && (!computed || times.at(row) == times.at(first));
  });
}

bool same_failure(const PointTable& table, Row a, Row b) {
  return table.disposition(a) == table.disposition(b) && table.reason(a) == table.reason(b);
}

/// Groups failed rows of one side by spec, disposition and reason.
std::vector<std::vector<Row>> group_by_failure(const PointTable& table, std::span<const Row> rows) {
  std::vector<std::vector<Row>> ends;
  for (const Row row : rows) {
    const auto found = std::ranges::find_if(ends, [&](const std::vector<Row>& end) {
      return equal_specs(table, end.front(), row) && same_failure(table, end.front(), row);
    });
    if (found == ends.end()) {
      ends.push_back({row});
    } else {
      found->push_back(row);
    }
  }
  return ends;
}

/// Removes and returns the rows whose values the GPU cannot have produced.
std::vector<Row> remove_impossible(const PointTable& table, std::vector<Row>& rows) {
  const auto impossible =
      std::stable_partition(rows.begin(), rows.end(), [&](Row row) { return !impossible_value(table, row); });
  std::vector<Row> removed(impossible, rows.end());
  rows.erase(impossible, rows.end());
  return removed;
}

/// Adds the rows of one key to `result`, as a pair or as excluded rows.
void classify_rows(const PointTable& table, const ValueColumn& times, const TileSelector& tiles,
                   const RowGroups::Sides& sides, ComparisonResult& result) {
  using SkipReason = SkippedRows::SkipReason;
  const auto untimed = [&](Row row) { return !has_time(table, times, row); };
  ComparedPair pair;
  std::array<std::vector<Row>, 2> candidates;
  std::array<std::vector<Row>, 2> ran;
  bool whole = true;
  for (const std::size_t side : {0U, 1U}) {
    if (sides.at(1 - side).empty()) {
      result.left_out.push_back({.why = SkipReason::unmatched,
                                 .of_other = side == 1,
                                 .rows = {sides.at(side).begin(), sides.at(side).end()}});
      return;
    }
    candidates.at(side) = tiles.candidates(sides.at(side));
    if (std::vector<Row> rows = remove_impossible(table, candidates.at(side)); !rows.empty()) {
      result.left_out.push_back({.why = SkipReason::impossible, .of_other = side == 1, .rows = std::move(rows)});
      whole = whole && !candidates.at(side).empty();
    }
    ran.at(side) = candidates.at(side);
    std::erase_if(ran.at(side), untimed);
    pair.tiles.at(side) = tiles.keep_best(ran.at(side));
    if (pair.tiles.at(side) > 0) candidates.at(side) = ran.at(side);
  }
  if (!whole) return;
  for (const std::size_t side : {0U, 1U}) {
    const bool of_other = side == 1;
    if (candidates.at(side).empty()) {
      result.left_out.push_back({.why = SkipReason::other_tiles,
                                 .of_other = of_other,
                                 .rows = {sides.at(side).begin(), sides.at(side).end()}});
      whole = false;
    } else if (ran.at(side).empty()) {
      const SkipReason why = ran.at(1 - side).empty() ? SkipReason::failed_on_both_sides : SkipReason::failed;
      std::vector<std::vector<Row>> ends{candidates.at(side)};
      if (tiles.tiles() != ComparedTiles::best) ends = group_by_failure(table, candidates.at(side));
      for (std::vector<Row>& rows : ends) {
        const bool alike = std::ranges::any_of(
            sides.at(1 - side), [&](Row row) { return untimed(row) && same_failure(table, row, rows.front()); });
        result.left_out.push_back({.why = why, .of_other = of_other, .rows = std::move(rows), .alike = alike});
      }
      whole = false;
    } else if (!repeats(table, ran.at(side))) {
      result.left_out.push_back({.why = SkipReason::several, .of_other = of_other, .rows = ran.at(side)});
      whole = false;
    } else if (ran.at(side).size() < candidates.at(side).size()) {
      std::vector<Row> failed;
      std::ranges::copy_if(candidates.at(side), std::back_inserter(failed), untimed);
      result.left_out.push_back({.why = SkipReason::failed, .of_other = of_other, .rows = std::move(failed)});
    }
  }
  if (!whole) return;
  pair.base = std::move(ran.at(0));
  pair.other = std::move(ran.at(1));
  result.pairs.push_back(std::move(pair));
}

}  // namespace

std::optional<double> ComparedLevel::ratio() const {
  if (!base || !other || !(*base > 0)) return std::nullopt;
  return *other / *base;
}

std::span<const std::string_view> compared_levels() {
  return level_keys;
}

std::string_view to_string(SkippedRows::SkipReason why) {
  static constexpr std::array<std::string_view, 6> names{
      "unmatched", "failed", "both-failed", "not-unique", "no-automatic-tile", "impossible-value"};
  return names.at(static_cast<std::size_t>(why));
}

std::size_t ComparisonResult::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pairs, [&](const ComparedPair& pair) { return pair.verdict.verdict == verdict; }));
}

std::size_t newly_failed(const PointTable& table, const SkippedRows& left) {
  if (left.why != SkippedRows::SkipReason::failed || !left.of_other) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(left.rows, [&](Row row) { return table.disposition(row) != Disposition::infeasible; }));
}

std::size_t ComparisonResult::newly_failed(const PointTable& table) const {
  std::size_t count = 0;
  for (const SkippedRows& left : left_out) count += analysis::newly_failed(table, left);
  return count;
}

std::vector<const ComparedPair*> regressions(const ComparisonResult& result, double share, bool proven) {
  std::vector<const ComparedPair*> found;
  for (const ComparedPair& pair : result.pairs) {
    const RowVerdict& row = pair.verdict;
    if (row.verdict == Verdict::slower && (proven ? row.certain_change : row.time.ratio - 1) > share)
      found.push_back(&pair);
  }
  std::ranges::sort(found, std::greater(), [](const ComparedPair* pair) { return pair->verdict.time.ratio; });
  return found;
}

AlignedComparison align(const PointTable& table, const ComparisonRequest& request) {
  AlignedComparison sides;
  ComparisonResult& result = sides.result;
  std::vector<bool> of_base(table.size(), false);
  for (const Row row : request.base) of_base[row] = true;
  std::vector<Row> others;
  others.reserve(request.other.size());
  std::ranges::copy_if(request.other, std::back_inserter(others), [&](Row row) { return !of_base[row]; });
  result.on_both_sides = request.other.size() - others.size();
  const RowGroups groups(alignment_keys(table, request.alignment), request.base, others);
  ComparisonCache looked(table);
  const TileSelector tiles(table, request.alignment.tiles, request.base, others);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    classify_rows(table, looked.times, tiles, groups[group], result);
  }
  if (result.on_both_sides > 0) {
    const std::set<Row> of_other(request.other.begin(), request.other.end());
    for (SkippedRows& left : result.left_out) {
      if (left.why != SkippedRows::SkipReason::unmatched || left.of_other) continue;
      left.alike = std::ranges::any_of(left.rows, [&](Row row) { return of_other.contains(row); });
    }
  }
  sides.rows.reserve(result.pairs.size());
  for (ComparedPair& pair : result.pairs) {
    pair.same_point = equal_specs(table, pair.base.front(), pair.other.front());
    sides.rows.push_back(compared_row(looked, pair));
    summarize_pair(looked, sides.rows.back(), pair);
    const double error = sides.rows.back().model_error;
    if (error <= 0 || !std::isfinite(error)) continue;
    for (const std::vector<Row>* rows : {&pair.base, &pair.other}) {
      if (is_computed(table, *rows)) result.error_gpus.insert(looked.errors(rows->front())->device);
    }
  }
  const bool together = std::ranges::all_of(
      sides.rows, [](const ComparedRow& row) { return row.paired || row.exact || row.model_error > 0; });
  result.margin = request.margin.value_or(together ? default_margin_paired : default_margin_unpaired);
  add_differences(table, request, result);
  result.changed_kernels = changed_kernels(table, request.base, request.other);
  return sides;
}

ComparisonResult add_verdicts(AlignedComparison sides, std::size_t looks, double margin) {
  ComparisonResult& result = sides.result;
  result.margin = margin;
  const std::vector<RowVerdict> verdicts =
      judge(sides.rows, {.margin = margin, .looks = std::max<std::size_t>(looks, 1)});
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    ComparedPair& pair = result.pairs[i];
    pair.verdict = verdicts[i];
    // Times that differ by rounding only are those of the points.
    const auto rounded = [](double ns, double recorded) {
      return std::abs(ns - recorded) < 1e-9 * recorded ? recorded : ns;
    };
    const double base = verdicts[i].one_clock ? median_of_values(sides.rows[i].base.ns).value_or(0) : pair.base_ns;
    pair.compared_ns = {rounded(base, pair.base_ns), rounded(base * verdicts[i].time.ratio, pair.other_ns)};
  }
  return std::move(result);
}

ComparisonResult compare(const PointTable& table, const ComparisonRequest& request) {
  AlignedComparison sides = align(table, request);
  const double margin = sides.result.margin;
  return add_verdicts(std::move(sides), request.looks, margin);
}

}  // namespace attnscope::analysis
