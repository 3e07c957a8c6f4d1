// SPDX-License-Identifier: Apache-2.0
#include "profiler/style/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "kernels/registry.h"

namespace attnscope::style {
namespace {

struct NamedColor {
  std::string_view name;
  Color color;
};

/// In the order of Token.
constexpr std::array<NamedColor, 11> tokens{{{"surface", {0xffffff, 0x16191d}},
                                             {"window", {0xf3f4f6, 0x1f2329}},
                                             {"ink", {0x1c2127, 0xe4e7eb}},
                                             {"muted", {0x59626d, 0xa3adb8}},
                                             {"grid", {0xdde1e6, 0x3a4149}},
                                             {"reference", {0x7d8691, 0x8a93a0}},
                                             {"accent", {0x0b63a5, 0x6db8f2}},
                                             {"faster", {0x0b6fb8, 0x6cb8f5}},
                                             {"slower", {0xb34a00, 0xff9a57}},
                                             {"same", {0x4a5560, 0xaeb7c0}},
                                             {"error", {0xb00020, 0xff8a80}}}};

/// In the order of PlotSlot. Distinct for normal, deutan, protan and tritan vision.
constexpr std::array<Color, plot_slots> slots{{{0xe2622f, 0xffc0a3},
                                               {0x4a90f0, 0x5fb7ff},
                                               {0x14503a, 0x3a8a66},
                                               {0x46178f, 0x8163d2},
                                               {0xb3245f, 0xfa4a88},
                                               {0x6a5a00, 0xa89508},
                                               {0x2f7a94, 0x86a6ac},
                                               {0x8e9298, 0xe3e8ef}}};

constexpr std::array<Rgb, 6> matrices{0x63adff, 0xfab04a, 0x5f8c7a, 0xe9d7da, 0x7a3f78, 0xc23a10};

constexpr std::array<Color, slowdown_bins> slowdowns{{{0x0b3c68, 0xd6e9fb},
                                                      {0x1e65a0, 0x93c1ea},
                                                      {0x4c8fc4, 0x4c8fc4},
                                                      {0x8db9de, 0x2c669b},
                                                      {0xc9dcee, 0x214768},
                                                      {0xf3f6fa, 0x1c2c3c}}};

constexpr std::array<Rgb, 9> viridis_stops{0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
                                           0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};
constexpr std::array<Rgb, 5> diverging_light{0x054e8a, 0x6eadd5, 0xf7f7f7, 0xf4a560, 0xb24f06};
constexpr std::array<Rgb, 5> diverging_dark{0x7cc0f2, 0x3a6f9c, 0x2b3037, 0x9a5a2b, 0xffa566};

std::array<int, 3> channels(Rgb color) {
  return {static_cast<int>(color >> 16U & 0xffU), static_cast<int>(color >> 8U & 0xffU),
          static_cast<int>(color & 0xffU)};
}

Rgb along(std::span<const Rgb> stops, double t) {
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  return mix(stops[low], stops[low + 1], place - static_cast<double>(low));
}

double luminance(Rgb color) {
  constexpr std::array weights{0.2126, 0.7152, 0.0722};
  double sum = 0;
  const std::array<int, 3> parts = channels(color);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const double share = parts.at(k) / 255.0;
    sum += weights.at(k) * (share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return sum;
}

/// Regular polygon, or star with every second corner at `inner` times the radius; the first corner points up.
std::vector<MarkerPoint> polygon(int corners, double radius, double turn = 0, double inner = 1) {
  const bool star = inner < 1;
  const int count = star ? 2 * corners : corners;
  std::vector<MarkerPoint> points;
  for (int k = 0; k < count; ++k) {
    const double angle = turn + 2 * std::numbers::pi * k / count;
    const double r = star && k % 2 == 1 ? radius * inner : radius;
    points.push_back({r * std::sin(angle), -r * std::cos(angle)});
  }
  return points;
}

std::vector<MarkerPoint> plus_outline() {
  constexpr double reach = 1.15;
  constexpr double half = 0.4;
  return {{-half, -reach}, {half, -reach}, {half, -half}, {reach, -half}, {reach, half},   {half, half},
          {half, reach},   {-half, reach}, {-half, half}, {-reach, half}, {-reach, -half}, {-half, -half}};
}

}  // namespace

Color color(Token token) {
  return tokens.at(static_cast<std::size_t>(token)).color;
}

PlotIdentity identity_of(std::string_view algorithm) {
  const Algorithm* known = known_algorithms().find(algorithm);
  if (known != nullptr && !known->facts().user_defined) return {known->facts().plot_slot, known->facts().plot_variant};
  static std::mutex mutex;
  static std::map<std::string, int, std::less<>> variants;
  const std::scoped_lock lock(mutex);
  if (const auto found = variants.find(algorithm); found != variants.end()) return {PlotSlot::star, found->second};
  // A hash of the name, which is the same in all programs, or the next free variant.
  std::uint32_t hash = 0;
  for (const char letter : algorithm) hash = hash * 31 + static_cast<unsigned char>(letter);
  int variant = static_cast<int>(hash % slot_variants);
  const auto is_taken = [](int wanted) {
    return std::ranges::any_of(variants, [&](const auto& entry) { return entry.second == wanted; });
  };
  for (int step = 0; step < slot_variants && is_taken(variant); ++step) variant = (variant + 1) % slot_variants;
  variants.emplace(algorithm, variant);
  return {PlotSlot::star, variant};
}

PlotIdentity category_identity(std::size_t place) {
  return {static_cast<PlotSlot>(place % plot_slots), static_cast<int>(place / plot_slots % slot_variants)};
}

Color color(PlotIdentity identity) {
  constexpr std::array<double, slot_variants> ink_shares{0, 0.34, 0.62, 0.85};
  constexpr std::array<double, slot_variants> surface_shares{0, 0.2, 0.34, 0.46};
  const Color& base = slots.at(static_cast<std::size_t>(identity.slot));
  const auto variant = static_cast<std::size_t>(identity.variant);
  const double ink = ink_shares.at(variant);
  // On dark, the star is as bright as ink.
  const bool bright = identity.slot == PlotSlot::star;
  return {mix(base.light, color(Token::ink).light, ink),
          bright ? mix(base.dark, color(Token::surface).dark, surface_shares.at(variant))
                 : mix(base.dark, color(Token::ink).dark, ink)};
}

std::vector<MarkerPoint> marker_outline(PlotIdentity identity) {
  using std::numbers::pi;
  const bool first = identity.variant == 0;
  switch (identity.slot) {
    case PlotSlot::circle:
      return {};
    case PlotSlot::square:
      return polygon(4, 1.25, pi / 4);
    case PlotSlot::diamond:
      return polygon(4, 1.35);
    case PlotSlot::triangle:
      return polygon(3, 1.35);
    case PlotSlot::triangle_down:
      return polygon(3, 1.35, pi);
    case PlotSlot::plus:
      return plus_outline();
    case PlotSlot::pentagon:
      return first ? polygon(5, 1.2) : identity.variant == 1 ? polygon(5, 1.2, pi) : polygon(6, 1.2);
    case PlotSlot::star:
      break;
  }
  constexpr std::array<int, slot_variants> tips{5, 4, 6, 3};
  constexpr std::array<double, slot_variants> inner{0.45, 0.38, 0.58, 0.3};
  const auto variant = static_cast<std::size_t>(identity.variant);
  return polygon(tips.at(variant), 1.45, 0, inner.at(variant));
}

std::span<const Rgb, 6> matrix_colors() {
  return matrices;
}

std::size_t slowdown_bin(double slowdown) {
  const auto* const limit =
      std::ranges::find_if(slowdown_limits, [&](double each) { return slowdown <= each * (1 + 1e-12); });
  return static_cast<std::size_t>(limit - slowdown_limits.begin());
}

Color slowdown_color(std::size_t bin) {
  return slowdowns.at(bin);
}

std::string slowdown_label(std::size_t bin) {
  if (bin == slowdown_limits.size()) return fmt::format(">{}×", slowdown_limits.back());
  const double limit = slowdown_limits.at(bin);
  return limit < 2 ? fmt::format("{:.0f}%", 100 * (limit - 1)) : fmt::format("{}×", limit);
}

Rgb viridis(double t) {
  return along(viridis_stops, t);
}

Rgb diverging(double t, bool dark) {
  return along(dark ? diverging_dark : diverging_light, t);
}

Rgb mix(Rgb a, Rgb b, double share) {
  const std::array<int, 3> from = channels(a);
  const std::array<int, 3> to = channels(b);
  Rgb mixed = 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    mixed = mixed << 8U | static_cast<Rgb>(std::lround(from.at(k) + (to.at(k) - from.at(k)) * share));
  }
  return mixed;
}

double contrast_ratio(Rgb a, Rgb b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

Rgb readable_on(Rgb background) {
  constexpr Rgb black = 0x101418;
  constexpr Rgb white = 0xffffff;
  return contrast_ratio(black, background) >= contrast_ratio(white, background) ? black : white;
}

std::string hex(Rgb color) {
  return fmt::format("#{:06x}", color);
}

std::string css_properties(bool dark) {
  std::string properties;
  for (const NamedColor& token : tokens) {
    properties += fmt::format("--{}:{};", token.name, hex(token.color.in(dark)));
  }
  constexpr std::string_view letters = "qkvspo";
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    properties += fmt::format("--matrix-{}:{};", letters[k], hex(matrices.at(k)));
  }
  return properties;
}

}  // namespace attnscope::style
