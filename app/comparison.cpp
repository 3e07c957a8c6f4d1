// SPDX-License-Identifier: Apache-2.0
#include "app/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "app/loaded_points.h"
#include "app/output.h"
#include "app/user_kernels.h"
#include "messages/compare.h"
#include "profiler/compare/recordings.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"
#include "storage/compared_runs.h"
#include "storage/loaded_runs.h"

namespace attnscope {
namespace {

using analysis::Row;
using analysis::RunIndex;
using Words = std::vector<std::string>;

/// "FILE:REST"; FILE is the longest prefix that exists.
struct SideArgument {
  explicit SideArgument(const std::string& word) : text(word), file(word) {
    std::error_code ignored;
    for (std::size_t end = word.size(); end != std::string::npos && end > 0; end = word.rfind(':', end - 1)) {
      if (!std::filesystem::exists(word.substr(0, end), ignored)) continue;
      file = word.substr(0, end);
      rest = end < word.size() ? word.substr(end + 1) : "";
      return;
    }  // the error is reported when the file is opened
  }
  std::string text;
  std::string file;
  std::string rest;
};

void require_points(const std::vector<Row>& rows, const std::string& side) {
  if (rows.empty())
    throw CommandError(ExitCode::error, "nothing to compare in '{}': it has no points, or its filter matches none",
                       side);
}

class Loader {
 public:
  explicit Loader(const std::string& noise, std::span<const Words* const> sides) {
    StatusLine status;
    LoadRequest request = load_request(status, sides_.code);
    std::vector<RunSource> sources;
    for (const Words* words : sides) {
      for (const std::string& word : *words) {
        const std::filesystem::path file(SideArgument(word).file);
        register_stored_kernels(file);
        if (named_.try_emplace(std::filesystem::weakly_canonical(file), file).second) sources.push_back({file});
      }
    }
    if (!noise.empty()) request.noise = read_noise(noise, sides_.code);
    loaded_ = load_runs(sources, request);
    if (!noise.empty()) require_noise(loaded_, noise);
    for (const RunSummary& run : loaded_.runs) sides_.conditions.push_back(run_conditions(run));
  }

  /// Takes both sides from one file: the two sides of its runs, or its first run and the others.
  void split(const SideArgument& word) {
    const std::vector<Row> meant = rows_of(word);
    require_points(meant, word.text);
    std::set<RunIndex> runs;
    for (const Row row : meant) runs.insert(loaded_.table.run_index(row));
    sides_.halves = std::ranges::all_of(runs, [&](RunIndex run) { return has_two_sides(loaded_.runs[run]); });
    if (!sides_.halves && runs.size() < 2) {
      throw CommandError(ExitCode::usage,
                         "{} has only one run (give a candidate with --candidate FILE, FILE:RUN or FILE:FILTER)",
                         word.text);
    }
    std::map<RunIndex, std::vector<Row>> others;
    for (const Row row : meant) {
      const RunIndex run = loaded_.table.run_index(row);
      const bool of_other = sides_.halves ? is_candidate_side(loaded_.runs[run], loaded_.table.points().place(row))
                                          : run != *runs.begin();
      (of_other ? others[sides_.halves ? 0 : run] : sides_.base).push_back(row);
    }
    if (sides_.base.empty() || others.empty()) {
      throw CommandError(ExitCode::error,
                         "'{}' has only one of its two sides: the other was not measured, or the filter excludes it",
                         word.text);
    }
    if (sides_.halves) {
      sides_.base_name = format_text("baseline of {}", name_of(word.text));
      sides_.candidates = {{"candidate", std::move(others.begin()->second)}};
      return;
    }
    sides_.base_name = run_name(name_of(word.text), *runs.begin());
    std::vector<std::vector<Row>> sources;
    Words names;
    for (auto& [run, rows] : others) {
      names.push_back(run_name(name_of(word.text), run));
      sources.push_back(std::move(rows));
    }
    add_candidates(names, sources);
  }

  void take(const Words& base, const Words& other) {
    sides_.base_name = fmt::format("{}", fmt::join(names_of(base), ", "));
    take_baseline(rows_of(base));
    std::vector<std::vector<Row>> sources;
    for (const std::string& word : other) sources.push_back(rows_of(Words{word}));
    add_candidates(names_of(other), sources);
    const std::string name = sides_.candidates.front().name;
    std::erase_if(sides_.candidates, [&](const auto& candidate) { return candidate.rows == sides_.base; });
    if (!sides_.candidates.empty()) return;
    throw CommandError(
        ExitCode::usage,
        base.front() != other.front()
            ? make_message("{} and {} contain the same points of the same runs: one is a copy of the other",
                           sides_.base_name, name)
            : "baseline and candidate are the same points (set --candidate to FILE, FILE:RUN or FILE:FILTER)");
  }

