// SPDX-License-Identifier: Apache-2.0
// Contrast of the tokens, and their distance for normal and color-deficient vision.
#include "profiler/style/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "kernels/registry.h"

namespace attnscope::style {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

Triple linear_rgb(Rgb color) {
  Triple linear{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double share = static_cast<double>(color >> (16 - 8 * k) & 0xffU) / 255;
    linear.at(k) = share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  }
  return linear;
}

Triple times(const Matrix& matrix, const Triple& vector) {
  Triple product{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) product.at(i) += matrix.at(i).at(k) * vector.at(k);
  }
  return product;
}

/// CIE L*a*b* with white point D65.
Triple lab(const Triple& linear) {
  constexpr Matrix xyz{
      {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
  constexpr Triple white{0.95047, 1, 1.08883};
  Triple f = times(xyz, linear);
  for (std::size_t k = 0; k < 3; ++k) {
    const double t = f.at(k) / white.at(k);
    f.at(k) = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double degrees(double radians) {
  return radians * 180 / std::numbers::pi;
}
double cosine(double angle) {
  return std::cos(angle * std::numbers::pi / 180);
}

/// CIEDE2000 (G. Sharma, W. Wu, E. Dalal, 2005).
double ciede2000(const Triple& p, const Triple& q) {
  const double seven = std::pow(25.0, 7);
  const auto pull = [&](double c) { return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + seven)); };
  const double g = 0.5 * (1 - pull((std::hypot(p[1], p[2]) + std::hypot(q[1], q[2])) / 2));
  const double a1 = p[1] * (1 + g);
  const double a2 = q[1] * (1 + g);
  const double c1 = std::hypot(a1, p[2]);
  const double c2 = std::hypot(a2, q[2]);
  const auto hue = [](double a, double b) {
    return a == 0 && b == 0 ? 0 : std::fmod(degrees(std::atan2(b, a)) + 360, 360);
  };
  const double h1 = hue(a1, p[2]);
  const double h2 = hue(a2, q[2]);
  const bool gray = c1 * c2 == 0;
  const double turn = gray ? 0 : std::fmod(h2 - h1 + 540, 360) - 180;
  double mean_hue = h1 + h2;
  if (!gray) mean_hue = (mean_hue + (std::abs(h1 - h2) <= 180 ? 0 : mean_hue < 360 ? 360 : -360)) / 2;
  const double mean_l = (p[0] + q[0]) / 2;
  const double mean_c = (c1 + c2) / 2;
  const double t = 1 - 0.17 * cosine(mean_hue - 30) + 0.24 * cosine(2 * mean_hue) + 0.32 * cosine(3 * mean_hue + 6) -
                   0.20 * cosine(4 * mean_hue - 63);
  const double from_middle = (mean_l - 50) * (mean_l - 50);
  const double l = (q[0] - p[0]) / (1 + 0.015 * from_middle / std::sqrt(20 + from_middle));
  const double c = (c2 - c1) / (1 + 0.045 * mean_c);
  const double h = 2 * std::sqrt(c1 * c2) * std::sin(turn / 2 * std::numbers::pi / 180) / (1 + 0.015 * mean_c * t);
  const double bell = 60 * std::exp(-std::pow((mean_hue - 275) / 25, 2));
  const double rotation = -2 * pull(mean_c) * std::sin(bell * std::numbers::pi / 180);
  return std::sqrt(l * l + c * c + h * h + rotation * c * h);
}

/// Vision with linear RGB matrices of severity 1 (G. Machado, M. Oliveira, L. Fernandes, 2009).
struct Vision {
  const char* name;
  Matrix matrix;
  double worst_light;  ///< smallest distance of two slots, computed by an independent implementation
  double worst_dark;
};
constexpr std::array<Vision, 4> visions{
    {{"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 17.7069, 17.9649},
     {"deutan",
      {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
      13.5182,
      12.2990},
     {"protan",
      {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
      11.9494,
      15.4593},
     {"tritan",
      {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
      13.4796,
      12.5951}}};

double distance(Rgb a, Rgb b, const Matrix& vision) {
  const auto seen = [&](Rgb color) {
    Triple linear = times(vision, linear_rgb(color));
    for (double& part : linear) part = std::clamp(part, 0.0, 1.0);
    return lab(linear);
  };
  return ciede2000(seen(a), seen(b));
}

/// Smallest distance of two of the colors.
double smallest_distance(const std::vector<Rgb>& colors, const Matrix& vision) {
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < colors.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) smallest = std::min(smallest, distance(colors[i], colors[k], vision));
  }
  return smallest;
}

std::vector<Rgb> slot_colors(bool dark) {
  std::vector<Rgb> colors;
  for (std::size_t slot = 0; slot < plot_slots; ++slot) colors.push_back(color(category_identity(slot)).in(dark));
  return colors;
}

// Pairs of the test data of Sharma et al.
TEST(Ciede2000, AgreesWithPublishedPairs) {
  struct Case {
    Triple p, q;
    double distance;
  };
  for (const Case& of :
       {Case{{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425}, Case{{50, 2.5, 0}, {73, 25, -18}, 27.1492},
        Case{{50, -1, 2}, {50, 0, 0}, 2.3669}, Case{{50, 2.49, -0.001}, {50, -2.49, 0.0011}, 7.2195},
        Case{{22.7233, 20.0904, -46.6940}, {23.0331, 14.9730, -42.5619}, 2.0373},
        Case{{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082}}) {
    EXPECT_NEAR(ciede2000(of.p, of.q), of.distance, 1e-4);
  }
}

TEST(Tokens, SlotsAreDistinctForAllVision) {
  for (const Vision& vision : visions) {
    EXPECT_NEAR(smallest_distance(slot_colors(false), vision.matrix), vision.worst_light, 1e-3) << vision.name;
    EXPECT_NEAR(smallest_distance(slot_colors(true), vision.matrix), vision.worst_dark, 1e-3) << vision.name;
  }
}

TEST(Tokens, MatricesAreDistinctForAllVision) {
  const std::vector<Rgb> colors(matrix_colors().begin(), matrix_colors().end());
  for (const Vision& vision : visions) EXPECT_GT(smallest_distance(colors, vision.matrix), 17) << vision.name;
}

TEST(Tokens, NeighboringBinsAreDistinct) {
  for (const bool dark : {false, true}) {
    for (std::size_t bin = 1; bin < slowdown_bins; ++bin) {
      for (const Vision& vision : visions) {
        EXPECT_GT(distance(slowdown_color(bin - 1).in(dark), slowdown_color(bin).in(dark), vision.matrix), 8)
            << bin << ' ' << vision.name;
      }
    }
  }
}

TEST(Tokens, ContrastRatioAgreesWithWcag) {
  EXPECT_NEAR(contrast_ratio(0x000000, 0xffffff), 21, 1e-9);
  EXPECT_NEAR(contrast_ratio(0x777777, 0xffffff), 4.478, 1e-3);
  EXPECT_NEAR(contrast_ratio(0xffffff, 0x0b63a5), 6.28, 5e-3);
}

TEST(Tokens, HaveContrastOnTheirBackgrounds) {
  for (const bool dark : {false, true}) {
    const Rgb surface = color(Token::surface).in(dark);
    const Rgb window = color(Token::window).in(dark);
    for (const Token text :
         {Token::ink, Token::muted, Token::accent, Token::faster, Token::slower, Token::same, Token::error}) {
      EXPECT_GE(contrast_ratio(color(text).in(dark), surface), 4.5) << static_cast<int>(text) << dark;
      EXPECT_GE(contrast_ratio(color(text).in(dark), window), 4.5) << static_cast<int>(text) << dark;
    }
    EXPECT_GE(contrast_ratio(color(Token::reference).in(dark), surface), 3) << dark;
    for (std::size_t place = 0; place < plot_slots * slot_variants; ++place) {
      EXPECT_GE(contrast_ratio(color(category_identity(place)).in(dark), surface), 3) << place << ' ' << dark;
    }
    for (std::size_t bin = 0; bin < slowdown_bins; ++bin) {
      const Rgb fill = slowdown_color(bin).in(dark);
      EXPECT_GE(contrast_ratio(readable_on(fill), fill), 4.5) << bin << ' ' << dark;
    }
  }
  for (const Rgb fill : matrix_colors()) EXPECT_GE(contrast_ratio(readable_on(fill), fill), 4.5) << hex(fill);
}

TEST(Identity, IsUniqueForEachBuiltInAlgorithm) {
  std::set<std::pair<PlotSlot, int>> used;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    const PlotIdentity identity = identity_of(algorithm->name());
    EXPECT_NE(identity.slot, PlotSlot::star) << algorithm->name();
    EXPECT_TRUE(used.insert({identity.slot, identity.variant}).second) << algorithm->name();
    EXPECT_LT(identity.variant, slot_variants) << algorithm->name();
  }
}

TEST(Identity, ImportedAlgorithmsShareTheStarSlot) {
  std::set<int> variants;
  for (const char* name : {"torch-flash", "torch-cudnn", "torch-eager", "flash-attn"}) {
    EXPECT_EQ(identity_of(name).slot, PlotSlot::star) << name;
    EXPECT_EQ(identity_of(name), identity_of(name)) << name;
    variants.insert(identity_of(name).variant);
  }
  EXPECT_EQ(variants.size(), 4U);
}

TEST(Identity, CategoriesRepeatAfterAllVariants) {
  std::set<std::pair<PlotSlot, int>> used;
  for (std::size_t place = 0; place < plot_slots * slot_variants; ++place) {
    const PlotIdentity identity = category_identity(place);
    EXPECT_TRUE(used.insert({identity.slot, identity.variant}).second) << place;
  }
  EXPECT_EQ(category_identity(plot_slots * slot_variants), category_identity(0));
}

TEST(Markers, HaveSimilarSizes) {
  std::set<std::vector<std::pair<int, int>>> shapes;
  for (std::size_t place = 0; place < plot_slots; ++place) {
    const std::vector<MarkerPoint> outline = marker_outline(category_identity(place));
    double area = 0;
    std::vector<std::pair<int, int>> shape;
    for (std::size_t k = 0; k < outline.size(); ++k) {
      const MarkerPoint& a = outline[k];
      const MarkerPoint& b = outline[(k + 1) % outline.size()];
      area += (a.x * b.y - b.x * a.y) / 2;
      shape.emplace_back(std::lround(100 * a.x), std::lround(100 * a.y));
    }
    if (outline.empty()) area = std::numbers::pi;  // disc
    EXPECT_GT(std::abs(area), 2) << place;
    EXPECT_LT(std::abs(area), 4) << place;
    EXPECT_TRUE(shapes.insert(shape).second) << place;
  }
}

TEST(Slowdowns, FallIntoBins) {
  struct Case {
    double slowdown;
    std::size_t bin;
  };
  for (const Case& of : {Case{1, 0}, Case{1.03, 0}, Case{1.0301, 1}, Case{1.1, 1}, Case{1.25, 2}, Case{1.5, 3},
                         Case{2, 4}, Case{2.001, 5}, Case{11, 5}}) {
    EXPECT_EQ(slowdown_bin(of.slowdown), of.bin) << of.slowdown;
  }
  std::vector<std::string> labels;
  for (std::size_t bin = 0; bin < slowdown_bins; ++bin) labels.push_back(slowdown_label(bin));
  EXPECT_THAT(labels, ::testing::ElementsAre("3%", "10%", "25%", "50%", "2×", ">2×"));
}

TEST(Scales, IncreaseInLuminanceOrAreSymmetric) {
  double last = -1;
  for (int k = 0; k <= 20; ++k) {
    const double luminance = lab(linear_rgb(viridis(k / 20.0)))[0];
    EXPECT_GT(luminance, last);
    last = luminance;
  }
  for (const bool dark : {false, true}) {
    for (const double t : {0.0, 0.25}) {
      EXPECT_NEAR(lab(linear_rgb(diverging(t, dark)))[0], lab(linear_rgb(diverging(1 - t, dark)))[0], 14) << t << dark;
    }
  }
  EXPECT_EQ(viridis(-1), viridis(0));
  EXPECT_EQ(diverging(2, true), diverging(1, true));
}

TEST(Css, HasAllTokens) {
  const std::string light = css_properties(false);
  EXPECT_THAT(light,
              ::testing::AllOf(::testing::HasSubstr("--ink:#1c2127;"), ::testing::HasSubstr("--matrix-o:#c23a10;")));
  EXPECT_THAT(css_properties(true), ::testing::HasSubstr("--surface:#16191d;"));
}

}  // namespace
}  // namespace attnscope::style
