// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/problem_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <tuple>

namespace attnscope::analysis {
namespace {

/// Number of spread values that a facet value covers, among this program's points and among all. This program's points
/// take precedence over imported ones.
struct Coverage {
  std::uint32_t code = 0;
  std::uint32_t ours = 0;
  std::uint32_t all = 0;
};

/// Returns the coverage of each code of `facet` among the rows, in ascending order. Takes O(rows log rows) steps,
/// however many values the table has.
std::vector<Coverage> coverage_of(const PointTable& table, const CodeColumn& facet, const CodeColumn& spread,
                                  const std::vector<Row>& rows) {
  struct Place {
    std::uint32_t code;
    std::uint32_t spread;
    bool imported;  ///< this program's points come first
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;
  places.reserve(rows.size());
  for (const Row row : rows) {
    const Place place{facet.codes[row], spread.codes[row], table.run(row).provenance == Provenance::imported};
    if (places.empty() || places.back() != place) places.push_back(place);
  }
  std::ranges::sort(places, {}, [](const Place& place) { return std::tie(place.code, place.spread, place.imported); });
  std::vector<Coverage> coverage;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    if (coverage.empty() || coverage.back().code != place.code) coverage.push_back({.code = place.code});
    if (i > 0 && places[i - 1].code == place.code && places[i - 1].spread == place.spread) continue;
    ++coverage.back().all;
    if (!place.imported) ++coverage.back().ours;
  }
  return coverage;
}

/// 32-bit FNV-1a, deterministic across machines.
std::uint32_t short_hash(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// First `count` characters, not bytes.
std::string_view beginning(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const bool continues = (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U;
    if (!continues && count-- == 0) break;
    ++bytes;
  }
  return text.substr(0, bytes);
}

/// Replaces characters that file systems or shells handle badly, as in 300/512, window:256:0, (2 KV), "…".
std::string file_name_text(std::string_view text) {
  constexpr std::string_view times = " × ";
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, times.size()) == times) {
      clean += 'x';
      i += times.size() - 1;
      continue;
    }
    const char c = text[i];
    const char kept = c == ':' || c == '/' ? '.' : c;
    const bool plain = std::isalnum(static_cast<unsigned char>(kept)) != 0 || kept == '_' || kept == '.' || kept == '+';
    if (plain) {
      clean += kept;
    } else if (clean.empty() || clean.back() != '-') {
      clean += '-';
    }
  }
  while (clean.ends_with('-')) clean.pop_back();
  return clean;
}

}  // namespace

std::vector<std::uint32_t> ProblemFilter::compute_options(std::size_t facet, const PointTable& table,
                                                          const std::vector<Row>& rows) {
  const CodeColumn& spread = table.codes(*spread_);
  const CodeColumn& column = table.codes(*facets_[facet]);
  const std::vector<Coverage> coverage = coverage_of(table, column, spread, rows);
  std::vector<std::uint32_t> codes;
  std::vector<FacetValue> options;
  for (const Coverage& each : coverage) {
    codes.push_back(each.code);
    options.push_back(column.values[each.code]);
  }
  State& state = choices_[facet].state;
  state.absent.reset();
  state.options = FacetOptions(std::move(options));
  const auto widest =
      std::ranges::max_element(coverage, {}, [](const Coverage& each) { return std::pair(each.ours, each.all); });
  state.current = codes.empty() ? -1 : static_cast<int>(widest - coverage.begin());
  const std::string_view usual = facets_[facet]->quiet ? facets_[facet]->usual : std::string_view();
  // In increasing priority: the last available one is used.
  for (const std::string_view wanted :
       {usual, std::string_view(choices_[facet].automatic), std::string_view(choices_[facet].chosen)}) {
    const auto found = std::ranges::find(state.options, wanted, &FacetValue::id);
    if (found != state.options.end()) state.current = static_cast<int>(found - state.options.begin());
  }
  return codes;
}

