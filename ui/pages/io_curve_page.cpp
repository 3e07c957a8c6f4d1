// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/io_curve_page.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <utility>

#include "kernels/algorithm.h"
#include "ui/format.h"
#include "ui/models/heatmap_grid.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

ProblemFilter make_filter() {
  return {{facets::head_dim(), facets::pass(), facets::queries(), facets::mask(), facets::dtype(), facets::heads(),
           facets::dropout(), facets::page(), facets::deterministic(), facets::cache()},
          [](const PointSpec& spec) { return QString::number(spec.problem.n_k); }};
}

constexpr int widest_index = 0;
constexpr int fastest_index = 1;
constexpr std::size_t first_listed = 2;

QString about_algorithm(const std::string& name) {
  const Algorithm* algorithm = find_algorithm(name);
  return algorithm == nullptr
             ? IoCurvePage::tr("%1 – an algorithm of another program; there is no model of it").arg(short_title(name))
             : QStringLiteral("%1 – %2").arg(to_qstring(algorithm->title()), to_qstring(algorithm->source()));
}

}  // namespace

IoCurvePage::IoCurvePage(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace), filter_(make_filter()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);

  auto* controls = new QWidget(this);
  auto* rows = new QVBoxLayout(controls);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(7);

  facets_ = new FacetBar(filter_, controls);
  const auto add_combo = [&](const QString& name, const QString& help) {
    auto* pair = new QWidget(controls);
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(5);
    auto* combo = new QComboBox(pair);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    combo->setAccessibleName(name);
    combo->setToolTip(help);
    auto* label = new QLabel(name, pair);
    label->setBuddy(combo);
    label->setToolTip(help);
    row->addWidget(label);
    row->addWidget(combo);
    facets_->layout()->addWidget(pair);
    return combo;
  };
  tile_ = add_combo(tr("Tile"), tr("Which Br × Bc stands for an algorithm when a sweep has several; splits: the points "
                                   "with that many, of the algorithms that were swept over them"));
  ordinate_ = add_combo(tr("Plot"), tr("What stands on the vertical axis. Times are medians, their bars the quartiles; "
                                       "TFLOP/s count the products of unmasked pairs alone"));
  for (const auto& [ordinate, text] : {std::pair{Ordinate::bytes, tr("bytes")}, std::pair{Ordinate::time, tr("time")},
                                       std::pair{Ordinate::rate, tr("TFLOP/s")}}) {
    ordinate_->addItem(text, static_cast<int>(ordinate));
  }
  rows->addWidget(facets_);

  auto* second = new QWidget(controls);
  toggles_ = new FlowLayout(second, 9);
  dram_ = add_toggle(tr("DRAM"),
                     tr("Bytes that device memory delivered and took (discs): what is left after the L2 has served "
                        "what it holds."),
                     true);
  sm_l2_ = add_toggle(tr("SM↔L2"),
                      tr("Bytes that the kernels asked for and gave back (squares): what the algorithm moves, wherever "
                         "it comes from."),
                      true);
  model_ = add_toggle(tr("Exact model"),
                      tr("The bytes that this kernel's loads and stores add up to with this tile: the squares must lie "
                         "on it."),
                      true);
  asymptote_ = add_toggle(tr("Fit"),
                          tr("The law of the theory, c·N²d²/M (c·N² where all scores are written out), with the c that "
                             "fits the points best; slope 2 on these axes means fourfold bytes for twice the N. Under "
                             "other masks than the causal one P, the number of pairs left, stands for N². With few "
                             "queries against many keys the law is c·n_k·d, slope 1."),
                          true);
  paper_ = add_toggle(tr("Paper's count"),
                      tr("What the FlashAttention paper counts by hand: 4N²+4Nd elements for standard attention, "
                         "(3Tc+1)Nd for FA1, with Tc = N/Bc passes over Q and O."),
                      false);
  compulsory_ = add_toggle(tr("Minimum"),
                           tr("Q, K and V read once and O written once: no algorithm can move less, and it grows only "
                              "as N."),
                           true);
  boundary_ = add_toggle(tr("L2 limit"),
                         tr("The N from which what an algorithm passes through again and again no longer fits in the "
                            "L2, so that DRAM traffic climbs towards SM↔L2."),
                         true);
  stacks_ = add_toggle(tr("Kernels"),
                       tr("Which kernel of standard attention moves which share of its bytes, as parts of the paper's "
                          "count (forward 4N²+4Nd): see S and P go out and come back."),
                       false);
  per_head_ = add_toggle(tr("Per head"),
                         tr("Divides all bytes by batch × heads, to compare runs of different size or with a formula "
                            "of the paper."),
                         false);
  rows->addWidget(second);
  column->addWidget(controls);

  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  plot_ = new IoPlot(content);
  empty_ = new EmptyState(content);
  stack_->addWidget(plot_);
  stack_->addWidget(empty_);
  column->addWidget(content, 1);

  connect(facets_, &FacetBar::chosen, this, [this] { refresh(false); });
  connect(tile_, &QComboBox::activated, this, [this] { refresh(false); });
  connect(ordinate_, &QComboBox::currentIndexChanged, this, [this] { refresh(false); });
  connect(plot_, &IoPlot::point_clicked, this, &IoCurvePage::point_selected);
  connect(&workspace_, &Workspace::points_changed, this, [this] { refresh(true); });
  refresh(false);
}

