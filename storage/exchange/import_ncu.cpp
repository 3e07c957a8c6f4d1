// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import_formats.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// "void flash::fwd_kernel<Traits<128>, false>(Params)" is "fwd_kernel".
std::string short_kernel_name(std::string_view text) {
  std::string_view name = text;
  if (const std::size_t at = name.find_first_of("<("); at != std::string_view::npos && at > 0)
    name = name.substr(0, at);
  if (const std::size_t at = name.rfind("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  if (const std::size_t at = name.rfind(' '); at != std::string_view::npos) name.remove_prefix(at + 1);
  return std::string(name.empty() ? text : name);
}

/// ncu groups digits in threes: "1,048,576.5". Nothing for "n/a" and for text.
std::optional<double> ncu_number(std::string text) {
  std::erase(text, ',');
  const auto value = number(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

std::size_t ncu_table(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("\"ID\",") || rest.starts_with("ID,")) return at;
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    at += end + 1;
  }
  return std::string_view::npos;
}

Import import_ncu(std::string_view text, const ImportRequest& request) {
  const std::size_t start = ncu_table(text);
  if (start == std::string_view::npos) {
    fail("there is no table of ncu's: no line begins with \"ID\"; write it with `ncu --csv --page raw`");
  }
  const auto skipped = static_cast<std::size_t>(std::ranges::count(text.substr(0, start), '\n'));
  const std::vector<CsvLine> lines = parse_csv(text.substr(start), skipped + 1);
  const CsvLine& header = lines.front();
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header.fields, name) - header.fields.begin());
  };
  if (column("Metric Name") < header.fields.size()) {
    fail("line {}: this is ncu's page of details; write the table with `ncu --csv --page raw`", header.number);
  }
  const std::size_t kernel_name = column("Kernel Name");
  if (kernel_name == header.fields.size()) fail("line {}: there is no column 'Kernel Name'", header.number);
  if (lines.size() < 3) fail("line {}: no launch stands below the header and the units", lines.back().number);
  const CsvLine& unit_line = lines[1];
  require_width(header, unit_line);
  if (!unit_line.fields.front().empty()) fail("line {}: the row of units is missing", unit_line.number);

  PointRecord point;
  point.spec = *request.spec;
  point.provenance = Provenance::imported;
  std::string device = request.device_name;
  std::map<std::string, int> launches_of;
  for (const CsvLine& line : std::span(lines).subspan(2)) {
    if (line.fields.size() == 1) break;  // what the program printed after the table
    require_width(header, line);
    const std::string name = short_kernel_name(line.fields[kernel_name]);
    if (name.empty()) fail("line {}, column 'Kernel Name': it is empty", line.number);
    check_word(fmt::format("line {}", line.number), "kernel", name);
    const int launch = ++launches_of[name];
    KernelRecord kernel;
    kernel.kernel = launch == 1 ? name : fmt::format("{} {}", name, launch);
    if (kernel.kernel == "all") kernel.kernel = "all 1";  // means their sum here
    if (device.empty() && column("CC") < header.fields.size()) {
      device = fmt::format("unnamed GPU of compute capability {}", line.fields[column("CC")]);
    }
    double shared = 0;
    bool shared_known = false;
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
      const std::string& counter = header.fields[i];
      if (!is_counter_name(counter)) continue;
      const auto value = ncu_number(line.fields[i]);
      if (!value) continue;
      const auto base = base_unit(unit_line.fields[i]);
      const auto& unit = base.first;
      const double scale = base.second;
      const std::string place = fmt::format("line {}, column '{}'", unit_line.number, counter);
      if (!std::isfinite(*value * scale)) fail("line {}, column '{}': the value is infinite", line.number, counter);
      const auto require_unit = [&](std::string_view wanted) {
        if (unit != wanted) fail("{}: the unit is '{}', not one of {}", place, unit_line.fields[i], wanted);
      };
      if (counter == "gpu__time_duration.sum") {
        require_unit("ns");
        kernel.samples_ns = {*value * scale};
      } else if (counter == "launch__shared_mem_per_block_static" ||
                 counter == "launch__shared_mem_per_block_dynamic") {
        require_unit("byte");
        shared += *value * scale;
        shared_known = true;
      } else if (const Metric* metric = metric_of(counter)) {
        require_unit(metric->unit);
        kernel.metrics.push_back({std::string(metric->key), *value * scale * metric->scale, std::string(metric->unit),
                                  Provenance::imported});
      } else {
        kernel.metrics.push_back({counter, *value * scale, unit, Provenance::imported});
      }
    }
    if (shared_known) {
      kernel.metrics.push_back({std::string(metric_key::shared_bytes), shared, "byte", Provenance::imported});
    }
    if (kernel.metrics.empty() && kernel.samples_ns.empty()) fail("line {}: no counter has a value", line.number);
    point.kernels.push_back(std::move(kernel));
  }
  if (point.kernels.empty()) fail("line {}: no launch stands below the header and the units", lines.back().number);
  PointBuilder builder({}, *request.registry);
  builder.device_of(device.empty() ? "unnamed GPU" : device).points.push_back(std::move(point));
  return builder.take();
}

}  // namespace attnscope::exchange
