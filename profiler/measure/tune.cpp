// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

constexpr std::array br_steps{16, 32, 48, 64, 80, 96, 128, 160, 192, 256};
constexpr std::array bc_steps{16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 320, 384, 448, 512};
/// While screening, a tile whose first run is slower than this is timed once; launching costs the rest at most.
constexpr double plainly_slow = 1.5;
constexpr double launch_ns = 20'000;
/// Beyond it at so many lengths, a tile will not turn out to be the best at another.
constexpr double hopeless = 1.4;
constexpr int hopeless_lengths = 2;
/// Up to it a screened tile is measured again.
constexpr double worth_a_second_look = 1.10;
/// Up to it, other values of knobs (Knob::variants) are tried as well, of so many tiles a length.
constexpr double worth_variants = 1.03;
constexpr std::size_t most_leaders = 4;
/// Ratios of repeated measurements of one tile differ by about as much.
constexpr double noise = 1.01;
/// What the algorithm chooses by itself (Knob::around) follows batch and heads, which the table does not know: it may
/// cost a little.
constexpr double own_choice_worth = 1.02;

struct Sampling {
  int least;
  int most;
};
constexpr Sampling screening{3, 5};
constexpr Sampling second_look{10, 30};

bool decodes(const Algorithm& algorithm) {
  return algorithm.facts().decodes;
}

AttentionProblem cell(const TuneRequest& request, const Algorithm& algorithm, Pass pass, const Mask& mask,
                      std::int64_t d, std::int64_t n) {
  AttentionProblem p{.dtype = request.dtype, .pass = pass, .mask = mask, .n_q = n, .n_k = n, .d = d};
  if (decodes(algorithm)) {
    p.batch = 1;
    p.n_q = 1;
    p.heads_kv = tuned_decode_kv_heads(d);
    p.heads_q = tuned_decode_group * p.heads_kv;
  } else {
    p.batch = std::max<std::int64_t>(1, request.tokens / n);
    p.heads_q = p.heads_kv = std::max<std::int64_t>(1, tuned_hidden / d);
  }
  return p;
}

/// Whether the device runs the same code in the same geometry for both.
bool same_launches(const AttentionPlan& one, const AttentionPlan& other) {
  return std::ranges::equal(one.launches, other.launches, [](const KernelLaunch& a, const KernelLaunch& b) {
    return a.source == b.source && a.grid == b.grid && a.block == b.block &&
           a.dynamic_shared_bytes == b.dynamic_shared_bytes;
  });
}

/// The knob whose values are tried around the algorithm's own; nullptr where it has none.
const Knob* followed_knob(const Algorithm& algorithm) {
  const std::vector<Knob>& knobs = algorithm.facts().knobs;
  const auto found = std::ranges::find_if(knobs, [](const Knob& knob) { return knob.around != nullptr; });
  return found == knobs.end() ? nullptr : &*found;
}

/// A tile and its times in ns, by cell; 0 where it was not measured.
struct Trial {
  Config config;
  bool own_choice = true;  ///< of the followed knob

  std::vector<double> screened;
  std::vector<double> confirmed;
  int far_off = 0;  ///< cells at which it was screened and is hopeless
  bool prepared = false;
  std::size_t barred_from = std::numeric_limits<std::size_t>::max();  ///< it failed so that longer cells would as well
};
using Times = std::vector<double> Trial::*;

/// The tiles of one algorithm, pass, mask and d. A cell is a length, ascending.
class TileSearch {
 public:
  TileSearch(Device& device, const Algorithm& algorithm, std::vector<AttentionProblem> cells,
             const TuneObserver& observer, const CancelToken& cancel)
      : device_(device),
        limits_(device.info().limits),
        algorithm_(algorithm),
        followed_(followed_knob(algorithm)),
        cells_(std::move(cells)),
        observer_(observer),
        cancel_(cancel) {
    for (const AttentionProblem& p : cells_) own_.push_back(followed(algorithm_.default_config(p, limits_)));
    // What `auto` takes now comes first: early times tell the slow ones.
    for (std::size_t c = 0; c < cells_.size(); ++c) now_.push_back(index_of(config_now(c)));
    for (const AttentionProblem& p : cells_) {
      for (const Config& config : tune_candidates(algorithm_, p, limits_)) index_of(config);
    }
  }

