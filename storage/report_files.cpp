// SPDX-License-Identifier: Apache-2.0
#include "storage/report_files.h"
#include "storage/compared_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "profiler/report/writers.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

analysis::Run run_of(const RunSummary& run, bool several_files, const std::string& file) {
  const std::string title =
      several_files ? fmt::format("{} {} ({})", file, run.id, run.preset) : fmt::format("{} ({})", run.id, run.preset);
  return {.device_id = run.device_uuid,
          .device_name = run.device_name,
          .title = title,
          .label = run.provenance == Provenance::imported ? run.preset : std::string(),
          .started_at = run.started_at,
          .provenance = run.provenance,
          .limits = run.limits,
          .l2_from = run.l2_from};
}

report::RunFacts facts_of(const RunSummary& run, const std::string& file) {
  return {.file = file,
          .id = run.id,
          .preset = run.preset,
          .state = text(title(run.state)),
          .started_at = run.started_at,
          .argv = run.argv,
          .program = run.environment.app_version,
          .driver = run.environment.driver_version,
          .cuda = run.environment.cuda_driver_api,
          .cupti = run.environment.cupti_version,
          .nvrtc = run.environment.nvrtc_version,
          .system = run.environment.operating_system,
          .counters = run.options.counters,
          .verified = run.options.verify,
          .min_samples = run.options.min_samples,
          .max_samples = run.options.max_samples,
          .max_noise = run.options.max_noise,
          .rounds = run.rounds,
          .simulated_because = run.simulated_because,
          .l2_from = run.l2_from,
          .rates_from = run.rates_from,
          .conditions = conditions_of(run)};
}

report::PointFacts facts_of(const PointRecord& record) {
  report::PointFacts facts;
  facts.bound = analysis::counted_bound(record);
  facts.stalls = analysis::longest_stalls(record);
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
        analysis::Run row = run_of(run, several_files_, name);
        set_rounds(run, row);
        known->second = builder_.add_run(std::move(row));
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
      points_.input.ceilings.push_back({.file = name,
                                        .device_id = set.device_uuid,
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
      piece.columns.add(point.record);
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

void write_page(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  OutputFile page(output, file_kind::of_name(output), existing);
  page.write(report::to_html(document));
  page.commit();
}

/// Pictures that take their places together: until keep(), what was there before comes back.
class PicturesInPlace {
 public:
  explicit PicturesInPlace(fs::path folder) : folder_(std::move(folder)) {
    made_ = fs::create_directory(folder_);
    clear_up();
    bring_back();
  }
  PicturesInPlace(const PicturesInPlace&) = delete;
  PicturesInPlace& operator=(const PicturesInPlace&) = delete;
  ~PicturesInPlace() {
    if (kept_) return;
    std::error_code ignored;
    for (const fs::path& place : put_) fs::remove(place, ignored);
    for (const fs::path& place : moved_) fs::rename(aside(place), place, ignored);
    if (made_) fs::remove_all(folder_, ignored);  // was not there before
  }

  void put(OutputFile& picture) {
    const fs::path place = picture.place();
    if (fs::is_regular_file(place)) {
      fs::rename(place, aside(place));
      moved_.push_back(place);
    }
    picture.commit();
    put_.push_back(place);
  }
  /// Also takes away the pictures of an earlier report that this one does not have.
  void keep(const std::set<std::string>& names) {
    kept_ = true;
    std::error_code ignored;
    for (const fs::path& place : moved_) fs::remove(aside(place), ignored);
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
      if (!names.contains(entry.path().filename().string()) && is_of_a_report(entry)) fs::remove(entry.path(), ignored);
    }
  }

 private:
  static fs::path aside(const fs::path& place) { return place.string() + ".before"; }
  /// What a writer that was killed had begun, also of pictures that this report does not have.
  void clear_up() const {
    std::set<fs::path> begun;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();  // ".io-1.svg.0123456789abcdef.part"
      const fs::path place = fs::path(name).replace_extension().replace_extension();
      if (!name.starts_with('.') || !name.ends_with(".part")) continue;
      const std::string picture = place.string().substr(1);
      if (is_picture(picture)) begun.insert(folder_ / picture);
    }
    for (const fs::path& place : begun) remove_leftovers(place);
  }
  /// What a writer that was killed had put aside.
  void bring_back() const {
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const fs::path place = fs::path(entry.path()).replace_extension();
      if (entry.path().extension() == ".before" && entry.is_regular_file() && is_picture(place)) left.push_back(place);
    }
    for (const fs::path& place : left) fs::rename(aside(place), place);
  }
  /// "io-2.svg" of a section "io".
  static bool is_of_a_report(const fs::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_regular_file(ignored) && !entry.is_symlink(ignored) && is_picture(entry.path());
  }
  static bool is_picture(const fs::path& place) {
    if (place.extension() != ".svg") return false;
    const std::string stem = place.stem().string();
    const std::size_t dash = stem.rfind('-');
    if (dash == std::string::npos || dash + 1 == stem.size()) return false;
    const std::vector<std::string> keys = report::section_keys();
    return std::ranges::count(keys, stem.substr(0, dash)) > 0 &&
           stem.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  }

  fs::path folder_;
  bool made_ = false;
  bool kept_ = false;
  std::vector<fs::path> moved_;
  std::vector<fs::path> put_;
};

