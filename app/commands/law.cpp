// SPDX-License-Identifier: Apache-2.0
// law: the exponents of N, d and M by which counted bytes grow, beside those of the laws that algorithms state.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/table.h"
#include "messages/command.h"
#include "messages/law.h"
#include "profiler/analysis/law_exponents.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

using analysis::LawFamily;

constexpr std::array variables{LawVariable::n, LawVariable::d, LawVariable::m};

struct LawOptions {
  std::vector<std::string> files;
  TableFormat format = TableFormat::text;

  [[nodiscard]] bool for_people() const { return format == TableFormat::text || format == TableFormat::markdown; }
};

/// "1.986", "-0.98": no more digits than an exponent is known to.
std::string exponent_text(double value) {
  return fmt::format("{:.3f}", value);
}

/// What stands for the exponents that are to be shown; null with a refusal.
const PowersFit* shown_fit(const LawFamily& family) {
  return family.refusal || !family.fit ? nullptr : &*family.fit;
}

/// One row a family, and one below it for its closed form.
Table for_people(const LoadedPoints& loaded, const analysis::LawReport& report) {
  Table table{{{"bytes of"},
               {"counted at"},
               {"run"},
               {"device"},
               {"provenance"},
               {"problem"},
               {"points", true},
               {"N", true},
               {"d", true},
               {"M", true},
               {"worst miss", true},
               {"bytes/law", true},
               {"spread", true}},
              {}};
  for (const PowerLaw& law : laws_of(report.families)) {
    std::vector<std::string> stated{law.title, "", "", "", "", "", ""};
    for (const LawVariable variable : variables) stated.push_back(fmt::to_string(law.exponent(variable)));
    stated.insert(stated.end(), {"", "", ""});
    table.rows.push_back(std::move(stated));
  }
  for (const LawFamily& family : report.families) {
    const PowersFit* fit = shown_fit(family);
    if (fit == nullptr) continue;
    const analysis::Run& run = loaded.table.runs()[family.run];
    std::vector<std::string> row{family.algorithm,
                                 std::string(analysis::to_string(family.level)),
                                 printable(run.title),
                                 printable(run.device_name),
                                 std::string(to_string(family.provenance)),
                                 problem_text(family),
                                 fmt::to_string(family.points.size())};
    std::vector<std::string> closed{
        "", "", "", "", std::string(to_string(Provenance::modelled)), text(say::law::closed_form{}), ""};
    for (std::size_t k = 0; k < variables.size(); ++k) {
      row.push_back(fmt::format("{} [{}, {}]", exponent_text(fit->exponents[k]), exponent_text(fit->intervals[k].low),
                                exponent_text(fit->intervals[k].high)));
      closed.push_back(family.closed_form ? exponent_text(family.closed_form->exponents[k]) : "");
    }
    row.push_back(text(Share(fit->worst())));
    row.push_back(fmt::format("{} – {}", number_text(family.band.low), number_text(family.band.high)));
    row.push_back(fmt::format("{:.0f} x", family.bytes_range));
    closed.push_back(family.closed_form ? text(Share(family.closed_form->worst())) : "");
    closed.insert(closed.end(), {"", ""});
    table.rows.push_back(std::move(row));
    if (family.closed_form) table.rows.push_back(std::move(closed));
  }
  return table;
}

