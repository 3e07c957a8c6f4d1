// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/manifest.h"

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

std::string digest_of(const StoredManifest& manifest) {
  std::vector<std::string> sources;
  for (const ManifestSource& each : manifest.sources) {
    sources.push_back(fmt::format("{} {}\n{}\n", each.name.size(), each.name, each.digest));
  }
  std::ranges::sort(sources);
  std::string all = fmt::format("{} {}\n{}\n", manifest.host_code ? 1 : 0, manifest.text.size(), manifest.text);
  for (const std::string& each : sources) all += each;
  return uuid_of(all);
}

std::string describe(const StoredManifest& manifest) {
  constexpr std::size_t digest_digits = 8;
  constexpr std::size_t max_names = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(max_names, manifest.sources.size()); ++i) {
    names += (i == 0 ? "" : ", ") + manifest.sources[i].name;
  }
  if (manifest.sources.size() > max_names) names += fmt::format(", ... ({})", manifest.sources.size());
  const std::string host_code = manifest.host_code ? ", " + text(msg::fact::host_code{}) : "";
  return digest_of(manifest).substr(0, digest_digits) + (names.empty() ? "" : " (" + names + ")") + host_code;
}

}  // namespace attnscope
