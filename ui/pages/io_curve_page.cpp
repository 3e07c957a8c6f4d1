// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/io_curve_page.h"
#include "kernels/registry.h"

#include <QEvent>
#include <QJsonArray>
#include <QResizeEvent>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <utility>

#include "kernels/algorithm.h"
#include "profiler/analysis/plot_list.h"
#include "ui/format.h"
#include "ui/source_note.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr int widest_index = 0;
constexpr int fastest_index = 1;
constexpr std::size_t first_listed = 2;
/// Lower than this, the page gives its height to the plot: toggles go into a menu, algorithms without points away.
constexpr int roomy_height = 620;

QString about_algorithm(const std::string& name) {
  const Algorithm* algorithm = built_in_algorithms().find(name);
  return algorithm == nullptr
             ? IoCurvePage::tr("%1 – an algorithm of another program; there is no model of it").arg(short_title(name))
             : QStringLiteral("%1 – %2").arg(to_qstring(algorithm->facts().title),
                                             to_qstring(algorithm->facts().source));
}

}  // namespace

IoCurvePage::IoCurvePage(Workspace& workspace, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      filter_(analysis::curve_filter()),
      points_(std::make_shared<const PointSet>()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  add_choices();
  add_toggles();
  add_plot();
  connect(&workspace_, &Workspace::points_changed, this, [this] { refresh(true); });
  refresh(false);
}

void IoCurvePage::add_choices() {
  facets_ = new FacetBar(filter_, this);
  tile_ = facets_->add_combo(
      tr("Tile"), tr("Which Br × Bc stands for an algorithm when a sweep has several; splits: the points with that "
                     "many, of the algorithms that were swept over them"));
  ordinate_ = facets_->add_combo(
      tr("Plot"), tr("What stands on the vertical axis. Times are medians, their bars the quartiles; TFLOP/s count the "
                     "products of unmasked pairs alone"));
  for (const auto& [ordinate, text] : {std::pair{Ordinate::bytes, tr("bytes")}, std::pair{Ordinate::time, tr("time")},
                                       std::pair{Ordinate::rate, tr("TFLOP/s")}}) {
    ordinate_->addItem(text, static_cast<int>(ordinate));
  }
  layout()->addWidget(facets_);
  connect(facets_, &FacetBar::chosen, this, [this] { refresh(false); });
  connect(tile_, &QComboBox::activated, this, [this] {
    wanted_tile_ = tile_->currentText();
    refresh(false);
  });
  connect(ordinate_, &QComboBox::currentIndexChanged, this, [this] { refresh(false); });
}

void IoCurvePage::add_toggles() {
  toggles_ = new ToggleBar(this);
  const auto add = [this](const char* name, const QString& text, bool on, const QString& help) {
    QAction* action = toggles_->add(QString::fromLatin1(name), text, help, on);
    connect(action, &QAction::toggled, this, [this, action] { refresh(action != per_head_); });
    return action;
  };
  dram_ = add("dram", tr("DRAM"), true,
              tr("Bytes that device memory delivered and took (discs): what is left after the L2 has served what it "
                 "holds."));
  sm_l2_ = add("sm_l2", tr("SM↔L2"), true,
               tr("Bytes that the kernels asked for and gave back (squares): what the algorithm moves, wherever it "
                  "comes from."));
  model_ = add("model", tr("Exact model"), true,
               tr("The bytes that this kernel's loads and stores add up to with this tile: the squares must lie on "
                  "it."));
  fit_ = add("fit", tr("Fit"), true,
             tr("The law by which the algorithm's bytes grow, and the order below it, with the constants that fit the "
                "points best: c·N² where all scores are written out, c·N²d²/M for FlashAttention, c·N²d/Br for its "
                "later versions, whose tiles of Q stay; c·n_k·d with few queries against many keys. Under other masks "
                "than the causal one P, the number of pairs left, stands for N². In brackets the 95 % interval. A fit "
                "is withheld, and the legend says so, where it stands on fewer than four points, where the points do "
                "not show the law, or where it would miss one by more than its interval."));
  paper_ = add("paper", tr("Paper's count"), false,
               tr("What the FlashAttention paper counts by hand: 4N²+4Nd elements for standard attention, (3Tc+1)Nd "
                  "for FlashAttention, with Tc = N/Bc passes over Q and O."));
  compulsory_ = add("minimum", tr("Minimum"), true,
                    tr("Q, K and V read once and O written once: no algorithm can move less, and it grows only as "
                       "N."));
  boundary_ =
      add("l2_limit", tr("L2 limit"), true,
          tr("Where what an algorithm passes through again and again leaves the L2, so that DRAM traffic climbs "
             "towards SM↔L2. The L2 gives way over a range, the band: from 10 % to 90 % of the climb, at 0.3 "
             "to 0.75 of its nominal capacity. The tick on the axis is where the nominal capacity is "
             "reached."));
  stacks_ = add("kernels", tr("Kernels"), false,
                tr("Which kernel of standard attention moves which share of its bytes, as parts of the paper's count "
                   "(forward 4N²+4Nd): see S and P go out and come back."));
  per_head_ = add("per_head", tr("Per head"), false,
                  tr("Divides all bytes by batch × heads, to compare runs of different size or with a formula of the "
                     "paper."));
  layout()->addWidget(toggles_);
}

void IoCurvePage::add_plot() {
  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  plot_ = new IoPlot(content);
  empty_ = new EmptyState(content);
  stack_->addWidget(plot_);
  stack_->addWidget(empty_);
  static_cast<QVBoxLayout*>(layout())->addWidget(content, 1);
  connect(plot_, &IoPlot::point_clicked, this, &Page::point_selected);
}

std::vector<std::pair<QString, QString>> IoCurvePage::shortcuts() const {
  return {{tr("Left, Right on the curves"), tr("read out the next N")},
          {tr("Home on the curves, or double click"), tr("whole view again")}};
}

QJsonObject IoCurvePage::state() const {
  QJsonArray hidden;
  for (const std::string& name : hidden_) hidden.append(QString::fromStdString(name));
  return {{QStringLiteral("choices"), facets_->state()},
          {QStringLiteral("tile"), wanted_tile_},
          {QStringLiteral("plot"), to_qstring(analysis::to_string(ordinate()))},
          {QStringLiteral("show"), toggles_->state()},
          {QStringLiteral("hidden"), hidden}};
}

void IoCurvePage::restore(const QJsonObject& state) {
  facets_->restore(state[QStringLiteral("choices")].toObject());
  wanted_tile_ = state[QStringLiteral("tile")].toString(wanted_tile_);
  tile_->clear();
  for (const Ordinate ordinate : {Ordinate::bytes, Ordinate::time, Ordinate::rate}) {
    if (state[QStringLiteral("plot")].toString() == to_qstring(analysis::to_string(ordinate))) set_ordinate(ordinate);
  }
  toggles_->restore(state[QStringLiteral("show")].toObject());
  for (const auto& name : state[QStringLiteral("hidden")].toArray()) {
    hidden_.insert(name.toString().toStdString());
  }
  for (const auto& [name, chip] : chip_of_) chip->setChecked(!hidden_.contains(name));
  refresh(false);
}

QString IoCurvePage::save_plot(const QString& path, const QSize& size) {
  plot_->set_source(source_note(points_->select(filter_.rows())));
  if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) return plot_->save_svg(path, size);
  if (path.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) return plot_->save_pdf(path, size);
  return plot_->save_png(path, size);
}

