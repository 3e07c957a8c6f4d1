// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/plot_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "messages/plot_choice.h"
#include "profiler/analysis/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"

namespace attnscope::analysis {
namespace {

constexpr std::array all_kinds{PlotKind::bytes, PlotKind::time, PlotKind::rate, PlotKind::maps};
constexpr std::string_view times_sign = "×";

/// "1 × 132" and "1x132" are one value.
std::string plain(std::string_view value) {
  std::string result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value.substr(i).starts_with(times_sign)) {
      result += 'x';
      i += times_sign.size() - 1;
    } else if (value[i] != ' ') {
      result += value[i];
    }
  }
  return lower_case(result);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

/// By its key, or as views call it: "dtype" and "type" are one.
bool is_called(const Facet& facet, std::string_view word) {
  return facet.key == word || lower_case(text(facet.label)) == word;
}

bool allows(const PlotChoice& choice, const Facet& facet, const FacetValue& value) {
  return std::ranges::all_of(choice.values, [&](const auto& wanted) {
    return !is_called(facet, wanted.first) || std::ranges::count(wanted.second, plain(value.id())) > 0;
  });
}

bool allows(const PlotChoice& choice, const ProblemFilter& filter) {
  for (std::size_t f = 0; f < filter.facets().size(); ++f) {
    if (!allows(choice, *filter.facets()[f], filter.state(f).value())) return false;
  }
  return true;
}

bool wants(const PlotChoice& choice, PlotKind kind) {
  return choice.kinds.empty() || choice.kinds.contains(kind);
}

/// A map's facets have all of a curve's, but for n_q, which N has in it.
std::vector<FacetPtr> all_facets(const PointTable& table) {
  std::vector<FacetPtr> facets = curve_facets();
  for (FacetPtr& facet : map_facets(table.algorithms())) {
    const bool known = std::ranges::any_of(facets, [&](const FacetPtr& other) { return other->key == facet->key; });
    if (!known) facets.push_back(std::move(facet));
  }
  return facets;
}

/// What is wrong with a choice for these points; empty when it has points.
Message misfit(const PlotChoice& choice, const PointTable& table) {
  const std::vector<FacetPtr> facets = all_facets(table);
  for (const auto& [key, wanted] : choice.values) {
    const auto facet =
        std::ranges::find_if(facets, [&key = key](const FacetPtr& known) { return is_called(*known, key); });
    if (facet == facets.end()) {
      std::vector<std::string_view> keys;
      keys.reserve(facets.size());
      for (const FacetPtr& known : facets) keys.push_back(known->key);
      return say::plot_choice::unknown_key{.key = key, .known = fmt::format("{}", fmt::join(keys, ", "))};
    }
    std::vector<std::string> there;
    for (const FacetValue& value : table.codes(**facet).values) there.push_back(plain(value.id()));
    for (const std::string& value : wanted) {
      if (std::ranges::count(there, value) > 0) continue;
      return say::plot_choice::no_such_point{
          .key = key, .value = value, .known = fmt::format("{}", fmt::join(there, ", "))};
    }
  }
  return {};
}

void plan_curves(const PointTable& table, const std::vector<Row>& rows, const PlotChoice& choice,
                 std::vector<Plot>& plots) {
  constexpr std::array kinds{PlotKind::bytes, PlotKind::time, PlotKind::rate};
  curve_filter().for_each_problem(table, rows, [&](const ProblemFilter& filter) {
    if (!allows(choice, filter) || only_a_tile_map(table, filter.rows())) return;
    std::vector<TileSelection> tiles;
    for (SweptValue& value : swept_values(table, filter.rows())) {
      tiles.push_back({TileSelection::Rule::widest, {}, std::move(value)});
    }
    if (tiles.empty()) tiles.emplace_back();
    for (const TileSelection& tile : tiles) {
      for (const PlotKind kind : kinds) {
        Plot plot{kind, {}, filter, tile, {}};
        const bool shown =
            std::ranges::any_of(filter.rows(), [&](Row row) { return shows_on(table, row, plot.ordinate()); });
        if (!shown || !wants(choice, kind)) continue;
        plot.stem = curve_stem(plot.ordinate(), filter, tile);
        plots.push_back(std::move(plot));
      }
    }
  });
}

void plan_maps(const PointTable& table, const std::vector<Row>& rows, const PlotChoice& choice,
               std::vector<Plot>& plots) {
  // Of the DRAM bytes the settled ones where they are known.
  constexpr std::array<std::array<std::string_view, 2>, 3> wanted{
      {{metric_key::time_median_ns},
       {metric_key::l2_sm_bytes},
       {metric_key::dram_settled_bytes, metric_key::dram_bytes}}};
  if (!wants(choice, PlotKind::maps)) return;
  map_filter(table.algorithms()).for_each_problem(table, swept_rows(table, rows), [&](const ProblemFilter& filter) {
    if (!allows(choice, filter)) return;
    for (const auto& metrics : wanted) {
      const auto* metric = std::ranges::find_if(metrics, [&](std::string_view key) {
        return !key.empty() && build_tile_map(table, filter.rows(), key).minimum.has_value();
      });
      if (metric == metrics.end()) continue;
      plots.push_back({PlotKind::maps, map_stem(filter, *metric), filter, {}, std::string(*metric)});
    }
  });
}

}  // namespace

