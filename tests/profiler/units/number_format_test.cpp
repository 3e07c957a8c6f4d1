// SPDX-License-Identifier: Apache-2.0
#include "profiler/units/number_format.h"
#include "profiler/units/csv.h"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <vector>

namespace attnscope {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

template <class UnitValue>
concept Spelt = requires(UnitValue amount) {
  text(amount);
};
static_assert(Spelt<Seconds> && !Spelt<double>);
static_assert(!std::is_convertible_v<Seconds, Nanoseconds> && !std::is_convertible_v<double, Nanoseconds>);
static_assert(!std::is_constructible_v<Nanoseconds, Seconds> && !std::is_constructible_v<Capacity, Bytes>);

struct Case {
  double value;
  const char* wanted;
};

template <class UnitValue>
void expect(const std::vector<Case>& cases) {
  for (const auto& [value, wanted] : cases) EXPECT_EQ(text(UnitValue(value)), wanted) << value;
}

TEST(NumberFormat, Times) {
  expect<Nanoseconds>({{0, "0 ns"},
                       {0.25, "0.250 ns"},
                       {812, "812 ns"},
                       {999.4, "999 ns"},
                       {999.5, "1.00 µs"},
                       {1000, "1 µs"},
                       {1'240'000, "1.24 ms"},
                       {-1'240'000, "-1.24 ms"},
                       {3.6e12, "3600 s"},
                       {endless, "– s"},
                       {none, "– ns"}});
}

TEST(NumberFormat, WaitingTimes) {
  expect<Seconds>({{0, "0 s"},
                   {0.2, "1 s"},
                   {59, "59 s"},
                   {59.2, "1 min 00 s"},
                   {125, "2 min 05 s"},
                   {3599.5, "1 h 00 min"},
                   {3720, "1 h 02 min"},
                   {60, "1 min 00 s"},
                   {3600, "1 h 00 min"},
                   {1e15, "1e+15 s"},
                   {endless, "– s"},
                   {none, "– s"}});
}

TEST(NumberFormat, TrafficUsesPowersOf1000AndCapacityPowersOf1024) {
  expect<Bytes>({{0, "0 B"},
                 {999, "999 B"},
                 {1024, "1.02 kB"},
                 {999'499, "999 kB"},
                 {999'999, "1.00 MB"},
                 {1'073'741'824, "1.07 GB"},
                 {-2.15e9, "-2.15 GB"},
                 {4e18, "4000 PB"}});
  expect<Capacity>({{0, "0 B"},
                    {1023, "1023 B"},
                    {1024, "1 KiB"},
                    {232448, "227 KiB"},
                    {1023 * 1024, "1023 KiB"},
                    {1023.9 * 1024, "1.00 MiB"},
                    {62914560, "60 MiB"},
                    {66 * 0x1p30, "66 GiB"},
                    {0x1p62, "4 EiB"}});
}

TEST(NumberFormat, WorkAndRates) {
  expect<Elements>({{512, "512"}, {1e7, "10 M"}, {1536, "1.54 k"}});
  EXPECT_EQ(value_text(2.75e11, "flop"), "275 GFLOP");
  EXPECT_EQ(value_text(5, "flop"), "5 FLOP");
  expect<BytesPerSecond>({{4.8e12, "4.80 TB/s"}, {999.6e9, "1.00 TB/s"}, {25.6e9, "25.6 GB/s"}});
  expect<FlopsPerSecond>({{989.4e12, "989 TFLOP/s"}, {2.14e15, "2.14 PFLOP/s"}, {500, "500 FLOP/s"}});
  expect<Hertz>({{1.98e9, "1980 MHz"}, {1.755e9, "1755 MHz"}, {12.5e9, "12,500 MHz"}, {32768, "32.8 kHz"}});
}

TEST(NumberFormat, SharesAsPercent) {
  expect<Percent>({{0, "0%"}, {98.6, "98.6%"}, {100, "100%"}, {-3.5, "-3.50%"}, {99.96, "100%"}, {none, "–%"}});
  expect<Share>({{0.05, "5%"}, {0.0043, "0.430%"}, {1.25, "125%"}});
}

TEST(NumberFormat, NumbersHaveSignificantDigits) {
  const std::vector<Case> cases{{0, "0"},           {-0.0, "0"},         {0.0031, "0.00310"},
                                {0.9995, "1.00"},   {0.9994, "0.999"},   {4.306, "4.31"},
                                {9.996, "10.0"},    {99.96, "100"},      {2, "2"},
                                {999.5, "1000"},    {9999.6, "10,000"},  {16384, "16,384"},
                                {-85.27, "-85.3"},  {-16384, "-16,384"}, {1234567.8, "1,234,568"},
                                {1e-5, "1e-05"},    {2.5e9, "2.5e+09"},  {endless, "–"},
                                {0.001, "0.00100"}, {1e9, "1e+09"},      {999999999, "999,999,999"},
                                {none, "–"}};
  for (const auto& [value, wanted] : cases) EXPECT_EQ(number_text(value), wanted) << value;
  EXPECT_EQ(number_text(-1234), "-1234") << "the sign is no digit";
  EXPECT_EQ(number_text(138.6149, 5), "138.61");
  EXPECT_EQ(number_text(99.99996, 6), "100.000");
  EXPECT_EQ(number_text(123456.75, 12), "123,456.750000");
  EXPECT_EQ(exact_text(123456789), "123456789");
  EXPECT_EQ(number_text(12345678.005, 12), "12,345,678") << "whole within one part in 10^9";
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(exact_text(1e300), "1e+300");
}

TEST(NumberFormat, DigitsDistinguishTwoNumbers) {
  struct {
    double low, high;
    int digits;
  } const cases[] = {{1, 2, 3}, {138.61, 138.64, 5}, {138.611, 138.614, 6}, {138.6111, 138.6114, 6}, {7, 7, 3}};
  for (const auto& [low, high, digits] : cases) EXPECT_EQ(distinguishing_digits(low, high), digits) << low;
}

TEST(NumberFormat, ValuesOfTheMetricsTable) {
  const std::vector<std::tuple<double, const char*, const char*>> cases{{2.15e9, "byte", "2.15 GB"},
                                                                        {98304, "capacity", "96 KiB"},
                                                                        {999.6, "ns", "1.00 µs"},
                                                                        {98.6, "percent", "98.6%"},
                                                                        {168, "register", "168 registers"},
                                                                        {1, "register", "1 register"},
                                                                        {1, "cycle", "1 cycle"},
                                                                        {0, "cycle", "0 cycles"},
                                                                        {0, "register", "0 registers"},
                                                                        {2345678901, "cycle", "2345678901 cycles"},
                                                                        {1234567, "cycle", "1,234,567 cycles"},
                                                                        {781.2, "Tflop/s", "781 TFLOP/s"},
                                                                        {4.14e12, "op/s", "4.14 Top/s"},
                                                                        {36.5, "celsius", "36.5 °C"},
                                                                        {700, "watt", "700 W"},
                                                                        {1.5, "1", "1.50"},
                                                                        {1.5, "", "1.50"},
                                                                        {3, "sector", "3 sector"}};
  for (const auto& [value, unit, wanted] : cases) EXPECT_EQ(value_text(value, unit), wanted) << unit;
}

TEST(NumberFormat, UnitScaleOfAnAxis) {
  const UnitScale scale = unit_scale(3.2e9, "byte");
  EXPECT_EQ(scale.suffix, "GB");
  EXPECT_DOUBLE_EQ(4.5e8 * scale.factor, 0.45);
  EXPECT_EQ(unit_scale(999, "ns").suffix, "ns");
  EXPECT_EQ(unit_scale(-2e6, "ns").suffix, "ms");
  EXPECT_EQ(unit_scale(1000, "ns").suffix, "µs");
  EXPECT_EQ(unit_scale(1e9, "byte").suffix, "GB");
  EXPECT_EQ(unit_scale(0, "byte").suffix, "B");
  EXPECT_EQ(unit_scale(0.5, "byte").suffix, "B");
  EXPECT_EQ(unit_scale(50, "percent").suffix, "%");
  EXPECT_EQ(unit_scale(50, "Tflop/s").suffix, "TFLOP/s");
  EXPECT_EQ(unit_scale(1, "cycle").suffix, "cycles");
  EXPECT_EQ(unit_scale(50, "1").suffix, "");
}

TEST(NumberFormat, LengthsInUnitsOf1024) {
  const std::vector<Case> cases{{0, "0"},       {512, "512"},   {1000, "1000"},  {1024, "1k"},
                                {1500, "1500"}, {16384, "16k"}, {1048576, "1M"}, {1536 * 1024, "1536k"}};
  for (const auto& [n, wanted] : cases) EXPECT_EQ(length_text(n), wanted);
}

TEST(NumberFormat, CountsHaveSingularAndPlural) {
  EXPECT_EQ(text(points_text(1)), "1 point");
  EXPECT_EQ(text(points_text(21)), "21 points");
  EXPECT_EQ(text(points_text(21, 3)), "21 points in 3 rounds");
  EXPECT_EQ(text(runs_text(1)), "1 run");
  EXPECT_EQ(text(runs_text(0)), "0 runs");
  EXPECT_EQ(text(points_text(0)), "0 points");
  EXPECT_EQ(text(points_text(2, 1)), "2 points");
  EXPECT_EQ(text(points_text(1, 2)), "1 point in 2 rounds");
  EXPECT_EQ(text(runs_text(3, 1, 0)), "3 runs (1 hidden)");
  EXPECT_EQ(text(runs_text(3, 0, 1)), "3 runs (1 deleted)");
  EXPECT_EQ(text(runs_text(3, 1, 2)), "3 runs (1 hidden, 2 deleted)");
}

TEST(Csv, EscapesFormulas) {
  for (const char* text : {"=1+1", "+x", "-x", "@sum", "\tx", "'=x", "''=x", "'", "'x", "plain", ""}) {
    EXPECT_EQ(unescape_formula(escape_formula(text)), text);
  }
  EXPECT_EQ(escape_formula("=1+1"), "'=1+1");
  EXPECT_EQ(escape_formula("plain"), "plain");
  EXPECT_EQ(escape_formula("'x"), "'x");
}

}  // namespace
}  // namespace attnscope
