// SPDX-License-Identifier: Apache-2.0
// How long a large file takes to write, to open and to read: bench_open FILE [POINTS]. A file that is there is read
// only.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path file = argv[1];
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
    read = std::min(read, seconds([&] { points = store.front().points().size(); }));
  }
  fmt::print("open {:.3f} s, read {:.3f} s, {} points, {:.1f} MB\n", open, read, points,
             static_cast<double>(std::filesystem::file_size(file)) / 1e6);
}
