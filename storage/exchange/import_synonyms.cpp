// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_synonyms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// In lower case, with one underscore between words.
constexpr std::array field_synonyms{
    Pair{"algo", "algorithm"},
    Pair{"impl", "algorithm"},
    Pair{"implementation", "algorithm"},
    Pair{"provider", "algorithm"},
    Pair{"annotation", "algorithm"},
    Pair{"direction", "pass"},
    Pair{"data_type", "dtype"},
    Pair{"precision", "dtype"},
    Pair{"b", "batch"},
    Pair{"bs", "batch"},
    Pair{"bsz", "batch"},
    Pair{"batch_size", "batch"},
    Pair{"batchsize", "batch"},
    Pair{"n", "N"},
    Pair{"n_ctx", "N"},
    Pair{"seq", "N"},
    Pair{"seqlen", "N"},
    Pair{"seq_len", "N"},
    Pair{"seq_length", "N"},
    Pair{"sequence_length", "N"},
    Pair{"context_length", "N"},
    Pair{"seqlen_q", "n_q"},
    Pair{"seq_len_q", "n_q"},
    Pair{"q_len", "n_q"},
    Pair{"n_ctx_q", "n_q"},
    Pair{"nq", "n_q"},
    Pair{"seqlen_k", "n_k"},
    Pair{"seqlen_kv", "n_k"},
    Pair{"seq_len_k", "n_k"},
    Pair{"seq_len_kv", "n_k"},
    Pair{"k_len", "n_k"},
    Pair{"kv_len", "n_k"},
    Pair{"n_ctx_k", "n_k"},
    Pair{"n_ctx_kv", "n_k"},
    Pair{"nk", "n_k"},
    Pair{"n_kv", "n_k"},
    Pair{"h", "heads"},
    Pair{"nheads", "heads"},
    Pair{"n_heads", "heads"},
    Pair{"num_heads", "heads"},
    Pair{"hq", "heads_q"},
    Pair{"h_q", "heads_q"},
    Pair{"nheads_q", "heads_q"},
    Pair{"n_heads_q", "heads_q"},
    Pair{"num_heads_q", "heads_q"},
    Pair{"num_q_heads", "heads_q"},
    Pair{"num_qo_heads", "heads_q"},
    Pair{"hk", "heads_kv"},
    Pair{"h_k", "heads_kv"},
    Pair{"hkv", "heads_kv"},
    Pair{"h_kv", "heads_kv"},
    Pair{"nheads_k", "heads_kv"},
    Pair{"nheads_kv", "heads_kv"},
    Pair{"n_heads_kv", "heads_kv"},
    Pair{"n_kv_heads", "heads_kv"},
    Pair{"num_heads_k", "heads_kv"},
    Pair{"num_heads_kv", "heads_kv"},
    Pair{"num_kv_heads", "heads_kv"},
    Pair{"headdim", "d"},
    Pair{"head_dim", "d"},
    Pair{"head_size", "d"},
    Pair{"d_head", "d"},
    Pair{"dim_head", "d"},
    Pair{"causal", "mask"},
    Pair{"is_causal", "mask"},
    Pair{"use_causal", "mask"},
    Pair{"dropout_p", "dropout"},
    Pair{"page_size", "page"},
    Pair{"block_m", "br"},
    Pair{"block_n", "bc"},
    Pair{"gpu", "device"},
    Pair{"gpu_name", "device"},
    Pair{"device_name", "device"},
    Pair{"kernel_name", "kernel"},
    Pair{"status", "disposition"},
    Pair{"num_runs", "samples"},
    Pair{"numruns", "samples"},
    Pair{"n_samples", "samples"},
    Pair{"num_samples", "samples"},
};

/// Values of other programs that no metric holds. Their columns never identify a problem.
constexpr std::array unused_values{
    std::string_view("stddev"),
    std::string_view("std"),
    std::string_view("std_dev"),
    std::string_view("ci95_lower"),
    std::string_view("ci95_upper"),
    std::string_view("relative_std_dev_pct"),
    std::string_view("peak_memory"),
    std::string_view("peak_mem_bytes"),
    std::string_view("peak_mem_mb"),
    std::string_view("max_memory_allocated"),
    std::string_view("peak_mem_gb"),
    std::string_view("relativestddevpct"),
    std::string_view("cv"),
    std::string_view("noise"),
    std::string_view("stablemeasurement"),
};

/// Dtype names of PyTorch, Triton and CUDA, without "torch." or "tl.".
constexpr std::array dtype_synonyms{
    Pair{"float16", "fp16"},      Pair{"half", "fp16"},       Pair{"f16", "fp16"},     Pair{"bfloat16", "bf16"},
    Pair{"float8_e4m3fn", "fp8"}, Pair{"float8_e4m3", "fp8"}, Pair{"fp8_e4m3", "fp8"}, Pair{"float8e4nv", "fp8"},
    Pair{"e4m3", "fp8"},          Pair{"fp8_e4m3fn", "fp8"},
};

