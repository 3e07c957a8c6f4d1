// SPDX-License-Identifier: Apache-2.0
#include "storage/points_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/metrics/manifest.h"
#include "profiler/metrics/rounds.h"

namespace attnscope {
namespace {

using nlohmann::json;

template <class T>
T parsed(const std::string& text) {
  try {
    return json::parse(text).get<T>();
  } catch (const json::exception&) {
    throw RowError("invalid JSON array");
  }
}

using Select = std::function<SQLite::Statement&(std::string_view)>;
/// Sources of a manifest, or the first error in them.
struct Sources {
  std::vector<ManifestSource> all;
  Message wrong;
};

std::unordered_map<std::int64_t, Sources> read_sources(const Select& select, bool contents) {
  std::unordered_map<std::int64_t, Sources> by_statement;
  SQLite::Statement& query = select(
      fmt::format("SELECT user_kernel_id, name, digest, {} FROM user_kernel_sources ORDER BY user_kernel_id, name",
                  contents ? "content" : "NULL"));
  while (query.executeStep()) {
    Sources& sources = by_statement[query.getColumn(0).getInt64()];
    if (!sources.wrong.empty()) continue;
    try {
      Reader in(query);
      (void)in.integer();
      ManifestSource source{.name = in.text(), .digest = in.text()};
      if (const SQLite::Column content = query.getColumn(3); !content.isNull()) {
        const bool small = static_cast<std::size_t>(content.getBytes()) <= max_stored_source_bytes;
        if (small) source.content = content.getString();
        if (!small || uuid_of(*source.content) != source.digest) {
          throw RowError(make_message("the checksum of source {} does not match its content", source.name));
        }
      }
      sources.all.push_back(std::move(source));
    } catch (const RowError& error) {
      sources.wrong = error.message();
    }
  }
  return by_statement;
}

std::string_view without_version(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool has_one = last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '.';
  return has_one ? name.substr(0, last) : name;
}

/// Thrown when the limits of a point are exceeded.
struct TooLarge {
  Message why;
};

/// Returns true if points of that algorithm may refer to the manifest. Versions compared by `ab` ("mine", "mine.2")
/// share one.
bool is_of(const ManifestRow& row, std::string_view algorithm) {
  return without_version(row.algorithm) == without_version(algorithm);
}

}  // namespace

std::unordered_map<std::int64_t, ManifestRow> read_manifests(
    const Select& select, bool contents, const std::function<void(std::int64_t id, const Message& why)>& note) {
  std::unordered_map<std::int64_t, ManifestRow> rows;
  auto sources = read_sources(select, contents);
  SQLite::Statement& query = select("SELECT id, digest, algorithm, text, host_code FROM user_kernels");
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    ManifestRow& row = rows[id];
    try {
      Reader in(query);
      (void)in.integer();
      in >> row.digest >> row.algorithm;
      StoredManifest manifest{.text = in.text(), .host_code = in.flag(), .sources = std::move(sources[id].all)};
      Message wrong = std::move(sources[id].wrong);
      if (wrong.empty()) wrong = bounds_error(manifest);
      if (wrong.empty() && digest_of(manifest) != row.digest) wrong = "its checksum does not match its content";
      require_valid_row(wrong);
      row.manifest = std::make_shared<const StoredManifest>(std::move(manifest));
    } catch (const RowError& error) {
      note(id, error.message());
    }
  }
  return rows;
}

template <class PointIndices, class ReadRow>
void PointsReader::each_row(SQLite::Statement& query, const PointIndices& places, ReadRow&& read_row) {
  const auto point_of_place = [](const auto& place) {
    if constexpr (requires { place.point; }) {
      return place.point;
    } else {
      return place;
    }
  };
  struct ResetAtEnd {
    SQLite::Statement& query;
    ~ResetAtEnd() { query.tryReset(); }
  } const reset{query};
  while (query.executeStep()) {
    count(1, 0);
    Reader in(query);
    // A parent may have failed or not exist; the checks of the whole file report orphans.
    const auto place = places.find(query.getColumn(0).getInt64());
    if (place == places.end()) continue;
    try {
      (void)in.integer();
      read_row(place->second, in);
    } catch (const RowError& error) {
      fail(point_of_place(place->second), error.message());
    }
  }
}

std::optional<std::vector<StoredPoint>> PointsReader::read() {
  points_.clear();
  point_index_.clear();
  failed_.clear();
  drop_children();
  if (metrics_.empty()) read_metric_names();
  // Points of a damaged manifest are still valid measurements and are kept.
  const auto note = [this](std::int64_t id, const Message& why) {
    invalid_rows_.push_back({make_message("kernel manifest {}", id), why});
  };
  if (!statements_) statements_ = read_manifests(select_, false, note);
  read_points();
  try {
    read_children();
  } catch (const TooLarge& error) {
    if (points_.size() > 1) return std::nullopt;
    drop_children();
    failed_.insert_or_assign(0, error.why);
  }
  assemble_rounds();
  remove_invalid_points();
  return std::move(points_);
}

