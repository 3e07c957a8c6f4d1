// SPDX-License-Identifier: GPL-3.0-or-later
// Names of curves. The values are tested in tests/profiler/analysis.
#include "ui/models/curve_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "messages/curves.h"
#include "tests/ui/fixtures.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

CurveRequest request_of(const std::set<std::string>& algorithms, Ordinate ordinate) {
  CurveRequest request;
  request.algorithms = algorithms;
  request.ordinate = ordinate;
  return request;
}

QStringList labels_of(const std::vector<fixtures::TestPoint>& points, const CurveRequest& request) {
  QStringList labels;
  for (const Curve& curve : fixtures::curves_of(points, request).curves) labels << to_qstring(curve.label);
  return labels;
}

/// Label of a curve of points.
QString label_of(const char* algorithm, const Message& quantity, Provenance provenance) {
  return QStringLiteral("%1 · %2 · %3").arg(QLatin1String(algorithm), qtext(quantity), to_qstring(provenance));
}

std::vector<PointRecord> memory_wall_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return records;
}

TEST(CurveSeries, EveryKindOfCurveHasALabel) {
  const QStringList labels =
      labels_of(fixtures::shown(memory_wall_of("naive")), request_of({"naive"}, Ordinate::bytes));
  ASSERT_EQ(labels.size(), 4) << labels.join('\n').toStdString();
  EXPECT_EQ(labels[0], label_of("Naive", msg::curves::dram{}, Provenance::measured));
  EXPECT_EQ(labels[1], label_of("Naive", msg::curves::sm_l2{}, Provenance::measured));
  EXPECT_EQ(labels[2], qtext(msg::curves::exact_model{.algorithm = "Naive"}));
  EXPECT_EQ(labels[3], qtext(msg::curves::compulsory{}));
}

TEST(CurveSeries, TimesAndRatesShowTheirProvenance) {
  auto points = fixtures::shown(memory_wall_of("fa2"), false, 1);
  for (const fixtures::TestPoint& point : fixtures::shown(fixtures::peers(), false, 2)) points.push_back(point);
  EXPECT_EQ(labels_of(points, request_of({"fa2", "torch-flash"}, Ordinate::time)),
            (QStringList{label_of("FA2", msg::curves::time{}, Provenance::measured),
                         label_of("torch-flash", msg::curves::time{}, Provenance::imported)}));
  EXPECT_EQ(labels_of(points, request_of({"fa2"}, Ordinate::rate)),
            QStringList{label_of("FA2", msg::curves::rate{}, Provenance::derived)});
}

TEST(CurveSeries, SeriesNamesContainTheirDifferences) {
  Curve curve;
  const auto shown = fixtures::shown(fixtures::peers());
  auto other = std::make_shared<RunInfo>(*shown.front().run);
  other->summary.preset = "import:torch 2.9";
  std::vector<fixtures::TestPoint> both = shown;
  for (const fixtures::TestPoint& point : shown) both.push_back({other, point.point});
  EXPECT_EQ(labels_of(both, request_of({"torch-flash"}, Ordinate::time)),
            (QStringList{QStringLiteral("torch-flash (test) · time · imported"),
                         QStringLiteral("torch-flash (torch 2.9) · time · imported")}));

  auto gpu = std::make_shared<RunInfo>(*fixtures::shown(memory_wall_of("fa2")).front().run);
  gpu->summary.device_name = "NVIDIA A100-SXM4-80GB";
  gpu->summary.device_uuid = "GPU-a100";
  std::vector<fixtures::TestPoint> devices = fixtures::shown(memory_wall_of("fa2"));
  for (const fixtures::TestPoint& point : fixtures::shown(memory_wall_of("fa2"))) devices.push_back({gpu, point.point});
  const QStringList labels = labels_of(devices, request_of({"fa2"}, Ordinate::time));
  EXPECT_THAT((std::vector<QString>(labels.begin(), labels.end())),
              ::testing::UnorderedElementsAre(QStringLiteral("FA2 on H200 · time · measured"),
                                              QStringLiteral("FA2 on A100-SXM4-80GB · time · measured")));
}

TEST(CurveSeries, TitleShowsProblemAndSplits) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {8, 16}) {
      PointSpec spec = fixtures::decode_spec("splitkv", n_k);
      spec.knobs.set("splits", std::int64_t{splits});
      records.push_back(fixtures::ok_point(spec));
    }
  }
  CurveRequest request = request_of({"splitkv"}, Ordinate::bytes);
  request.tile.swept = {"splits", 16};
  const CurveSet set = fixtures::curves_of(fixtures::shown(records), request);
  EXPECT_TRUE(set.title.startsWith("d 128 · ")) << set.title.toStdString();
  EXPECT_TRUE(set.title.endsWith("splits 16")) << set.title.toStdString();
}

TEST(CurveSeries, CurvesUseAlgorithmTitles) {
  EXPECT_EQ(short_title("fa2"), QStringLiteral("FA2"));
  EXPECT_EQ(short_title("splitkv"), QStringLiteral("Split-KV"));
  EXPECT_EQ(short_title("torch-flash"), QStringLiteral("torch-flash"));
}

TEST(CurveSeries, MapsRowsToPoints) {
  const auto points = fixtures::shown(memory_wall_of("fa2"));
  const CurveSet set = fixtures::curves_of(points, request_of({"fa2"}, Ordinate::time));
  ASSERT_EQ(set.curves.size(), 1U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(set.at(*set.curves[0].points[i].row).id, points[i].point->id);
    EXPECT_EQ(set.at(*set.curves[0].points[i].row).spec, points[i].spec());
  }
}

TEST(CurveSeries, PlotHasALimitedNumberOfCurves) {
  std::vector<PointRecord> records;
  std::set<std::string> algorithms;
  for (std::size_t i = 0; i < max_drawn_curves + 7; ++i) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", 256)));
    records.back().spec.algorithm = "mine" + std::to_string(i);
    algorithms.insert(records.back().spec.algorithm);
  }
  const CurveSet set = fixtures::curves_of(fixtures::shown(records), request_of(algorithms, Ordinate::time));
  EXPECT_EQ(set.curves.size(), max_drawn_curves);
  EXPECT_EQ(set.undrawn_curves, 7U);
}

}  // namespace
}  // namespace attnscope::ui