void IoCurvePage::set_stacks(bool on) {
  stacks_->setChecked(on);
}

Ordinate IoCurvePage::ordinate() const {
  return static_cast<Ordinate>(ordinate_->currentData().toInt());
}

void IoCurvePage::set_ordinate(Ordinate ordinate) {
  ordinate_->setCurrentIndex(ordinate_->findData(static_cast<int>(ordinate)));
}

QStringList IoCurvePage::options(const QString& field) const {
  QStringList ids;
  for (const std::string& id : filter_.options(field.toStdString())) ids << QString::fromStdString(id);
  return ids;
}

void IoCurvePage::choose(const QString& field, const QString& id) {
  const std::size_t place = filter_.place_of(field.toStdString());
  if (place == filter_.facets().size()) return;
  filter_.choose(place, id.toStdString());
  refresh(false);
}

QString IoCurvePage::file_stem() const {
  return QString::fromStdString(analysis::curve_stem(ordinate(), filter_, tile_selection()));
}

TileSelection IoCurvePage::tile_selection() const {
  const auto index = static_cast<std::size_t>(std::max(0, tile_->currentIndex()));
  if (index == fastest_index) return {TileSelection::Rule::fastest, {}, {}};
  if (index < first_listed) return {};
  const std::size_t listed = index - first_listed;
  if (listed < splits_.size()) return {TileSelection::Rule::widest, {}, splits_[listed]};
  if (listed - splits_.size() >= tiles_.size()) return {};
  return {TileSelection::Rule::exact, tiles_[listed - splits_.size()], {}};
}