void ProblemFilter::restrict_to(const std::vector<FacetPtr>& facets, FacetPtr spread) {
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    choices_[f].active =
        std::ranges::any_of(facets, [&](const FacetPtr& facet) { return facet->key == facets_[f]->key; });
  }
  for (const FacetPtr& facet : facets) {
    if (std::ranges::any_of(facets_, [&](const FacetPtr& known) { return known->key == facet->key; })) continue;
    facets_.push_back(facet);
    choices_.emplace_back();
  }
  // Automatic choices for the old spread do not apply to the new one.
  if (spread->key != spread_->key) reset_automatic();
  spread_ = std::move(spread);
}

void ProblemFilter::reset() {
  touched_ = false;
  for (Choice& choice : choices_) choice.chosen.clear();
  reset_automatic();
}

void ProblemFilter::reset_automatic() {
  if (touched_) return;
  for (Choice& choice : choices_) choice.automatic.clear();
}

std::string ProblemFilter::kept_id(std::size_t facet, const CodeColumn& column, const std::vector<Row>& rows) const {
  if (!choices_[facet].chosen.empty()) return choices_[facet].chosen;
  if (!touched_) return {};
  const auto value = std::ranges::find(column.values, choices_[facet].automatic, &FacetValue::id);
  const auto code = static_cast<std::uint32_t>(value - column.values.begin());
  const bool occurs = std::ranges::any_of(rows, [&](Row row) { return column.codes[row] == code; });
  return occurs ? choices_[facet].automatic : std::string();
}

void ProblemFilter::update(const PointTable& table, std::vector<Row> rows) {
  const std::vector<Row> all = rows;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    State& state = choices_[f].state;
    if (!choices_[f].active || all.empty()) {
      state = {};
      continue;
    }
    const CodeColumn& column = table.codes(*facets_[f]);
    // After a choice without points, the other facets keep theirs, or have the widest value of all points.
    const bool none = rows.empty();
    const std::vector<std::uint32_t> codes = compute_options(f, table, none ? all : rows);
    const std::string kept = kept_id(f, column, all);
    if (none || (!kept.empty() && state.value().id() != kept)) {
      const auto found = std::ranges::find(column.values, kept, &FacetValue::id);
      state.absent = kept.empty() ? state.value() : found == column.values.end() ? FacetValue{0, kept} : *found;
      if (none) state.options = {};
      state.current = -1;
      rows.clear();
    }
    choices_[f].automatic = state.value().id();
    if (rows.empty()) continue;
    const std::uint32_t wanted = codes[static_cast<std::size_t>(state.current)];
    std::erase_if(rows, [&](Row row) { return column.codes[row] != wanted; });
  }
  rows_ = std::move(rows);
}

void ProblemFilter::choose(std::size_t facet, std::string_view id) {
  choices_[facet].chosen = id;
  touched_ = true;
  if (id.empty()) choices_[facet].automatic.clear();
}

std::vector<ProblemFilter::Alternative> ProblemFilter::nearest(const PointTable& table, const std::vector<Row>& rows,
                                                               std::size_t count) const {
  struct Wanted {
    std::size_t facet;
    const CodeColumn* column;
    std::vector<double> distance;  ///< distance of each code from the chosen value
  };
  std::vector<Wanted> wanted;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    if (!choices_[f].active || !choices_[f].state.has_value()) continue;
    const CodeColumn& column = table.codes(*facets_[f]);
    const FacetValue& value = choices_[f].state.value();
    Wanted& each = wanted.emplace_back(Wanted{f, &column, {}});
    for (const FacetValue& other : column.values) {
      const double apart = std::abs(std::log2(1 + std::abs(other.order)) - std::log2(1 + std::abs(value.order)));
      each.distance.push_back(other == value ? 0 : 1 + apart / (100 + apart));
    }
  }
  struct Found {
    double distance;
    Row row;
  };
  std::vector<Found> best;
  const auto is_equal = [&](Row a, Row b) {
    return std::ranges::all_of(wanted,
                               [&](const Wanted& each) { return each.column->codes[a] == each.column->codes[b]; });
  };
  for (const Row row : rows) {
    double distance = 0;
    for (const Wanted& each : wanted) distance += each.distance[each.column->codes[row]];
    if (best.size() == count && distance >= best.back().distance) continue;
    if (std::ranges::any_of(best, [&](const Found& found) { return is_equal(found.row, row); })) continue;
    best.insert(std::ranges::upper_bound(best, distance, {}, &Found::distance), {distance, row});
    if (best.size() > count) best.pop_back();
  }
  std::vector<Alternative> alternatives;
  for (const Found& found : best) {
    Alternative& made = alternatives.emplace_back(Alternative{.changes = {}, .row = found.row});
    for (const Wanted& each : wanted) {
      const std::uint32_t code = each.column->codes[found.row];
      if (each.distance[code] > 0) made.changes.emplace_back(each.facet, each.column->values[code]);
    }
  }
  return alternatives;
}

