// SPDX-License-Identifier: GPL-3.0-or-later
// All texts of the window come from the catalog: with a catalog whose texts are marked, a text without a mark is
// data or was forgotten. A separate program, since the language is that of all tests.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QGroupBox>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QProgressBar>
#include <QRegularExpression>
#include <QTabWidget>
#include <QTableView>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextTable>
#include <set>

#include "kernels/registry.h"
#include "messages/details.h"
#include "messages/embedded.h"
#include "messages/points_table.h"
#include "messages/roofline_page.h"
#include "messages/window.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/presets.h"
#include "profiler/points/facets.h"
#include "tests/ui/window_test.h"
#include "ui/models/curve_series.h"
#include "ui/models/result_model.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/pages/page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/window/help.h"

namespace attnscope::ui {
namespace {

bool marked(const QString& text) {
  return text.contains(QStringLiteral("«"));
}

Catalog marked_catalog() {
  const std::string_view english = embedded_messages();
  QJsonObject groups =
      QJsonDocument::fromJson(QByteArray(english.data(), static_cast<qsizetype>(english.size()))).object();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    QJsonObject texts = group->toObject();
    for (auto text = texts.begin(); text != texts.end(); ++text) *text = QStringLiteral("«%1»").arg(text->toString());
    *group = texts;
  }
  return Catalog::parse(QJsonDocument(groups).toJson().toStdString()).value();
}

/// Names, ids and other data.
const std::set<QString>& data_texts() {
  static const std::set<QString> words = [] {
    std::set<QString> all{QStringLiteral("Attnscope"), QStringLiteral("English"), QStringLiteral("中文")};
    const auto add = [&all](std::string_view text) {
      QString stated = to_qstring(text);
      if (stated.isEmpty()) return;
      all.insert(stated);
      stated[0] = stated[0].toUpper();
      all.insert(stated);
    };
    for (const Field& field : point_fields()) add(field.name);
    for (const Knob& knob : built_in_algorithms().knobs()) {
      add(knob.name);
      for (const std::string& word : knob.words) add(word);
    }
    for (const DTypeTrait& trait : dtype_traits) add(trait.word);
    for (const CacheState state : {CacheState::cold, CacheState::warm}) add(to_string(state));
    for (const DeviceLimits& gpu : known_gpus()) add(gpu.name);
    for (const Preset& preset : presets()) add(preset.name);
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      add(algorithm->name());
      add(algorithm->facts().title);
      all.insert(short_title(algorithm->name()));
      all.insert(
          QStringLiteral("%1 – %2").arg(to_qstring(algorithm->facts().title), to_qstring(algorithm->facts().source)));
    }
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) add(to_string(pass));
    for (const Disposition disposition : {Disposition::ok, Disposition::infeasible, Disposition::out_of_memory,
                                          Disposition::incorrect, Disposition::compile_error, Disposition::timeout,
                                          Disposition::crashed, Disposition::no_counters, Disposition::cancelled}) {
      add(to_string(disposition));
    }
    return all;
  }();
  return words;
}

/// Collects texts that are neither from the catalog nor data.
class Texts {
 public:
  void add(const QString& text, const char* what) {
    ++seen_;
    if (text.isEmpty() || marked(text) || data_texts().contains(text)) return;
    if (parse_mask(text.toStdString())) return;
    // Numbers with units, and symbols.
    static const QRegularExpression number(QStringLiteral("^[\\d.,×÷±%…✕\\s–-]*([kMGT]?i?B|[mµn]?s|[kMGT]?)$"));
    if (number.match(text).hasMatch()) return;
    untranslated_ << QStringLiteral("%1: %2").arg(QString::fromUtf8(what), text);
  }
  void add_all(const QStringList& texts, const char* what) {
    for (const QString& text : texts) add(text, what);
  }
  /// `reasons`: reasons of failed points, in the words of their files; they end a note.
  void add(const HoverContent& content, const QStringList& reasons, const char* what) {
    add(content.title, what);
    for (const QString& note : content.notes) {
      const auto ends_note = [&](const QString& reason) { return note.endsWith(reason); };
      if (std::none_of(reasons.begin(), reasons.end(), ends_note)) add(note, what);
    }
  }
  [[nodiscard]] int seen() const { return seen_; }
  [[nodiscard]] std::string untranslated() const {
    QStringList lines = untranslated_;
    lines.removeDuplicates();
    lines.sort();
    return lines.join(QLatin1Char('\n')).toStdString();
  }