  /// Nothing when no tile runs, or when it was stopped.
  std::optional<TuneResult> tune() {
    screen_all();
    screen_variants();
    for (std::size_t c = 0; c < cells_.size(); ++c) confirm(c);
    if (stopped()) return std::nullopt;
    for (std::size_t c = 0; c < cells_.size() && observer_.on_untimed; ++c) {
      if (fastest(c, &Trial::confirmed) == 0) observer_.on_untimed(algorithm_, cells_[c]);
    }
    return result();
  }

 private:
  [[nodiscard]] bool stopped() const { return cancel_.cancelled() || !device_.usable(); }

  [[nodiscard]] bool takes(const Trial& trial, std::size_t c) const {
    return c < trial.barred_from && !algorithm_.refusal(cells_[c], trial.config, limits_);
  }

  [[nodiscard]] std::int64_t followed(const Config& config) const {
    return followed_ == nullptr ? 0 : config.knobs.number(followed_->name);
  }

  /// What `auto` takes, with the followed knob 0 where it is the algorithm's own.
  [[nodiscard]] Config config_now(std::size_t c) const {
    Config config = auto_config(algorithm_, cells_[c], limits_);
    if (followed_ != nullptr && followed(config) == own_[c]) config.knobs.set(followed_->name, std::int64_t{0});
    return config;
  }

  std::size_t index_of(const Config& config) {
    const auto found = std::ranges::find(trials_, config, &Trial::config);
    if (found != trials_.end()) return static_cast<std::size_t>(found - trials_.begin());
    trials_.push_back({.config = config,
                       .own_choice = followed(config) == 0,
                       .screened = std::vector<double>(cells_.size()),
                       .confirmed = std::vector<double>(cells_.size())});
    return trials_.size() - 1;
  }

  [[nodiscard]] PointSpec point(const Trial& trial, std::size_t c) const {
    Knobs knobs = trial.config.knobs;
    if (followed_ != nullptr && trial.own_choice) knobs.set(followed_->name, own_[c]);  // as auto_config() has it
    return {.algorithm = algorithm_.name(), .problem = cells_[c], .tile = trial.config.tile, .knobs = std::move(knobs)};
  }

  /// Compiles what was not before: a tile's code is the same at every length, but for few kernels.
  void prepare(std::span<const std::size_t> trials, std::size_t c) {
    std::vector<PointSpec> points;
    for (const std::size_t t : trials) {
      if (trials_[t].prepared || !takes(trials_[t], c)) continue;
      trials_[t].prepared = true;
      points.push_back(point(trials_[t], c));
    }
    if (!points.empty()) device_.prepare(points, cancel_, [](std::size_t, std::size_t, const BuildReport&) {});
  }

  /// The median; 0 when there is none.
  double measure(Trial& trial, std::size_t c, Sampling sampling, double slow_ns) {
    if (stopped() || !takes(trial, c)) return 0;
    MeasureOptions options;
    options.counters = false;
    options.verify = false;
    options.min_samples = sampling.least;
    options.max_samples = sampling.most;
    options.slow_ns = slow_ns;
    const PointRecord record = device_.measure(point(trial, c), options, cancel_);
    const auto median = evaluate(metric_key::time_median_ns, record);
    if (record.disposition == Disposition::ok && median) {
      const auto local = evaluate(metric_key::local_bytes, record);
      if (!local || local->value == 0) return median->value;
      trial.barred_from = 0;  // its bytes would be the spilled registers' too
      return 0;
    }
    if (record.disposition == Disposition::cancelled) return 0;
    // What does not compile or crashes does so at every length; what ran out of time would do so at longer ones. Memory
    // that was short may be there another time.
    if (record.disposition == Disposition::compile_error || record.disposition == Disposition::crashed) {
      trial.barred_from = 0;
    } else if (record.disposition == Disposition::timeout) {
      trial.barred_from = std::min(trial.barred_from, c);
    }
    if (observer_.on_failure) observer_.on_failure(record);
    return 0;
  }

  [[nodiscard]] double fastest(std::size_t c, Times times) const {
    double least = 0;
    for (const Trial& trial : trials_) {
      const double ns = (trial.*times)[c];
      if (ns > 0 && (least == 0 || ns < least)) least = ns;
    }
    return least;
  }

