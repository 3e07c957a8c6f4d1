// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <vector>

#include "messages/fact.h"

namespace attnscope {

std::string uuid_of(const std::string& bytes) {
  return to_string(boost::uuids::name_generator_sha1(boost::uuids::ns::oid())(bytes));
}

std::string digest_of(const KernelStatement& statement) {
  std::vector<std::string> sources;
  for (const StatementSource& each : statement.sources) {
    sources.push_back(fmt::format("{} {}\n{}\n", each.name.size(), each.name, each.digest));
  }
  std::ranges::sort(sources);
  std::string all = fmt::format("{} {}\n{}\n", statement.host_code ? 1 : 0, statement.text.size(), statement.text);
  for (const std::string& each : sources) all += each;
  return uuid_of(all);
}

std::string describe(const KernelStatement& statement) {
  constexpr std::size_t shown_digits = 8;
  constexpr std::size_t most_names = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(most_names, statement.sources.size()); ++i) {
    names += (i == 0 ? "" : ", ") + statement.sources[i].name;
  }
  if (statement.sources.size() > most_names) names += fmt::format(", ... ({})", statement.sources.size());
  const std::string host_code = statement.host_code ? ", " + text(msg::fact::host_code{}) : "";
  return digest_of(statement).substr(0, shown_digits) + (names.empty() ? "" : " (" + names + ")") + host_code;
}

}  // namespace attnscope