CurveRequest IoCurvePage::request() const {
  CurveRequest request;
  for (const auto& [name, chip] : chip_of_) {
    if (chip->isChecked()) request.algorithms.insert(name);
  }
  request.tile = tile_selection();
  request.ordinate = ordinate();
  request.dram = dram_->isChecked();
  request.sm_l2 = sm_l2_->isChecked();
  request.model = model_->isChecked();
  request.fit = fit_->isChecked();
  request.paper_count = paper_->isChecked();
  request.compulsory = compulsory_->isChecked();
  request.l2_boundary = boundary_->isChecked();
  request.per_head = per_head_->isChecked();
  return request;
}

void IoCurvePage::refresh(bool keep_view) {
  const bool was_empty = curves_.empty();
  const QString title_before = curves_.title;
  const Ordinate ordinate_before = curves_.ordinate;
  points_ = workspace_.visible();
  filter_.update(points_->table(), points_->table().rows());
  facets_->refresh();
  show_toggles();
  refresh_chips();
  refresh_tiles();
  curves_ = build_curves(points_, filter_, request());
  if (const auto words = words_instead()) {
    empty_->set_words(*words);
    stack_->setCurrentWidget(empty_);
    return;
  }
  stack_->setCurrentWidget(plot_);
  const bool same = keep_view && !was_empty && title_before == curves_.title && ordinate_before == curves_.ordinate &&
                    plot_->user_view();
  plot_->set_curves(curves_, stacks_->isChecked() && curves_.ordinate == Ordinate::bytes, same);
}

std::optional<EmptyWords> IoCurvePage::words_instead() const {
  if (points_->empty()) return why_no_points(workspace_);
  const auto shown = [this](Row row) { return analysis::shows_on(points_->table(), row, ordinate()); };
  if (std::ranges::any_of(filter_.rows(), shown)) return {};
  // Theory alone would look like a result.
  if (ordinate() == Ordinate::bytes) {
    return EmptyWords{tr("No bytes here"),
                      tr("These points hold times only: choose time or TFLOP/s under <i>Plot</i>.")};
  }
  return EmptyWords{tr("No times here"), tr("These points hold bytes only: choose bytes under <i>Plot</i>.")};
}

void IoCurvePage::show_toggles() {
  // Theory speaks of bytes.
  const bool bytes = ordinate() == Ordinate::bytes;
  for (QAction* action : {dram_, sm_l2_, model_, fit_, paper_, compulsory_, stacks_, per_head_}) {
    action->setVisible(bytes);
  }
}