constexpr std::array disposition_synonyms{
    Pair{"success", "ok"},        Pair{"passed", "ok"},
    Pair{"oom", "out-of-memory"}, Pair{"cuda-oom", "out-of-memory"},
    Pair{"timed-out", "timeout"}, Pair{"mismatch", "incorrect"},
};

template <std::size_t count>
std::optional<std::string_view> find_pair(const std::array<Pair, count>& table, std::string_view key) {
  const auto* const found = std::ranges::find(table, key, &Pair::first);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

/// Splits at everything that is not a letter, digit or part of a multi-byte character; in lower case.
std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : lower_case(name)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool part = byte >= 0x80 || std::isalnum(byte) != 0 || c == '%';
    if (part && !inside) words.emplace_back();
    if (part) words.back() += c;
    inside = part;
  }
  return words;
}

enum class Role {
  neutral,
  time_word,
  rate_neutral,
  unit,
  flops,
  bytes,
  median,
  mean,
  deviation,
  q1,
  q3,
  unused,
  memory
};
struct Word {
  std::string_view text;
  Role role;
  double scale = 1;  ///< units: ns; rates: Tflop/s or byte/s
};

/// Words of names of time and rate columns.
constexpr std::array measurement_words{
    Word{"time", Role::time_word},
    Word{"times", Role::time_word},
    Word{"latency", Role::time_word},
    Word{"duration", Role::time_word},
    Word{"elapsed", Role::time_word},
    Word{"runtime", Role::time_word},
    Word{"gpu", Role::neutral},
    Word{"kernel", Role::neutral},
    Word{"cuda", Role::neutral},
    Word{"ns", Role::unit, 1},
    Word{"nsec", Role::unit, 1},
    Word{"nanoseconds", Role::unit, 1},
    Word{"us", Role::unit, 1e3},
    Word{"µs", Role::unit, 1e3},
    Word{"μs", Role::unit, 1e3},
    Word{"usec", Role::unit, 1e3},
    Word{"microseconds", Role::unit, 1e3},
    Word{"ms", Role::unit, 1e6},
    Word{"msec", Role::unit, 1e6},
    Word{"milliseconds", Role::unit, 1e6},
    Word{"s", Role::unit, 1e9},
    Word{"sec", Role::unit, 1e9},
    Word{"seconds", Role::unit, 1e9},
    Word{"second", Role::unit, 1e9},
    Word{"median", Role::median},
    Word{"p50", Role::median},
    Word{"mean", Role::mean},
    Word{"avg", Role::mean},
    Word{"average", Role::mean},
    Word{"std", Role::deviation},
    Word{"stddev", Role::deviation},
    Word{"stdev", Role::deviation},
    Word{"q1", Role::q1},
    Word{"p25", Role::q1},
    Word{"q3", Role::q3},
    Word{"p75", Role::q3},
    Word{"min", Role::unused},
    Word{"minimum", Role::unused},
    Word{"max", Role::unused},
    Word{"maximum", Role::unused},
    Word{"best", Role::unused},
    Word{"p10", Role::unused},
    Word{"p20", Role::unused},
    Word{"p80", Role::unused},
    Word{"p90", Role::unused},
    Word{"p95", Role::unused},
    Word{"p99", Role::unused},
    Word{"cpu", Role::unused},
    Word{"host", Role::unused},
    Word{"tflops", Role::flops, 1},
    Word{"tflop", Role::flops, 1},
    Word{"gflops", Role::flops, 1e-3},
    Word{"gflop", Role::flops, 1e-3},
    Word{"gb", Role::bytes, 1e9},
    Word{"gbyte", Role::bytes, 1e9},
    Word{"gbps", Role::bytes, 1e9},
    Word{"tb", Role::bytes, 1e12},
    Word{"achieved", Role::rate_neutral},
    Word{"effective", Role::rate_neutral},
    Word{"throughput", Role::rate_neutral},
    Word{"bandwidth", Role::rate_neutral},
    Word{"bw", Role::rate_neutral},
    Word{"perf", Role::rate_neutral},
    Word{"performance", Role::rate_neutral},
    Word{"dram", Role::memory},
    Word{"hbm", Role::memory},
};

/// Words of one column name, by role.
struct Measurement {
  const Word* unit = nullptr;
  const Word* rate = nullptr;
  const Word* statistic = nullptr;
  bool time = false;
  bool only_rate = false;  ///< has a word that only names of rates contain
  bool memory = false;
};

