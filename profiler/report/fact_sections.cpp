// SPDX-License-Identifier: Apache-2.0
// What was measured with, what did not run, how to do it again, and every point.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/statement.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/text.h"
#include "profiler/predict/speed_of_light.h"
#include "profiler/report/sections.h"
#include "profiler/units/spelling.h"

namespace attnscope::report {
namespace {

using analysis::Row;
using analysis::RunIndex;

struct OfRun {
  std::size_t points = 0;
  std::size_t ok = 0;
  std::size_t throttled = 0;
  std::size_t least_samples = 0;
  std::size_t most_samples = 0;
  double worst_error = 0;  ///< of its own bound
  std::size_t judged = 0;
  double low_clock = 0;
  double high_clock = 0;
  std::set<std::string> caches;
  std::set<std::string> digests;
  std::map<std::shared_ptr<const KernelStatement>, std::string> statements;  ///< of users' kernels, by algorithm
};

std::vector<OfRun> look_at_runs(const Input& input) {
  std::vector<OfRun> runs(input.table.runs().size());
  for (const Row row : input.table.rows()) {
    OfRun& run = runs[input.table.run_index(row)];
    const PointFacts& facts = input.points[row];
    ++run.points;
    if (input.table.disposition(row) == Disposition::ok) ++run.ok;
    if (input.table.throttled(row)) ++run.throttled;
    if (facts.samples > 0) {
      run.least_samples = run.most_samples == 0 ? facts.samples : std::min(run.least_samples, facts.samples);
      run.most_samples = std::max(run.most_samples, facts.samples);
    }
    if (facts.max_abs_error && facts.error_bound && *facts.error_bound > 0) {
      ++run.judged;
      run.worst_error = std::max(run.worst_error, *facts.max_abs_error / *facts.error_bound);
    }
    if (facts.sm_clock_hz && *facts.sm_clock_hz > 0) {
      run.low_clock = run.high_clock == 0 ? *facts.sm_clock_hz : std::min(run.low_clock, *facts.sm_clock_hz);
      run.high_clock = std::max(run.high_clock, *facts.sm_clock_hz);
    }
    run.caches.emplace(to_string(input.table.spec(row).cache));
    run.digests.insert(facts.digests.begin(), facts.digests.end());
    if (facts.statement) run.statements.try_emplace(facts.statement, input.table.spec(row).algorithm);
  }
  return runs;
}

std::string between(double low, double high, std::string_view unit) {
  if (unit.empty()) return low == high ? exact_text(low) : fmt::format("{} – {}", exact_text(low), exact_text(high));
  return low == high ? fmt::format("{} {}", exact_text(low), unit)
                     : fmt::format("{} – {} {}", exact_text(low), exact_text(high), unit);
}

/// One digest of all sources that ran, so that two runs are seen to be of the same kernels.
std::string digest_text(const OfRun& run) {
  if (run.digests.empty()) return {};
  if (run.digests.size() == 1) return *run.digests.begin();
  return text(
      say::report::digests{.count = run.digests.size(), .first = *run.digests.begin(), .last = *run.digests.rbegin()});
}

std::string statements_text(const OfRun& run) {
  std::set<std::string> words;
  for (const auto& [statement, algorithm] : run.statements) {
    words.insert(fmt::format("{} {}", algorithm, describe(*statement)));
  }
  return joined(words);
}

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What runs of one session have in common.
Facts shared_facts(const Context& context, RunIndex index) {
  const analysis::Run& run = context.table().runs()[index];
  const RunFacts& facts = context.input.runs[index];
  Facts all;
  const auto add = [&](const Message& label, const std::string& value) {
    if (!value.empty()) all.emplace_back(text(label), value);
  };
  add(say::report::fact_gpu{}, fmt::format("{} ({})", run.device_name, run.device_id));
  add(say::report::fact_origin{}, origin_text(run.provenance));
  add(say::report::fact_because{}, facts.simulated_because);
  add(say::report::fact_l2{}, facts.l2_from);
  add(say::report::fact_rates{}, facts.rates_from);
  add(say::report::fact_program{}, facts.program);
  add(say::report::fact_driver{}, facts.driver);
  add(say::report::fact_cupti{}, facts.counters ? facts.cupti : text(say::report::no_counters{}));
  add(say::report::fact_nvrtc{}, facts.nvrtc);
  add(say::report::fact_system{}, facts.system);
  // What is simulated or imported was not sampled here, whatever the run's options say.
  const bool sampled = run.provenance == Provenance::measured;
  if (sampled && facts.max_samples > 0) {
    add(say::report::fact_sampling{},
        text(say::report::sampling{
            .least = facts.min_samples, .most = facts.max_samples, .noise = text(Share(facts.max_noise))}));
  }
  if (sampled) add(say::report::fact_rounds{}, fmt::format("{}", facts.rounds));
  return all;
}

std::vector<Cell> row_of_run(const Context& context, RunIndex index, const OfRun& seen) {
  const analysis::Run& run = context.table().runs()[index];
  const RunFacts& facts = context.input.runs[index];
  const bool measured = run.provenance == Provenance::measured;
  const std::string samples = measured && seen.most_samples > 0 ? between(static_cast<double>(seen.least_samples),
                                                                          static_cast<double>(seen.most_samples), "")
                                                                : "";
  const std::string clock =
      seen.high_clock > 0 ? between(std::round(seen.low_clock / 1e6), std::round(seen.high_clock / 1e6), "MHz") : "";
  const std::string oracle =
      seen.judged > 0 ? text(say::report::oracle{.points = seen.judged, .share = number_text(seen.worst_error)})
                      : text(say::report::not_judged{});
  return {{run.title},
          {fmt::format("{} ({})", facts.started_at, facts.state)},
          {text(say::report::points_ok{.points = seen.points, .ok = seen.ok})},
          {samples},
          {clock},
          // What was not measured held no clocks.
          {measured ? fmt::format("{}", seen.throttled) : ""},
          {joined(seen.caches)},
          {oracle},
          {digest_text(seen)},
          {statements_text(seen)}};
}

/// "prefix/folder/file" is "prefixfile".
std::string file_alone(const std::string& word, std::size_t prefix) {
  return word.substr(0, prefix) + word.substr(word.find_last_of('/') + 1);
}

/// "/folder/file", "--output=/folder/file" and "-o/folder/file" without the folder.
std::string without_folder(const std::string& word) {
  if (word.starts_with('/')) return file_alone(word, 0);
  const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 2;
  const bool of_option = word.size() > 2 && word.starts_with('-') && value > 0 && word.substr(value).starts_with('/');
  return of_option ? file_alone(word, value) : word;
}

std::string command_of(const std::vector<std::string>& argv) {
  std::string line;
  for (std::size_t k = 0; k < argv.size(); ++k) {
    // Where the program and its files lay on that machine says nothing to another.
    const std::string word = k == 0 ? file_alone(argv[k], 0) : without_folder(argv[k]);
    if (k > 0) line += ' ';
    line += shell_quoted(word);
  }
  return line;
}

}  // namespace

std::vector<Block> environment_section(const Context& context) {
  const std::vector<OfRun> seen = look_at_runs(context.input);
  std::vector<std::pair<Facts, std::string>> groups;
  Table runs{text(say::report::runs_caption{}),
             {{text(say::report::column_run{})},
              {text(say::report::fact_started{})},
              {text(say::report::fact_points{})},
              {text(say::report::fact_samples{})},
              {text(say::report::fact_clock{})},
              {text(say::report::fact_throttled{}), true},
              {text(say::report::fact_cache{})},
              {text(say::report::fact_oracle{})},
              {text(say::report::fact_digest{})},
              {text(say::report::fact_statement{})}},
             {}};
  for (RunIndex run = 0; run < seen.size(); ++run) {
    if (seen[run].points == 0) continue;
    const Facts facts = shared_facts(context, run);
    const std::string& title = context.table().runs()[run].title;
    const auto group = std::ranges::find(groups, facts, &std::pair<Facts, std::string>::first);
    if (group == groups.end()) {
      groups.emplace_back(facts, title);
    } else {
      group->second += ", " + title;
    }
    runs.rows.push_back(row_of_run(context, run, seen[run]));
  }
  std::vector<Block> blocks;
  for (const auto& [facts, titles] : groups) {
    Table table{text(say::report::run_caption{.runs = titles}),
                {{text(say::report::column_fact{})}, {text(say::report::column_value{})}},
                {}};
    for (const auto& [label, value] : facts) table.rows.push_back({{label}, {value}});
    blocks.emplace_back(std::move(table));
  }
  runs.drop_empty_columns();
  blocks.emplace_back(std::move(runs));
  if (context.input.fuller_copies > 0)
    blocks.emplace_back(plain(say::report::fuller_copies{.points = context.input.fuller_copies}));
  std::map<std::string, std::size_t> notes;
  for (const Row row : context.table().rows()) {
    const Message& note = context.table().reason(row);
    if (context.table().disposition(row) == Disposition::ok && !note.empty()) ++notes[text(note)];
  }
  for (const auto& [note, count] : notes) blocks.emplace_back(plain(say::report::noted{.count = count, .note = note}));
  add_ceilings(context, blocks);
  add_trust(context, blocks);
  return blocks;
}

std::vector<Block> units_section(const Context& context) {
  Table table{text(say::report::units_caption{.percent = fmt::format("{:.0f}", 100 * analysis::busy_share)}),
              {{text(say::report::column_row{}), true},
               {text(say::report::column_point{}), false, true},
               {text(say::report::column_busiest{})},
               {text(say::report::column_use{}), true},
               {text(say::report::column_counted_bound{})},
               {text(say::report::column_waits{}), false, true}},
              {}};
  for (const Row row : context.table().rows()) {
    const PointFacts& facts = context.input.points[row];
    if (!facts.bound || context.table().disposition(row) != Disposition::ok) continue;
    const analysis::UnitUse& busiest = facts.bound->busiest;
    std::vector<std::string> stalls;
    for (const analysis::UnitUse& stall : facts.stalls) {
      stalls.push_back(fmt::format("{} {:.2f}", text(stall.metric->label()), stall.value));
    }
    table.rows.push_back({{row_name(row), row},
                          {describe(context.table().spec(row))},
                          {text(busiest.metric->label())},
                          {fmt::format("{:.1f}%", busiest.value)},
                          {text(analysis::words_of(busiest, facts.bound->binds))},
                          {fmt::format("{}", fmt::join(stalls, ", "))}});
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

std::vector<Block> failures_section(const Context& context) {
  Table table{text(say::report::failures_caption{}),
              {{text(say::report::column_row{}), true},
               {text(say::report::column_point{}), false, true},
               {text(say::report::column_outcome{})},
               {text(say::report::column_reason{}), false, true}},
              {}};
  for (const Row row : context.table().rows()) {
    if (context.table().disposition(row) == Disposition::ok) continue;
    table.rows.push_back({{row_name(row), row},
                          {describe(context.table().spec(row))},
                          {text(title(context.table().disposition(row)))},
                          {text(context.table().reason(row))}});
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

std::vector<Block> commands_section(const Context& context) {
  Commands commands;
  for (const RunFacts& run : context.input.runs) {
    const std::string line = command_of(run.argv);
    if (!line.empty() && std::ranges::count(commands.lines, line) == 0) commands.lines.push_back(line);
  }
  if (commands.lines.empty()) return {};
  return {plain(say::report::commands_caption{}), std::move(commands)};
}

std::vector<Block> appendix_section(const Context& context) {
  const analysis::PointTable& points = context.table();
  const analysis::ValueColumn& time = points.values(metric_key::time_median_ns);
  const analysis::ValueColumn& q1 = points.values(metric_key::time_q1_ns);
  const analysis::ValueColumn& q3 = points.values(metric_key::time_q3_ns);
  const analysis::ValueColumn& rate = points.values(metric_key::tflops);
  const analysis::ValueColumn& dram = points.dram_traffic();
  const analysis::ValueColumn& sm_l2 = points.values(metric_key::l2_sm_bytes);
  const analysis::ValueColumn& over = points.values(metric_key::l2_sm_over_model);
  Table table{text(say::report::appendix_caption{}),
              {{text(say::report::column_row{}), true},
               {text(say::report::column_run{})},
               {text(say::report::column_point{}), false, true},
               {"N", true},
               {"d", true},
               {text(say::report::column_outcome{})},
               {text(say::report::column_time{}), true},
               {text(say::report::column_q1{}), true},
               {text(say::report::column_q3{}), true},
               {"TFLOP/s", true},
               {text(say::report::column_dram{}), true},
               {text(say::report::column_sm_l2{}), true},
               {text(say::report::column_over{}), true},
               {text(say::report::column_origin{})}},
              {}};
  const auto value = [](const analysis::ValueColumn& of, Row row) {
    return Cell{of.has(row) ? exact_text(of.value(row)) : ""};
  };
  // A tenth of a nanosecond is less than any clock tells; exports have all digits.
  const auto nanoseconds = [](const analysis::ValueColumn& of, Row row) {
    return Cell{of.has(row) ? fmt::format("{:.1f}", of.value(row)) : ""};
  };
  for (const Row row : points.rows()) {
    table.anchors.push_back(row);
    const bool rated = rate.has(row);
    const bool several = context.input.points[row].samples > 1;  // one sample has no quartiles
    table.rows.push_back(
        {{row_name(row)},
         {points.run(row).title},
         {describe(points.spec(row))},
         {analysis::lengths_text(points.problem(row)), std::nullopt, static_cast<double>(points.n_k(row))},
         {std::to_string(points.problem(row).d)},
         {text(title(points.disposition(row)))},
         nanoseconds(time, row),
         several ? nanoseconds(q1, row) : Cell{},
         several ? nanoseconds(q3, row) : Cell{},
         {rated ? number_text(rate.value(row)) : ""},
         value(dram, row),
         value(sm_l2, row),
         {over.has(row) ? fmt::format("{:.4f}", over.value(row)) : ""},
         {analysis::has_values(points.disposition(row))
              ? origin_text(points.points().origin(row), points.throttled(row))
              : ""}});
  }
  return {std::move(table)};
}

}  // namespace attnscope::report
