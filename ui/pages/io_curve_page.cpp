// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/io_curve_page.h"
#include "kernels/registry.h"

#include <QApplication>
#include <QEvent>
#include <QJsonArray>
#include <QResizeEvent>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <utility>

#include "kernels/algorithm.h"
#include "messages/curve_page.h"
#include "profiler/analysis/plot_list.h"
#include "ui/format.h"
#include "ui/said.h"
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
  return algorithm == nullptr ? said(say::curve_page::foreign_algorithm{.algorithm = short_title(name).toStdString()})
                              : QStringLiteral("%1 – %2").arg(to_qstring(algorithm->facts().title),
                                                              to_qstring(algorithm->facts().source));
}

QString word_of(ColorOf color) {
  const auto found = std::ranges::find(colors_of(), color, &std::pair<ColorOf, std::string_view>::first);
  return to_qstring(found->second);
}

Message lacks(bool imported, bool bytes) {
  if (imported && bytes) return say::curve_page::import_has_no_bytes{};
  if (imported) return say::curve_page::import_has_no_times{};
  if (bytes) return say::curve_page::points_have_no_bytes{};
  return say::curve_page::points_have_no_times{};
}

}  // namespace

IoCurvePage::IoCurvePage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, analysis::curve_filter, parent) {
  add_choices();
  add_toggles();
  add_plot();
  connect(&workspace, &Workspace::points_changed, this, [this] { refresh(true); });
  refresh(false);
}

