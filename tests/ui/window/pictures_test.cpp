// SPDX-License-Identifier: GPL-3.0-or-later
// Exported pictures, and redraws: a change redraws only what it affects.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <vector>

#include "kernels/registry.h"
#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/explored_tables.h"
#include "tests/ui/window_test.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/choices.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/plots/heatmap_text.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/point_plot.h"
#include "ui/text/qtext.h"
#include "ui/window/offscreen.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, PlotsAreWrittenWithoutAWindow) {
  QStringList written;
  ASSERT_EQ(write_plots({file}, folder.filePath("plots"), &written), QString());
  ASSERT_EQ(written.size(), 2 * 4 + 2 * 2 * 3) << written.join('\n').toStdString();
  for (const QString& path : written) {
    if (path.endsWith(".png")) {
      const QImage image(path);
      ASSERT_FALSE(image.isNull()) << path.toStdString();
      if (!path.contains("tiles-")) {
        EXPECT_EQ(image.size(), QSize(2200, 1440));
      }
      // The picture is not empty: it has more than a few colors.
      QSet<QRgb> colors;
      for (int y = 0; y < image.height(); y += 7) {
        for (int x = 0; x < image.width(); x += 7) colors.insert(image.pixel(x, y));
      }
      EXPECT_GT(colors.size(), 8) << path.toStdString();
    } else {
      QFile svg(path);
      ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
      EXPECT_TRUE(svg.readAll().contains("</svg>"));
    }
  }
}

TEST_F(WindowTest, WritesAPlotPerMaskAndPass) {
  const QString all = folder.filePath("all.attnscope");
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(all, {{"memory-wall", fixtures::memory_wall(), false},
                             {"backward", fixtures::backward(), false},
                             {"decode", fixtures::decoding(), false}});
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  QStringList written;
  ASSERT_EQ(write_plots({all, peers}, folder.filePath("plots"), &written), QString());
  QStringList names;
  for (const QString& path : written) {
    if (path.endsWith(".png")) names << QFileInfo(path).fileName();
  }
  EXPECT_EQ(
      names,
      (QStringList{"io-d128-fwd-nqN-1x132.png", "io-d128-fwd-nqN-1x132-sm-l2.png", "time-d128-fwd-nqN-1x132.png",
                   "tflops-d128-fwd-nqN-1x132.png", "io-d128-fwd-nq1-1x16.png", "io-d128-fwd-nq1-1x16-sm-l2.png",
                   "time-d128-fwd-nq1-1x16.png", "tflops-d128-fwd-nq1-1x16.png", "io-d128-bwd-full-1x132.png",
                   "io-d128-bwd-full-1x132-sm-l2.png", "time-d128-bwd-full-1x132.png", "tflops-d128-bwd-full-1x132.png",
                   "io-d128-bwd-causal-1x132.png", "io-d128-bwd-causal-1x132-sm-l2.png",
                   "time-d128-bwd-causal-1x132.png", "tflops-d128-bwd-causal-1x132.png"}));
  // A file with only times has no plot of bytes.
  written.clear();
  ASSERT_EQ(write_plots({peers}, folder.filePath("peers"), &written), QString());
  ASSERT_EQ(written.size(), 4);
  EXPECT_TRUE(written[0].endsWith("time-d128-1x132.png")) << written[0].toStdString();
}

TEST_F(WindowTest, WritesUniquelyNamedPlots) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {0, 16}) {
      for (const std::int64_t page : {0, 256}) {
        PointSpec spec = fixtures::decode_spec("splitkv", n_k);
        spec.knobs.set("splits", std::int64_t{splits});
        spec.problem.page = page;
        records.push_back(fixtures::ok_point(spec));
      }
    }
    for (const auto& [heads, dropout] : {std::pair{16, 0.0}, std::pair{32, 0.0}, std::pair{32, 0.25}}) {
      PointSpec spec = fixtures::spec("fa2", n_k);
      spec.problem.heads_q = spec.problem.heads_kv = heads;
      spec.problem.dropout = dropout;
      records.push_back(fixtures::ok_point(spec));
    }
  }
  for (const int br : {32, 64}) {
    for (const int bc : {32, 64}) {  // A map, but no curve.
      PointSpec spec = fixtures::spec("fa2", 2048, br, bc, 64);
      records.push_back(fixtures::ok_point(spec));
    }
  }
  const QString sweeps = folder.filePath("sweeps.attnscope");
  fixtures::write_file(sweeps, {{"custom", records, false}});
  QStringList written;
  ASSERT_EQ(write_plots({sweeps}, folder.filePath("sweeps"), &written), QString());
  QStringList names;
  for (const QString& path : written) {
    const QString name = QFileInfo(path).completeBaseName();
    if (path.endsWith(".png") && !name.startsWith("time-") && !name.startsWith("tflops-")) names << name;
  }
  EXPECT_EQ(names, (QStringList{
                       "io-d128-nqN-1x16",
                       "io-d128-nqN-1x16-sm-l2",
                       "io-d128-nqN-1x32-dropout0",
                       "io-d128-nqN-1x32-dropout0-sm-l2",
                       "io-d128-nqN-1x32-dropout0.25",
                       "io-d128-nqN-1x32-dropout0.25-sm-l2",
                       "io-d128-nq1-1x16-pagecontiguous-splitsauto",
                       "io-d128-nq1-1x16-pagecontiguous-splitsauto-sm-l2",
                       "io-d128-nq1-1x16-pagecontiguous-splits16",
                       "io-d128-nq1-1x16-pagecontiguous-splits16-sm-l2",
                       "io-d128-nq1-1x16-page256-splitsauto",
                       "io-d128-nq1-1x16-page256-splitsauto-sm-l2",
                       "io-d128-nq1-1x16-page256-splits16",
                       "io-d128-nq1-1x16-page256-splits16-sm-l2",
                       "tiles-fa2-n2048-d64-1x132-time_median_ns",
                       "tiles-fa2-n2048-d64-1x132-l2_sm_bytes",
                       "tiles-fa2-n2048-d64-1x132-dram_bytes",
                   }));
}