/// Rows q of `table` are joined with points p.
template <class ReadRow>
void PointsReader::each_child(std::string_view table, const std::string& columns, std::string_view order,
                              ReadRow&& read_row) {
  each_row(
      select_(fmt::format("SELECT q.point_id, {} FROM points p CROSS JOIN {} WHERE {{}} {}", columns, table, order)),
      point_index_, read_row);
}

void PointsReader::read_children() {
  each_child("point_knobs q ON q.point_id = p.id", "q.name, q.value", "", [this](std::size_t place, Reader& in) {
    const std::string name = in.text();
    points_[place].record.spec.knobs.set(name, in.knob());
  });
  each_child("point_devices q ON q.point_id = p.id JOIN devices d ON d.id = q.device_id", "d.uuid",
             "ORDER BY q.point_id, q.rank",
             [this](std::size_t place, Reader& in) { points_[place].record.others.push_back(in.text()); });
  each_child("kernels q ON q.point_id = p.id", "q.id, q.name, q.occupancy_limiter, q.complete", "ORDER BY q.id",
             [this](std::size_t place, Reader& in) {
               count(kernel_weight - 1, 0);
               std::vector<KernelRecord>& kernels = points_[place].record.kernels;
               kernel_index_[in.integer()] = {.point = place, .kernel = kernels.size()};
               KernelRecord& kernel = kernels.emplace_back();
               in >> kernel.kernel >> kernel.occupancy_limiter >> kernel.complete;
             });
  read_kernel_rows();
  each_child("clocks q ON q.point_id = p.id", "q.round, " + qualified("q", clock_columns), "",
             [this](std::size_t place, Reader& in) {
               const std::int64_t round = in.integer();
               ClockReading clocks;
               in >> clock_values(clocks);
               (round == 0 ? points_[place].record.clocks : round_record(place, round).clocks) = clocks;
             });
}

void PointsReader::read_kernel_rows() {
  const auto each = [this](std::string_view table, std::string_view columns, const auto& read_row) {
    each_row(select_(fmt::format("SELECT q.kernel_id, {} FROM points p CROSS JOIN kernels k ON k.point_id = p.id CROSS "
                                 "JOIN {} q ON q.kernel_id = k.id WHERE {{}}",
                                 columns, table)),
             kernel_index_, read_row);
  };
  each("metric_values", "q.metric_id, q.round, q.value, q.provenance", [&](const KernelIndex& place, Reader& in) {
    const std::int64_t id = in.integer();
    const auto metric = metrics_.find(id);
    if (metric == metrics_.end()) throw RowError(make_message("missing metric {}", id));
    const std::int64_t round = in.integer();
    const double value = in.real();
    const Provenance provenance = require_keyword(parse_provenance(in.text()));
    kernel_of_round(place, round).metrics.push_back({metric->second.name, value, metric->second.unit, provenance});
  });
  each("timing_samples", "q.round, q.samples_ns", [this](const KernelIndex& place, Reader& in) {
    const std::int64_t round = in.integer();
    const std::string list = in.text();
    if (std::ranges::count(list, ',') >= static_cast<std::ptrdiff_t>(max_round_samples)) {
      throw RowError(make_message("more than {} timing samples in one round", max_round_samples));
    }
    std::vector<double>& samples = kernel_of_round(place, round).samples_ns;
    samples = parsed<std::vector<double>>(list);
    count(0, samples.size());
  });
  each("launches", qualified("q", launch_columns), [this](const KernelIndex& place, Reader& in) {
    LaunchRecord& launch = kernel_at(place).launch.emplace();
    in >> launch.kernel >> launch.source_file >> launch.entry;
    launch.defines = parsed<std::vector<std::string>>(in.text());
    in >> launch.digest >> launch.registers >> launch.local_bytes >> launch.static_shared_bytes >>
        launch.dynamic_shared_bytes >> launch.threads;
    const auto grid = parsed<std::array<std::int64_t, 3>>(in.text());
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (!std::in_range<std::uint32_t>(grid[i]))
        throw RowError(make_message("grid dimension {} is out of range", grid[i]));
      launch.grid[i] = static_cast<std::uint32_t>(grid[i]);
    }
  });
}

void PointsReader::drop_children() {
  values_ = samples_ = 0;
  kernel_index_.clear();
  later_rounds_.clear();
  for (StoredPoint& point : points_) {
    point.record.kernels.clear();
    point.record.others.clear();
    point.record.spec.knobs = {};
  }
}

