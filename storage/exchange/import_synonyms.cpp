// SPDX-License-Identifier: Apache-2.0
// Names that other programs give to fields and values, and their columns' units.

#include <algorithm>
#include <cctype>
#include <utility>

#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_columns.h"
#include "storage/exchange/import_text.h"

namespace attnscope::exchange {
namespace {

/// Our word, then others for it, separated by spaces.
using Synonyms = std::pair<std::string_view, std::string_view>;

/// Column names in lower case, with one underscore between words.
constexpr std::array field_synonyms{
    Synonyms{"algorithm", "algo impl implementation provider annotation backend method solution"},
    Synonyms{"pass", "direction is_backward backward is_bwd"},
    Synonyms{"dtype", "data_type precision"},
    Synonyms{"batch", "b bs bsz batch_size batchsize"},
    Synonyms{"N", "n n_ctx ctx_len seq seqlen seq_len seq_length sequence_length context_length max_seqlen s"},
    Synonyms{"n_q", "seqlen_q seq_len_q q_len len_q n_ctx_q nq sq lq s_q s_qo max_seqlen_q qo_len"},
    Synonyms{"n_k",
             "seqlen_k seqlen_kv seq_len_k seq_len_kv k_len kv_len len_k len_kv n_ctx_k n_ctx_kv nk n_kv sk skv "
             "lk lkv s_k s_kv max_seqlen_k max_seqlen_kv"},
    Synonyms{"heads", "h nheads n_heads num_heads nhead num_head"},
    Synonyms{"heads_q", "hq h_q nheads_q n_heads_q num_heads_q num_q_heads num_qo_heads num_attention_heads q_heads"},
    Synonyms{"heads_kv",
             "hk h_k hkv h_kv nheads_k nheads_kv n_heads_kv n_kv_heads num_heads_k num_heads_kv "
             "num_kv_heads num_key_value_heads kv_heads"},
    Synonyms{"d", "headdim head_dim head_size d_head dim_head head_dim_qk headdim_qk d_qk qk_head_dim"},
    Synonyms{"mask", "causal is_causal use_causal mask_type attn_mask attention_mask"},
    Synonyms{"dropout", "dropout_p p_dropout dropout_prob"},
    Synonyms{"page", "page_size"},
    Synonyms{"br", "block_m"},
    Synonyms{"bc", "block_n"},
    Synonyms{"device", "gpu gpu_name device_name"},
    Synonyms{"kernel", "kernel_name"},
    Synonyms{"disposition", "status"},
    Synonyms{"samples", "num_runs numruns n_samples num_samples"},
    Synonyms{"round", "iteration iter repetition rep trial"},
    Synonyms{partial_column::window, "window_size sliding_window"},
    Synonyms{partial_column::window_left, "window_size_left"},
    Synonyms{partial_column::window_right, "window_size_right"},
    Synonyms{partial_column::group, "gqa_ratio group_size gqa_group_size q_per_kv"},
    Synonyms{partial_column::d_v, "headdim_v d_v dv head_dim_vo v_head_dim"},
};

/// Columns that never identify a problem: values without a metric, and where and when they were measured.
constexpr std::string_view unused_columns =
    "relativestddevpct stablemeasurement max_err max_error max_diff max_abs_err max_abs_diff mean_err mean_error"
    " mean_diff"
    " peak_memory peak_mem max_memory memory mem memory_usage max_memory_allocated memory_allocated peak_memory_usage"
    " speedup speedup_factor speed_up utilization util mfu efficiency bw_util bwutil sm_util sol"
    " timestamp date datetime time_stamp index unnamed_0 cpu_time_noise batch_gpu batch_samples elem_s globalmem_bw";
/// Columns of the SM clock, besides their unit.
constexpr std::string_view clock_names =
    "clock gpu_clock core_clock graphics_clock sm_freq sm_frequency gpu_freq gpu_frequency";

constexpr std::array dtype_synonyms{
    Synonyms{"fp16", "float16 half f16"},
    Synonyms{"bf16", "bfloat16"},
    Synonyms{"fp8", "float8_e4m3fn float8_e4m3 fp8_e4m3 float8e4nv e4m3 fp8_e4m3fn"},
    Synonyms{"fp32", "float32 float f32"},
};
constexpr std::array pass_synonyms{
    Synonyms{"fwd", "forward false 0 no 0.0"},
    Synonyms{"bwd", "backward true 1 yes 1.0"},
    Synonyms{"fwd+bwd", "fwd_bwd fwdbwd both forward+backward"},
};
constexpr std::array mask_synonyms{
    Synonyms{"causal", "causal_mask is_causal true 1 yes 1.0"},
    Synonyms{"full", "none no_mask nomask noncausal non-causal non_causal dense false 0 no 0.0"},
};
constexpr std::array disposition_synonyms{
    Synonyms{"ok", "success passed pass"},
    Synonyms{"out-of-memory", "oom cuda-oom"},
    Synonyms{"timeout", "timed-out"},
    Synonyms{"incorrect", "mismatch incorrect-numerical incorrect-shape incorrect-dtype"},
    Synonyms{"compile-error", "compilationfailedconfig compile-failed"},
    Synonyms{"crashed", "error err failed fail exception crash runtimefailedconfig errorconfig runtime-error"},
    Synonyms{"infeasible", "skip skipped unsupported not-supported invalid invalidconfig"},
};

/// Returns an empty word if there is none.
std::string_view find_synonym(std::span<const Synonyms> table, std::string_view word) {
  for (const auto& [ours, others] : table) {
    if (word == ours || has_word(others, word)) return ours;
  }
  return {};
}

constexpr std::array all_statistics{
    Statistic{metric_key::time_median_ns, "median p50 q50 50%"},
    Statistic{time_column::mean, "mean avg average"},
    Statistic{metric_key::time_q1_ns, "q1 p25 q25 25%"},
    Statistic{metric_key::time_q3_ns, "q3 p75 q75 75%"},
    Statistic{"time_stddev_ns", "std stddev stdev sd sigma", 1},
    Statistic{"time_stddev_ns", "cv cov rsd noise relstd relstddev", 1, false, true},
    Statistic{"time_iqr_ns", "iqr", 1.349},
    Statistic{"time_iqr_ns", "spread", 1.349, false, true},
    Statistic{"time_mad_ns", "mad", 0.67449},
    Statistic{"time_stderr_ns", "stderr sem", 1, true},
    Statistic{"time_ci95_ns", "ci95 ci", 1.96, true},
    Statistic{"time_p20_ns", "p20 q20", 1.6832, false, false, "time_p80_ns"},
    Statistic{"time_p80_ns", "p80 q80", 1.6832, false, false, "time_p20_ns"},
    Statistic{"time_p10_ns", "p10 q10", 2.5631, false, false, "time_p90_ns"},
    Statistic{"time_p90_ns", "p90 q90", 2.5631, false, false, "time_p10_ns"},
    Statistic{"time_p5_ns", "p5 p05 q5 q05", 3.2897, false, false, "time_p95_ns"},
    Statistic{"time_p95_ns", "p95 q95", 3.2897, false, false, "time_p5_ns"},
    Statistic{"time_p1_ns", "p1 p01", 4.6527, false, false, "time_p99_ns"},
    Statistic{"time_p99_ns", "p99 q99", 4.6527, false, false, "time_p1_ns"},
    Statistic{"time_ci95_low_ns", "ci95_low", 3.92, true, false, "time_ci95_high_ns"},
    Statistic{"time_ci95_high_ns", "ci95_high", 3.92, true, false, "time_ci95_low_ns"},
    Statistic{"time_min_ns", "min minimum best", extremes, false, false, "time_max_ns"},
    Statistic{"time_max_ns", "max maximum worst", extremes, false, false, "time_min_ns"},
};
/// Names of statistics of two words, and one word for each.
constexpr std::array phrases{
    Synonyms{"stddev", "std_dev std_deviation standard_deviation st_dev"},
    Synonyms{"stderr", "std_err std_error standard_error"},
    Synonyms{"ci95_low", "ci95_lower ci95_lo ci95_low ci_lower ci_low ci_lo lower_ci lower_ci95"},
    Synonyms{"ci95_high", "ci95_upper ci95_hi ci95_high ci_upper ci_high ci_hi upper_ci upper_ci95"},
    Synonyms{"q1", "lower_quartile first_quartile"},
    Synonyms{"q3", "upper_quartile third_quartile"},
};

const Statistic* statistic_named(std::string_view word) {
  const auto* const found =
      std::ranges::find_if(all_statistics, [&](const auto& each) { return has_word(each.words, word); });
  return found == all_statistics.end() ? nullptr : found;
}

/// Roles of words in names of time and rate columns, besides units and statistics. Neutral words and other times may be
/// part of a provider's name.
enum class Role { neutral, other_time, time, rate, memory, pass, relative, unused, statistic };
constexpr std::array<std::pair<Role, std::string_view>, 8> role_words{{
    {Role::neutral, "gpu kernel cuda in of"},
    {Role::other_time, "compile compilation build wall total overhead warmup"},
    {Role::time, "time times latency duration elapsed runtime"},
    {Role::rate, "achieved effective throughput bandwidth bw perf performance"},
    {Role::memory, "dram hbm"},
    {Role::pass, "fwd forward bwd backward"},
    {Role::relative, "rel relative"},
    {Role::unused, "cpu host peak mem memory util"},
}};
std::optional<Role> role_of(std::string_view word) {
  for (const auto& [role, words] : role_words) {
    if (has_word(words, word)) return role;
  }
  return statistic_named(word) != nullptr ? std::optional(Role::statistic) : std::nullopt;
}

/// A run of letters, digits, '%' and multi-byte characters of a name.
struct Word {
  std::string text;  ///< in lower case
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool is_time_unit() const {
    const auto unit = parse_unit(text);
    return unit && unit->base == "ns";
  }
  /// May be part of a provider's name.
  [[nodiscard]] bool is_soft() const { return role_of(text).value_or(Role::neutral) <= Role::other_time; }
};
std::vector<Word> words_in(std::string_view name) {
  std::vector<Word> words;
  bool inside = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool part = byte >= 0x80 || std::isalnum(byte) != 0 || byte == '%';
    if (part && !inside) words.push_back({.text = {}, .begin = i, .end = i});
    if (part) words.back().text += static_cast<char>(std::tolower(byte));
    if (part) words.back().end = i + 1;
    inside = part;
  }
  return words;
}
std::string joined(const std::vector<Word>& words) {
  std::string text;
  for (const Word& word : words) text += (text.empty() ? "" : "_") + word.text;
  return text;
}

/// Joins the words of a statistic, and splits "std%".
void normalize_statistics(std::vector<Word>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].text.size() > 1 && words[i].text.ends_with('%') && !role_of(words[i].text)) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                   {.text = "%", .begin = words[i].end - 1, .end = words[i].end});
      words[i].text.pop_back();
      --words[i].end;
    }
    if (i + 1 == words.size()) return;
    const std::string_view one = find_synonym(phrases, words[i].text + "_" + words[i + 1].text);
    if (one.empty()) continue;
    words[i] = {.text = std::string(one), .begin = words[i].begin, .end = words[i + 1].end};
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