 private:
  int seen_ = 0;
  QStringList untranslated_;
};

/// Buttons and actions that Qt adds to its own widgets.
bool is_qt_object(const QObject& object) {
  for (const QObject* at = &object; at != nullptr; at = at->parent()) {
    if (at->objectName().startsWith(QLatin1String("qt_")) || at->objectName().startsWith(QLatin1String("_q_"))) {
      return true;
    }
    if (at->inherits("QDockWidgetTitleButton") || at->inherits("QTableCornerButton")) return true;
  }
  if (const auto* button = qobject_cast<const QAbstractButton*>(&object)) {
    const auto* box = qobject_cast<const QMessageBox*>(button->window());
    return box != nullptr && box->standardButton(const_cast<QAbstractButton*>(button)) != QMessageBox::NoButton;
  }
  return false;
}

void add_widget(const QWidget& widget, Texts& texts) {
  texts.add(widget.toolTip(), "tooltip");
  texts.add(widget.statusTip(), "status tip");
  texts.add(widget.whatsThis(), "what's this");
  texts.add(widget.accessibleName(), "accessible name");
  texts.add(widget.accessibleDescription(), "accessible description");
  if (const auto* label = qobject_cast<const QLabel*>(&widget)) texts.add(label->text(), "label");
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) texts.add(button->text(), "button");
  if (const auto* box = qobject_cast<const QGroupBox*>(&widget)) texts.add(box->title(), "group box");
  if (const auto* menu = qobject_cast<const QMenu*>(&widget)) texts.add(menu->title(), "menu");
  if (const auto* dock = qobject_cast<const QDockWidget*>(&widget)) texts.add(dock->windowTitle(), "dock");
  if (const auto* field = qobject_cast<const QLineEdit*>(&widget)) {
    const bool example = field->placeholderText() == QLatin1String("N[pow2]=[8,14] d=64");
    if (!example) texts.add(field->placeholderText(), "placeholder");
  }
  if (const auto* bar = qobject_cast<const QProgressBar*>(&widget)) texts.add(bar->format(), "progress");
  if (const auto* tabs = qobject_cast<const QTabWidget*>(&widget)) {
    for (int i = 0; i < tabs->count(); ++i) texts.add(tabs->tabText(i), "tab");
  }
  if (const auto* table = qobject_cast<const QTableView*>(&widget)) {
    for (int column = 0; column < table->model()->columnCount(); ++column) {
      for (const int role : {int{Qt::DisplayRole}, int{Qt::ToolTipRole}}) {
        texts.add(table->model()->headerData(column, Qt::Horizontal, role).toString(), "heading");
      }
    }
  }
}

/// Adds the texts of all widgets, also hidden ones. Combo boxes of facets contain data.
void add_widgets(const QWidget& window, Texts& texts) {
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    if (!is_qt_object(*widget)) add_widget(*widget, texts);
  }
  for (const QAction* action : window.findChildren<QAction*>()) {
    if (is_qt_object(*action) || action->isSeparator()) continue;
    texts.add(action->text(), "action");
    texts.add(action->toolTip(), "action's tooltip");
  }
}

class LanguageTest : public WindowTest {
 protected:
  /// Shows a window in English first: no text may stay in the previous language.
  static void SetUpTestSuite() {
    MainWindow english(false);
    english.show();
    EXPECT_EQ(english.workspace().open_blocking(sample_path()), QString());
    for (const PageKind& kind : page_kinds()) {
      english.show_page(to_qstring(kind.id));
      english.page(english.page_id())->wait_until_idle();
    }
    set_catalog(marked_catalog());
  }
};