  ComparedSides finish(const std::string& filter) && {
    const std::vector<Row> fitting = matching_rows(filter, loaded_.table);
    const auto finish_side = [&](std::vector<Row>& rows, const std::string& name) {
      std::erase_if(rows, [&](Row row) { return !std::ranges::binary_search(fitting, row); });
      require_points(rows, name);
      for (const Row row : rows) {
        sides_.looks = std::max(sides_.looks, interim_analysis_count(loaded_.runs[loaded_.table.run_index(row)]));
      }
    };
    finish_side(sides_.base, sides_.base_name);
    for (ComparedSides::Candidate& candidate : sides_.candidates) finish_side(candidate.rows, candidate.name);
    sides_.table = std::move(loaded_.table);
    sides_.files = std::move(loaded_.files);
    return std::move(sides_);
  }

 private:
  /// Returns the argument without folder and extension of its file, unless another file has the same name.
  [[nodiscard]] std::string name_of(const std::string& word) const {
    const SideArgument argument(word);
    const auto stem = [](const std::filesystem::path& file) { return file.stem().string(); };
    const auto same = [&](const auto& named) { return stem(named.second) == stem(argument.file); };
    if (std::ranges::count_if(named_, same) > 1) return word;
    return stem(argument.file) + (argument.rest.empty() ? "" : ":" + argument.rest);
  }
  [[nodiscard]] Words names_of(const Words& words) const {
    Words names;
    for (const std::string& word : words) names.push_back(name_of(word));
    return names;
  }

  [[nodiscard]] std::string run_name(const std::string& word, RunIndex run) const {
    return format_text("{} run {}", word, loaded_.table.runs()[run].title);
  }

  void take_baseline(std::vector<Row> rows) {
    const std::vector<analysis::RecordingGroup> groups = analysis::group_recordings(loaded_.table, std::array{rows});
    if (groups.size() > 1) {
      Words names;
      for (const Message& each : groups[1].differences) names.push_back(english_text(each));
      throw CommandError(ExitCode::usage,
                         "the baseline's recordings are not known to repeat one another: {} and {} may differ in {} "
                         "(choose one with FILE:RUN)",
                         run_name(loaded_.files[groups[0].runs.front()], groups[0].runs.front()),
                         run_name(loaded_.files[groups[1].runs.front()], groups[1].runs.front()),
                         fmt::join(names, ", "));
    }
    sides_.base = std::move(rows);
    sides_.base_name = groups.front().title(sides_.base_name);
  }

  /// Adds one candidate per group of recordings. `names`: of the sources.
  void add_candidates(const Words& names, const std::vector<std::vector<Row>>& sources) {
    const std::vector<analysis::RecordingGroup> groups = analysis::group_recordings(loaded_.table, sources);
    for (const analysis::RecordingGroup& group : groups) {
      Words parts;
      for (const std::size_t source : group.sources) {
        const auto split = std::ranges::count_if(
            groups, [&](const auto& each) { return std::ranges::count(each.sources, source) > 0; });
        parts.push_back(split > 1 ? run_name(names[source], group.runs.front()) : names[source]);
      }
      sides_.candidates.push_back({group.title(fmt::format("{}", fmt::join(parts, ", "))), group.rows});
    }
  }

  [[nodiscard]] std::vector<Row> rows_of(const SideArgument& word) const {
    const std::filesystem::path& file = named_.at(std::filesystem::weakly_canonical(word.file));
    const auto run = whole_number<std::int64_t>(word.rest);
    const auto is_meant = [&](const auto& each) {
      return each.first.first == file && (!run || each.first.second == *run);
    };
    std::set<Row> held;
    for (const auto& each : loaded_.rows_by_run) {
      if (is_meant(each)) held.insert(each.second.begin(), each.second.end());
    }
    if (run && std::ranges::none_of(loaded_.places, is_meant))
      throw CommandError(ExitCode::error, "{} has no run {} (`attnscope info` lists its runs)", word.file, word.rest);
    std::vector<Row> rows = loaded_.table.rows();
    if (!run && !word.rest.empty()) {
      const Result<analysis::PointQuery, Message> query = analysis::PointQuery::parse(word.rest, loaded_.table);
      if (!query) throw CommandError(ExitCode::usage, "'{}': {}", word.text, query.error());
      rows = query->rows(loaded_.table);
    }
    std::erase_if(rows, [&](Row row) { return !held.contains(row); });
    return rows;
  }
  [[nodiscard]] std::vector<Row> rows_of(const Words& words) const {
    std::set<Row> rows;
    for (const std::string& word : words) {
      const std::vector<Row> of_word = rows_of(SideArgument(word));
      require_points(of_word, word);
      rows.insert(of_word.begin(), of_word.end());
    }
    return {rows.begin(), rows.end()};
  }