TEST_F(WindowTest, PicturesReplaceOnlyPicturesUnlessForced) {
  const QString notes = folder.filePath("notes.png");
  const auto content = [&] {
    QFile in(notes);
    in.open(QIODevice::ReadOnly);
    return in.readAll();
  };
  {
    QFile out(notes);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    out.write("my notes");
  }
  Screenshot shot{notes, QStringLiteral("io")};
  const QString error = write_screenshot({file}, shot);
  EXPECT_TRUE(error.contains("notes.png") && error.contains("--force")) << error.toStdString();
  EXPECT_EQ(content(), "my notes");
  ASSERT_TRUE(QFile::setPermissions(notes, QFile::ReadOwner | QFile::WriteOwner));
  shot.existing = ExistingFile::any;
  EXPECT_EQ(write_screenshot({file}, shot), QString());
  EXPECT_TRUE(content().startsWith("\x89PNG"));
  EXPECT_FALSE(QFile::permissions(notes) & QFile::ReadOther) << "the mode is kept";
  const QString link = folder.filePath("link.png");
  ASSERT_TRUE(QFile::link(notes, link));
  shot = {link, QStringLiteral("io")};
  EXPECT_EQ(write_screenshot({file}, shot), QString());
  EXPECT_TRUE(QFileInfo(link).isSymLink());
}

TEST_F(WindowTest, KeepsTheOldPlotOnAWriteError) {
  // Nobody, not even root, can create files in /proc or replace a folder by a file.
  const QString blocked = folder.filePath("blocked");
  ASSERT_TRUE(QDir().mkpath(blocked + "/io-d128-1x132.png"));
  QStringList written;
  const QString error = write_plots({file}, blocked, &written);
  EXPECT_TRUE(error.contains("io-d128-1x132.png")) << error.toStdString();
  EXPECT_TRUE(written.isEmpty()) << written.join('\n').toStdString();
  EXPECT_TRUE(
      write_screenshot({file}, {QStringLiteral("/proc/version"), QStringLiteral("io")}).contains("/proc/version"));

  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  for (const char* name : {"/proc/version", "/proc/new.png", "/proc/new.svg", "/proc/new.pdf"}) {
    window.banner().clear_all();
    window.save_plot_to(QString::fromUtf8(name));
    EXPECT_TRUE(window.banner().text().contains(name)) << window.banner().text().toStdString();
  }
  window.banner().clear_all();
  for (const char* name : {"plot.png", "plot.svg", "plot.pdf"}) {
    window.save_plot_to(folder.filePath(name));
    EXPECT_GT(QFileInfo(folder.filePath(name)).size(), 1000) << name;
  }
  EXPECT_EQ(window.banner().text(), QString());
}

TEST_F(WindowTest, PlotsOfABadFileAreAnError) {
  QStringList written;
  EXPECT_TRUE(write_plots({folder.filePath("nowhere.attnscope")}, folder.path(), &written).contains("nowhere"));
  EXPECT_TRUE(written.isEmpty());
}

QString svg_text(const QString& path) {
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::ReadOnly));
  return QString::fromUtf8(file.readAll());
}

TEST_F(WindowTest, PicturesShowTheirSourceButNoHoverHints) {
  QStringList written;
  ASSERT_EQ(write_plots({file}, folder.filePath("plots"), &written), QString());
  int pictures = 0;
  for (const QString& path : written) {
    if (!path.endsWith(".svg")) continue;
    ++pictures;
    const QString text = svg_text(path);
    for (const char* part : {"NVIDIA H200", "sample.attnscope"}) {
      EXPECT_TRUE(text.contains(QLatin1String(part))) << part << " in " << path.toStdString();
    }
    // Date of the run.
    EXPECT_TRUE(text.contains(QRegularExpression(QStringLiteral("\\d{4}-\\d\\d-\\d\\d")))) << path.toStdString();
    for (const Message& hint :
         {Message(msg::tile_map::infeasible_on_screen{}), Message(msg::tile_map::no_room_on_screen{})}) {
      EXPECT_FALSE(text.contains(qtext(hint).toHtmlEscaped())) << path.toStdString();
    }
  }
  EXPECT_EQ(pictures, 4 + 2 * 3);
}

TEST(ResultModel, UpdatesInPlaceIfTheRowsMatch) {
  ExplorerChoices choices = default_choices();
  const ExplorerResult first = compute_result(choices);
  ASSERT_TRUE(choose(choices, QStringLiteral("n_k"), QStringLiteral("8192")).ok());
  const ExplorerResult second = compute_result(choices);
  ResultModel model;
  const auto show = [&](const ExplorerResult& explored) {
    const analysis::ExploredColumn now{.title = "now", .help = {}, .exploration = &explored.exploration};
    model.update_table(
        std::make_shared<const analysis::Table>(analysis::exploration_table(now, {}, known_algorithms())));
  };
  show(first);
  const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  const QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  show(second);
  EXPECT_EQ(reset.count(), 0) << "the selection stays";
  EXPECT_EQ(changed.count(), 1);
}

}  // namespace
}  // namespace attnscope::ui
