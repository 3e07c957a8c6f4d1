// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/verdict_words.h"

#include <utility>
#include <vector>

#include "messages/compare_page.h"
#include "profiler/analysis/comparison_words.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::LeftOut;
using analysis::RatioInterval;
using analysis::Verdict;

QString ratio_text(double ratio) {
  return QString::number(ratio, 'f', 4);
}

}  // namespace

QString verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return qtext(say::compare_page::faster{});
    case Verdict::slower:
      return qtext(say::compare_page::slower{});
    case Verdict::same:
      return qtext(say::compare_page::same{});
    case Verdict::ambiguous:
      break;
  }
  return qtext(say::compare_page::undecided{});
}

QColor verdict_color(Verdict verdict, bool dark) {
  // The ends of the maps' scale, or what is between them and white where the background is dark.
  if (verdict == Verdict::faster) return blue_to_orange(dark ? 0.25 : 0);
  if (verdict == Verdict::slower) return blue_to_orange(dark ? 0.75 : 1);
  return {};
}

QString interval_words(const RatioInterval& ratio) {
  if (ratio.interval.low >= ratio.interval.high) return ratio_text(ratio.ratio);
  return QStringLiteral("%1 [%2, %3]")
      .arg(ratio_text(ratio.ratio), ratio_text(ratio.interval.low), ratio_text(ratio.interval.high));
}

std::string settling_command(const ComparisonSet& set, const ComparedPair& pair) {
  return analysis::settling_command(set.points->table(), pair, set.margin);
}

QString settling_words(const ComparisonSet& set, const ComparedPair& pair) {
  return qtext(analysis::settling_words(set.points->table(), pair, set.margin));
}

QString left_out_words(const ComparisonSet& set, const LeftOut& left) {
  switch (left.why) {
    case LeftOut::Why::no_partner:
      return left.of_other ? qtext(say::compare_page::not_in_baseline{}) : qtext(say::compare_page::only_in_baseline{});
    case LeftOut::Why::several:
      return qtext(say::compare_page::several{.points = left.rows.size()});
    case LeftOut::Why::failed:
    case LeftOut::Why::both_failed:
      break;
  }
  return qtext(analysis::failure_words(set.points->table(), left));
}

QStringList method_words(const ComparisonSet& set) {
  std::vector<const analysis::ComparisonResult*> results;
  results.reserve(set.others.size());
  for (const OtherSide& other : set.others) results.push_back(&other.result);
  QStringList words;
  for (const Message& floor : analysis::floor_words(results, {}, set.looks)) words << qtext(floor);
  return words;
}

}  // namespace attnscope::ui
