// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "messages/report.h"
#include "profiler/plan/text.h"
#include "profiler/report/sections.h"

namespace attnscope::report {
namespace {

struct SectionKind {
  std::string_view key;
  Saying title;
  MakeSection make;
};

/// In the order of the report: another section is another line.
constexpr std::array section_kinds{
    SectionKind{"summary", said<say::report::summary>, summary_section},
    SectionKind{"environment", said<say::report::environment>, environment_section},
    SectionKind{"io", said<say::report::io>, io_section},
    SectionKind{"exponents", said<say::report::exponents>, exponents_section},
    SectionKind{"time", said<say::report::time>, time_section},
    SectionKind{"tiles", said<say::report::tiles>, tiles_section},
    SectionKind{"roofline", said<say::report::roofline>, roofline_section},
    SectionKind{"kernels", said<say::report::kernels>, kernels_section},
    SectionKind{"failures", said<say::report::failures>, failures_section},
    SectionKind{"commands", said<say::report::commands>, commands_section},
    SectionKind{"appendix", said<say::report::appendix>, appendix_section},
};

std::set<std::string> device_names(const Input& input) {
  std::set<std::string> names;
  for (const analysis::Row row : input.table.rows()) names.insert(input.table.run(row).device_name);
  return names;
}

std::string subtitle(const Input& input) {
  std::set<std::string> files;
  std::string first;
  std::string last;
  for (const RunFacts& run : input.runs) {
    files.insert(run.file);
    if (first.empty() || run.started_at < first) first = run.started_at;
    last = std::max(last, run.started_at);
  }
  return text(say::report::subtitle{
      .files = joined(files), .runs = input.runs.size(), .points = input.table.size(), .first = first, .last = last});
}

/// What nobody may read past: that values are of a simulation or of another program.
std::vector<Paragraph> notices(const Input& input) {
  std::size_t simulated = 0;
  std::size_t imported = 0;
  for (const analysis::Row row : input.table.rows()) {
    const Provenance provenance = input.table.run(row).provenance;
    if (provenance == Provenance::simulated || provenance == Provenance::extrapolated) ++simulated;
    if (provenance == Provenance::imported) ++imported;
  }
  std::vector<Paragraph> all;
  const auto add = [&](const Message& message) { all.push_back({{{text(message)}}, true}); };
  if (simulated > 0) add(say::report::is_simulated{.points = simulated, .all = input.table.size()});
  if (imported > 0) add(say::report::is_imported{.points = imported, .all = input.table.size()});
  return all;
}

std::optional<Message> refusal(const Input& input, const Request& request) {
  const std::vector<std::string> keys = section_keys();
  for (const std::string& wanted : request.sections) {
    if (std::ranges::count(keys, wanted) > 0) continue;
    return say::report::unknown_section{.word = wanted, .known = join_or(keys)};
  }
  if (input.table.empty()) return say::report::no_points{};
  return std::nullopt;
}

}  // namespace

std::vector<std::string> section_keys() {
  std::vector<std::string> keys;
  keys.reserve(section_kinds.size());
  for (const SectionKind& kind : section_kinds) keys.emplace_back(kind.key);
  return keys;
}

Result<Document, Message> make_report(const Input& input, const Request& request) {
  if (std::optional<Message> refused = refusal(input, request)) return Failure{*std::move(refused)};
  Context context{input, request, {}};
  Result<std::vector<analysis::Plot>, Message> plots = analysis::plan_plots(input.table);
  if (plots.ok()) context.plots = *std::move(plots);
  Document document;
  document.title =
      !request.title.empty() ? request.title : text(say::report::title{.devices = joined(device_names(input))});
  document.subtitle = subtitle(input);
  document.version = text(say::report::made_by{.version = input.version});
  document.notices = notices(input);
  for (const SectionKind& kind : section_kinds) {
    const bool wanted = request.sections.empty() || std::ranges::count(request.sections, kind.key) > 0;
    if (!wanted) continue;
    std::vector<Block> blocks = kind.make(context);
    // One that was asked for by name says that there is nothing; of the others a reader misses nothing.
    if (blocks.empty() && !request.sections.empty()) blocks.emplace_back(plain(say::report::nothing{}));
    if (!blocks.empty()) document.sections.push_back({std::string(kind.key), text(kind.title()), std::move(blocks)});
  }
  return document;
}

}  // namespace attnscope::report