/// Parts of the name of a column of numbers.
struct Measurement {
  std::optional<Unit> unit;
  std::string unit_text;
  bool bracketed = false;  ///< the unit
  std::string stem;        ///< words besides the unit
  std::set<Role> roles;
  const Statistic* statistic = nullptr;
  std::string pass;
  std::string provider;

  [[nodiscard]] bool has(Role role) const { return roles.contains(role); }
  [[nodiscard]] double scale() const { return unit ? unit->scale : 1; }
};

/// Removes the last unit from the words: "ms", or two words as in "GB/s". Returns false if two times are named, or the
/// unit is one of a rate ("tokens/s").
bool take_unit(std::string_view name, std::vector<Word>& words, Measurement& all) {
  for (std::size_t i = words.size(); i-- > 0;) {
    const bool second = i > 0 && words[i].is_time_unit() && words[i].text.front() == 's';
    const auto pair = second ? parse_unit(words[i - 1].text + "/s") : std::nullopt;
    const auto unit = pair ? pair : parse_unit(words[i].text);
    const std::size_t begin = pair ? i - 1 : i;
    const bool is_count = unit && !pair && unit->base == "Tflop/s" && words[i].text.starts_with("flop");
    if (!unit || is_count || words[i].text == "b") continue;
    const bool per = begin > 0 && (name[words[begin].begin - 1] == '/' || words[begin - 1].text == "per");
    if (per && unit->base == "ns") return false;
    all.unit = unit;
    all.unit_text = std::string(name.substr(words[begin].begin, words[i].end - words[begin].begin));
    all.bracketed =
        words[begin].begin > 0 && std::string_view("([").find(name[words[begin].begin - 1]) != std::string_view::npos;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(begin), words.begin() + static_cast<std::ptrdiff_t>(i + 1));
    return unit->base != "ns" || std::ranges::none_of(words, &Word::is_time_unit);
  }
  return true;
}

