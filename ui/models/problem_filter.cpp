// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/problem_filter.h"

#include <QCryptographicHash>
#include <QRegularExpression>
#include <QSet>
#include <algorithm>
#include <map>
#include <utility>

#include "kernels/algorithm.h"
#include "ui/format.h"

namespace attnscope::ui {
namespace facets {

Facet algorithm() {
  return {QStringLiteral("Algorithm"), QStringLiteral("The attention algorithm whose tiles are shown"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            const auto all = algorithms();
            const auto place = std::find_if(all.begin(), all.end(),
                                            [&](const Algorithm* item) { return item->name() == spec.algorithm; });
            return FacetValue{static_cast<double>(place - all.begin()), QString::fromStdString(spec.algorithm)};
          }};
}

Facet head_dim() {
  return {QStringLiteral("d"),
          QStringLiteral("Head dimension"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.problem.d), QString::number(spec.problem.d)};
          },
          true,
          {},
          false,
          QStringLiteral("d")};
}

Facet mask() {
  return {QStringLiteral("Mask"),
          QStringLiteral(
              "Which pairs of query and key count: full (mask=none), causal, a window of keys (left:right), lengths of "
              "the batch's sequences, or blocks; bottom-right aligned"),
          [](const ShownPoint& point) {
            const Mask& mask = point.spec().problem.mask;
            const double order = mask == Mask::none     ? 0
                                 : mask == Mask::causal ? 1
                                 : mask.sparse()        ? 4
                                 : mask.padded()        ? 3
                                                        : 2;
            const QString shown = format_mask(mask);
            const QString full = to_qstring(to_string(mask));
            return FacetValue{order, shown, mask == Mask::none || shown == full ? QString() : full};
          },
          false, QStringLiteral("full")};
}

Facet queries() {
  return {QStringLiteral("n_q"),
          QStringLiteral("Queries of a head. N: as many as keys. A number: decoding, that many against n_k keys"),
          [](const ShownPoint& point) {
            const AttentionProblem& p = point.spec().problem;
            if (p.n_q == p.n_k) return FacetValue{0, QStringLiteral("N")};
            return FacetValue{static_cast<double>(p.n_q), QString::number(p.n_q)};
          },
          false,
          QStringLiteral("N"),
          true,
          QStringLiteral("nq")};
}

Facet pass() {
  return {QStringLiteral("Pass"),
          QStringLiteral("Forward, backward (from the forward pass's O and LSE, or P), or both"),
          [](const ShownPoint& point) {
            const Pass pass = point.spec().problem.pass;
            return FacetValue{static_cast<double>(pass), to_qstring(to_string(pass))};
          },
          false,
          to_qstring(to_string(Pass::fwd)),
          true};
}

Facet dropout() {
  return {QStringLiteral("Dropout"),
          QStringLiteral("Probability with which an entry of P is dropped"),
          [](const ShownPoint& point) {
            const double p = point.spec().problem.dropout;
            return FacetValue{p, QString::number(p)};
          },
          false,
          QStringLiteral("0"),
          true,
          QStringLiteral("dropout")};
}

Facet page() {
  return {
      QStringLiteral("Page"),
      QStringLiteral("Keys of a page of a paged K/V cache, or contiguous K and V"),
      [](const ShownPoint& point) {
        const std::int64_t keys = point.spec().problem.page;
        return FacetValue{static_cast<double>(keys), keys > 0 ? QString::number(keys) : QStringLiteral("contiguous")};
      },
      false,
      QStringLiteral("contiguous"),
      true,
      QStringLiteral("page")};
}

Facet deterministic() {
  return {QStringLiteral("Deterministic"),
          QStringLiteral("Whether gradients repeat bitwise"),
          [](const ShownPoint& point) {
            const bool on = point.spec().problem.deterministic;
            return FacetValue{on ? 1.0 : 0.0, on ? QStringLiteral("yes") : QStringLiteral("no")};
          },
          false,
          QStringLiteral("no"),
          true,
          QStringLiteral("deterministic-")};
}

namespace {

Facet tile_option(const QString& label, const QString& help, const QString& stem, int TileShape::*member) {
  return {label,
          help,
          [member](const ShownPoint& point) {
            const int value = point.spec().tile.*member;
            return FacetValue{static_cast<double>(value), value > 0 ? QString::number(value) : QStringLiteral("auto")};
          },
          false,
          QStringLiteral("auto"),
          false,
          stem};
}

}  // namespace

Facet splits() {
  return tile_option(QStringLiteral("Splits"), QStringLiteral("Parts that each head's keys are cut into (split-KV)"),
                     QStringLiteral("splits"), &TileShape::splits);
}

Facet warps() {
  return tile_option(QStringLiteral("Warps"), QStringLiteral("Warps that multiply"), QStringLiteral("warps"),
                     &TileShape::warps);
}

