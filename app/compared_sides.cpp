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
#include "app/own_kernels.h"
#include "profiler/points/point_query.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::Row;
using analysis::RunIndex;
using Words = std::vector<std::string>;

/// "FILE:REST": the longest beginning that is a file.
struct SideWord {
  explicit SideWord(const std::string& word) : text(word), file(word) {
    std::error_code ignored;
    for (std::size_t end = word.size(); end != std::string::npos && end > 0; end = word.rfind(':', end - 1)) {
      if (!std::filesystem::exists(word.substr(0, end), ignored)) continue;
      file = word.substr(0, end);
      rest = end < word.size() ? word.substr(end + 1) : "";
      return;
    }  // a missing file fails when it is opened
  }
  std::string text;
  std::string file;
  std::string rest;
};

void require_points(const std::vector<Row>& rows, const std::string& side) {
  if (rows.empty())
    throw CommandError(ExitCode::error, "nothing to compare in '{}': it holds no points, or its filter fits none",
                       side);
}

class Loader {
 public:
  /// Reads the files of these words.
  explicit Loader(const std::string& noise, std::span<const Words* const> sides) {
    for (const Words* words : sides) {
      for (const std::string& word : *words) know_kernels_of(SideWord(word).file);
    }
    if (!noise.empty()) read_noise(noise);
    for (const Words* words : sides) {
      for (const std::string& word : *words) read(SideWord(word).file);
    }
    for (RunIndex run = 0; run < summaries_.size(); ++run) builder_.run(run).noise = noise_for(summaries_[run], noise_);
    for (const Kept& point : kept_) builder_.add(point.run, point.record, point.index);
    sides_.table = std::move(builder_).finish();
    const auto has_noise = [](const analysis::Run& run) { return run.noise != nullptr; };
    if (!noise.empty() && std::ranges::none_of(sides_.table.runs(), has_noise)) {
      throw CommandError(ExitCode::error,
                         "{}: its noise is of another GPU, driver or day than what is compared; measure it anew by "
                         "`attnscope doctor --noise -o FILE`",
                         noise);
    }
  }