TEST_F(LanguageTest, WidgetsAreTranslated) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  Texts empty;
  add_widgets(window, empty);
  EXPECT_EQ(empty.untranslated(), "") << "before a file is open";

  ASSERT_EQ(window.workspace().open_blocking(sample_path()), QString());
  for (const char* page : {"explorer", "table", "tiles", "io"}) {
    window.show_page(QString::fromUtf8(page));
    wait_until_idle();
    Texts texts;
    add_widgets(window, texts);
    // Errors are English.
    const QString error =
        QStringLiteral("\ntooltip: ") + window.findChild<CollectPanel*>()->form().devices().local_problem();
    // File names, and their paths in tooltips.
    EXPECT_EQ(QString::fromStdString(texts.untranslated()).remove(error).toStdString(),
              "label: h200.attnscope\ntooltip: " + sample_path().toStdString())
        << page;
    EXPECT_GT(texts.seen(), 150);
  }
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST_F(LanguageTest, ChoicesAreTranslated) {
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  Texts texts;
  for (const QComboBox* combo : window.findChildren<QComboBox*>()) {
    const bool of_facet =
        std::ranges::any_of(analysis::curve_facets(),
                            [&](const auto& facet) { return combo->accessibleName() == qtext(facet->label); }) ||
        std::ranges::any_of(analysis::map_facets(),
                            [&](const auto& facet) { return combo->accessibleName() == qtext(facet->label); });
    const bool of_device = combo->accessibleName() == qtext(msg::roofline_page::device{});  // Named by the file.
    if (of_facet || of_device) continue;
    for (int i = 0; i < combo->count(); ++i) {
      texts.add(combo->itemText(i), "choice");
      texts.add(combo->itemData(i, Qt::ToolTipRole).toString(), "choice's tooltip");
    }
  }
  EXPECT_EQ(texts.untranslated(), "");
}

TEST_F(LanguageTest, PlotsAreTranslated) {
  std::vector<PointRecord> points = fixtures::memory_wall();
  points.push_back(fixtures::failed_point(fixtures::spec("naive", 65536), Disposition::out_of_memory,
                                          Message::verbatim("the file's own words")));
  PointRecord hot = fixtures::ok_point(fixtures::spec("fa2", 2048));
  hot.clocks->throttled = true;
  points.push_back(hot);
  Texts texts;
  QStringList reasons;
  for (const PointRecord& point : points) {
    if (!point.reason.empty()) reasons << qtext(point.reason);
  }
  for (const Ordinate ordinate : {Ordinate::bytes, Ordinate::time, Ordinate::rate}) {
    CurveRequest request;
    request.algorithms = {"naive", "fa1", "fa2"};
    request.ordinate = ordinate;
    request.l2_boundary = true;
    const CurveSet set = fixtures::curves_of(fixtures::shown(points), request);
    IoPlot plot;
    plot.resize(900, 700);
    plot.set_curves(set, {}, false);
    texts.add(plot.accessibleName(), "plot");
    for (const QCPAxis* axis : {plot.xAxis, plot.yAxis}) texts.add(axis->label(), "axis");
    const LegendContent& legend = plot.legend_table().content();
    for (const QString& column : legend.columns) texts.add(column, "legend");
    for (const LegendRow& row : legend.rows) {
      if (row.series.isEmpty()) texts.add(row.text, "legend");  // Series have the names of algorithms.
    }
    for (const QString& note : legend.notes) texts.add(note, "legend");
    for (int i = 0; i < plot.itemCount(); ++i) {
      if (const auto* item = qobject_cast<const QCPItemText*>(plot.item(i)))
        texts.add(item->text(), "text in the plot");
    }
    const auto add = [&](const HoverContent& content) {
      texts.add(content, reasons, "read-out of a curve");
      for (const HoverRow& row : content.rows) texts.add(row.label, "row of a read-out");
    };
    for (const Curve& curve : set.curves) {
      if (curve.kind != CurveKind::measured) continue;
      for (const CurvePoint& point : curve.points) add(describe_point(set, curve, point, plot_colors(QPalette())));
    }
    for (const FailedPoint& point : set.failed) add(describe_failure(set, point));
  }
  EXPECT_EQ(texts.untranslated(), "");
  EXPECT_GT(texts.seen(), 50);
}

TEST_F(LanguageTest, MapsAreTranslated) {
  Texts texts;
  for (const Metric& metric : metrics_table()) {
    if (!metric.on_heatmap) continue;
    const auto points = fixtures::set_of(fixtures::shown(fixtures::tile_sweep()));
    const TileMap map = fixtures::heatmap_of(*points, metric.key);
    HeatmapView view;
    view.resize(900, 700);
    view.set_map(points, map, true);
    for (const PlotTarget target : {PlotTarget::screen, PlotTarget::file}) {
      texts.add_all(heatmap_caption(*points, map, true, target).split(QStringLiteral(" · ")), "caption");
    }
    for (int row = 0; row < static_cast<int>(map.cells.size()); ++row) {
      for (int column = 0; column < static_cast<int>(map.cells.front().size()); ++column) {
        const TileCell& cell = map.at({row, column});
        QStringList reasons;
        if (cell.disposition && *cell.disposition != Disposition::ok) {
          reasons << qtext(points->table().reason(cell.row));
        }
        texts.add(view.describe_cell({row, column}), reasons, "read-out of a cell");
      }
    }
  }
  EXPECT_EQ(texts.untranslated(), "");
}