Facet stages() {
  return tile_option(QStringLiteral("Stages"), QStringLiteral("Buffers of K and of V"), QStringLiteral("stages"),
                     &TileShape::stages);
}

Facet dtype() {
  return {QStringLiteral("Type"), QStringLiteral("Element type of Q, K, V and O"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.problem.dtype), to_qstring(to_string(spec.problem.dtype))};
          },
          false, to_qstring(to_string(DType::fp16))};
}

Facet heads() {
  return {
      QStringLiteral("Batch × heads"), QStringLiteral("Independent attention problems computed at once"),
      [](const ShownPoint& point) {
        const PointSpec& spec = point.spec();
        const AttentionProblem& p = spec.problem;
        return FacetValue{static_cast<double>(p.instances()) + static_cast<double>(p.batch) * 1e-6, format_heads(p)};
      }};
}

Facet length() {
  return {QStringLiteral("N"),
          QStringLiteral("Sequence length"),
          [](const ShownPoint& point) {
            const AttentionProblem& p = point.spec().problem;
            return FacetValue{static_cast<double>(p.n_k) + static_cast<double>(p.n_q) * 1e-9, format_lengths(p)};
          },
          true,
          {},
          false,
          QStringLiteral("n")};
}

Facet cache() {
  return {QStringLiteral("L2"),
          QStringLiteral("The L2 when a launch begins. Cold: overwritten. Warm: as the last launch left it"),
          [](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.cache), to_qstring(to_string(spec.cache))};
          },
          false, to_qstring(to_string(CacheState::cold))};
}

Facet raster() {
  const auto words = [](Raster order) {
    return to_qstring(to_string(order)).replace(QLatin1Char('_'), QLatin1Char(' '));
  };
  return {QStringLiteral("Raster"), QStringLiteral("The order in which thread blocks are handed to the SMs"),
          [words](const ShownPoint& point) {
            const PointSpec& spec = point.spec();
            return FacetValue{static_cast<double>(spec.tile.raster), words(spec.tile.raster)};
          },
          false, words(Raster::q_fastest)};
}

Facet device() {
  return {QStringLiteral("Device"), QStringLiteral("Where the values come from"),
          [](const ShownPoint& point) {
            QString name = QString::fromStdString(point.run->summary.device_name);
            // A GPU goes without saying.
            const Provenance origin = point.run->summary.provenance;
            if (origin == Provenance::measured) return FacetValue{0, name};
            return FacetValue{static_cast<double>(origin) + 1, to_qstring(to_string(origin)) + QLatin1Char(' ') +
                                                                   name.remove(QStringLiteral("NVIDIA "))};
          },
          false};
}

}  // namespace facets

ProblemFilter::ProblemFilter(std::vector<Facet> facets, std::function<QString(const PointSpec&)> spread)
    : facets_(std::move(facets)),
      spread_(std::move(spread)),
      states_(facets_.size()),
      chosen_(facets_.size()),
      shown_(facets_.size()) {}

struct ProblemFilter::Group {
  FacetValue value;
  std::vector<const ShownPoint*> points;
  QSet<QString> ours;     ///< what our own points cover: imported ones stand beside them, they do not lead
  QSet<QString> covered;  ///< what all do

  [[nodiscard]] std::pair<qsizetype, qsizetype> coverage() const { return {ours.size(), covered.size()}; }
};

std::vector<ProblemFilter::Group> ProblemFilter::groups_of(std::size_t facet,
                                                           const std::vector<const ShownPoint*>& points) const {
  std::map<QString, Group> groups;
  for (const ShownPoint* point : points) {
    FacetValue value = facets_[facet].value(*point);
    Group& group = groups[value.id()];
    const QString place = spread_(point->spec());
    group.covered.insert(place);
    if (point->run->summary.provenance != Provenance::imported) group.ours.insert(place);
    group.points.push_back(point);
    group.value = std::move(value);
  }
  std::vector<Group> ordered;
  ordered.reserve(groups.size());
  for (auto& [id, group] : groups) ordered.push_back(std::move(group));
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Group& a, const Group& b) { return a.value.order < b.value.order; });
  return ordered;
}

int ProblemFilter::usual_group(std::size_t facet, const std::vector<Group>& groups) const {
  int best = -1;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (facets_[facet].quiet && groups[i].value.id() == facets_[facet].usual) return static_cast<int>(i);
    if (best < 0 || groups[i].coverage() > groups[static_cast<std::size_t>(best)].coverage()) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

void ProblemFilter::update(const std::vector<ShownPoint>& points) {
  std::vector<const ShownPoint*> left;
  left.reserve(points.size());
  for (const ShownPoint& point : points) left.push_back(&point);

  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const std::vector<Group> groups = groups_of(f, left);
    State& state = states_[f];
    state.options.clear();
    for (const Group& group : groups) state.options.push_back(group.value);
    state.current = usual_group(f, groups);
    for (const QString& wanted : {shown_[f], chosen_[f]}) {
      const auto at = std::find_if(state.options.begin(), state.options.end(),
                                   [&](const FacetValue& value) { return value.id() == wanted; });
      if (at != state.options.end()) state.current = static_cast<int>(at - state.options.begin());
    }
    if (state.current < 0) continue;
    shown_[f] = state.options[static_cast<std::size_t>(state.current)].id();
    left = groups[static_cast<std::size_t>(state.current)].points;
  }
}

