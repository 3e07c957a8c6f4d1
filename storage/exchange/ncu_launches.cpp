// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/ncu_launches.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "profiler/plan/text.h"
#include "storage/bounds.h"
#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import_formats.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// What sections of the page of details call counters that the raw page names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> section_names{{
    {"Duration", "gpu__time_duration.sum"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// ncu's number of a launch, a device or a process; nothing where the text is none.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0) return std::nullopt;
  return id;
}

bool chosen(const NcuSelection& selection, const NcuLaunch& launch) {
  const auto is = [](const std::string& number, const std::optional<std::int64_t>& wanted) {
    return !wanted || number_of(number) == wanted;
  };
  return launch.kernel.find(selection.kernel) != std::string::npos && launch.id >= selection.first_launch.value_or(0) &&
         (!selection.last_launch || launch.id <= *selection.last_launch) && is(launch.device, selection.device) &&
         is(launch.process, selection.process);
}

class LaunchReader {
 public:
  LaunchReader(std::string_view table, std::size_t line, const NcuSelection& selection)
      : lines_(table, line), selection_(selection), header_(*lines_.next()) {}

  NcuTable read() {
    if (!column("Kernel Name")) fail(line_place(header_.number), "there is no column 'Kernel Name'");
    if (column("Metric Name")) {
      read_details();
    } else {
      read_raw();
    }
    finish();
    if (!any_) fail(line_place(lines_.line() - 1), "no launch stands below the header and the units");
    require_nothing_below();
    return std::move(table_);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(header_.fields, name);
    if (found == header_.fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.fields.begin());
  }
  [[nodiscard]] std::string field(const CsvLine& line, std::string_view name) const {
    const auto at = column(name);
    return at ? line.fields[*at] : std::string();
  }

  /// The next line that is a launch's; the table ends before one that is none, which the program printed.
  std::optional<CsvLine> next() {
    std::optional<CsvLine> line = lines_.next();
    if (!line || !number_of(line->fields.front())) return std::nullopt;
    require_width(header_, *line);
    return line;
  }

  /// A page of details has many lines a launch, under one number.
  void begin(const CsvLine& line) {
    const std::int64_t id = *number_of(line.fields.front());
    any_ = true;
    if (launch_ && launch_->id == id && details_) return;
    finish();
    launch_ = NcuLaunch{.line = line.number,
                        .id = id,
                        .kernel = field(line, "Kernel Name"),
                        .shape = field(line, "Grid Size") + " " + field(line, "Block Size"),
                        .device = field(line, "Device"),
                        .compute_capability = field(line, "CC"),
                        .process = field(line, "Process ID"),
                        .process_name = field(line, "Process Name"),
                        .values = {}};
    if (launch_->kernel.empty()) {
      fail(line_place(line.number).at(Place::Part::column, "Kernel Name"), "it is empty");
    }
  }

  void finish() {
    if (!launch_) return;
    if (chosen(selection_, *launch_)) {
      table_.launches.push_back(std::move(*launch_));
    } else {
      ++table_.left_out;
    }
    launch_.reset();
  }

  void read_raw() {
    const std::optional<CsvLine> units = lines_.next();
    if (!units) fail(line_place(header_.number), "no launch stands below the header and the units");
    require_width(header_, *units);
    if (!units->fields.front().empty()) fail(line_place(units->number), "the row of units is missing");
    for (std::size_t i = 0; i < header_.fields.size(); ++i) {
      table_.columns.push_back({header_.fields[i], units->fields[i], units->number});
    }
    while (const std::optional<CsvLine> line = next()) {
      begin(*line);
      for (std::size_t i = 0; i < header_.fields.size(); ++i) {
        if (table_.columns[i].example.empty()) table_.columns[i].example = line->fields[i];
        if (!is_counter_name(header_.fields[i])) continue;
        const Place place = line_place(line->number).at(Place::Part::column, header_.fields[i]);
        if (const auto value = ncu_number(place, line->fields[i])) {
          launch_->values.push_back({.column = i, .value = *value, .line = line->number});
        }
      }
    }
  }

