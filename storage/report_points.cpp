// SPDX-License-Identifier: Apache-2.0
#include "storage/report_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "profiler/files/output_file.h"
#include "storage/compared_runs.h"

namespace attnscope {
namespace {

analysis::Run run_of(const RunSummary& run, bool several_files, const std::string& file) {
  analysis::Run row = analysis_run(run);
  row.title =
      several_files ? fmt::format("{} {} ({})", file, run.id, run.preset) : fmt::format("{} ({})", run.id, run.preset);
  if (run.provenance == Provenance::imported) row.label = run.preset;
  return row;
}

report::RunFacts facts_of(const RunSummary& run, const std::string& file) {
  return {.file = file,
          .state = text(title(run.state)),
          .started_at = run.started_at,
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
          .simulated_because = run.simulated_because,
          .l2_from = run.l2_from,
          .rates_from = run.rates_from,
          .looks = looks_of(run),
          .conditions = conditions_of(run)};
}

report::PointFacts facts_of(const PointRecord& record) {
  report::PointFacts facts;
  facts.max_abs_error = record.max_abs_error;
  facts.error_bound = record.error_bound;
  if (record.clocks) facts.sm_clock_hz = record.clocks->sm_clock_hz;
  for (const KernelRecord& kernel : record.kernels) {
    facts.samples = std::max(facts.samples, kernel.samples_ns.size());
    if (kernel.launch && !kernel.launch->digest.empty()) facts.digests.push_back(kernel.launch->digest);
  }
  facts.statement = record.statement;
  return facts;
}

class ReportReader {
 public:
  explicit ReportReader(bool several_files) : several_files_(several_files) {}

  void read(const ReportSource& source, const RunStore& store) {
    // The folder that a file lay in says nothing to who is handed the report.
    const std::string name = source.file.filename().string();
    std::map<std::int64_t, std::pair<analysis::RunIndex, std::string>> runs;
    std::map<analysis::RunIndex, report::RunFacts> run_facts;
    std::vector<std::int64_t> wanted;
    for (const RunSummary& run : store.runs()) {
      if (!source.runs.empty() && std::ranges::count(source.runs, run.id) == 0) continue;
      const std::string uid = run.uid.empty() ? fmt::format("{} of {}", run.id, source.file.string()) : run.uid;
      const auto [known, first] = by_uid_.try_emplace(uid);
      if (first) {
        known->second = builder_.add_run(run_of(run, several_files_, name));
        summaries_.push_back(run);
        points_.input.runs.push_back(facts_of(run, name));
      }
      points_.places[{source.file, run.id}] = known->second;
      runs[run.id] = {known->second, uid};
      run_facts[known->second] = facts_of(run, name);
      if (run.integrity == RunIntegrity::unverified) ++points_.input.unverified_runs;
      wanted.push_back(run.id);
    }
    if (!wanted.empty()) read_points(store, wanted, runs, std::move(run_facts));
    note_damage(store, name);
    for (StoredNoise& set : store.noise()) noise_.push_back(std::move(set));
    for (const StoredCeilings& set : store.ceilings()) {
      if (!sets_.insert(set.uid).second) continue;
      points_.input.ceilings.push_back({.device_id = set.device_uuid,
                                        .device_name = set.device_name,
                                        .measured_at = set.measured_at,
                                        .ceilings = set.ceilings});
    }
  }

  ReportPoints finish(const std::string& version) && {
    // A point stands where its first copy was read, as the copy that has most rounds.
    std::vector<analysis::Row> rows;
    for (std::size_t first = 0; first < points_of_report_.size();) {
      const Piece& piece = pieces_[points_of_report_[first].piece];
      const analysis::RunIndex run = piece.run_of_row[points_of_report_[first].row];
      // As many at once as are of one run: each call costs as much as a file has kernels.
      rows.clear();
      for (; first < points_of_report_.size(); ++first) {
        const Copy& copy = points_of_report_[first];
        if (&pieces_[copy.piece] != &piece || piece.run_of_row[copy.row] != run) break;
        rows.push_back(copy.row);
        points_.input.points.push_back(piece.facts[copy.row]);
        if (!copy.replaced) continue;
        ++points_.input.fuller_copies;
        points_.input.runs[run] = piece.run_facts.at(run);
      }
      builder_.add(run, piece.columns, rows);
    }
    pieces_.clear();
    for (analysis::RunIndex run = 0; run < summaries_.size(); ++run) {
      builder_.run(run).noise = noise_for(summaries_[run], noise_);
    }
    points_.input.table = std::move(builder_).finish();
    points_.input.version = version;
    return std::move(points_);
  }

 private:
  void note_damage(const RunStore& store, const std::string& name) {
    const std::vector<BadRow> bad = store.bad_rows();
    report::Input& input = points_.input;
    if (!bad.empty() && input.damaged_rows == 0) {
      input.first_damage = make_message("{}, {}: {}", name, bad.front().where, bad.front().why);
    }
    input.damaged_rows += bad.size();
  }