/// All that there is of each family, withheld ones among them.
Table for_programs(const LoadedPoints& loaded, const analysis::LawReport& report) {
  Table table{{{"file"},
               {"run"},
               {"device"},
               {"algorithm"},
               {"level"},
               {"provenance"},
               {"problem"},
               {"points", true},
               {"outside", true},
               {"cached", true}},
              {}};
  for (const LawVariable variable : variables) {
    const std::string name(to_string(variable));
    for (const char* part : {"", "_low", "_high", "_theorem", "_closed_form"}) {
      table.columns.push_back({fmt::format("{}{}", name, part), true});
    }
  }
  for (const char* name : {"constant", "worst_miss", "collapse_low", "collapse_median", "collapse_high", "spread"}) {
    table.columns.push_back({name, true});
  }
  table.columns.push_back({"withheld"});
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); };
  for (const LawFamily& family : report.families) {
    const analysis::Run& run = loaded.table.runs()[family.run];
    const PowersFit* fit = shown_fit(family);
    std::vector<std::string> row{loaded.files[family.run],
                                 run.title,
                                 run.device_name,
                                 family.algorithm,
                                 std::string(analysis::to_string(family.level)),
                                 std::string(to_string(family.provenance)),
                                 problem_text(family),
                                 fmt::to_string(family.points.size()),
                                 fmt::to_string(family.outside),
                                 fmt::to_string(family.cached)};
    for (std::size_t k = 0; k < variables.size(); ++k) {
      row.push_back(fit == nullptr ? "" : number(fit->exponents[k]));
      row.push_back(fit == nullptr ? "" : number(fit->intervals[k].low));
      row.push_back(fit == nullptr ? "" : number(fit->intervals[k].high));
      row.push_back(fmt::to_string(family.law.exponent(variables.at(k))));
      row.push_back(family.closed_form ? number(family.closed_form->exponents[k]) : "");
    }
    row.push_back(fit == nullptr ? "" : number(fit->coefficient));
    row.push_back(fit == nullptr ? "" : number(fit->worst()));
    for (const double value : {family.band.low, family.band.median, family.band.high, family.bytes_range}) {
      row.push_back(family.points.empty() ? "" : number(value));
    }
    row.push_back(text(refusal_words(family)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What a family is called in a note: "fa1, DRAM, settled, run 1 (law), fwd full fp16 1 × 132 cold".
std::string family_name(const LoadedPoints& loaded, const LawFamily& family) {
  return fmt::format("{}, {}, run {}, {}", family.algorithm, analysis::to_string(family.level),
                     printable(loaded.table.runs()[family.run].title), problem_text(family));
}

void print_notes(const LoadedPoints& loaded, const analysis::LawReport& report) {
  std::cout << '\n';
  for (const LawFamily& family : report.families) {
    const std::string name = family_name(loaded, family);
    if (family.refusal) {
      std::cout << text(say::law::withheld{.family = name, .reason = refusal_words(family)}) << '\n';
    }
    if (family.level == analysis::LawLevel::dram && !family.cycles) {
      std::cout << text(say::law::served{.family = name}) << '\n';
    }
    if (family.outside > 0) std::cout << text(say::law::outside{.family = name, .points = family.outside}) << '\n';
    if (family.cached > 0) std::cout << text(say::law::cached{.family = name, .points = family.cached}) << '\n';
  }
  std::cout << text(say::law::intervals{}) << '\n' << text(say::law::collapse{}) << '\n';
  if (report.others > 0) std::cout << text(say::law::others{.sweeps = report.others}) << '\n';
}

ExitCode law(const LawOptions& options) {
  const LoadedPoints loaded = load_points(options.files);
  const analysis::LawReport report = analysis::fit_law_exponents(loaded.table, loaded.table.rows());
  if (report.families.empty()) {
    throw CommandError(ExitCode::error,
                       say::command::no_law_sweep{.files = fmt::format("{}", fmt::join(options.files, ", "))});
  }
  if (!options.for_people()) {
    print(for_programs(loaded, report), options.format, std::cout);
    return loaded.code;
  }
  std::cout << text(say::law::heading{}) << "\n\n";
  print(for_people(loaded, report), options.format, std::cout);
  print_notes(loaded, report);
  return loaded.code;
}

}  // namespace

Action add_law(CLI::App& command) {
  auto options = std::make_shared<LawOptions>();
  command
      .add_option("FILE", options->files,
                  "An .attnscope file with a run of the preset law, or of others over N, d and M")
      ->required();
  add_format_options(command, options->format);
  return [options] { return law(*options); };
}

}  // namespace attnscope