  LoadedRuns loaded_;
  ComparedSides sides_;
  std::map<std::filesystem::path, std::filesystem::path> named_;  // file names as given, by canonical path
};

using analysis::ComparisonView;
using analysis::Verdict;

/// Names of the view's candidates.
std::string candidate_names(const ComparisonView& view) {
  std::string names;
  for (const auto& side : view.sides) names += (names.empty() ? "" : ", ") + side->name;
  return names;
}

std::string title_of(const ComparedSides& sides, const ComparisonView& view) {
  return format_text("{} compared with {}", candidate_names(view), printable(sides.base_name));
}

std::vector<std::string> notes_of(const ComparisonView& view) {
  std::vector<std::string> notes;
  for (const auto* part : {&view.method, &view.spreads}) {
    for (const Message& note : *part) notes.push_back(text(note));
  }
  return notes;
}

/// Returns the rows of one candidate, or one column for each of several.
analysis::FactoredTable rows_for_people(const ComparisonView& view) {
  if (view.sides.size() > 1) return candidates_table(view);
  analysis::FactoredTable rows = comparison_table(view, view.worst_first());
  rows.table.drop("differs");  // summed up above
  const auto by_clocks = [](const analysis::ComparisonLine& line) {
    return line.pair->verdict.undecided == analysis::Undecided::clocks;
  };
  if (std::ranges::none_of(view.lines(ComparisonView::Lines::pairs), by_clocks)) rows.table.drop("cycles_ratio");
  rows.table.drop_empty_columns();
  return rows;
}

void print_for_people(const ComparisonView& view, Output& out) {
  for (std::size_t i = 0; i < view.sides.size(); ++i) out.line(text(view.select_side(i).answer));
  for (const Message& words : {view.tally, view.differences}) {
    if (!words.empty()) out.line(text(words));
  }
  for (const Message& words : view.evidence) out.line(text(words));
  out.blank_line();
  if (view.answers.size() > 1) {
    out.table(answer_table(view));
    out.blank_line();
  }
  if (view.pairs() > 0) {
    const analysis::FactoredTable rows = rows_for_people(view);
    if (!rows.common.empty()) out.line(text(rows.common));
    out.table(rows.table);
    out.blank_line();
  }
  if (view.left_out > 0) {
    out.heading("Not compared");
    out.table(skipped_summary(view));
    out.blank_line();
  }
  for (const std::string& note : notes_of(view)) out.line(note);
  if (!view.decide.empty()) out.line(text(view.decide));
}

/// A point that ran only on the baseline's side is an error; an undecided or unmatched point is skipped.
void print_junit(const ComparedSides& sides, const ComparisonView& view,
                 const std::vector<const analysis::ComparedPair*>& failing) {
  const analysis::PointTable& points = sides.table;
  enum Outcome : std::size_t { passed, failure, error, skipped };
  constexpr std::array elements{"<system-out>{}</system-out>", "<failure message=\"{}\"/>", "<error message=\"{}\"/>",
                                "<skipped message=\"{}\"/>"};
  std::array<std::size_t, elements.size()> counts{};
  std::string cases;
  const auto add = [&](Outcome outcome, analysis::Row row, const std::string& side, const std::string& message) {
    ++counts.at(outcome);
    const PointSpec spec = points.spec(row);
    cases +=
        fmt::format("<testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", markup(spec.algorithm),
                    markup(describe(spec) + side), fmt::format(fmt::runtime(elements.at(outcome)), markup(message)));
  };
  for (const analysis::ComparisonLine& line : view.lines(ComparisonView::Lines::all)) {
    const std::string candidate = view.sides.size() > 1 ? ", " + view.sides[line.side]->name : std::string();
    if (line.pair != nullptr) {
      const analysis::RowVerdict& row = line.pair->verdict;
      const bool fails = std::ranges::find(failing, line.pair) != failing.end();
      add(fails                               ? failure
          : row.verdict == Verdict::ambiguous ? skipped
                                              : passed,
          line.pair->other.front(), candidate,
          fmt::format("{} {}", to_string(row.verdict), analysis::ratio_text(row.time)));
    } else {
      add(newly_failed(points, *line.left) > 0 ? error : skipped, line.left->rows.front(),
          (line.left->of_other ? " (candidate)" : " (baseline)") + candidate, text(skip_reason(points, *line.left)));
    }
  }
  std::cout << fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
      markup(title_of(sides, view)), counts[passed] + counts[failure] + counts[error] + counts[skipped],
      counts[failure], counts[error], counts[skipped], cases);
}

void print_json(const ComparedSides& sides, const ComparisonView& view, Output& out) {
  nlohmann::ordered_json document;
  document["baseline"] = sides.base_name;
  document["candidate"] = candidate_names(view);
  document["aligned"] = view.sides.front()->alignment.keywords();
  document["tiles"] = to_string(view.sides.front()->alignment.tiles);
  document["margin"] = view.margin;
  document["level"] = view.level;
  document["head"] = text(view.answer);
  document["notes"] = notes_of(view);
  document["command"] = view.command;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    document["counts"][std::string(to_string(verdict))] = view.count(verdict);
  }
  document["counts"]["skipped"] = view.left_out;
  document["answers"] = rows_of(answer_data(view));
  document["differences"] = rows_of(difference_data(view.sides.front()->result));
  for (std::size_t i = 0; view.sides.size() > 1 && i < view.sides.size(); ++i) {
    document["candidates"].push_back({{"candidate", view.sides[i]->name},
                                      {"head", text(view.select_side(i).answer)},
                                      {"aligned", view.sides[i]->alignment.keywords()},
                                      {"answers", rows_of(answer_data(view.select_side(i)))},
                                      {"differences", rows_of(difference_data(view.sides[i]->result))}});
  }
  if (view.sides.size() > 1) document["points"] = rows_of(candidates_data(view));
  document["rows"] = rows_of(comparison_data(view, sides.files));
  out.object(std::move(document), "attnscope-comparison");
}

}  // namespace