/// Returns the name's text from the first to the last word, with brackets that it closes: "Triton [FP16]".
std::string provider_text(std::string_view name, const Word& first, const Word& last) {
  const std::size_t end = std::min(name.find_first_of(" _-,:([/", last.end), name.size());
  std::string text(name.substr(first.begin, end - first.begin));
  const auto closes = [&](char open, char close) {
    return text.ends_with(close) && std::ranges::count(text, close) > std::ranges::count(text, open);
  };
  while (closes('(', ')') || closes('[', ']')) text.pop_back();
  return text;
}

/// Returns nullopt if two statistics are named, or unknown words are not next to each other.
std::optional<Measurement> parse_measurement(std::string_view name) {
  Measurement all;
  std::vector<Word> words = words_in(name);
  normalize_statistics(words);
  if (!take_unit(name, words, all)) return std::nullopt;
  all.stem = joined(words);
  const bool has_unknown = std::ranges::any_of(words, [](const Word& word) { return !role_of(word.text); });
  if (has_unknown) {
    const auto first = std::ranges::find_if(words, &Word::is_soft);
    const auto last = std::find_if(words.rbegin(), words.rend(), std::mem_fn(&Word::is_soft)).base();
    if (!std::all_of(first, last, std::mem_fn(&Word::is_soft))) return std::nullopt;
    all.provider = provider_text(name, *first, *(last - 1));
  }
  for (const Word& word : words) {
    const Role role = role_of(word.text).value_or(Role::neutral);
    if (role == Role::other_time && has_unknown) continue;
    all.roles.insert(role);
    if (role == Role::pass) {
      const std::string pass = word.text.starts_with('f') ? "fwd" : "bwd";
      all.pass = all.pass.empty() || all.pass == pass ? pass : "fwd+bwd";
    }
    if (role != Role::statistic) continue;
    const Statistic* const before = std::exchange(all.statistic, statistic_named(word.text));
    if (before != nullptr && before != all.statistic && !all.has(Role::unused)) return std::nullopt;
  }
  return all;
}