TEST_F(LanguageTest, DetailsAreTranslated) {
  const PointRecord hot = fixtures::ok_point(fixtures::spec("naive", 1024));
  const QString html = describe_point_html(fixtures::shown({hot})[0], QPalette());
  Texts texts;
  static const QRegularExpression heading(QStringLiteral("<td colspan='2' style='padding-top:10px'><b>([^<]*)</b>"));
  static const QRegularExpression name(QStringLiteral("<tr><td>([^<]*)</td>"));
  for (const QRegularExpression& pattern : {heading, name}) {
    auto match = pattern.globalMatch(html);
    ASSERT_TRUE(match.hasNext()) << pattern.pattern().toStdString();
    while (match.hasNext()) texts.add(match.next().captured(1), "details");
  }
  EXPECT_EQ(texts.untranslated(), "");
}

TEST_F(LanguageTest, EmptyPagesAreTranslated) {
  Workspace workspace;
  Texts texts;
  const auto add = [&] {
    const EmptyStateText words = no_points_text(workspace);
    texts.add(words.title, "title");
    texts.add(words.text, "text");
  };
  add();
  ASSERT_EQ(workspace.open_blocking(file), QString());
  for (std::size_t i = 0; i < workspace.runs().size(); ++i) workspace.set_run_visible(i, false);
  add();
  const QString beginning = folder.filePath("beginning.attnscope");
  fixtures::write_file(beginning, {{"quick", {}}});
  ASSERT_EQ(workspace.open_blocking(beginning), QString());
  add();
  workspace.set_run_visible(0, true);
  ASSERT_TRUE(workspace.set_query(QStringLiteral("nonsense")).empty());
  add();
  EXPECT_EQ(texts.untranslated(), "");
  EXPECT_EQ(texts.seen(), 8);
}

TEST_F(LanguageTest, RunsAreTranslated) {
  Workspace workspace;
  RunsPanel panel(workspace);
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const QModelIndex index = panel.model()->index(0, 0);
  for (const int role : {int{RunsModel::detail_role}, int{Qt::ToolTipRole}, int{Qt::AccessibleTextRole}}) {
    EXPECT_TRUE(marked(index.data(role).toString())) << index.data(role).toString().toStdString();
  }
}

// Exported values are for programs.
TEST_F(LanguageTest, ExportedValuesAreNotTranslated) {
  CurveRequest request;
  request.algorithms = {"fa2"};
  const ShownValues curves = values_of(fixtures::curves_of(fixtures::shown(fixtures::memory_wall()), request));
  const auto points = fixtures::set_of(fixtures::shown(fixtures::tile_sweep()));
  const ShownValues maps = values_of(*points, fixtures::heatmap_of(*points, metric_key::time_median_ns));
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  window.show_page(QStringLiteral("table"));
  wait_until_idle();
  const ShownValues table = page_of<PointsPage>(window).values();
  const auto result = table.keys.indexOf(qtext(msg::points_table::result{}));
  ASSERT_GE(result, 0);
  for (const QStringList& line : table.lines) EXPECT_FALSE(marked(line[result])) << line[result].toStdString();
  for (const ShownValues& values : {curves, maps}) {
    ASSERT_FALSE(values.empty());
    const auto origin = values.keys.indexOf(QStringLiteral("origin"));
    for (const QStringList& line : values.lines) EXPECT_TRUE(parse_provenance(line[origin].toStdString()).ok());
  }
}

TEST_F(LanguageTest, CodesFromProcessesAreTranslated) {
  MeasuredPoint point{.state = MeasuredPoint::State::finished, .choices = default_choices(), .device = {}};
  point.event.disposition = "infeasible";
  EXPECT_TRUE(marked(outcome_label(point))) << outcome_label(point).toStdString();
  point.event.time_median_ns = 1e6;
  point.event.provenance = "simulated";
  EXPECT_TRUE(outcome_label(point).contains(qtext(title(Provenance::simulated))));
  EXPECT_TRUE(marked(qtext(title(StoredRunState::complete))));
  EXPECT_TRUE(marked(QString::fromStdString(analysis::localized_text({.text = std::string(auto_value)}))));
}

