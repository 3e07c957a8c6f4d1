// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/picture_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "ui/models/heatmap_grid.h"
#include "ui/models/plot_problems.h"

namespace attnscope::ui {
namespace {

constexpr std::array all_kinds{PictureKind::bytes, PictureKind::time, PictureKind::rate, PictureKind::maps};

/// "heads", "d", "mask": what a facet is called on the command line.
QString key_of(const Facet& facet) {
  return facet.label.section(QStringLiteral(" × "), -1).toLower();
}

/// "1 × 132" and "1x132" are one value.
QString plain(QString value) {
  return value.remove(QLatin1Char(' ')).replace(QStringLiteral("×"), QStringLiteral("x")).toLower();
}

bool allows(const PictureChoice& choice, const Facet& facet, const FacetValue& value) {
  const auto wanted = choice.values.find(key_of(facet));
  return wanted == choice.values.end() || wanted->second.contains(plain(value.id()));
}

bool allows(const PictureChoice& choice, const ProblemFilter& filter) {
  for (std::size_t f = 0; f < filter.facets().size(); ++f) {
    const ProblemFilter::State& state = filter.state(f);
    if (!allows(choice, filter.facets()[f], state.options[static_cast<std::size_t>(state.current)])) return false;
  }
  return true;
}

bool wants(const PictureChoice& choice, PictureKind kind) {
  return choice.kinds.empty() || choice.kinds.contains(kind);
}

/// What is wrong with a choice for these points; empty when it has points.
QString misfit(const PictureChoice& choice, const std::vector<Facet>& facets, const std::vector<ShownPoint>& points) {
  for (const auto& entry : choice.values) {
    const QString& key = entry.first;
    const QStringList& wanted = entry.second;
    const auto facet = std::find_if(facets.begin(), facets.end(), [&](const Facet& f) { return key_of(f) == key; });
    if (facet == facets.end()) {
      QStringList keys;
      for (const Facet& known : facets) keys << key_of(known);
      keys.removeDuplicates();
      return QStringLiteral("--only %1=…: it takes %2").arg(key, keys.join(QStringLiteral(", ")));
    }
    std::map<double, QString> there;
    for (const ShownPoint& point : points) {
      const FacetValue value = facet->value(point);
      there.emplace(value.order, plain(value.id()));
    }
    QStringList values;
    for (const auto& [order, value] : there) values << value;
    for (const QString& value : wanted) {
      if (values.contains(value)) continue;
      return QStringLiteral("--only %1=%2: no such point; there are %3")
          .arg(key, value, values.join(QStringLiteral(", ")));
    }
  }
  return {};
}

void plan_curves(const std::vector<ShownPoint>& points, const PictureChoice& choice,
                 std::vector<PlannedPicture>& pictures) {
  constexpr std::array kinds{std::pair{PictureKind::bytes, Ordinate::bytes},
                             std::pair{PictureKind::time, Ordinate::time},
                             std::pair{PictureKind::rate, Ordinate::rate}};
  make_curve_filter().for_each_problem(
      points, [&](const ProblemFilter& filter, const std::vector<ShownPoint>& matched) {
        if (!allows(choice, filter) || only_a_tile_map(matched)) return;
        const auto problem = std::make_shared<const PictureProblem>(PictureProblem{filter, matched});
        std::vector<TileSelection> tiles;
        for (const int splits : splits_of(matched, filter)) tiles.push_back({TileSelection::Rule::widest, {}, splits});
        if (tiles.empty()) tiles.emplace_back();
        for (const TileSelection& tile : tiles) {
          for (const auto& [kind, ordinate] : kinds) {
            const auto shown = [ordinate = ordinate](const ShownPoint& point) {
              return shows_on(point.record(), ordinate);
            };
            if (!wants(choice, kind) || std::none_of(matched.begin(), matched.end(), shown)) continue;
            pictures.push_back({kind, curve_stem(ordinate, filter, tile), problem, tile, {}});
          }
        }
      });
}

void plan_maps(const std::vector<ShownPoint>& points, const PictureChoice& choice,
               std::vector<PlannedPicture>& pictures) {
  constexpr std::array metrics{metric_key::time_median_ns, metric_key::l2_sm_bytes, metric_key::dram_bytes};
  if (!wants(choice, PictureKind::maps)) return;
  make_tile_filter().for_each_problem(
      swept_points(points), [&](const ProblemFilter& filter, const std::vector<ShownPoint>& matched) {
        if (!allows(choice, filter)) return;
        const auto problem = std::make_shared<const PictureProblem>(PictureProblem{filter, matched});
        for (const std::string_view metric : metrics) {
          const bool any = std::any_of(matched.begin(), matched.end(), [&](const ShownPoint& point) {
            return evaluate(metric, point.record()).has_value();
          });
          if (any) pictures.push_back({PictureKind::maps, tile_stem(filter, metric), problem, {}, metric});
        }
      });
}

}  // namespace

QString to_string(PictureKind kind) {
  switch (kind) {
    case PictureKind::bytes:
      return QStringLiteral("bytes");
    case PictureKind::time:
      return QStringLiteral("time");
    case PictureKind::rate:
      return QStringLiteral("rate");
    case PictureKind::maps:
      return QStringLiteral("maps");
  }
  return {};
}

Result<PictureChoice, QString> parse_picture_choice(const QStringList& words) {
  PictureChoice choice;
  for (const QString& word : words.join(QLatin1Char(',')).split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    const qsizetype equals = word.indexOf(QLatin1Char('='));
    if (equals > 0 && equals + 1 < word.size()) {
      choice.values[word.left(equals).trimmed().toLower()] << plain(word.mid(equals + 1));
      continue;
    }
    const auto kind =
        std::find_if(all_kinds.begin(), all_kinds.end(), [&](PictureKind known) { return to_string(known) == word; });
    if (kind == all_kinds.end()) {
      return Failure{QStringLiteral("--only %1: it takes bytes, time, rate, maps, or a choice as d=128").arg(word)};
    }
    choice.kinds.insert(*kind);
  }
  return choice;
}

Result<std::vector<PlannedPicture>, QString> plan_pictures(const std::vector<ShownPoint>& points,
                                                           const PictureChoice& choice) {
  // A map's facets have all of a curve's, but for n_q, which N has in it.
  std::vector<Facet> facets = make_curve_filter().facets();
  const ProblemFilter tile_filter = make_tile_filter();
  for (const Facet& facet : tile_filter.facets()) {
    const bool there =
        std::any_of(facets.begin(), facets.end(), [&](const Facet& known) { return known.label == facet.label; });
    if (!there) facets.push_back(facet);
  }
  if (QString wrong = misfit(choice, facets, points); !wrong.isEmpty()) return Failure{std::move(wrong)};
  std::vector<ShownPoint> chosen;
  std::copy_if(points.begin(), points.end(), std::back_inserter(chosen), [&](const ShownPoint& point) {
    return std::all_of(facets.begin(), facets.end(), [&](const Facet& facet) {
      return !choice.values.contains(key_of(facet)) || allows(choice, facet, facet.value(point));
    });
  });
  std::vector<PlannedPicture> pictures;
  plan_curves(chosen, choice, pictures);
  plan_maps(chosen, choice, pictures);
  return pictures;
}

}  // namespace attnscope::ui
