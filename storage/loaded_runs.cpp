// SPDX-License-Identifier: Apache-2.0
#include "storage/loaded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>

#include "profiler/files/output_file.h"
#include "storage/compared_runs.h"

namespace attnscope {
namespace {

using analysis::RunIndex;

/// Returns the file's name, or its path if another file has that name.
std::string display_name(const std::filesystem::path& file, const std::set<std::filesystem::path>& files) {
  const bool shared = std::ranges::any_of(
      files, [&](const std::filesystem::path& other) { return other != file && other.filename() == file.filename(); });
  return shared ? file.string() : file.filename().string();
}

class RunLoader {
 public:
  RunLoader(const LoadRequest& request, const std::vector<RunSource>& sources)
      : request_(request), noise_(request.noise) {
    for (const RunSource& source : sources) files_.insert(source.file);
  }

  void read(const RunSource& source, const RunStore& store) {
    const std::string name = display_name(source.file, files_);
    std::map<std::int64_t, RunSummary> wanted;
    std::vector<std::int64_t> ids;
    std::vector<RunSummary> runs = store.runs();
    for (RunSummary& run : runs) {
      if (!source.runs.empty() && std::ranges::count(source.runs, run.id) == 0) continue;
      if (run.uid.empty()) run.uid = fmt::format("{} of {}", run.id, source.file.string());
      const auto [known, first] = by_uid_.try_emplace(run.uid, static_cast<RunIndex>(loaded_.runs.size()));
      if (first) {
        analysis::Run& row = rows_.emplace_back(analysis_run(run));
        if (request_.file_names_in_titles) {
          if (files_.size() > 1) row.title = runs.size() > 1 ? fmt::format("{} {}", name, row.title) : name;
          if (run.provenance == Provenance::imported) row.label = run.preset;
        }
        loaded_.runs.push_back(run);
        loaded_.files.push_back(source.file.string());
      }
      loaded_.places[{source.file, run.id}] = known->second;
      if (run.integrity == RunIntegrity::unverified) ++loaded_.unverified_runs;
      ids.push_back(run.id);
      wanted.emplace(run.id, std::move(run));
    }
    if (!ids.empty()) read_points(source, store, ids, wanted);
    const std::vector<InvalidRow> bad = store.invalid_rows();
    if (!bad.empty() && loaded_.damaged_rows == 0) {
      loaded_.first_damage = make_message("{}, {}: {}", name, bad.front().where, bad.front().why);
    }
    loaded_.damaged_rows += bad.size();
    std::ranges::move(store.noise(), std::back_inserter(noise_));
    for (StoredCeilings& set : store.ceilings()) {
      if (sets_.insert(set.uid).second) loaded_.ceilings.push_back(std::move(set));
    }
  }

  LoadedRuns finish() && {
    analysis::name_devices(rows_);
    analysis::PointTableBuilder builder;
    for (std::size_t run = 0; run < rows_.size(); ++run) {
      rows_[run].noise = find_noise_model(loaded_.runs[run], noise_);
      builder.add_run(std::move(rows_[run]));
    }
    // Rows are in the order of each point's first copy.
    for (std::size_t first = 0, end = 0; first < copies_.size(); first = end) {
      const Copy& copy = copies_[first];
      std::vector<analysis::Row> rows;
      // Adds consecutive points of one run together, because each call has a cost per kernel of the file.
      for (; end < copies_.size() && copies_[end].piece == copy.piece && copies_[end].run == copy.run; ++end) {
        const analysis::Row row = copies_[end].row;
        rows.push_back(row);
        Piece& piece = pieces_[copy.piece];
        loaded_.facts.push_back(std::move(piece.facts[row]));
        if (request_.keep_points) loaded_.points.push_back(std::move(piece.points[row]));
      }
      builder.add(copy.run, pieces_[copy.piece].columns, rows);
    }
    loaded_.table = std::move(builder).finish();
    return std::move(loaded_);
  }

 private:
  struct Piece {
    analysis::PointColumns columns;
    std::vector<RunIndex> runs;
    std::vector<std::int64_t> numbers;  ///< run ids in the file
    std::vector<std::size_t> rounds;
    std::vector<report::PointFacts> facts;
    std::vector<StoredPoint> points;
  };
  struct Copy {
    std::size_t piece = 0;
    analysis::Row row = 0;
    RunIndex run = 0;
    std::size_t rounds = 0;
    bool replaced = false;  ///< replaced an earlier copy with fewer rounds
  };