/// Pictures in a folder of their own; all of it is written before any of it has its name, the text last.
void write_markdown(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  const std::string folder = output.stem().string() + "-figures";
  const report::MarkdownFiles files = report::to_markdown(document, folder);
  OutputFile page(output, file_kind::of_name(output), existing);
  const fs::path pictures = output.parent_path() / folder;
  if (files.pictures.empty() && !fs::is_directory(pictures)) {
    page.write(files.text);
    return page.commit();
  }
  PicturesInPlace in_place(pictures);
  page.write(files.text);
  std::vector<OutputFile> written;
  written.reserve(files.pictures.size());
  std::set<std::string> names;
  for (const report::MarkdownFiles::Picture& picture : files.pictures) {
    written.emplace_back(pictures / picture.name, file_kind::svg, existing).write(picture.svg);
    names.insert(picture.name);
  }
  for (OutputFile& picture : written) in_place.put(picture);
  page.commit();
  in_place.keep(names);
}

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
  const analysis::PointTable& all = points.input.table;
  std::set<analysis::RunIndex> kept;
  for (const analysis::Row row : rows) kept.insert(all.run_index(row));
  analysis::PointTableBuilder builder(all.algorithms());
  std::map<analysis::RunIndex, analysis::RunIndex> now;
  std::vector<report::RunFacts> runs;
  for (const analysis::RunIndex run : kept) {
    now[run] = builder.add_run(all.runs()[run]);
    runs.push_back(std::move(points.input.runs[run]));
  }
  std::vector<report::PointFacts> facts;
  for (auto first = rows.begin(); first != rows.end();) {
    const analysis::RunIndex run = all.run_index(*first);
    const auto last = std::find_if(first, rows.end(), [&](analysis::Row row) { return all.run_index(row) != run; });
    builder.add(now[run], all.points(), {first, last});
    first = last;
  }
  for (const analysis::Row row : rows) facts.push_back(std::move(points.input.points[row]));
  std::erase_if(points.places, [&](const auto& place) { return !kept.contains(place.second); });
  for (auto& [place, run] : points.places) run = now[run];
  points.input.filtered_from = all.size();
  points.input.filter = std::move(filter);
  points.input.table = std::move(builder).finish();
  points.input.runs = std::move(runs);
  points.input.points = std::move(facts);
  return points;
}

bool is_report_name(const fs::path& output) {
  return output.extension() == ".html" || output.extension() == ".md";
}

bool holds_measurements(const fs::path& output, const std::vector<ReportSource>& sources) {
  std::error_code error;
  const bool one_of_them = std::ranges::any_of(
      sources, [&](const ReportSource& source) { return fs::equivalent(source.file, output, error); });
  return one_of_them || behind_links(output).extension() == ".attnscope";
}

void write_report(const report::Document& document, const fs::path& output, OutputFile::Existing existing) {
  try {
    output.extension() == ".md" ? write_markdown(document, output, existing) : write_page(document, output, existing);
  } catch (const fs::filesystem_error& error) {
    throw StorageError(StorageError::Kind::not_writable, "cannot write {} ({})", output.string(),
                       error.code().message());
  }
}

}  // namespace attnscope