/// Returns the column of a metric, point fact or list of samples that the stem names, with or without its unit.
std::optional<ScaledColumn> scaled_metric(const std::string& stem, const Unit& unit, std::string_view unit_text) {
  constexpr std::array<Synonyms, 4> suffixes{
      {{"ns", "_ns"}, {"byte", "_bytes"}, {"hertz", "_hz"}, {"percent", "_pct"}}};
  const auto* const suffix = std::ranges::find(suffixes, unit.base, &Synonyms::first);
  for (const std::string& name : {stem, suffix != suffixes.end() ? stem + std::string(suffix->second) : stem}) {
    const Metric* metric = metric_of(name);
    const PointFact* fact = find_point_fact(name);
    const bool fits = (metric != nullptr && metric->unit == unit.base && metric->scale == 1) ||
                      (fact != nullptr && fact->unit == unit.base) ||
                      (unit.base == "ns" && (name == time_columns.back() || name == round_column::samples));
    if (fits) return ScaledColumn{.name = name, .unit = std::string(unit_text), .scale = unit.scale};
  }
  return std::nullopt;
}

std::optional<ScaledColumn> rate_column(const Measurement& all) {
  if (all.has(Role::time)) return std::nullopt;
  const bool flops = all.unit->base == "Tflop/s";
  const bool spread = all.statistic != nullptr && all.statistic->deviations != 0;
  const bool center = all.statistic == nullptr || all.statistic->column == metric_key::time_median_ns ||
                      all.statistic->column == time_column::mean;
  ScaledColumn column{.name = std::string(flops ? metric_key::tflops : metric_key::dram_bandwidth),
                      .unit = all.unit_text,
                      .scale = all.scale(),
                      .provider = all.provider,
                      .pass = all.pass};
  if (!flops && !all.has(Role::memory)) column.skipped = "rate of unknown bytes";
  if (flops && spread && !all.has(Role::relative) && !all.statistic->is_relative) {
    column.name = std::string(rate_spread) + std::string(all.statistic->column);
    column.of_time = true;
  } else if (!center) {
    column.skipped = "spread of a rate";
  }
  return column;
}

