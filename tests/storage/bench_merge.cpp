// SPDX-License-Identifier: Apache-2.0
// Measures time and memory of merging many files: bench_merge FOLDER [FILES [POINTS [shards]]]. Existing files in the
// folder are reused. `shards`: the files are shards of one plan and become one run.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "storage/merge.h"
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

PointRecord some_point(std::size_t i, std::size_t number) {
  PointRecord record = testing::full_record();
  record.spec.problem.mask = Mask::none;
  record.spec.problem.n_q = record.spec.problem.n_k = static_cast<std::int64_t>(i + 1);
  record.reason = {};
  record.disposition = Disposition::ok;
  record.kernels.resize(1);
  record.kernels[0].samples_ns.assign(20, 12345.5 + static_cast<double>(i + number));
  for (int metric = 0; metric < 12; ++metric) {
    record.kernels[0].metrics.push_back(
        {fmt::format("lts__t_{}.sum", metric), static_cast<double>(i) * metric, "byte", Provenance::measured});
  }
  return record;
}

void write(const std::filesystem::path& file, std::size_t points, std::size_t number, std::size_t shards) {
  RunHeader header = testing::full_header();
  header.planned_points = points * shards;
  if (shards > 1) {
    header.uid = "0123456789abcdef0123456789abcdef";
    header.shard = {static_cast<int>(number + 1), static_cast<int>(shards)};
  }
  RunStore::create(file, [&](RunStore& store) {
    const std::int64_t run = store.begin_run(header);
    const std::size_t first = shards > 1 ? number * points : 0;
    for (std::size_t i = 0; i < points; ++i) store.add_point(run, first + i, some_point(i, number));
    store.finish_run(run, StoredRunState::complete);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = argv[1];
  const std::size_t files = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
  const std::size_t points = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1000;
  const std::size_t shards = argc > 4 ? files : 1;
  std::vector<std::filesystem::path> names;
  for (std::size_t i = 0; i < files; ++i) {
    names.push_back(folder / fmt::format("part-{}.attnscope", i));
    if (!std::filesystem::exists(names.back())) write(names.back(), points, i, shards);
  }
  const std::filesystem::path target = folder / "merged.attnscope";
  std::filesystem::remove(target);
  std::fflush(stdout);
  // In a separate process, so that memory for creating the files does not count.
  const pid_t child = ::fork();
  if (child == 0) {
    MergeReport report;
    const double took = seconds([&] { report = merge_files(names, target); });
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    fmt::print("{} files, {} runs, {} points, {:.1f} MB: {:.2f} s ({:.2f} s of CPU), {:.0f} MiB at most\n",
               report.files, report.runs, report.points, static_cast<double>(std::filesystem::file_size(target)) / 1e6,
               took,
               static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
               static_cast<double>(used.ru_maxrss) / 1024);
    return 0;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