void IoCurvePage::add_choices() {
  tile_ = facets().add_combo(said(say::curve_page::tile{}), said(say::curve_page::tile_help{}), 14);
  ordinate_ = facets().add_combo(said(say::curve_page::plot{}), said(say::curve_page::plot_help{}));
  for (const auto& [ordinate, text] : {std::pair{Ordinate::bytes, said(say::curve_page::bytes{})},
                                       std::pair{Ordinate::time, said(say::curve_page::time{})},
                                       std::pair{Ordinate::rate, said(say::curve_page::rate{})}}) {
    ordinate_->addItem(text, static_cast<int>(ordinate));
  }
  color_ = facets().add_combo(said(say::curve_page::color{}), said(say::curve_page::color_help{}));
  for (const auto& [of, text] : {std::pair{ColorOf::automatic, said(say::curve_page::color_automatic{})},
                                 std::pair{ColorOf::algorithm, said(say::curve_page::color_algorithm{})},
                                 std::pair{ColorOf::device, said(say::curve_page::color_device{})},
                                 std::pair{ColorOf::run, said(say::curve_page::color_run{})}}) {
    color_->addItem(text, static_cast<int>(of));
  }
  connect(color_, &QComboBox::currentIndexChanged, this, [this] { refresh(true); });
  connect(tile_, &QComboBox::activated, this, [this] {
    wanted_tile_ = tile_->currentData().toString();
    touch();
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
  dram_ = add("dram", said(say::curve_page::dram{}), true, said(say::curve_page::dram_help{}));
  sm_l2_ = add("sm_l2", said(say::curve_page::sm_l2{}), true, said(say::curve_page::sm_l2_help{}));
  model_ = add("model", said(say::curve_page::model{}), true, said(say::curve_page::model_help{}));
  fit_ = add("fit", said(say::curve_page::fit{}), true, said(say::curve_page::fit_help{}));
  paper_ = add("paper", said(say::curve_page::paper{}), false, said(say::curve_page::paper_help{}));
  compulsory_ = add("minimum", said(say::curve_page::minimum{}), true, said(say::curve_page::minimum_help{}));
  boundary_ = add("l2_limit", said(say::curve_page::l2_limit{}), true, said(say::curve_page::l2_limit_help{}));
  stacks_ = add("kernels", said(say::curve_page::kernels{}), false, said(say::curve_page::kernels_help{}));
  per_head_ = add("per_head", said(say::curve_page::per_head{}), false, said(say::curve_page::per_head_help{}));
  layout()->addWidget(toggles_);
}

void IoCurvePage::add_plot() {
  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  plot_ = new IoPlot(content);
  empty_ = new EmptyState(content, &workspace());
  stack_->addWidget(plot_);
  stack_->addWidget(empty_);
  static_cast<QVBoxLayout*>(layout())->addWidget(content, 1);
  note_ = new ErrorNote(workspace().published_errors(), this);
  layout()->addWidget(note_);
  connect(plot_, &IoPlot::point_clicked, this, &Page::point_selected);
}

void IoCurvePage::set_color(ColorOf color) {
  color_->setCurrentIndex(color_->findData(static_cast<int>(color)));
}

std::vector<std::pair<QString, QString>> IoCurvePage::shortcuts() const {
  return {{said(say::curve_page::on_legend{}), said(say::curve_page::key_legend{})},
          {said(say::curve_page::on_curves{}), said(say::curve_page::key_next{})},
          {said(say::curve_page::home_on_curves{}), said(say::curve_page::key_whole{})}};
}

QString IoCurvePage::title() const {
  return said(say::curve_page::title{});
}

QJsonObject IoCurvePage::state() const {
  QJsonArray hidden;
  for (const std::string& name : hidden_) hidden.append(QString::fromStdString(name));
  return {{QStringLiteral("choices"), facets().state()},
          {QStringLiteral("tile"), wanted_tile_},
          {QStringLiteral("plot"), to_qstring(analysis::to_string(ordinate()))},
          {QStringLiteral("color"), word_of(color())},
          {QStringLiteral("show"), toggles_->state()},
          {QStringLiteral("hidden"), hidden}};
}

void IoCurvePage::restore(const QJsonObject& state) {
  facets().restore(state[QStringLiteral("choices")].toObject());
  wanted_tile_ = state[QStringLiteral("tile")].toString(wanted_tile_);
  tile_->clear();
  for (const Ordinate ordinate : {Ordinate::bytes, Ordinate::time, Ordinate::rate}) {
    if (state[QStringLiteral("plot")].toString() == to_qstring(analysis::to_string(ordinate))) set_ordinate(ordinate);
  }
  for (const auto& [each, word] : colors_of()) {
    if (state[QStringLiteral("color")].toString() == to_qstring(word)) set_color(each);
  }
  toggles_->restore(state[QStringLiteral("show")].toObject());
  for (const auto& name : state[QStringLiteral("hidden")].toArray()) {
    hidden_.insert(name.toString().toStdString());
  }
  for (const auto& [name, chip] : chip_of_) chip->setChecked(!hidden_.contains(name));
  refresh(false);
}

QString IoCurvePage::save_plot(const QString& path, const QSize& size) {
  plot_->set_source(source_note(drawn_runs(curves_)));
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

QString IoCurvePage::file_stem() const {
  return QString::fromStdString(analysis::curve_stem(ordinate(), filter(), tile_selection()));
}

TileSelection IoCurvePage::tile_selection() const {
  const auto index = static_cast<std::size_t>(std::max(0, tile_->currentIndex()));
  if (index == fastest_index) return {TileSelection::Rule::fastest, {}, {}};
  if (index < first_listed) return {};
  const std::size_t listed = index - first_listed;
  if (listed < swept_.size()) return {TileSelection::Rule::widest, {}, swept_[listed]};
  if (listed - swept_.size() >= tiles_.size()) return {};
  return {TileSelection::Rule::exact, tiles_[listed - swept_.size()], {}};
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
  const auto visible = workspace().visible();
  set_points(visible, visible->table().rows());
  show_toggles();
  refresh_chips();
  refresh_tiles();
  curves_ = build_curves(points(), filter(), request(), color());
  if (const auto words = words_instead()) {
    empty_->set_words(*words);
    stack_->setCurrentWidget(empty_);
    note_->show_for({}, ErrorNote::First::bytes);
    return;
  }
  color_chips();
  stack_->setCurrentWidget(plot_);
  note_->show_for(simulated_parts(*points(), drawn_rows(curves_)),
                  curves_.ordinate == Ordinate::bytes ? ErrorNote::First::bytes : ErrorNote::First::time);
  const bool same = keep_view && !was_empty && title_before == curves_.title && ordinate_before == curves_.ordinate &&
                    plot_->user_view();
  plot_->set_curves(curves_, stacks_->isChecked() && curves_.ordinate == Ordinate::bytes, same);
}

std::optional<EmptyWords> IoCurvePage::words_instead() const {
  if (points()->empty()) return why_no_points(workspace());
  const auto shown = [this](Row row) { return analysis::shows_on(points()->table(), row, ordinate()); };
  if (std::ranges::any_of(filter().rows(), shown)) return {};
  // Theory alone would look like a result.
  if (ordinate() == Ordinate::bytes) {
    return EmptyWords{said(say::curve_page::no_bytes{}), said(say::curve_page::no_bytes_help{})};
  }
  return EmptyWords{said(say::curve_page::no_times{}), said(say::curve_page::no_times_help{})};
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
  const analysis::PointTable& table = points()->table();
  for (const Row row : filter().rows()) {
    Present& entry = present[table.algorithm(row)];
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
      tip += QLatin1Char('\n') + said(say::curve_page::no_point{});
    } else if (!entry->second.shown) {
      tip += QLatin1Char('\n') + said(lacks(entry->second.imported, bytes));
    }
    chip->setToolTip(tip);
  }
  color_chips();
}

void IoCurvePage::add_chip(const std::string& name) {
  QToolButton*& chip = chip_of_[name];
  if (chip != nullptr) return;
  chip = new QToolButton(this);
  constexpr qsizetype longest_name = 24;  // the whole stands in the tip
  chip->setText(shortened(short_title(name), longest_name));
  chip->setCheckable(true);
  chip->setChecked(!hidden_.contains(name));
  toggles_->add_widget(chip);
  connect(chip, &QToolButton::clicked, this, [this, name] {
    if ((QApplication::keyboardModifiers() & Qt::ControlModifier) != 0) isolate(name);
  });
  connect(chip, &QToolButton::toggled, this, [this, name](bool on) {
    if (on) {
      hidden_.erase(name);
    } else {
      hidden_.insert(name);
    }
    refresh(true);
  });
}

void IoCurvePage::isolate(const std::string& name) {
  const bool alone = std::ranges::all_of(
      chip_of_, [&](const auto& chip) { return chip.first == name || hidden_.contains(chip.first); });
  for (const auto& [other, chip] : chip_of_) {
    const bool shown = alone || other == name;
    const QSignalBlocker quiet(chip);  // all at once
    chip->setChecked(shown);
    if (shown) {
      hidden_.erase(other);
    } else {
      hidden_.insert(other);
    }
  }
  refresh(true);
}

void IoCurvePage::color_chips() {
  const PlotColors colors = plot_colors(palette());
  for (const auto& [name, chip] : chip_of_) {
    // Where colours are a device's or a run's, an algorithm has none.
    const QColor color = curves_.color == ColorOf::algorithm ? algorithm_color(name, colors.dark) : colors.muted;
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
  const std::vector<Config> tiles = analysis::tiles_of(points()->table(), filter().rows());
  const std::vector<analysis::SweptValue> swept = analysis::swept_values(points()->table(), filter().rows());
  if (tiles == tiles_ && swept == swept_ && tile_->count() > 0) return;
  tiles_ = tiles;
  swept_ = swept;
  const QSignalBlocker quiet(tile_);
  tile_->clear();
  tile_->insertItem(widest_index, said(say::curve_page::swept_tile{}), QStringLiteral("swept"));
  tile_->insertItem(fastest_index, said(say::curve_page::fastest_tile{}), QStringLiteral("fastest"));
  for (const analysis::SweptValue& value : swept_) {
    tile_->addItem(format_swept(value),
                   QStringLiteral("%1 %2").arg(QString::fromStdString(value.knob)).arg(value.value));
  }
  for (const Config& tile : tiles_) tile_->addItem(format_tile(tile), format_tile(tile));
  tile_->setCurrentIndex(std::max(0, tile_->findData(wanted_tile_)));
}

void IoCurvePage::resizeEvent(QResizeEvent* event) {
  ProblemPage::resizeEvent(event);
  const bool compact = event->size().height() < roomy_height;
  if (compact == compact_) return;
  compact_ = compact;
  toggles_->set_compact(compact);
  refresh_chips();
}

void IoCurvePage::changeEvent(QEvent* event) {
  ProblemPage::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) color_chips();
  if (event->type() == QEvent::FontChange) {
    for (const auto& [name, chip] : chip_of_) chip->setFont(font());  // a style sheet keeps the one it found
  }
}

}  // namespace attnscope::ui
