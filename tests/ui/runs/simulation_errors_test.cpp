// SPDX-License-Identifier: GPL-3.0-or-later
// The figures beside simulated points, by the real program: what analysis says of the same predictions.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QTextBrowser>
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/registry.h"
#include "profiler/analysis/prediction_error.h"
#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/pages/error_note.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/runs/simulation_errors.h"

namespace attnscope::ui {
namespace {

constexpr std::chrono::minutes patience{2};

class SimulationErrorsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    ASSERT_TRUE(folder.isValid());
    qputenv("XDG_CACHE_HOME", QFile::encodeName(folder.filePath("cache")));
    // Counts how often it is asked.
    program = folder.filePath("collector");
    QFile script(program);
    ASSERT_TRUE(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\necho >> '" + QFile::encodeName(folder.filePath("asked")) +
                 "'\nexec '" ATTNSCOPE_COMMAND_PROGRAM "' \"$@\"\n");
    script.close();
    script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(program));
    sample = folder.filePath("measured.attnscope");
    for (const PointRecord& point : fixtures::memory_wall()) {
      if (point.spec.problem.n_q <= 4096) measured.push_back(point);
    }
    for (PointRecord& point : measured) {  // errors are of settled bytes
      for (KernelRecord& kernel : point.kernels) {
        kernel.metrics.push_back({std::string(metric_key::dram_writeback_bytes), 0, "byte", Provenance::measured});
      }
    }
    fixtures::write_file(sample, {{"memory-wall", measured, false}});
  }
  void TearDown() override {
    qunsetenv("ATTNSCOPE_COLLECTOR");
    qunsetenv("XDG_CACHE_HOME");
  }
  [[nodiscard]] int times_asked() const {
    QFile lines(folder.filePath("asked"));
    return lines.open(QIODevice::ReadOnly) ? static_cast<int>(lines.readAll().count('\n')) : 0;
  }
  void answer(SimulationErrors& errors) const {
    errors.set_sample(sample);
    errors.want();
    errors.wait(patience);
  }

  QString program;
  QString sample;
  std::vector<PointRecord> measured;
};

TEST_F(SimulationErrorsTest, TheWindowGoesBeforeWhatPlaysTheSample) {
  QFile script(program);
  ASSERT_TRUE(script.open(QIODevice::WriteOnly | QIODevice::Truncate));
  script.write("#!/bin/sh\nnice >&2\nexit 1\n");
  script.close();
  SimulationErrors errors;
  answer(errors);
  ASSERT_EQ(errors.state(), SimulationErrors::State::unknown);
  constexpr int least_urgent = 19;  // the system goes no further
  EXPECT_EQ(errors.why_unknown().toInt(), std::min(least_urgent, 10 + getpriority(PRIO_PROCESS, 0)));
}

TEST_F(SimulationErrorsTest, AreThoseOfTheSamplePlayedByTheProgram) {
  SimulationErrors errors;
  answer(errors);
  ASSERT_EQ(errors.state(), SimulationErrors::State::known) << errors.why_unknown().toStdString();
  EXPECT_EQ(errors.table().devices, QStringList("NVIDIA H200"));

  const auto device = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  std::vector<PointRecord> predicted;
  std::vector<analysis::PredictedPoint> pairs;
  predicted.reserve(measured.size());
  for (const PointRecord& point : measured) {
    if (point.disposition != Disposition::ok) continue;
    predicted.push_back(device->measure(point.spec, {}, {}));
    pairs.push_back({&point, &predicted.back()});
  }
  std::size_t compared = 0;
  const auto expect_figures = [&](const analysis::ErrorRow& row, const QString& quantity,
                                  const std::optional<analysis::ErrorFigures>& expected) {
    if (row.algorithm.empty() || !expected) return;
    for (const PredictionRow& shown : errors.table().rows) {
      if (shown.algorithm.toStdString() != row.algorithm || shown.quantity != quantity ||
          shown.half.toStdString() != to_string(*row.half) || shown.pass.toStdString() != to_string(*row.pass)) {
        continue;
      }
      EXPECT_NEAR(*shown.median, expected->median, 1e-4 * expected->median + 1e-9) << row.algorithm;
      EXPECT_NEAR(*shown.p95, expected->p95, 1e-4 * expected->p95 + 1e-9) << row.algorithm;
      EXPECT_EQ(shown.problems, static_cast<qint64>(expected->problems));
      ++compared;
    }
  };
  for (const analysis::ErrorRow& row : analysis::prediction_errors(pairs).rows) {
    expect_figures(row, "dram_bytes", row.dram);
    expect_figures(row, "time", row.time);
  }
  EXPECT_GT(compared, 3U);
}