  /// What was read of one file.
  struct Piece {
    analysis::PointColumns columns;
    std::vector<analysis::RunIndex> run_of_row;
    std::vector<report::PointFacts> facts;
    std::map<analysis::RunIndex, report::RunFacts> run_facts;
  };
  struct Copy {
    std::size_t piece = 0;
    analysis::Row row = 0;
    std::size_t rounds = 0;
    bool replaced = false;  ///< one with fewer rounds that was read before
  };

  void read_points(const RunStore& store, const std::vector<std::int64_t>& wanted,
                   const std::map<std::int64_t, std::pair<analysis::RunIndex, std::string>>& runs,
                   std::map<analysis::RunIndex, report::RunFacts> run_facts) {
    Piece piece;
    std::vector<std::pair<std::string, std::size_t>> keys;
    std::vector<std::size_t> rounds;
    // Reading may begin anew where somebody writes meanwhile.
    const auto begin = [&] {
      piece = Piece();
      keys.clear();
      rounds.clear();
    };
    store.each_point(wanted, 0, begin, [&](StoredPoint&& point) {
      const auto place = runs.find(point.run_id);
      if (place == runs.end()) return;  // of a run that began since
      std::pair<std::string, std::size_t> key{place->second.second, point.index};
      const auto known = copies_.find(key);
      const std::size_t own_rounds = point.record.rounds.size();
      if (known != copies_.end() && points_of_report_[known->second].rounds >= own_rounds) return;
      piece.columns.add(point.record, point.index);
      piece.run_of_row.push_back(place->second.first);
      piece.facts.push_back(facts_of(point.record));
      keys.push_back(std::move(key));
      rounds.push_back(own_rounds);
    });
    for (analysis::Row row = 0; row < piece.columns.size(); ++row) {
      const auto [place, first] = copies_.try_emplace(keys[row], points_of_report_.size());
      const Copy copy{pieces_.size(), row, rounds[row], !first};
      if (first) {
        points_of_report_.push_back(copy);
      } else if (copy.rounds > points_of_report_[place->second].rounds) {  // a file may hold a point twice, too
        points_of_report_[place->second] = copy;
      }
    }
    piece.run_facts = std::move(run_facts);
    pieces_.push_back(std::move(piece));
  }

  bool several_files_;
  analysis::PointTableBuilder builder_;
  ReportPoints points_;
  std::map<std::string, analysis::RunIndex> by_uid_;
  std::vector<Piece> pieces_;
  std::vector<Copy> points_of_report_;                                 ///< in the order of the report
  std::map<std::pair<std::string, std::size_t>, std::size_t> copies_;  ///< by the run's uid and the place in it
  std::vector<RunSummary> summaries_;                                  ///< by RunIndex
  std::vector<StoredNoise> noise_;                                     ///< of all files
  std::set<std::string> sets_;                                         ///< of ceilings, by uid
};

}  // namespace

ReportPoints read_report_points(const std::vector<ReportSource>& sources, const std::string& version,
                                const std::function<void(const RunStore&)>& read) {
  ReportReader reader(sources.size() > 1);
  for (const ReportSource& source : sources) {
    const RunStore store = RunStore::open(source.file, RunStore::Mode::read_only);
    reader.read(source, store);
    if (read) read(store);
  }
  return std::move(reader).finish(version);
}

ReportPoints only_rows(ReportPoints points, std::span<const analysis::Row> rows, std::string filter) {
  analysis::SomeRows some = analysis::some_rows(points.input.table, rows);
  std::map<analysis::RunIndex, analysis::RunIndex> now;
  std::vector<report::RunFacts> runs;
  for (const analysis::RunIndex run : some.runs) {
    now[run] = static_cast<analysis::RunIndex>(runs.size());
    runs.push_back(std::move(points.input.runs[run]));
  }
  std::vector<report::PointFacts> facts;
  for (const analysis::Row row : rows) facts.push_back(std::move(points.input.points[row]));
  std::erase_if(points.places, [&](const auto& place) { return !now.contains(place.second); });
  for (auto& [place, run] : points.places) run = now[run];
  points.input.filtered_from = points.input.table.size();
  points.input.filter = std::move(filter);
  points.input.table = std::move(some.table);
  points.input.runs = std::move(runs);
  points.input.points = std::move(facts);
  return points;
}

bool holds_measurements(const std::filesystem::path& output, const std::vector<ReportSource>& sources) {
  std::error_code error;
  const bool one_of_them = std::ranges::any_of(
      sources, [&](const ReportSource& source) { return std::filesystem::equivalent(source.file, output, error); });
  return one_of_them || behind_links(output).extension() == ".attnscope";
}

}  // namespace attnscope
