// SPDX-License-Identifier: Apache-2.0
#include "app/compared_sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "app/loaded_points.h"
#include "app/user_kernels.h"
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
    LoadRequest request{.opened = {},
                        .read = [&](const RunStore& store) { sides_.code = log_skipped_rows(store, sides_.code); }};
    std::vector<RunSource> sources;
    for (const Words* words : sides) {
      for (const std::string& word : *words) {
        const std::filesystem::path file(SideArgument(word).file);
        register_stored_kernels(file);
        if (named_.try_emplace(std::filesystem::weakly_canonical(file), file).second) sources.push_back({file});
      }
    }
    if (!noise.empty()) request.noise = read_noise(noise);
    loaded_ = load_runs(sources, request);
    const auto has_noise = [](const analysis::Run& run) { return run.noise != nullptr; };
    if (!noise.empty() && std::ranges::none_of(loaded_.table.runs(), has_noise)) {
      throw CommandError(
          ExitCode::error,
          "{}: its noise floor is of another GPU, driver or day (measure it again with `attnscope doctor "
          "--noise -o FILE`)",
          noise);
    }
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
    for (const Row row : meant) {
      const RunIndex run = loaded_.table.run_index(row);
      const bool of_other = sides_.halves ? is_candidate_side(loaded_.runs[run], loaded_.table.points().place(row))
                                          : run != *runs.begin();
      (of_other ? sides_.other : sides_.base).push_back(row);
    }
    if (sides_.base.empty() || sides_.other.empty()) {
      throw CommandError(ExitCode::error,
                         "'{}' has only one of its two sides: the other was not measured, or the filter excludes it",
                         word.text);
    }
    sides_.base_name = sides_.halves ? format_text("baseline of {}", word.text)
                                     : format_text("{} run {}", word.text, loaded_.table.runs()[*runs.begin()].title);
    sides_.other_name = sides_.halves ? "candidate" : format_text("{}, other runs", word.text);
  }

  void take(const Words& base, const Words& other) {
    sides_.base = rows_of(base);
    sides_.other = rows_of(other);
    sides_.base_name = fmt::format("{}", fmt::join(base, ", "));
    sides_.other_name = fmt::format("{}", fmt::join(other, ", "));
    if (sides_.base != sides_.other) return;
    throw CommandError(
        ExitCode::usage,
        base.front() != other.front()
            ? make_message("{} and {} contain the same points of the same runs: one is a copy of the other",
                           sides_.base_name, sides_.other_name)
            : "baseline and candidate are the same points (set --candidate to FILE, FILE:RUN or FILE:FILTER)");
  }

  ComparedSides finish(const std::string& filter) && {
    const std::vector<Row> fitting = matching_rows(filter, loaded_.table);
    for (std::vector<Row>* rows : {&sides_.base, &sides_.other}) {
      std::erase_if(*rows, [&](Row row) { return !std::ranges::binary_search(fitting, row); });
      require_points(*rows, rows == &sides_.base ? sides_.base_name : sides_.other_name);
      for (const Row row : *rows) {
        sides_.looks = std::max(sides_.looks, interim_analysis_count(loaded_.runs[loaded_.table.run_index(row)]));
      }
    }
    sides_.table = std::move(loaded_.table);
    sides_.files = std::move(loaded_.files);
    return std::move(sides_);
  }

 private:
  std::vector<StoredNoise> read_noise(const std::string& file) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    std::vector<StoredNoise> noise = store.noise();
    if (noise.empty())
      throw CommandError(ExitCode::error, "{} has no noise floor (measure it with `attnscope doctor --noise -o FILE`)",
                         file);
    sides_.code = log_skipped_rows(store, sides_.code);
    return noise;
  }

  [[nodiscard]] std::vector<Row> rows_of(const SideArgument& word) const {
    const std::filesystem::path& file = named_.at(std::filesystem::weakly_canonical(word.file));
    std::int64_t number = 0;
    const char* end = word.rest.data() + word.rest.size();
    const auto [at, error] = std::from_chars(word.rest.data(), end, number);
    const bool one_run = !word.rest.empty() && error == std::errc() && at == end;
    bool found = false;
    for (const auto& [place, run] : loaded_.places) {
      found = found || (place.first == file && place.second == number);
    }
    std::set<Row> held;
    for (const auto& [place, rows] : loaded_.rows_by_run) {
      if (place.first == file && (!one_run || place.second == number)) held.insert(rows.begin(), rows.end());
    }
    if (one_run && !found)
      throw CommandError(ExitCode::error, "{} has no run {} (`attnscope info` lists its runs)", word.file, word.rest);
    std::vector<Row> rows = loaded_.table.rows();
    if (!one_run && !word.rest.empty()) {
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

}  // namespace attnscope