/// Returns the column of a spread of times, absolute or relative to them, or of another statistic without a unit.
std::optional<ScaledColumn> spread_measurement(const Measurement& all) {
  if (all.statistic == nullptr || all.has(Role::unused) || all.has(Role::memory) || all.has(Role::rate))
    return std::nullopt;
  const Statistic& statistic = *all.statistic;
  const bool percent = all.unit && all.unit->base == "percent";
  // Times besides the row's time, whose unit they take.
  const bool quartile = statistic.column == metric_key::time_q1_ns || statistic.column == metric_key::time_q3_ns;
  const bool unnamed = quartile || (statistic.column == time_column::mean && !all.has(Role::time));
  if (statistic.deviations == 0 && (!unnamed || all.unit)) return std::nullopt;
  if (all.unit && !percent && all.unit->base != "ns") return std::nullopt;
  const bool relative = percent || (!all.unit && (all.has(Role::relative) || statistic.is_relative));
  if (relative && (!statistic.opposite.empty() || unnamed)) return std::nullopt;
  return ScaledColumn{.name = std::string(relative ? relative_spread : "") + std::string(statistic.column),
                      .unit = all.unit_text,
                      .scale = all.scale() / (percent ? 100 : 1),
                      .provider = all.provider,
                      .pass = all.pass,
                      .of_time = true};
}

std::optional<ScaledColumn> time_measurement(const Measurement& all) {
  const bool time = all.has(Role::time);
  const bool named =
      time || all.statistic != nullptr || all.has(Role::unused) || all.has(Role::other_time) || !all.pass.empty();
  if (all.has(Role::memory) || all.has(Role::rate)) return std::nullopt;
  if (!all.unit && (!time || !all.provider.empty())) return std::nullopt;
  const bool letter = all.unit_text.size() == 1;  // "s" alone, or "num_s"
  if (letter && !named && !(all.bracketed && !all.provider.empty())) return std::nullopt;
  ScaledColumn column{.name = std::string(all.statistic == nullptr ? time_column::time : all.statistic->column),
                      .unit = all.unit_text,
                      .scale = all.scale(),
                      .unit_in_cells = !all.unit,
                      .provider = all.provider,
                      .pass = all.pass};
  const bool spread = all.statistic != nullptr && all.statistic->deviations != 0;
  if (spread || all.has(Role::unused) || all.has(Role::other_time)) column.skipped = "no metric for this time";
  return column;
}