ComparedSides compared_sides(std::vector<std::string> base, std::vector<std::string> other, const std::string& noise,
                             const std::string& filter) {
  if (other.empty() && base.size() > 1) {
    other.assign(base.begin() + 1, base.end());
    base.resize(1);
  }
  Loader files(noise, std::array<const Words*, 2>{&base, &other});
  other.empty() ? files.split(SideArgument(base.front())) : files.take(base, other);
  return std::move(files).finish(filter);
}

void add_tiles_option(CLI::App& command, std::optional<analysis::ComparedTiles>& tiles) {
  std::vector<std::string> words;
  words.reserve(std::size(analysis::tile_choices));
  for (const analysis::ComparedTiles each : analysis::tile_choices) words.emplace_back(to_string(each));
  command
      .add_option_function<std::string>(
          "--tiles", [&tiles](const std::string& word) { tiles = analysis::parse_compared_tiles(word); },
          "Tiles to compare: best (each side's fastest correct one), automatic or equal (default: equal if both sides "
          "have one GPU model and share a tile of an algorithm, else best)")
      ->check(CLI::IsMember(words));
}

ComparisonView view_of(const ComparedSides& sides, const std::vector<std::string>& align, double margin_percent,
                       std::optional<analysis::ComparedTiles> tiles) {
  analysis::ViewRequest request{.sides = {},
                                .margin = margin_percent > 0 ? std::optional(margin_percent / 100) : std::nullopt,
                                .looks = sides.looks,
                                .conditions = sides.conditions,
                                .hide_unmatched = true};
  for (const ComparedSides::Candidate& candidate : sides.candidates) {
    const Result<analysis::Alignment, Message> alignment =
        sides.halves && align.empty() && !tiles
            ? analysis::infer_alignment(sides.table, sides.base, candidate.rows)
            : analysis::parse_alignment(align, sides.table, sides.base, candidate.rows, tiles);
    if (!alignment) throw CommandError(ExitCode::usage, alignment.error());
    request.sides.push_back({.base_name = printable(sides.base_name),
                             .name = printable(candidate.name),
                             .base = sides.base,
                             .other = candidate.rows,
                             .alignment = *alignment});
  }
  return analysis::view_of(sides.table, request);
}

void print(const ComparedSides& sides, const ComparisonView& view, Output& out,
           const std::vector<const analysis::ComparedPair*>& failing) {
  if (out.has_format("json")) return print_json(sides, view, out);
  if (out.has_format("junit")) return print_junit(sides, view, failing);
  if (out.has_format("csv")) return out.table(comparison_data(view, sides.files));
  print_for_people(view, out);
}

}  // namespace attnscope