/// Returns nullopt if a word is unknown, or a unit or statistic is given twice.
std::optional<Measurement> parse_measurement(const std::vector<std::string>& words) {
  Measurement all;
  for (const std::string& word : words) {
    const auto* const found = std::ranges::find(measurement_words, word, &Word::text);
    if (found == measurement_words.end()) return std::nullopt;
    const auto once = [&](const Word*& slot) { return std::exchange(slot, found) == nullptr; };
    bool fits = true;
    switch (found->role) {
      case Role::neutral:
        break;
      case Role::time_word:
        all.time = true;
        break;
      case Role::rate_neutral:
        all.only_rate = true;
        break;
      case Role::memory:
        all.memory = true;
        break;
      case Role::unit:
        fits = once(all.unit);
        break;
      case Role::flops:
      case Role::bytes:
        fits = once(all.rate);
        break;
      default:
        fits = once(all.statistic);
    }
    if (!fits) return std::nullopt;
  }
  return all;
}

std::optional<ScaledColumn> rate_column(const Measurement& all) {
  // "GFLOP/s" and "tflop_s" are the words gflop and s.
  if (all.time || (all.unit != nullptr && all.unit->text != "s" && all.unit->text != "sec")) return std::nullopt;
  const bool unused =
      all.statistic != nullptr && all.statistic->role != Role::median && all.statistic->role != Role::mean;
  if (all.rate->role == Role::flops) {
    ScaledColumn column{std::string(metric_key::tflops), std::string(all.rate->text), all.rate->scale};
    if (unused) column.skipped = "spread of a rate";
    return column;
  }
  const bool per_second = all.unit != nullptr || all.rate->text == "gbps" || all.only_rate;
  if (!per_second) return std::nullopt;
  ScaledColumn column{std::string(metric_key::dram_bandwidth), "Gbyte/s", all.rate->scale};
  if (unused) column.skipped = "spread of a rate";
  if (!all.memory) column.skipped = "rate of unknown bytes";
  return column;
}

std::optional<ScaledColumn> measurement_column(std::string_view name) {
  const std::vector<std::string> words = words_in(name);
  const auto all = parse_measurement(words);
  if (!all) return std::nullopt;
  if (all->rate != nullptr) return rate_column(*all);
  const bool bare = words.size() == 1 && words.front() != "s";  // a column "ms"
  if (all->unit == nullptr || all->memory || all->only_rate || (!all->time && !bare && all->statistic == nullptr)) {
    return std::nullopt;
  }
  ScaledColumn column{std::string(time_column::time), std::string(all->unit->text), all->unit->scale};
  if (all->statistic == nullptr) return column;
  switch (all->statistic->role) {
    case Role::median:
      column.name = metric_key::time_median_ns;
      break;
    case Role::mean:
      column.name = time_column::mean;
      break;
    case Role::deviation:
      column.name = time_column::deviation;
      break;
    case Role::q1:
      column.name = metric_key::time_q1_ns;
      break;
    case Role::q3:
      column.name = metric_key::time_q3_ns;
      break;
    default:
      column.skipped = "no metric holds this statistic";
  }
  return column;
}

}  // namespace

std::optional<ScaledColumn> parse_synonym(std::string_view name, const Registry& registry) {
  if (is_counter_name(name)) return std::nullopt;
  std::string joined;
  for (const std::string& word : words_in(name)) joined += (joined.empty() ? "" : "_") + word;
  if (const auto field = find_pair(field_synonyms, joined)) return ScaledColumn{std::string(*field)};
  if (std::ranges::find(unused_values, joined) != unused_values.end()) {
    return ScaledColumn{.name = joined, .skipped = "no metric holds this value"};
  }
  if (auto measured = measurement_column(name)) return measured;
  if (is_known_column(joined, registry)) return ScaledColumn{joined};  // "Batch", "Heads Q"
  return std::nullopt;
}

std::string normalized_value(std::string_view field, std::string_view text) {
  std::string low = lower_case(text);
  if (field == "mask") {
    if (low == "true" || low == "1" || low == "yes" || low == "1.0") return "causal";
    if (low == "false" || low == "0" || low == "no" || low == "0.0") return "full";
  } else if (field == "dtype") {
    for (const std::string_view prefix : {"torch.", "tl."}) {
      if (low.starts_with(prefix)) low.erase(0, prefix.size());
    }
    if (const auto ours = find_pair(dtype_synonyms, low)) return std::string(*ours);
    return find_field(field)->words.end() != std::ranges::find(find_field(field)->words, low) ? low : std::string(text);
  } else if (field == "pass") {
    if (low == "forward") return "fwd";
    if (low == "backward") return "bwd";
  } else if (field == "disposition") {
    std::ranges::replace(low, '_', '-');
    std::ranges::replace(low, ' ', '-');
    return std::string(find_pair(disposition_synonyms, low).value_or(low));
  }
  return std::string(text);
}

}  // namespace attnscope::exchange