  void read_details() {
    details_ = true;
    if (!column("Metric Value")) fail(line_place(header_.number), "there is no column 'Metric Value'");
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    while (const std::optional<CsvLine> line = next()) {
      begin(*line);
      std::string counter = field(*line, "Metric Name");
      const auto* named = std::ranges::find(section_names, counter, [](const auto& pair) { return pair.first; });
      if (named != section_names.end()) counter = named->second;
      if (counter.empty()) continue;  // a rule's words
      const std::string unit = field(*line, "Metric Unit");
      const auto [column, is_new] = known.try_emplace({counter, unit}, table_.columns.size());
      const Place place = line_place(line->number).at(Place::Part::metric, counter);
      if (is_new) {
        table_.columns.push_back({counter, unit, line->number, Place::Part::metric, field(*line, "Metric Value")});
      }
      if (!is_counter_name(counter)) continue;  // what we have no counter for
      const auto value = ncu_number(place, field(*line, "Metric Value"));
      // Sections repeat what others have.
      const bool again = std::ranges::any_of(
          launch_->values, [&](const NcuValue& some) { return table_.columns[some.column].counter == counter; });
      if (value && !again) {
        launch_->values.push_back({.column = column->second, .value = *value, .line = line->number});
      }
    }
  }

  /// Where the table was cut in two, the rest would be lost without a word.
  void require_nothing_below() {
    std::size_t line = lines_.line();
    for (std::string_view rest = lines_.rest(); !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view text = rest.substr(0, end);
      if (text.size() > 2 && text[0] == '"' && is_digit(text[1]) && text.find("\",\"") != std::string_view::npos) {
        fail(line_place(line), "a launch stands below the end of the table; import each table by itself");
      }
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }

  CsvReader lines_;
  const NcuSelection& selection_;
  CsvLine header_;
  bool details_ = false;
  bool any_ = false;
  std::optional<NcuLaunch> launch_;
  NcuTable table_;
};

/// Where the bracket that closes at `end` - 1 opens; npos where it does not.
std::size_t opening(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == close) ++depth;
    if (text[i - 1] == open && --depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

/// The place behind the last `separator` that stands in no brackets; 0 for none.
std::size_t behind_last(std::string_view text, std::string_view separator) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == '>' || c == ')' || c == '}' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '{' || c == '[') --depth;
    if (depth == 0 && text.substr(i - 1).starts_with(separator)) return i - 1 + separator.size();
  }
  return 0;
}

}  // namespace

NcuTable read_ncu_launches(std::string_view text, const NcuSelection& selection) {
  const std::size_t start = ncu_table(text);
  if (start == std::string_view::npos) {
    fail("there is no table of ncu's: no line begins with \"ID\"; write it with `ncu --csv --page raw`");
  }
  const auto skipped = static_cast<std::size_t>(std::ranges::count(text.substr(0, start), '\n'));
  return LaunchReader(text.substr(start), skipped + 1, selection).read();
}

std::string short_kernel_name(std::string_view text) {
  std::string_view name = text;
  const auto trim = [&] {
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  };
  trim();
  // Parameters, then template arguments. Where brackets do not match the text is no declaration: it stays whole.
  for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'<', '>'}}) {
    if (name.empty() || name.back() != close) continue;
    const std::size_t at = opening(name, open, close);
    // "(anonymous namespace)" and "<unnamed>" name a place; a name stands before what is cut off.
    if (at == std::string_view::npos || at == 0 || name[at - 1] == ':' || name[at - 1] == ' ') continue;
    name = name.substr(0, at);
    trim();
  }
  name.remove_prefix(behind_last(name, "::"));
  name.remove_prefix(behind_last(name, " "));
  if (name.empty()) name = text;
  name = name.substr(0, longest_name);
  return std::string(name.substr(0, first_invalid_utf8(name)));  // not a part of a character at the end
}

std::optional<double> ncu_number(const Place& place, std::string_view text) {
  const bool looks_like_one = text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos &&
                              text.find_first_of("0123456789") != std::string_view::npos &&
                              text.find_first_of("eE") != 0;
  if (!looks_like_one) return std::nullopt;
  const auto wrong = [&] {
    fail(place,
         make_message("'{}' is no number as ncu writes it in English, 1,048,576.5; run ncu with LC_ALL=C", text));
  };
  std::string digits;
  const std::size_t point = std::min(text.find_first_of(".eE"), text.size());
  const std::string_view whole = text.substr(0, point);
  if (text.substr(point).find(',') != std::string_view::npos) wrong();
  const bool grouped = whole.find(',') != std::string_view::npos;
  std::size_t group = 0;  // digits since the last comma
  bool first_group = true;
  for (const char c : whole) {
    if (c != ',') {
      digits += c;
      group += is_digit(c) ? 1U : 0U;
      continue;
    }
    if (first_group ? group < 1 || group > 3 : group != 3) wrong();
    first_group = false;
    group = 0;
  }
  if (grouped && group != 3) wrong();
  digits += text.substr(point);
  if (digits.starts_with('+')) digits.erase(0, 1);
  const auto value = number(digits);
  if (!value) wrong();
  return value;
}

}  // namespace attnscope::exchange