TEST_F(SimulationErrorsTest, AreComputedOnceForAProgramAndASample) {
  {
    SimulationErrors first;
    answer(first);
    ASSERT_EQ(first.state(), SimulationErrors::State::known) << first.why_unknown().toStdString();
  }
  EXPECT_EQ(times_asked(), 1);
  SimulationErrors again;
  answer(again);
  EXPECT_EQ(again.state(), SimulationErrors::State::known);
  EXPECT_EQ(times_asked(), 1) << "it was kept";

  // Another sample has other errors: what is kept would be stale.
  const PredictionRow* before = again.table().figures("naive", "fwd", "time");
  ASSERT_NE(before, nullptr);
  for (PointRecord& point : measured) {
    for (KernelRecord& kernel : point.kernels) {
      for (double& ns : kernel.samples_ns) ns *= 3;
    }
  }
  QFile::remove(sample);
  fixtures::write_file(sample, {{"memory-wall", measured, false}});
  SimulationErrors other;
  answer(other);
  EXPECT_EQ(times_asked(), 2);
  const PredictionRow* after = other.table().figures("naive", "fwd", "time");
  ASSERT_NE(after, nullptr);
  EXPECT_NEAR(*after->ratio, *before->ratio / 3, 1e-3 * *before->ratio);

  // And so has another program.
  QFile script(program);
  ASSERT_TRUE(script.open(QIODevice::Append));
  script.write("# later\n");
  script.close();
  SimulationErrors later;
  answer(later);
  EXPECT_EQ(later.state(), SimulationErrors::State::known);
  EXPECT_EQ(times_asked(), 3);
}

TEST_F(SimulationErrorsTest, WithoutThemTheReasonIsSaid) {
  SimulationErrors errors;
  errors.set_sample({});
  errors.want();
  EXPECT_EQ(errors.state(), SimulationErrors::State::unknown);
  EXPECT_TRUE(errors.why_unknown().contains("sample")) << errors.why_unknown().toStdString();

  sample = folder.filePath("empty.attnscope");
  fixtures::write_file(sample, {});
  SimulationErrors of_nothing;
  answer(of_nothing);
  EXPECT_EQ(of_nothing.state(), SimulationErrors::State::unknown);
  EXPECT_TRUE(of_nothing.why_unknown().contains("empty.attnscope")) << of_nothing.why_unknown().toStdString();

  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");
  SimulationErrors no_program;
  answer(no_program);
  EXPECT_EQ(no_program.state(), SimulationErrors::State::unknown);
  EXPECT_FALSE(no_program.why_unknown().isEmpty());
}

TEST_F(SimulationErrorsTest, StandBesideSimulatedPointsAlone) {
  const QString simulated = folder.filePath("simulated.attnscope");
  fixtures::write_file(simulated, {{"memory-wall", fixtures::simulated_naive({1024, 2048, 4096}), true}});
  Workspace workspace;
  workspace.simulation_errors().set_sample(sample);
  IoCurvePage page(workspace);
  TileHeatmapPage map(workspace);
  page.resize(1000, 700);
  page.show();
  ASSERT_EQ(workspace.open_now(file), QString());
  settle();
  EXPECT_FALSE(page.error_note().isVisible());
  EXPECT_EQ(times_asked(), 0) << "nobody wanted them";
  EXPECT_FALSE(map.error_note().isVisibleTo(&map));

  workspace.close(file);
  ASSERT_EQ(workspace.open_now(simulated), QString());
  settle();
  ASSERT_TRUE(page.error_note().isVisible());
  EXPECT_TRUE(page.error_note().words().contains("being worked out"));
  workspace.simulation_errors().wait(patience);
  settle();
  const QString words = page.error_note().words();
  EXPECT_TRUE(words.startsWith("simulated; on the recorded H200: Naive DRAM ±")) << words.toStdString();
  EXPECT_TRUE(words.contains("%, time ±") || words.contains("), time ±")) << words.toStdString();
  EXPECT_FALSE(words.contains("FA1")) << "it is not shown";
  EXPECT_EQ(page.error_note().text(), words);
  page.resize(260, 700);
  settle();
  const ErrorNote& note = page.error_note();
  ASSERT_GT(note.fontMetrics().horizontalAdvance(words), note.width()) << "the page is as narrow as can be";
  EXPECT_LE(note.fontMetrics().horizontalAdvance(note.text()), note.width());

  const QString html = prediction_table_html(workspace.simulation_errors().table(), Qt::gray);
  EXPECT_TRUE(html.contains("<td align='left' style='padding-right:14px'>Naive</td>"));
  workspace.set_run_visible(0, false);
  settle();
  EXPECT_FALSE(page.error_note().isVisible());
}

TEST_F(SimulationErrorsTest, AGpuThatWasNeverRecordedIsNamed) {
  const QString simulated = folder.filePath("simulated.attnscope");
  fixtures::write_file(simulated, {{"memory-wall", fixtures::simulated_naive({1024, 2048}), true, false, "A100"}});
  Workspace workspace;
  workspace.simulation_errors().set_sample(sample);
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_now(simulated), QString());
  EXPECT_EQ(workspace.simulation_errors().state(), SimulationErrors::State::unasked) << "nobody looks";
  page.show();
  workspace.simulation_errors().wait(patience);
  const QString words = page.error_note().words();
  EXPECT_TRUE(words.contains("A100")) << words.toStdString();
  EXPECT_TRUE(words.contains(": how far off is not known, none was recorded · ")) << words.toStdString();
  EXPECT_TRUE(words.endsWith(": simulated with the L2 of the H200")) << words.toStdString();
}

}  // namespace
}  // namespace attnscope::ui