  /// Both sides from one word: the two of its runs, or its first run against the others.
  void split(const SideWord& word) {
    const std::vector<Row> meant = rows_of(word);
    require_points(meant, word.text);
    std::set<RunIndex> runs;
    for (const Row row : meant) runs.insert(sides_.table.run_index(row));
    sides_.halves = std::ranges::all_of(runs, [&](RunIndex run) { return has_two_sides(summaries_[run]); });
    if (!sides_.halves && runs.size() < 2) {
      throw CommandError(ExitCode::usage,
                         "{} holds one run only; give the other side with --with, as FILE, FILE:RUN or FILE:FILTER",
                         word.text);
    }
    for (const Row row : meant) {
      const RunIndex run = sides_.table.run_index(row);
      const bool of_other = sides_.halves ? of_other_side(summaries_[run], kept_[row].index) : run != *runs.begin();
      (of_other ? sides_.other : sides_.base).push_back(row);
    }
    if (sides_.base.empty() || sides_.other.empty()) {
      throw CommandError(
          ExitCode::error,
          "'{}' holds one of its two sides only: the other was never measured, or the filter leaves it out", word.text);
    }
    sides_.base_name = sides_.halves ? format_text("{}, its first side", word.text)
                                     : format_text("{}, run {}", word.text, sides_.table.runs()[*runs.begin()].title);
    sides_.other_name = sides_.halves ? "its second side" : format_text("{}, other runs", word.text);
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
            ? make_message("{} and {} hold the same points of the same runs: one is a copy of the other",
                           sides_.base_name, sides_.other_name)
            : "both sides are the same points; give the other side with --with, as FILE, FILE:RUN or FILE:FILTER");
  }

  ComparedSides finish(const std::string& filter) && {
    const std::vector<Row> fitting = rows_that_fit(filter, sides_.table);
    for (std::vector<Row>* rows : {&sides_.base, &sides_.other}) {
      std::erase_if(*rows, [&](Row row) { return !std::ranges::binary_search(fitting, row); });
      require_points(*rows, rows == &sides_.base ? sides_.base_name : sides_.other_name);
      for (const Row row : *rows) {
        sides_.looks = std::max(sides_.looks, looks_of(summaries_[sides_.table.run_index(row)]));
      }
    }
    return std::move(sides_);
  }

 private:
  void read_noise(const std::string& file) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    noise_ = store.noise();
    if (noise_.empty())
      throw CommandError(ExitCode::error,
                         "{}: no recordings' noise is kept there; `attnscope doctor --noise -o FILE` measures it",
                         file);
    sides_.code = with_skipped_rows(store, sides_.code);
  }

  void read(const std::string& file) {
    const auto [place, first_time] = files_.try_emplace(std::filesystem::weakly_canonical(file).string());
    if (!first_time) return;
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    std::map<std::int64_t, RunIndex> runs;
    for (const RunSummary& run : store.runs()) {
      const std::string uid = run.uid.empty() ? fmt::format("{} of {}", run.id, file) : run.uid;
      const auto [known, first] = runs_.try_emplace(uid);
      if (first) {
        analysis::Run row = analysis_run(run);
        set_rounds(run, row);
        known->second = builder_.add_run(std::move(row));
        sides_.conditions.push_back(conditions_of(run));
        sides_.files.push_back(file);
        summaries_.push_back(run);
      }
      runs[run.id] = known->second;
      place->second[run.id];
    }
    for (StoredPoint& point : store.points()) {
      const auto run = runs.find(point.run_id);
      if (run == runs.end()) continue;
      const auto [known, first] = points_.try_emplace({run->second, point.index}, static_cast<Row>(kept_.size()));
      if (first) {
        kept_.push_back({run->second, point.index, std::move(point.record)});
      } else if (point.record.rounds.size() > kept_[known->second].record.rounds.size()) {
        kept_[known->second].record = std::move(point.record);  // the copy that was read before has fewer
        sides_.files[run->second] = file;
      }
      place->second[point.run_id].push_back(known->second);
    }
    for (StoredNoise& set : store.noise()) noise_.push_back(std::move(set));
    sides_.code = with_skipped_rows(store, sides_.code);
  }

  [[nodiscard]] std::vector<Row> rows_of(const SideWord& word) const {
    const std::map<std::int64_t, std::vector<Row>>& runs =
        files_.at(std::filesystem::weakly_canonical(word.file).string());
    std::int64_t run = 0;
    const char* end = word.rest.data() + word.rest.size();
    const auto [at, error] = std::from_chars(word.rest.data(), end, run);
    if (!word.rest.empty() && error == std::errc() && at == end) {
      const auto found = runs.find(run);
      if (found != runs.end()) return found->second;
      throw CommandError(ExitCode::error, "{} has no run {}; `attnscope info` lists its runs", word.file, word.rest);
    }
    std::vector<Row> rows;
    for (const auto& [id, of_run] : runs) rows.insert(rows.end(), of_run.begin(), of_run.end());
    if (word.rest.empty()) return rows;
    const Result<analysis::PointQuery, Message> query = analysis::PointQuery::parse(word.rest, sides_.table);
    if (!query) throw CommandError(ExitCode::usage, "'{}': {}", word.text, query.error());
    std::vector<Row> fitting = query->rows(sides_.table);
    const std::set<Row> known(rows.begin(), rows.end());
    std::erase_if(fitting, [&](Row row) { return !known.contains(row); });
    return fitting;
  }
  [[nodiscard]] std::vector<Row> rows_of(const Words& words) const {
    std::set<Row> rows;
    for (const std::string& word : words) {
      const std::vector<Row> of_word = rows_of(SideWord(word));
      require_points(of_word, word);
      rows.insert(of_word.begin(), of_word.end());
    }
    return {rows.begin(), rows.end()};
  }

  struct Kept {
    RunIndex run = 0;
    std::size_t index = 0;  // in the run's plan
    PointRecord record;
  };
  analysis::PointTableBuilder builder_;
  ComparedSides sides_;
  std::map<std::string, std::map<std::int64_t, std::vector<Row>>> files_;  // by path and run number
  std::map<std::string, RunIndex> runs_;                                   // by uid
  std::map<std::pair<RunIndex, std::size_t>, Row> points_;                 // by their place in the run
  std::vector<RunSummary> summaries_;                                      // by RunIndex
  std::vector<StoredNoise> noise_;                                         // of all files
  std::vector<Kept> kept_;                                                 // by Row
};

}  // namespace

ComparedSides compared_sides(std::vector<std::string> base, std::vector<std::string> other, const std::string& noise,
                             const std::string& filter) {
  if (other.empty() && base.size() > 1) {
    other.assign(base.begin() + 1, base.end());
    base.resize(1);
  }
  Loader files(noise, std::array<const Words*, 2>{&base, &other});
  other.empty() ? files.split(SideWord(base.front())) : files.take(base, other);
  return std::move(files).finish(filter);
}

}  // namespace attnscope
