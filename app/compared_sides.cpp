// SPDX-License-Identifier: Apache-2.0
#include "app/compared_sides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/own_kernels.h"
#include "profiler/points/point_query.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::Row;
using analysis::RunIndex;

/// "FILE:REST": the longest beginning that is a file.
struct SideWord {
  std::string text;
  std::string file;
  std::string rest;
};

SideWord parse_side(const std::string& text) {
  std::error_code ignored;
  for (std::size_t end = text.size(); end != std::string::npos && end > 0; end = text.rfind(':', end - 1)) {
    if (!std::filesystem::exists(text.substr(0, end), ignored)) continue;
    return {.text = text, .file = text.substr(0, end), .rest = end < text.size() ? text.substr(end + 1) : ""};
  }
  return {.text = text, .file = text, .rest = {}};  // whose opening says that there is none
}

struct FileRows {
  std::map<std::int64_t, std::vector<Row>> by_run;  ///< the run's number in this file

  [[nodiscard]] std::vector<Row> all() const {
    std::vector<Row> rows;
    for (const auto& [run, of_run] : by_run) rows.insert(rows.end(), of_run.begin(), of_run.end());
    return rows;
  }
};

class Loader {
 public:
  /// Of the file its noise alone.
  void load_noise(const std::string& file) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    for (StoredNoise& set : store.noise()) noise_.push_back(std::move(set));
    if (noise_.empty())
      throw CommandError(ExitCode::error,
                         "{}: no recordings' noise is kept there; `attnscope doctor --noise -o FILE` measures it",
                         file);
    code_ = with_skipped_rows(store, code_);
  }

  const FileRows& load(const std::string& file) {
    const std::string key = std::filesystem::weakly_canonical(file).string();
    const auto [place, first] = files_.try_emplace(key);
    if (first) read(file, place->second);
    return place->second;
  }

  /// What was loaded goes to `sides`; which rows a file has stays.
  void finish(ComparedSides& sides) {
    for (RunIndex run = 0; run < summaries_.size(); ++run) builder_.run(run).noise = noise_for(summaries_[run], noise_);
    for (const Kept& point : kept_) builder_.add(point.run, point.record, point.index);
    sides.files = std::move(run_files_);
    sides.table = std::move(builder_).finish();
    sides.conditions = std::move(conditions_);
    sides.code = code_;
  }

  /// Whether all these runs are of two sides.
  [[nodiscard]] bool of_two_sides(const std::set<RunIndex>& runs) const {
    return std::ranges::all_of(runs, [&](RunIndex run) { return has_two_sides(summaries_[run]); });
  }
  /// Of a row of such a run.
  [[nodiscard]] bool on_other_side(RunIndex run, Row row) const {
    return of_other_side(summaries_[run], kept_[row].index);
  }
  [[nodiscard]] std::size_t looks(RunIndex run) const { return looks_of(summaries_[run]); }

 private:
  void read(const std::string& file, FileRows& rows) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    std::map<std::int64_t, std::pair<RunIndex, std::string>> runs;
    for (const RunSummary& run : store.runs()) {
      const std::string uid = run.uid.empty() ? fmt::format("{} of {}", run.id, file) : run.uid;
      const auto [known, first] = runs_.try_emplace(uid);
      if (first) {
        analysis::Run row = analysis_run(run);
        set_rounds(run, row);
        known->second = builder_.add_run(std::move(row));
        conditions_.push_back(conditions_of(run));
        run_files_.push_back(file);
        summaries_.push_back(run);
      }
      runs[run.id] = {known->second, uid};
      rows.by_run[run.id];
    }
    for (StoredPoint& point : store.points()) {
      const auto run = runs.find(point.run_id);
      if (run == runs.end()) continue;
      const auto [known, first] =
          points_.try_emplace({run->second.second, point.index}, static_cast<Row>(kept_.size()));
      if (first) {
        kept_.push_back({run->second.first, point.index, std::move(point.record)});
      } else if (point.record.rounds.size() > kept_[known->second].record.rounds.size()) {
        kept_[known->second].record = std::move(point.record);  // a copy from before had fewer
        run_files_[run->second.first] = file;
      }
      rows.by_run[point.run_id].push_back(known->second);
    }
    for (StoredNoise& set : store.noise()) noise_.push_back(std::move(set));
    code_ = with_skipped_rows(store, code_);
  }

  analysis::PointTableBuilder builder_;
  std::map<std::string, FileRows> files_;
  std::map<std::string, RunIndex> runs_;                       // by uid
  std::map<std::pair<std::string, std::size_t>, Row> points_;  // by their run's uid and place in it
  std::vector<analysis::RunConditions> conditions_;
  std::vector<RunSummary> summaries_;  // by RunIndex
  std::vector<StoredNoise> noise_;     // of all files
  struct Kept {
    RunIndex run = 0;
    std::size_t index = 0;  // in the run's plan
    PointRecord record;
  };
  std::vector<Kept> kept_;              // by Row
  std::vector<std::string> run_files_;  // by RunIndex
  ExitCode code_ = ExitCode::ok;
};

