// SPDX-License-Identifier: Apache-2.0
// How long a large file takes to write, to open and to read: bench_open FILE [POINTS | columns]. A file that is there
// is read only; with `columns` into a table of columns, without all points being in memory.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/points/point_table.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace {

using namespace attnscope;

template <class Action>
double seconds(Action&& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void write(const std::filesystem::path& file, std::size_t count) {
  std::vector<CompleteRun> runs(1);
  runs[0].header = testing::full_header();
  for (std::size_t i = 0; i < count; ++i) {
    PointRecord record = testing::full_record();
    record.spec.problem.mask = Mask::none;
    record.spec.problem.n_q = record.spec.problem.n_k = static_cast<std::int64_t>(i + 1);
    record.reason = {};
    record.disposition = Disposition::ok;
    record.kernels.resize(1);
    record.kernels[0].samples_ns.assign(20, 12345.5 + static_cast<double>(i));
    for (int metric = 0; metric < 12; ++metric) {
      record.kernels[0].metrics.push_back(
          {fmt::format("lts__t_{}.sum", metric), static_cast<double>(i) * metric, "byte", Provenance::measured});
    }
    runs[0].points.push_back(std::move(record));
  }
  RunStore::open(file, RunStore::Mode::collect).add_complete_runs(runs);
}

std::size_t read_columns(const RunStore& store) {
  analysis::PointColumns columns;
  store.each_point(
      {}, 0, [&] { columns = analysis::PointColumns(); },
      [&](StoredPoint&& point) { columns.add(std::move(point).record); });
  columns.shrink();
  return columns.size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path file = argv[1];
  const bool columns = argc > 2 && std::string_view(argv[2]) == "columns";
  if (!std::filesystem::exists(file)) {
    const std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100'000;
    fmt::print("write {:.2f} s\n", seconds([&] { write(file, count); }));
  }
  double open = std::numeric_limits<double>::infinity();
  double read = open;
  std::size_t points = 0;
  for (int i = 0; i < 5; ++i) {
    std::vector<RunStore> store;
    open = std::min(open, seconds([&] { store.push_back(RunStore::open(file, RunStore::Mode::read_only)); }));
    read = std::min(read,
                    seconds([&] { points = columns ? read_columns(store.front()) : store.front().points().size(); }));
  }
  fmt::print("open {:.3f} s, read {:.3f} s, {} points, {:.1f} MB\n", open, read, points,
             static_cast<double>(std::filesystem::file_size(file)) / 1e6);
}