std::optional<ScaledColumn> measurement_column(std::string_view name) {
  auto all = parse_measurement(name);
  if (!all) return std::nullopt;
  std::string stem = all->stem;
  if (stem.starts_with("hbm_")) stem.replace(0, 3, "dram");
  if (has_word(clock_names, stem)) stem = "sm_clock";
  if (all->unit) {
    if (auto metric = scaled_metric(stem, *all->unit, all->unit_text)) return metric;
    if (all->unit->base == "byte" && all->has(Role::rate)) all->unit->base = "byte/s";
    if (all->unit->base == "byte/s" || all->unit->base == "Tflop/s") return rate_column(*all);
  }
  if (auto spread = spread_measurement(*all)) return spread;
  if (!all->unit || all->unit->base == "ns") return time_measurement(*all);
  // Peak memory, utilization.
  if (all->has(Role::unused) || has_word(unused_columns, stem)) {
    return ScaledColumn{.name = stem, .skipped = "no metric holds this value"};
  }
  return std::nullopt;
}

/// Parses a metric, counter or time with a unit suffix: "dram__bytes_read.sum [Mbyte]", "samples_us".
std::optional<ScaledColumn> suffixed_column(std::string_view name) {
  const bool bracket = name.ends_with(']') || name.ends_with(')');
  const std::size_t at = name.find_last_of(bracket ? "[(" : "_");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string_view text = name.substr(at + 1);
  if (bracket) text.remove_suffix(1);
  std::string stem(name.substr(0, at));
  stem.erase(stem.find_last_not_of(' ') + 1);
  const auto unit = parse_unit(text);
  if (!unit || stem.ends_with("_" + unit->base)) return std::nullopt;  // ambiguous: two units
  return scaled_metric(stem, *unit, text);
}

}  // namespace

std::span<const Statistic> statistics() {
  return all_statistics;
}

const Statistic* spread_in(std::string_view column) {
  for (const std::string_view prefix : {relative_spread, rate_spread}) {
    if (column.starts_with(prefix)) column.remove_prefix(prefix.size());
  }
  const auto* const found = std::ranges::find_if(
      all_statistics, [&](const Statistic& each) { return each.column == column && each.deviations != 0; });
  return found == all_statistics.end() ? nullptr : found;
}

std::optional<ScaledColumn> resolve(std::string_view name) {
  const std::string words = joined(words_in(name));
  if (metric_of(name) != nullptr && name != metric_key::time_spread) return ScaledColumn{std::string(name)};
  const bool counter = is_counter_name(name);
  const bool known = is_known_column(name) && name != metric_key::time_spread;
  // A counter name may end in a unit; it is not a suffix then.
  if (!known || counter) {
    if (auto scaled = suffixed_column(name)) return scaled;
  }
  if (known) return ScaledColumn{std::string(name)};
  if (const auto field = find_synonym(field_synonyms, words); !field.empty()) return ScaledColumn{std::string(field)};
  if (words.empty() || has_word(unused_columns, words)) {
    return ScaledColumn{.name = words, .skipped = "no metric for this value"};
  }
  if (auto measured = measurement_column(name)) return measured;
  if (is_known_column(words)) return ScaledColumn{words};  // "Batch", "Heads Q"
  return std::nullopt;
}

std::string dtype_in(std::string_view name) {
  std::string found;
  for (const Word& word : words_in(name)) {
    const std::string dtype = normalized_value("dtype", word.text);
    if (!parse_dtype(dtype) || dtype == found) continue;
    if (!found.empty()) return {};
    found = dtype;
  }
  return found;
}

std::string normalized_value(std::string_view field, std::string_view text) {
  std::string low = lower_case(text);
  std::string_view ours;
  if (field == "mask") {
    ours = find_synonym(mask_synonyms, low);
  } else if (field == "dtype") {
    for (const std::string_view prefix : {"torch.", "tl."}) {
      if (low.starts_with(prefix)) low.erase(0, prefix.size());
    }
    ours = find_synonym(dtype_synonyms, low);
  } else if (field == "pass") {
    ours = find_synonym(pass_synonyms, low);
  } else if (field == "disposition") {
    std::ranges::replace(low, '_', '-');
    std::ranges::replace(low, ' ', '-');
    ours = find_synonym(disposition_synonyms, low);
    return ours.empty() ? low : std::string(ours);
  } else {
    return std::string(text);
  }
  if (!ours.empty()) return std::string(ours);
  return std::ranges::count(find_field(field)->words, low) > 0 ? low : std::string(text);
}

}  // namespace attnscope::exchange