void PointsReader::count(std::size_t values, std::size_t samples) {
  values_ += values;
  samples_ += samples;
  if (Message why = point_size_error(values_, samples_, limits_); !why.empty()) throw TooLarge{std::move(why)};
}

void PointsReader::remove_invalid_points() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    StoredPoint& point = points_[i];
    const auto failed = failed_.find(i);
    Message why = failed != failed_.end() ? failed->second : bounds_error(point.record);
    if (why.empty()) {
      if (kept != i) points_[kept] = std::move(point);
      ++kept;
    } else if (!runs_.bad.contains(point.run_id) && invalid_rows_.size() < max_invalid_rows) {
      invalid_rows_.push_back({make_message("point {} (run {}, plan index {})", point.id, point.run_id, point.index),
                               std::move(why), point.id});
    }
  }
  points_.resize(kept);
}

void PointsReader::read_metric_names() {
  SQLite::Statement& query =
      select_(fmt::format("SELECT id, name, unit FROM metrics ORDER BY id LIMIT {}", max_table_rows));
  while (query.executeStep()) {
    Reader in(query);
    try {
      const std::int64_t id = in.integer();
      metrics_.emplace(id, MetricName{.name = in.text(), .unit = in.text()});
    } catch (const RowError&) {  // its values fail their points
    }
  }
}

void PointsReader::read_points() {
  // Left join: a point without its device row is reported, not lost.
  SQLite::Statement& query =
      select_("SELECT p.id, p.run_id, p.plan_index, d.uuid, p.user_kernel_id, " + point_columns("p.") +
              " FROM points p LEFT JOIN devices d ON d.id = p.device_id WHERE {} ORDER BY p.run_id, p.plan_index");
  while (query.executeStep()) {
    Reader in(query);
    const std::size_t place = points_.size();
    StoredPoint& point = points_.emplace_back();
    point.id = query.getColumn(0).getInt64();
    point.run_id = query.getColumn(1).getInt64();
    try {
      read_point_row(in, point);
    } catch (const RowError& error) {
      fail(place, error.message());
    } catch (const FileError& error) {
      fail(place, error.message());
    }
    point_index_.emplace(point.id, place);
  }
}

void PointsReader::read_point_row(Reader& in, StoredPoint& point) {
  point.id = in.integer();
  point.run_id = in.integer();
  point.index = in.count();
  point.device_uuid = in.text();
  const ManifestRow* manifest = nullptr;
  if (const std::optional<std::int64_t> id = in.optional<std::int64_t>()) {
    const auto found = statements_->find(*id);
    if (found == statements_->end()) throw RowError(make_message("missing kernel manifest {}", *id));
    manifest = &found->second;
  }
  if (!runs_.good.contains(point.run_id)) throw RowError(make_message("missing run {}", point.run_id));
  point.record = read_point(in);
  if (manifest == nullptr) return;
  if (!is_of(*manifest, point.record.spec.algorithm))
    throw RowError("its kernel manifest belongs to another algorithm");
  point.record.manifest = manifest->manifest;
}

RoundRecord& PointsReader::round_record(std::size_t point, std::int64_t round) {
  if (Message wrong = round_index_error(round); !wrong.empty()) throw RowError(wrong);
  const int number = static_cast<int>(round);
  const auto [found, is_new] = later_rounds_[point].try_emplace(number);
  if (is_new) count(round_weight, 0);
  found->second.round = number;
  return found->second;
}

KernelRecord& PointsReader::kernel_of_round(const KernelIndex& place, std::int64_t round) {
  KernelRecord& own = kernel_at(place);
  if (round == 0) return own;
  std::vector<KernelRecord>& kernels = round_record(place.point, round).kernels;
  const auto found = std::ranges::find(kernels, own.kernel, &KernelRecord::kernel);
  if (found != kernels.end()) return *found;
  count(kernel_weight, 0);
  KernelRecord& added = kernels.emplace_back();
  added.kernel = own.kernel;
  return added;
}

void PointsReader::assemble_rounds() {
  for (auto& [place, later] : later_rounds_) {
    PointRecord& record = points_[place].record;
    RoundRecord first{.round = 0, .kernels = {}, .clocks = record.clocks};
    for (const KernelRecord& kernel : record.kernels) {
      if (kernel.metrics.empty() && kernel.samples_ns.empty()) continue;
      KernelRecord& values = first.kernels.emplace_back();
      values.kernel = kernel.kernel;
      values.metrics = kernel.metrics;
      values.samples_ns = kernel.samples_ns;
    }
    if (!first.kernels.empty() || first.clocks) record.rounds.push_back(std::move(first));
    for (auto& [number, round] : later) record.rounds.push_back(std::move(round));
    // Values out of bounds are reported before sums are computed.
    if (bounds_error(record).empty()) summarize_rounds(record);
  }
}

}  // namespace attnscope