ProblemFilter curve_filter() {
  return {curve_facets(), key_length_facet()};
}

ProblemFilter map_filter(const Algorithms& algorithms) {
  return {map_facets(algorithms), tile_facet()};
}

std::string_view to_string(Ordinate ordinate) {
  switch (ordinate) {
    case Ordinate::bytes:
      return "io";
    case Ordinate::time:
      return "time";
    case Ordinate::rate:
      return "tflops";
  }
  return {};
}

std::string curve_stem(Ordinate ordinate, const ProblemFilter& filter, const TileSelection& tile) {
  std::string stem = fmt::format("{}{}", to_string(ordinate), filter.stem());
  if (tile.swept) {
    stem += fmt::format("-{}{}", tile.swept->knob, tile.swept->value > 0 ? std::to_string(tile.swept->value) : "auto");
  }
  if (tile.rule == TileSelection::Rule::fastest) stem += "-fastest";
  if (tile.rule == TileSelection::Rule::exact) {
    std::string words = describe(tile.tile);
    std::ranges::replace(words, ' ', '-');
    stem += "-tile" + words;
  }
  return stem;
}

std::string map_stem(const ProblemFilter& filter, std::string_view metric) {
  return fmt::format("tiles{}-{}", filter.stem(), metric);
}

std::string_view to_string(PlotKind kind) {
  switch (kind) {
    case PlotKind::bytes:
      return "bytes";
    case PlotKind::time:
      return "time";
    case PlotKind::rate:
      return "rate";
    case PlotKind::maps:
      return "maps";
  }
  return {};
}

Ordinate Plot::ordinate() const {
  return kind == PlotKind::time ? Ordinate::time : kind == PlotKind::rate ? Ordinate::rate : Ordinate::bytes;
}

Result<PlotChoice, Message> parse_plot_choice(std::span<const std::string> words) {
  PlotChoice choice;
  const std::string all = fmt::format("{}", fmt::join(words, ","));
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    const std::string word = trimmed(std::string_view(all).substr(begin, end - begin));
    begin = end + 1;
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0 && equals + 1 < word.size()) {
      choice.values[lower_case(trimmed(word.substr(0, equals)))].push_back(plain(word.substr(equals + 1)));
      continue;
    }
    const auto* kind =
        std::ranges::find(all_kinds, std::string_view(word), [](PlotKind known) { return to_string(known); });
    if (kind == all_kinds.end()) {
      return Failure<Message>{say::plot_choice::unknown_kind{.word = word}};
    }
    choice.kinds.insert(*kind);
  }
  return choice;
}

Result<std::vector<Plot>, Message> plan_plots(const PointTable& table, const PlotChoice& choice) {
  if (Message wrong = misfit(choice, table); !wrong.empty()) return Failure{std::move(wrong)};
  std::vector<Row> rows = table.rows();
  for (const FacetPtr& facet : all_facets(table)) {
    if (choice.values.empty()) break;
    const CodeColumn& column = table.codes(*facet);
    std::vector<bool> allowed;  // by value, of which there are fewer than rows
    for (const FacetValue& value : column.values) allowed.push_back(allows(choice, *facet, value));
    std::erase_if(rows, [&](Row row) { return !allowed[column.codes[row]]; });
  }
  std::vector<Plot> plots;
  plan_curves(table, rows, choice, plots);
  plan_maps(table, rows, choice, plots);
  return plots;
}

bool only_a_tile_map(const PointTable& table, std::span<const Row> rows) {
  std::set<std::int64_t> lengths;
  std::map<std::string_view, std::set<std::pair<int, int>>> tiles;
  for (const Row row : rows) {
    lengths.insert(table.n_k(row));
    const TileShape& tile = table.tile_of(row).tile;
    if (tile_stated(tile)) tiles[table.algorithm(row)].emplace(tile.br, tile.bc);
  }
  return lengths.size() == 1 &&
         std::ranges::any_of(tiles, [](const auto& entry) { return entry.second.size() >= fewest_tiles_of_a_map; });
}

}  // namespace attnscope::analysis
