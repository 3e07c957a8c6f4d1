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

std::string digest_of(const KernelStatement& manifest) {
  std::vector<std::string> sources;
  for (const StatementSource& each : manifest.sources) {
    sources.push_back(fmt::format("{} {}\n{}\n", each.name.size(), each.name, each.digest));
  }
  std::ranges::sort(sources);
  std::string all = fmt::format("{} {}\n{}\n", manifest.host_code ? 1 : 0, manifest.text.size(), manifest.text);
  for (const std::string& each : sources) all += each;
  return uuid_of(all);
}

std::string describe(const KernelStatement& manifest) {
  constexpr std::size_t shown_digits = 8;
  constexpr std::size_t most_names = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(most_names, manifest.sources.size()); ++i) {
    names += (i == 0 ? "" : ", ") + manifest.sources[i].name;
  }
  if (manifest.sources.size() > most_names) names += fmt::format(", ... ({})", manifest.sources.size());
  const std::string host_code = manifest.host_code ? ", " + text(msg::fact::host_code{}) : "";
  return digest_of(manifest).substr(0, shown_digits) + (names.empty() ? "" : " (" + names + ")") + host_code;
}

}  // namespace attnscope