TEST_F(LanguageTest, DialogsAreTranslated) {
  MainWindow window(false);
  window.show();
  show_about(&window);
  show_document(&window, QStringLiteral("tutorial"));
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == qtext(msg::window::shortcuts{})) action->trigger();
  }
  const QList<QDialog*> dialogs = window.findChildren<QDialog*>();
  ASSERT_EQ(dialogs.size(), 3);
  Texts texts;
  for (const QDialog* dialog : dialogs) {
    EXPECT_TRUE(marked(dialog->windowTitle())) << dialog->windowTitle().toStdString();
    const auto* box = qobject_cast<const QMessageBox*>(dialog);
    if (box == nullptr) continue;
    static const QRegularExpression cell(QStringLiteral("<(?:td|p)>([^<]+)</(?:td|p)>"));
    for (auto match = cell.globalMatch(box->text()); match.hasNext();) texts.add(match.next().captured(1), "dialog");
  }
  const auto* sheet = window.findChild<QDialog*>(QStringLiteral("shortcuts"))->findChild<QTextBrowser*>();
  const auto* table = qobject_cast<QTextTable*>(sheet->document()->rootFrame()->childFrames().front());
  for (int row = 0; row < table->rows(); ++row) {
    for (const int column : {1, 3}) {
      const QString meaning = table->cellAt(row, column).firstCursorPosition().block().text();
      if (!meaning.isEmpty()) texts.add(meaning, "shortcut");
    }
  }
  EXPECT_GT(texts.seen(), 12);
  EXPECT_EQ(texts.untranslated(), "");
}

TEST_F(LanguageTest, CollectPanelIsTranslated) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectPanel panel;
  Texts texts;
  panel.form().set_preset(QString());
  panel.form().restore({{"file", folder.filePath("c.attnscope")}});
  panel.form().set_axes(QStringLiteral("N=1024"));
  EXPECT_EQ(start_blocker(panel), QString());
  texts.add(panel.form().check().plan, "plan");

  auto* log = panel.findChild<QListWidget*>();
  PlanEvent plan;
  plan.device_name = "H200";
  plan.total = 2;
  plan.skipped = 1;
  plan.counters = "available";
  emit panel.collector().planned(plan);
  emit panel.collector().kernel_built(BuildEvent{1, 1, "k", false, {}});
  texts.add(panel.progress_text(), "progress");
  emit panel.collector().finished(DoneEvent{"complete", {}, 1, 1, 0});
  texts.add(panel.progress_text(), "end");
  emit panel.collector().cancelled(DoneEvent{"cancelled", {}, 1, 0, 5});
  texts.add(panel.progress_text(), "cancelled");
  emit panel.collector().crashed(QStringLiteral("«why»"));
  texts.add(panel.progress_text(), "crashed");
  for (int i = 0; i < log->count(); ++i) texts.add(log->item(i)->text(), "log");
  EXPECT_EQ(texts.untranslated(), "");
  EXPECT_EQ(log->count(), 6);
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

// Settings do not depend on the language.
TEST_F(LanguageTest, SettingsAreLanguageIndependent) {
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  window.show();
  window.show_page(QStringLiteral("table"));
  wait_until_idle();
  auto& table = page_of<PointsPage>(window);
  const int time = dynamic_cast<const ResultModel&>(*table.table()->model()).find_column_index(QStringLiteral("time"));
  ASSERT_GE(time, 0);
  table.table()->sortByColumn(time, Qt::DescendingOrder);
  EXPECT_EQ(table.state()[QStringLiteral("sorted_by")].toString(), QStringLiteral("time"));
  const QJsonObject kept = table.state();
  table.table()->sortByColumn(0, Qt::AscendingOrder);
  table.restore(kept);
  EXPECT_EQ(table.table()->horizontalHeader()->sortIndicatorSection(), time);

  auto& curves = page_of<IoCurvePage>(window);
  curves.restore({{QStringLiteral("tile"), QStringLiteral("fastest")}});
  window.workspace().set_run_visible(1, false);
  window.workspace().set_run_visible(1, true);
  EXPECT_EQ(curves.state()[QStringLiteral("tile")].toString(), QStringLiteral("fastest"));
  for (const Page* page : window.findChildren<Page*>()) {
    const QString json = QString::fromUtf8(QJsonDocument(page->state()).toJson());
    EXPECT_FALSE(marked(json)) << json.toStdString();
  }
}

}  // namespace
}  // namespace attnscope::ui