QCheckBox* IoCurvePage::add_toggle(const QString& text, const QString& help, bool on) {
  auto* box = new QCheckBox(text, this);
  box->setToolTip(help);
  box->setChecked(on);
  toggles_->addWidget(box);
  connect(box, &QCheckBox::toggled, this, [this, box] { refresh(box != per_head_); });
  return box;
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

void IoCurvePage::choose(const QString& facet, const QString& id) {
  const std::size_t place = filter_.place_of(facet);
  if (place == filter_.facets().size()) return;
  filter_.choose(place, id);
  refresh(false);
}

QString IoCurvePage::file_stem() const {
  QString stem = to_string(ordinate()) + filter_.stem();
  const TileSelection tile = tile_selection();
  if (tile.splits) stem += QStringLiteral("-splits") + format_splits(*tile.splits);
  if (tile.rule == TileSelection::Rule::fastest) stem += QStringLiteral("-fastest");
  if (tile.rule == TileSelection::Rule::exact) {
    QString words = format_tile(tile.tile);
    words.remove(QLatin1Char(',')).replace(QStringLiteral(" × "), QStringLiteral("x"));
    stem += QStringLiteral("-tile") + words.replace(QLatin1Char(' '), QLatin1Char('-'));
  }
  return stem;
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

void IoCurvePage::choose_splits(int splits) {
  const auto place = std::find(splits_.begin(), splits_.end(), splits);
  if (place == splits_.end()) return;
  tile_->setCurrentIndex(static_cast<int>(first_listed + static_cast<std::size_t>(place - splits_.begin())));
  refresh(false);
}

bool IoCurvePage::only_a_tile_map() const {
  std::set<std::int64_t> lengths;
  std::map<std::string, std::set<std::pair<int, int>>> tiles;
  for (const ShownPoint& point : points_) {
    const PointSpec& spec = point.spec();
    lengths.insert(spec.problem.n_k);
    if (tile_stated(spec.tile)) tiles[spec.algorithm].emplace(spec.tile.br, spec.tile.bc);
  }
  return lengths.size() == 1 && std::any_of(tiles.begin(), tiles.end(), [](const auto& entry) {
           return entry.second.size() >= fewest_tiles_of_a_map;
         });
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
  request.asymptote = asymptote_->isChecked();
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
  points_ = workspace_.visible_points();
  const bool any = !points_.empty();
  filter_.update(points_);
  facets_->refresh();
  std::erase_if(points_, [this](const ShownPoint& point) { return !filter_.matches(point); });
  show_toggles();
  refresh_chips(points_);
  refresh_tiles(points_);
  curves_ = build_curves(points_, filter_, request());
  if (!any) {
    if (workspace_.runs().empty()) {
      empty_->set_message(tr("Nothing measured yet"),
                          tr("Open a file, or choose a device and a preset in the Collect panel and press Start.<br>"
                             "Without a GPU, a simulated device does as well."));
    } else {
      empty_->set_message(tr("No run is shown"), tr("Tick a run in the list on the left."));
    }
    stack_->setCurrentWidget(empty_);
    return;
  }
  const auto shown = [this](const ShownPoint& point) { return shows_on(point.record(), ordinate()); };
  if (!points_.empty() && std::ranges::none_of(points_, shown)) {  // theory alone would look like a result
    const bool bytes = ordinate() == Ordinate::bytes;
    empty_->set_message(bytes ? tr("No bytes here") : tr("No times here"),
                        bytes ? tr("These points hold times only: choose time or TFLOP/s under <i>Plot</i>.")
                              : tr("These points hold bytes only: choose bytes under <i>Plot</i>."));
    stack_->setCurrentWidget(empty_);
    return;
  }
  stack_->setCurrentWidget(plot_);
  const bool same = keep_view && !was_empty && title_before == curves_.title && ordinate_before == curves_.ordinate &&
                    plot_->user_view();
  plot_->set_curves(curves_, stacks_->isChecked() && curves_.ordinate == Ordinate::bytes, same);
}

void IoCurvePage::show_toggles() {
  // Theory speaks of bytes.
  const bool bytes = ordinate() == Ordinate::bytes;
  for (QCheckBox* box : {dram_, sm_l2_, model_, asymptote_, paper_, compulsory_, stacks_, per_head_}) {
    box->setVisible(bytes);
  }
}

void IoCurvePage::refresh_chips(const std::vector<ShownPoint>& points) {
  struct Present {
    bool shown = false;  ///< some point has what the plot shows
    bool imported = true;
  };
  std::map<std::string, Present> present;
  for (const ShownPoint& point : points) {
    Present& entry = present[point.spec().algorithm];
    entry.shown = entry.shown || shows_on(point.record(), ordinate());
    entry.imported = entry.imported && point.run->summary.provenance == Provenance::imported;
  }
  for (const Algorithm* algorithm : algorithms()) add_chip(std::string(algorithm->name()));
  for (const auto& [name, entry] : present) add_chip(name);
  const bool bytes = ordinate() == Ordinate::bytes;
  for (const auto& [name, chip] : chip_of_) {
    const auto entry = present.find(name);
    const bool there = entry != present.end();
    chip->setEnabled(there && entry->second.shown);
    // What is not ours is offered only while it is there.
    chip->setVisible(there || find_algorithm(name) != nullptr);
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
  chip->setChecked(true);
  toggles_->insert_widget(static_cast<int>(chip_of_.size()) - 1, chip);
  connect(chip, &QToolButton::toggled, this, [this] { refresh(true); });
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

void IoCurvePage::refresh_tiles(const std::vector<ShownPoint>& points) {
  const std::vector<TileShape> tiles = tiles_of(points, filter_);
  const std::vector<int> splits = splits_of(points, filter_);
  if (tiles == tiles_ && splits == splits_ && tile_->count() > 0) return;
  const QString current = tile_->currentText();
  tiles_ = tiles;
  splits_ = splits;
  const QSignalBlocker quiet(tile_);
  tile_->clear();
  tile_->insertItem(widest_index, tr("the one swept"));
  tile_->insertItem(fastest_index, tr("fastest at each N"));
  for (const int count : splits_) tile_->addItem(tr("splits %1").arg(format_splits(count)));
  for (const TileShape& tile : tiles_) tile_->addItem(format_tile(tile));
  tile_->setCurrentIndex(std::max(0, tile_->findText(current)));
}

void IoCurvePage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) color_chips();
}

}  // namespace attnscope::ui