  void read_points(const RunSource& source, const RunStore& store, const std::vector<std::int64_t>& ids,
                   const std::map<std::int64_t, RunSummary>& wanted) {
    Piece piece;
    // Reading restarts if the file changes.
    store.visit_points(
        ids, 0, [&] { piece = Piece(); },
        [&](StoredPoint&& point) {
          const auto run = wanted.find(point.run_id);
          if (run == wanted.end()) return;  // the run began after the list was read
          piece.columns.add(point.record, point.index, point.id);
          piece.runs.push_back(by_uid_.at(run->second.uid));
          piece.numbers.push_back(point.run_id);
          piece.rounds.push_back(point.record.rounds.size());
          piece.facts.push_back({.max_abs_error = point.record.max_abs_error,
                                 .error_bound = point.record.error_bound,
                                 .manifest = point.record.manifest});
          if (request_.keep_points) piece.points.push_back(std::move(point));
          constexpr std::size_t progress_step = 1000;
          if (request_.progress && ++read_points_ % progress_step == 0) request_.progress(read_points_);
        });
    for (analysis::Row row = 0; row < piece.columns.size(); ++row) {
      const RunIndex run = piece.runs[row];
      Copy copy{pieces_.size(), row, run, piece.rounds[row], false};
      const auto [place, first] = place_of_.try_emplace({run, piece.columns.place(row)}, copies_.size());
      loaded_.rows_by_run[{source.file, piece.numbers[row]}].push_back(static_cast<analysis::Row>(place->second));
      if (first) {
        copies_.push_back(copy);
      } else if (Copy& earlier = copies_[place->second]; copy.rounds > earlier.rounds) {
        copy.replaced = true;
        if (!earlier.replaced) ++loaded_.fuller_copies;
        earlier = copy;
        loaded_.files[run] = source.file.string();
        const auto summary =
            std::ranges::find_if(wanted, [&](const auto& each) { return by_uid_.at(each.second.uid) == run; });
        loaded_.runs[run] = summary->second;
      }
    }
    pieces_.push_back(std::move(piece));
  }

  const LoadRequest& request_;
  std::set<std::filesystem::path> files_;
  LoadedRuns loaded_;
  std::vector<analysis::Run> rows_;
  std::map<std::string, RunIndex> by_uid_;
  std::vector<Piece> pieces_;
  std::size_t read_points_ = 0;
  std::vector<Copy> copies_;                                            ///< indexed by row of the table
  std::map<std::pair<RunIndex, std::uint32_t>, std::size_t> place_of_;  ///< by run and plan index
  std::vector<StoredNoise> noise_;
  std::set<std::string> sets_;  ///< uids of ceilings
};

report::RunFacts facts_of(const RunSummary& run, const std::string& file) {
  return {.file = file,
          .state = text(title(run.state)),
          .started_at = run.started_at,
          .finished_at = run.finished_at,
          .argv = run.argv,
          .program = run.environment.app_version,
          .driver = run.environment.driver_version,
          .cupti = run.environment.cupti_version,
          .nvrtc = run.environment.nvrtc_version,
          .system = run.environment.operating_system,
          .counters = run.options.counters,
          .min_samples = run.options.min_samples,
          .max_samples = run.options.max_samples,
          .max_noise = run.options.max_noise,
          .rounds = run.rounds,
          .simulation_reason = run.simulation_reason,
          .l2_source = run.l2_source,
          .rates_source = run.rates_source,
          .looks = interim_analysis_count(run),
          .conditions = run_conditions(run)};
}

}  // namespace

LoadedRuns load_runs(const std::vector<RunSource>& sources, const LoadRequest& request) {
  RunLoader loader(request, sources);
  for (const RunSource& source : sources) {
    const RunStore store = RunStore::open(source.file, RunStore::Mode::read_only);
    if (request.opened) request.opened(store);
    loader.read(source, store);
    if (request.read) request.read(store);
  }
  return std::move(loader).finish();
}

void LoadedRuns::keep(std::span<const analysis::Row> rows) {
  analysis::TableSubset some = analysis::extract_rows(table, rows);
  std::map<RunIndex, RunIndex> now;
  LoadedRuns left;
  for (const RunIndex run : some.runs) {
    now[run] = static_cast<RunIndex>(left.runs.size());
    left.runs.push_back(std::move(runs[run]));
    left.files.push_back(std::move(files[run]));
  }
  for (const analysis::Row row : rows) {
    left.facts.push_back(std::move(facts[row]));
    if (!points.empty()) left.points.push_back(std::move(points[row]));
  }
  std::erase_if(places, [&](const auto& place) { return !now.contains(place.second); });
  for (auto& [place, run] : places) run = now[run];
  rows_by_run.clear();
  table = std::move(some.table);
  runs = std::move(left.runs);
  files = std::move(left.files);
  facts = std::move(left.facts);
  points = std::move(left.points);
}

report::Input report_input(LoadedRuns loaded, const std::string& version, const std::string& filter, std::size_t all) {
  report::Input input;
  const std::set<std::filesystem::path> files(loaded.files.begin(), loaded.files.end());
  for (std::size_t run = 0; run < loaded.runs.size(); ++run)
    input.runs.push_back(facts_of(loaded.runs[run], display_name(loaded.files[run], files)));
  for (StoredCeilings& set : loaded.ceilings) {
    input.ceilings.push_back({.device_id = std::move(set.device_uuid),
                              .device_name = std::move(set.device_name),
                              .measured_at = std::move(set.measured_at),
                              .ceilings = std::move(set.ceilings)});
  }
  input.table = std::move(loaded.table);
  input.points = std::move(loaded.facts);
  input.unverified_runs = loaded.unverified_runs;
  input.fuller_copies = loaded.fuller_copies;
  input.damaged_rows = loaded.damaged_rows;
  input.first_damage = std::move(loaded.first_damage);
  input.filter = filter;
  input.unfiltered_count = all;
  input.version = version;
  return input;
}

bool contains_measurements(const std::filesystem::path& output, const std::vector<RunSource>& sources) {
  std::error_code error;
  const bool is_source = std::ranges::any_of(
      sources, [&](const RunSource& source) { return std::filesystem::equivalent(source.file, output, error); });
  return is_source || resolve_symlinks(output).extension() == ".attnscope";
}

}  // namespace attnscope