  /// Those within `factor` of the fastest there, fastest first.
  [[nodiscard]] std::vector<std::size_t> within(double factor, std::size_t c, Times times) const {
    const double least = fastest(c, times);
    std::vector<std::size_t> found;
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      const double ns = (trials_[t].*times)[c];
      if (ns > 0 && ns <= factor * least) found.push_back(t);
    }
    std::ranges::stable_sort(found, {}, [&](std::size_t t) { return (trials_[t].*times)[c]; });
    return found;
  }

  void screen(std::span<const std::size_t> trials, std::size_t c) {
    prepare(trials, c);
    double best = fastest(c, &Trial::screened);
    for (const std::size_t t : trials) {
      const double ns = measure(trials_[t], c, screening, best > 0 ? plainly_slow * best + launch_ns : 0);
      trials_[t].screened[c] = ns;
      if (ns > 0 && (best == 0 || ns < best)) best = ns;
    }
  }

  /// Middle, shortest, longest, then the rest: what is far off there is so between them.
  [[nodiscard]] std::vector<std::size_t> screening_order() const {
    std::vector<std::size_t> order{cells_.size() / 2, 0, cells_.size() - 1};
    for (std::size_t c = 0; c < cells_.size(); ++c) order.push_back(c);
    std::vector<std::size_t> distinct;
    for (const std::size_t c : order) {
      if (std::ranges::find(distinct, c) == distinct.end()) distinct.push_back(c);
    }
    return distinct;
  }

  void screen_all() {
    std::vector<std::size_t> order(trials_.size());
    std::iota(order.begin(), order.end(), 0U);
    for (const std::size_t c : screening_order()) {
      std::vector<std::size_t> tried;
      for (const std::size_t t : order) {
        if (trials_[t].far_off < hopeless_lengths || t == now_[c]) tried.push_back(t);
      }
      screen(tried, c);
      const double best = fastest(c, &Trial::screened);
      for (Trial& trial : trials_) trial.far_off += trial.screened[c] > hopeless * best ? 1 : 0;
      std::ranges::stable_sort(order, {}, [&](std::size_t t) {
        const double ns = trials_[t].screened[c];
        return ns > 0 ? ns : std::numeric_limits<double>::infinity();
      });
    }
  }

  /// Every combination of the values that the algorithm's knobs are worth trying with beside this tile.
  [[nodiscard]] std::vector<Config> combinations(const Config& leader) const {
    std::vector<Config> all{leader};
    for (const Knob& knob : algorithm_.facts().knobs) {
      if (knob.variants == nullptr) continue;
      std::vector<Config> more;
      for (const Config& config : all) {
        for (const std::int64_t value : knob.variants(leader.tile)) {
          more.push_back(config);
          more.back().knobs.set(knob.name, value);
        }
      }
      all = std::move(more);
    }
    return all;
  }

  /// Other values of a tile's knobs, as far as other code comes of them.
  std::vector<std::size_t> variants(std::size_t of, std::size_t c) {
    const Config leader = trials_[of].config;
    std::vector<AttentionPlan> plans{algorithm_.plan(cells_[c], leader, limits_)};
    std::vector<std::size_t> found;
    for (const Config& other : combinations(leader)) {
      if (algorithm_.refusal(cells_[c], other, limits_)) continue;
      AttentionPlan plan = algorithm_.plan(cells_[c], other, limits_);
      if (std::ranges::any_of(plans, [&](const AttentionPlan& known) { return same_launches(known, plan); })) continue;
      plans.push_back(std::move(plan));
      found.push_back(index_of(other));
    }
    return found;
  }

  void screen_variants() {
    if (stopped()) return;
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> families;  // leader, its variants
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      std::vector<std::size_t> leaders = within(worth_variants, c, &Trial::screened);
      leaders.resize(std::min(leaders.size(), most_leaders));
      for (const std::size_t leader : leaders) {
        const auto is_it = [&](const auto& family) { return family.first == leader; };
        if (std::ranges::none_of(families, is_it)) families.emplace_back(leader, variants(leader, c));
      }
    }
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const double worth = worth_a_second_look * fastest(c, &Trial::screened);
      std::vector<std::size_t> tried;
      for (const auto& [leader, others] : families) {
        const double ns = trials_[leader].screened[c];
        if (ns == 0 || ns > worth) continue;
        for (const std::size_t t : others) {
          const bool anew = trials_[t].screened[c] == 0 && std::ranges::find(tried, t) == tried.end();
          if (anew) tried.push_back(t);
        }
      }
      screen(tried, c);
    }
  }

  void confirm(std::size_t c) {
    if (fastest(c, &Trial::screened) == 0) return;
    std::vector<std::size_t> trials = within(worth_a_second_look, c, &Trial::screened);
    if (std::ranges::find(trials, now_[c]) == trials.end()) trials.push_back(now_[c]);
    for (const std::size_t t : trials) trials_[t].confirmed[c] = measure(trials_[t], c, second_look, 0);
  }

  /// To the fastest there; 0 when not measured well.
  [[nodiscard]] double ratio(std::size_t t, std::size_t c) const {
    return trials_[t].confirmed[c] / fastest(c, &Trial::confirmed);
  }

  /// Whether there is something to choose beside the algorithm's own choice.
  [[nodiscard]] bool has_choice() const {
    return std::ranges::any_of(trials_, [](const Trial& trial) { return !trial.own_choice; });
  }

  /// A tile for each of the cells `measured`, in their order.
  [[nodiscard]] std::vector<std::size_t> choose(std::span<const std::size_t> measured) const {
    const bool choice = has_choice();
    std::vector<std::size_t> chosen;
    for (const std::size_t c : measured) {
      std::vector<std::size_t> near = within(choice ? own_choice_worth : noise, c, &Trial::confirmed);
      const auto is_good = [&](std::size_t t) { return ratio(t, c) <= noise || trials_[t].own_choice; };
      std::erase_if(near, [&](std::size_t t) { return !is_good(t); });
      const auto own = std::ranges::find_if(near, [&](std::size_t t) { return choice && trials_[t].own_choice; });
      const bool has_own = own != near.end();
      const auto same = chosen.empty() ? near.end() : std::ranges::find(near, chosen.back());
      const bool stays = same != near.end() && (!has_own || trials_[*same].own_choice);
      chosen.push_back(stays ? *same : has_own ? *own : near.front());
    }
    return chosen;
  }

  /// The worst ratio of a tile over cells.
  [[nodiscard]] double worst(std::size_t t, std::span<const std::size_t> cells) const {
    double most = 0;
    for (const std::size_t c : cells) most = std::max(most, ratio(t, c));
    return most;
  }

  [[nodiscard]] std::string reason(std::size_t chosen, std::span<const std::size_t> cells, std::size_t tiles) const {
    std::vector<std::string> ratios;
    for (const std::size_t c : cells) ratios.push_back(fmt::format("{} {:.3f}", cells_[c].n_k, ratio(chosen, c)));
    return fmt::format("of {} tiles; at worst {:.3f} of the fastest, at N {}", tiles, worst(chosen, cells),
                       fmt::join(ratios, ", "));
  }

  [[nodiscard]] std::optional<TuneResult> result() const {
    std::vector<std::size_t> measured;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (fastest(c, &Trial::confirmed) > 0) measured.push_back(c);
    }
    if (measured.empty()) return std::nullopt;
    TuneResult result;
    result.tiles = static_cast<std::size_t>(std::ranges::count_if(trials_, [](const Trial& trial) {
      return std::ranges::any_of(trial.screened, [](double ns) { return ns > 0; });
    }));
    const std::vector<std::size_t> chosen = choose(measured);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const std::size_t c = measured[i];
      result.cells.push_back({.n = cells_[c].n_k,
                              .fastest_ns = fastest(c, &Trial::confirmed),
                              .now = trials_[now_[c]].config,
                              .now_ns = trials_[now_[c]].confirmed[c],
                              .chosen = trials_[chosen[i]].config,
                              .chosen_ns = trials_[chosen[i]].confirmed[c]});
    }
    for (std::size_t first = 0; first < measured.size();) {
      std::size_t end = first + 1;
      while (end < measured.size() && chosen[end] == chosen[first]) ++end;
      const AttentionProblem& p = cells_[measured[end - 1]];
      result.choices.push_back(
          {.algorithm = algorithm_.name(),
           .pass = p.pass,
           .arch = fmt::format("{}.{}", limits_.compute_major, limits_.compute_minor),
           .causal = p.mask.right != Mask::unlimited,
           .d = p.d,
           .n = p.n_k,
           .config = trials_[chosen[first]].config,
           .reason = reason(chosen[first], std::span(measured).subspan(first, end - first), result.tiles)});
      first = end;
    }
    return result;
  }

  Device& device_;
  const DeviceLimits& limits_;
  const Algorithm& algorithm_;
  const Knob* followed_;
  std::vector<AttentionProblem> cells_;
  const TuneObserver& observer_;
  const CancelToken& cancel_;
  std::vector<Trial> trials_;
  std::vector<std::int64_t> own_;  ///< what the algorithm chooses of the followed knob, by cell; 0: it has none
  std::vector<std::size_t> now_;   ///< the trial of auto_config(), by cell
};

}  // namespace