std::vector<Row> rows_of_word(const SideWord& word, const FileRows& file, const analysis::PointTable& table) {
  if (word.rest.empty()) return file.all();
  std::int64_t run = 0;
  const char* end = word.rest.data() + word.rest.size();
  if (const auto [at, error] = std::from_chars(word.rest.data(), end, run); error == std::errc() && at == end) {
    const auto found = file.by_run.find(run);
    if (found != file.by_run.end()) return found->second;
    throw CommandError(ExitCode::error, "{} has no run {}; `attnscope info` lists its runs", word.file, word.rest);
  }
  const Result<analysis::PointQuery, Message> query = analysis::PointQuery::parse(word.rest, table);
  if (!query) {
    throw CommandError(ExitCode::usage, "'{}': {}", word.text, query.error());
  }
  const std::vector<Row> of_file = file.all();
  const std::set<Row> known(of_file.begin(), of_file.end());
  std::vector<Row> rows;
  std::ranges::copy_if(query->rows(table), std::back_inserter(rows), [&](Row row) { return known.contains(row); });
  return rows;
}

std::vector<Row> rows_of_side(const std::vector<std::string>& words, Loader& files, const analysis::PointTable& table) {
  std::set<Row> rows;
  for (const std::string& text : words) {
    const SideWord word = parse_side(text);
    const std::vector<Row> of_word = rows_of_word(word, files.load(word.file), table);
    if (of_word.empty())
      throw CommandError(ExitCode::error, "nothing to compare in '{}': it holds no points, or its filter fits none",
                         text);
    rows.insert(of_word.begin(), of_word.end());
  }
  return {rows.begin(), rows.end()};
}

/// Both sides from one word.
void sides_of_word(const SideWord& word, Loader& files, ComparedSides& sides) {
  const std::vector<Row> meant = rows_of_word(word, files.load(word.file), sides.table);
  std::set<RunIndex> runs;
  for (const Row row : meant) runs.insert(sides.table.run_index(row));
  if (meant.empty())
    throw CommandError(ExitCode::error, "nothing to compare in '{}': it holds no points, or its filter fits none",
                       word.text);
  sides.halves = files.of_two_sides(runs);
  if (!sides.halves && runs.size() < 2) {
    throw CommandError(ExitCode::usage,
                       "{} holds one run only; give the other side with --with, as FILE, FILE:RUN or FILE:FILTER",
                       word.text);
  }
  for (const Row row : meant) {
    const RunIndex run = sides.table.run_index(row);
    const bool of_other = sides.halves ? files.on_other_side(run, row) : run != *runs.begin();
    (of_other ? sides.other : sides.base).push_back(row);
  }
  if (sides.base.empty() || sides.other.empty()) {
    throw CommandError(
        ExitCode::error,
        "'{}' holds one of its two sides only: the other was never measured, or the filter leaves it out", word.text);
  }
  if (sides.halves) {
    sides.base_name = format_text("{}, its first side", word.text);
    sides.other_name = "its second side";
  } else {
    sides.base_name = format_text("{}, run {}", word.text, sides.table.runs()[*runs.begin()].title);
    sides.other_name = format_text("{}, other runs", word.text);
  }
}

}  // namespace

ComparedSides compared_sides(std::vector<std::string> base, std::vector<std::string> other, const std::string& noise,
                             const std::string& filter) {
  if (other.empty() && base.size() > 1) {
    other.assign(base.begin() + 1, base.end());
    base.resize(1);
  }
  for (const auto* words : {&base, &other}) {
    for (const std::string& text : *words) know_kernels_of(parse_side(text).file);
  }
  Loader files;
  if (!noise.empty()) files.load_noise(noise);
  for (const auto* words : {&base, &other}) {
    for (const std::string& text : *words) (void)files.load(parse_side(text).file);
  }
  ComparedSides sides;
  files.finish(sides);
  const auto has_noise = [](const analysis::Run& run) { return run.noise != nullptr; };
  if (!noise.empty() && std::ranges::none_of(sides.table.runs(), has_noise)) {
    throw CommandError(ExitCode::error,
                       "{}: its noise is of another GPU, driver or day than what is compared; measure it anew by "
                       "`attnscope doctor --noise -o FILE`",
                       noise);
  }
  if (other.empty()) {
    sides_of_word(parse_side(base.front()), files, sides);
  } else {
    sides.base = rows_of_side(base, files, sides.table);
    sides.other = rows_of_side(other, files, sides.table);
    if (sides.base == sides.other) {
      const bool copies = base.front() != other.front();
      throw CommandError(
          ExitCode::usage,
          copies ? make_message("{} and {} hold the same points of the same runs: one is a copy of the other",
                                fmt::join(base, ", "), fmt::join(other, ", "))
                 : "both sides are the same points; give the other side with --with, as FILE, FILE:RUN or FILE:FILTER");
    }
    sides.base_name = fmt::format("{}", fmt::join(base, ", "));
    sides.other_name = fmt::format("{}", fmt::join(other, ", "));
  }
  const std::vector<Row> fitting = rows_that_fit(filter, sides.table);
  for (std::vector<Row>* rows : {&sides.base, &sides.other}) {
    std::erase_if(*rows, [&](Row row) { return !std::ranges::binary_search(fitting, row); });
    if (rows->empty()) {
      throw CommandError(ExitCode::error, "nothing to compare in '{}': it holds no points, or its filter fits none",
                         rows == &sides.base ? sides.base_name : sides.other_name);
    }
    for (const Row row : *rows) sides.looks = std::max(sides.looks, files.looks(sides.table.run_index(row)));
  }
  return sides;
}

}  // namespace attnscope