void ProblemFilter::for_each_problem(
    const std::vector<ShownPoint>& points,
    const std::function<void(const ProblemFilter&, const std::vector<ShownPoint>&)>& visit) const {
  ProblemFilter filter = *this;
  const std::function<void(std::size_t, const std::vector<const ShownPoint*>&)> descend =
      [&](std::size_t facet, const std::vector<const ShownPoint*>& left) {
        if (facet == facets_.size()) {
          std::vector<ShownPoint> matched;
          matched.reserve(left.size());
          for (const ShownPoint* point : left) matched.push_back(*point);
          visit(filter, matched);
          return;
        }
        const std::vector<Group> groups = groups_of(facet, left);
        State& state = filter.states_[facet];
        state.options.clear();
        for (const Group& group : groups) state.options.push_back(group.value);
        for (std::size_t i = 0; i < groups.size(); ++i) {
          state.current = static_cast<int>(i);
          descend(facet + 1, groups[i].points);
        }
      };
  std::vector<const ShownPoint*> all;
  all.reserve(points.size());
  for (const ShownPoint& point : points) all.push_back(&point);
  if (!all.empty()) descend(0, all);
}

void ProblemFilter::choose(std::size_t facet, const QString& id) {
  chosen_[facet] = id;
  std::fill(shown_.begin() + static_cast<std::ptrdiff_t>(facet), shown_.end(), QString());
}

bool ProblemFilter::matches(const ShownPoint& point) const {
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = states_[f];
    if (state.current < 0) return false;
    if (facets_[f].value(point) != state.options[static_cast<std::size_t>(state.current)]) return false;
  }
  return true;
}

QString ProblemFilter::summary() const {
  QStringList words;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = states_[f];
    if (state.current < 0) continue;
    const QString& text = state.options[static_cast<std::size_t>(state.current)].text;
    if (facets_[f].quiet && state.options.size() < 2 && text == facets_[f].usual) continue;
    QString label = facets_[f].label;
    if (label.size() > 2) label = label.left(1).toLower() + label.mid(1);
    words << label + QLatin1Char(' ') + text;
  }
  return words.join(QStringLiteral(" · "));
}

QString ProblemFilter::stem() const {
  constexpr qsizetype longest_part = 40;
  QString stem;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = states_[f];
    if (state.current < 0) continue;
    const Facet& facet = facets_[f];
    const FacetValue& value = state.options[static_cast<std::size_t>(state.current)];
    const QString& text = value.text;
    const bool said = facet.always_shown || state.options.size() > 1 || (!facet.usual.isEmpty() && text != facet.usual);
    if (!said) continue;
    stem += QLatin1Char('-') + facet.stem + text.left(longest_part);
    if (value.full.isEmpty()) continue;
    // Two values may be shortened alike; their files must not be one.
    const QByteArray hash = QCryptographicHash::hash(value.full.toUtf8(), QCryptographicHash::Sha1).toHex();
    stem += QLatin1Char('-') + QString::fromLatin1(hash.left(6));
  }
  stem.replace(QStringLiteral(" × "), QStringLiteral("x"));
  // What file systems or shells take amiss: 300/512, window:256:0, (2 KV), a shortened list's dots.
  static const QRegularExpression awkward(QStringLiteral("[^\\w.+-]+"));
  stem.replace(QLatin1Char(':'), QLatin1Char('.')).replace(QLatin1Char('/'), QLatin1Char('.'));
  static const QRegularExpression doubled(QStringLiteral("--+"));
  stem.replace(awkward, QStringLiteral("-")).replace(doubled, QStringLiteral("-"));
  while (stem.endsWith(QLatin1Char('-'))) stem.chop(1);
  return stem;
}

std::size_t ProblemFilter::place_of(const QString& label) const {
  return static_cast<std::size_t>(
      std::find_if(facets_.begin(), facets_.end(), [&](const Facet& facet) { return facet.label == label; }) -
      facets_.begin());
}

QStringList ProblemFilter::options(const QString& label) const {
  const std::size_t place = place_of(label);
  QStringList ids;
  if (place == facets_.size()) return ids;
  for (const FacetValue& value : states_[place].options) ids << value.id();
  return ids;
}

QStringList ProblemFilter::labels() const {
  QStringList labels;
  for (const Facet& facet : facets_) labels << facet.label;
  return labels;
}

}  // namespace attnscope::ui