std::vector<Config> tune_candidates(const Algorithm& algorithm, const AttentionProblem& problem,
                                    const DeviceLimits& limits) {
  std::vector<Config> configs;
  const auto add = [&](const Config& config) {
    if (!algorithm.refusal(problem, config, limits) && std::ranges::find(configs, config) == configs.end()) {
      configs.push_back(config);
    }
  };
  // The algorithm's own rule may lie between the steps. What it chooses of the followed knob is what it has for 0.
  Config rule = algorithm.default_config(problem, limits);
  const Knob* followed = followed_knob(algorithm);
  std::vector<Knobs> choices{Knobs()};
  if (followed != nullptr) {
    choices.clear();
    for (const std::int64_t value : followed->around(rule.knobs.number(followed->name))) {
      choices.emplace_back().set(followed->name, value);
    }
    rule.knobs.set(followed->name, std::int64_t{0});
  }
  add(rule);
  for (const int br : br_steps) {
    for (const int bc : bc_steps) {
      for (const Knobs& knobs : choices) add({{.br = br, .bc = bc}, knobs});
    }
  }
  return configs;
}

std::vector<TuneResult> tune(Device& device, const TuneRequest& request, const TuneObserver& observer,
                             const CancelToken& cancel) {
  std::vector<TuneResult> results;
  const auto one = [&](const Algorithm& algorithm, Pass pass, const Mask& mask, std::int64_t d) {
    std::vector<std::int64_t> lengths = decodes(algorithm) ? request.decode_lengths : request.lengths;
    std::ranges::sort(lengths);
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    std::vector<AttentionProblem> cells;
    for (const std::int64_t n : lengths) {
      const AttentionProblem p = cell(request, algorithm, pass, mask, d, n);
      if (!tune_candidates(algorithm, p, device.info().limits).empty()) cells.push_back(p);
    }
    if (cells.empty()) return;
    auto result = TileSearch(device, algorithm, std::move(cells), observer, cancel).tune();
    if (!result) return;
    if (observer.on_result) observer.on_result(*result);
    results.push_back(std::move(*result));
  };
  for (const std::string& name : request.algorithms) {
    const Algorithm& algorithm = *device.algorithms().find(name);
    const std::vector<int>& dims = algorithm.facts().head_dims;
    for (const Pass pass : request.passes) {
      for (const Mask& mask : request.masks) {
        for (const std::int64_t d : request.head_dims) {
          if (cancel.cancelled() || !device.usable()) return results;
          if (std::ranges::find(dims, d) != dims.end()) one(algorithm, pass, mask, d);
        }
      }
    }
  }
  return results;
}

std::vector<TileChoice> merge_choices(std::span<const TileChoice> old, std::span<const TuneResult> found) {
  const auto key = [](const TileChoice& c) { return std::tie(c.algorithm, c.pass, c.arch, c.causal, c.d); };
  std::vector<TileChoice> merged(old.begin(), old.end());
  for (const TuneResult& result : found) {
    std::erase_if(merged, [&](const TileChoice& c) {
      return key(c) == key(result.choices.front()) && c.n >= result.cells.front().n && c.n <= result.cells.back().n;
    });
    merged.insert(merged.end(), result.choices.begin(), result.choices.end());
  }
  std::ranges::sort(merged, {}, [&](const TileChoice& c) { return std::tuple_cat(key(c), std::tie(c.n)); });
  return merged;
}

}  // namespace attnscope