void IoCurvePage::refresh_chips() {
  struct Present {
    bool shown = false;  ///< some point has what the plot shows
    bool imported = true;
  };
  std::map<std::string, Present> present;
  const analysis::PointTable& table = points_->table();
  for (const Row row : filter_.rows()) {
    Present& entry = present[table.spec(row).algorithm];
    entry.shown = entry.shown || analysis::shows_on(table, row, ordinate());
    entry.imported = entry.imported && table.run(row).provenance == Provenance::imported;
  }
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) add_chip(std::string(algorithm->name()));
  for (const auto& [name, entry] : present) add_chip(name);
  const bool bytes = ordinate() == Ordinate::bytes;
  for (const auto& [name, chip] : chip_of_) {
    const auto entry = present.find(name);
    const bool there = entry != present.end();
    chip->setEnabled(there && entry->second.shown);
    // What is not ours is offered only while it is there.
    chip->setVisible(chip->isEnabled() || (!compact_ && (there || built_in_algorithms().find(name) != nullptr)));
    QString tip = about_algorithm(name);
    if (!there) {
      tip += tr("\nNo point with these choices.");
    } else if (!entry->second.shown) {
      tip += QLatin1Char('\n') +
             (entry->second.imported ? tr("The imported run has no %1.") : tr("Its points have no %1."))
                 .arg(bytes ? tr("bytes; choose time or TFLOP/s under Plot") : tr("times"));
    }
    chip->setToolTip(tip);
  }
  color_chips();
}

void IoCurvePage::add_chip(const std::string& name) {
  QToolButton*& chip = chip_of_[name];
  if (chip != nullptr) return;
  chip = new QToolButton(this);
  chip->setText(short_title(name));
  chip->setCheckable(true);
  chip->setChecked(!hidden_.contains(name));
  toggles_->add_widget(chip);
  connect(chip, &QToolButton::toggled, this, [this, name](bool on) {
    if (on) {
      hidden_.erase(name);
    } else {
      hidden_.insert(name);
    }
    refresh(true);
  });
}

void IoCurvePage::color_chips() {
  const PlotColors colors = plot_colors(palette());
  for (const auto& [name, chip] : chip_of_) {
    const QColor color = algorithm_color(name, colors.dark);
    const QString sheet =
        QStringLiteral(
            "QToolButton { border: 1.5px solid %1; border-radius: 10px; padding: 2px 10px; color: %2; }"
            "QToolButton:checked { background: %1; color: %3; }"
            "QToolButton:disabled { border-color: %4; color: %4; background: transparent; }"
            "QToolButton:focus { border-color: %5; }")
            .arg(color.name(), colors.text.name(), ink_on(color).name(), colors.axis.name(), colors.text.name());
    if (chip->styleSheet() != sheet) chip->setStyleSheet(sheet);
  }
}

void IoCurvePage::refresh_tiles() {
  const std::vector<Config> tiles = analysis::tiles_of(points_->table(), filter_.rows());
  const std::vector<int> splits = analysis::splits_of(points_->table(), filter_.rows());
  if (tiles == tiles_ && splits == splits_ && tile_->count() > 0) return;
  tiles_ = tiles;
  splits_ = splits;
  const QSignalBlocker quiet(tile_);
  tile_->clear();
  tile_->insertItem(widest_index, tr("the one swept"));
  tile_->insertItem(fastest_index, tr("fastest at each N"));
  for (const int count : splits_) tile_->addItem(tr("splits %1").arg(format_splits(count)));
  for (const Config& tile : tiles_) tile_->addItem(format_tile(tile));
  tile_->setCurrentIndex(std::max(0, tile_->findText(wanted_tile_)));
}

void IoCurvePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool compact = event->size().height() < roomy_height;
  if (compact == compact_) return;
  compact_ = compact;
  toggles_->set_compact(compact);
  refresh_chips();
}

void IoCurvePage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) color_chips();
}

}  // namespace attnscope::ui