void ProblemFilter::for_each_problem(const PointTable& table, std::vector<Row> rows,
                                     const std::function<void(const ProblemFilter&)>& visit) const {
  if (rows.empty()) return;
  ProblemFilter filter = *this;
  filter.visit_combinations(0, table, std::move(rows), visit);
}

void ProblemFilter::visit_combinations(std::size_t facet, const PointTable& table, std::vector<Row> rows,
                                       const std::function<void(const ProblemFilter&)>& visit) {
  if (facet == facets_.size()) {
    rows_ = std::move(rows);
    visit(*this);
    return;
  }
  if (!choices_[facet].active) return visit_combinations(facet + 1, table, std::move(rows), visit);
  const std::vector<std::uint32_t> codes = compute_options(facet, table, rows);
  const CodeColumn& column = table.codes(*facets_[facet]);
  std::vector<std::vector<Row>> matching(codes.size());
  for (const Row row : rows) {
    const auto code = std::ranges::lower_bound(codes, column.codes[row]);
    matching[static_cast<std::size_t>(code - codes.begin())].push_back(row);
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    choices_[facet].state.current = static_cast<int>(i);
    visit_combinations(facet + 1, table, std::move(matching[i]), visit);
  }
}

std::string ProblemFilter::summary() const {
  std::string words;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = choices_[f].state;
    if (!state.has_value()) continue;
    const std::string& text = state.value().text;
    const Facet& facet = *facets_[f];
    if (facet.quiet && !facet.titled && state.options.size() < 2 && text == facet.usual) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : " · ", lower_label(attnscope::text(facet.label)),
                         localized_text(state.value()));
  }
  return words;
}

std::string ProblemFilter::stem() const {
  constexpr std::size_t longest_part = 40;
  std::string stem;
  for (std::size_t f = 0; f < facets_.size(); ++f) {
    const State& state = choices_[f].state;
    if (!state.has_value()) continue;
    const Facet& facet = *facets_[f];
    const FacetValue& value = state.value();
    const bool included =
        facet.always_shown || state.options.size() > 1 || (!facet.usual.empty() && value.text != facet.usual);
    if (!included) continue;
    stem += fmt::format("-{}{}", facet.stem, beginning(value.text, longest_part));
    // Different values can have the same abbreviation; the hash keeps file names distinct.
    if (!value.full.empty()) stem += fmt::format("-{:06x}", short_hash(value.full) & 0xFFFFFFU);
  }
  return file_name_text(stem);
}

std::size_t ProblemFilter::index_of(std::string_view label) const {
  const auto found = std::ranges::find_if(
      facets_, [&](const FacetPtr& facet) { return text(facet->label) == label || facet->key == label; });
  return static_cast<std::size_t>(found - facets_.begin());
}

std::vector<std::string> ProblemFilter::options(std::string_view label) const {
  std::vector<std::string> ids;
  const std::size_t place = index_of(label);
  if (place == facets_.size()) return ids;
  for (const FacetValue& value : choices_[place].state.options) ids.push_back(value.id());
  return ids;
}

}  // namespace attnscope::analysis
