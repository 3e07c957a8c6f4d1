// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/import_triton.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kernels/user/new_kernel.h"
#include "kernels/user/statement.h"
#include "messages/own_kernel.h"
#include "messages/triton.h"

// What is wrong is thrown as a Message and caught in import_triton().
namespace attnscope::user {
namespace {

using Json = nlohmann::ordered_json;

/// A variant, and what it was compiled for.
struct Chosen {
  const TritonVariant* variant;
  std::map<std::string, std::int64_t> constants;
};

/// What stands before the first `sign`, and after it: nothing where there is none.
std::pair<std::string, std::string> cut(const std::string& text, char sign) {
  const std::size_t at = std::min(text.find(sign), text.size());
  return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

/// At commas outside of parentheses.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string product(const std::vector<std::string>& factors, std::size_t from) {
  std::string all = "1";
  for (std::size_t i = from; i < factors.size(); ++i) all += fmt::format(" * ({})", factors[i]);
  return all;
}

template <class T>
void add_new(std::vector<T>& all, const T& value) {
  if (std::ranges::find(all, value) == all.end()) all.push_back(value);
}

class Writer {
 public:
  Writer(const TritonKernel& kernel, const TritonImport& wanted) : kernel_(kernel), wanted_(wanted) {
    for (const std::string& each : wanted.variants) choose(each);
    for (const std::string& each : wanted.arguments) {
      const auto [name, value] = cut(each, '=');
      if (value.empty() || !given_.emplace(name, value).second) {
        throw Message(say::triton::argument_form{.argument = each});
      }
    }
    check_all_is_said();
    const TritonVariant& first = *chosen_.front().variant;
    for (const auto& [variant, constants] : chosen_) {
      if (variant->arch == first.arch && variant->version == first.version) continue;
      throw Message(say::triton::two_architectures{.one = first.short_hash(), .other = variant->short_hash()});
    }
    find_knob("warps", &TritonVariant::warps);
    find_knob("stages", &TritonVariant::stages);
  }

  [[nodiscard]] std::string text() const {
    std::map<std::string, std::vector<std::int64_t>> values;
    Json masks = Json::array();
    Json launches = Json::array();
    Json scratch = Json::object();
    std::map<std::string, const TritonVariant*> seen;
    for (const Chosen& each : chosen_) {
      for (const auto& [name, value] : each.constants) add_new(values[name], value);
      const auto [same, fresh] = seen.emplace(when(each), each.variant);
      if (!fresh) {
        throw Message(
            say::triton::same_variants{.one = same->second->short_hash(), .other = each.variant->short_hash()});
      }
      launches.push_back(launch(each));
    }
    for (const std::int64_t causal : values["causal"]) masks.push_back(causal == 0 ? "none" : "causal");
    for (const auto& [name, bytes] : scratch_bytes()) {
      scratch[name]["bytes"] = fmt::format("{} * {}", bytes, product(wanted_.grid, 0));
    }
    Json all{{"attnscope_kernel", 1}, {"name", wanted_.name}};
    if (!wanted_.lse.empty()) all["computes"]["lse"] = wanted_.lse;
    all["supports"] = {{"dtype", Json::array({wanted_.dtype})}, {"d", values["d"]}, {"mask", masks}};
    all["tile"] = {{"br", values["br"]}, {"bc", values["bc"]}};
    if (!knobs_.empty()) all["knobs"] = knobs_;
    all["requires"] = requirements();
    if (!scratch.empty()) all["scratch"] = scratch;
    all["launches"] = launches;
    if (!wanted_.like.empty()) all["law"]["like"] = wanted_.like;
    constexpr int indent = 2;
    return all.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
  }

  [[nodiscard]] std::string cubin(const TritonVariant& variant) const {
    return fmt::format("{}-{}.cubin", kernel_.name, variant.hash.substr(0, 16));
  }
  [[nodiscard]] const std::vector<Chosen>& chosen() const { return chosen_; }

 private:
  void choose(const std::string& text) {
    const auto [hash, constants] = cut(text, ':');
    Chosen chosen{.variant = nullptr, .constants = {}};
    std::vector<std::string> known;
    int found = 0;
    for (const TritonVariant& each : kernel_.variants) {
      known.push_back(each.short_hash());
      if (!each.hash.starts_with(hash)) continue;
      chosen.variant = &each;
      ++found;
    }
    if (found != 1) {
      throw Message(
          say::triton::no_variant{.hash = hash, .found = found, .known = fmt::format("{}", fmt::join(known, ", "))});
    }
    for (const std::string& each : constants.empty() ? std::vector<std::string>() : split(constants)) {
      const auto [name, value] = cut(each, '=');
      const char* end = value.data() + value.size();
      const bool fresh = !chosen.constants.contains(name);
      const auto read = std::from_chars(value.data(), end, chosen.constants[name]);
      if (!fresh || value.empty() || read.ec != std::errc() || read.ptr != end) {
        throw Message(say::triton::variant_form{.variant = text});
      }
    }
    chosen_.push_back(std::move(chosen));
  }

  void check_all_is_said() const {
    std::vector<std::string> missing;
    const auto need = [&](bool said, const std::string& option) {
      if (!said) add_new(missing, option);
    };
    need(!wanted_.name.empty(), "--name NAME");
    need(!wanted_.dtype.empty(), "--dtype fp16 or bf16");
    need(!wanted_.grid.empty(), "--grid X Y Z");
    need(!chosen_.empty(), "--variant HASH:br=,bc=,d=,causal=");
    std::vector<const TritonVariant*> variants;
    for (const auto& [variant, constants] : chosen_) {
      variants.push_back(variant);
      for (const char* name : {"br", "bc", "d", "causal"}) {
        need(constants.contains(name), fmt::format("--variant {}:{}=", variant->short_hash(), name));
      }
    }
    if (variants.empty()) variants.push_back(&kernel_.variants.front());
    std::vector<std::string> known;
    for (const TritonVariant* variant : variants) {
      for (const TritonArgument& each : variant->arguments) {
        add_new(known, each.name);
        const char* form = each.block.empty() ? "" : "BUFFER:EXTENTS";
        need(given_.contains(each.name), fmt::format("--argument {}={}", each.name, form));
      }
    }
    for (const auto& [name, value] : given_) {
      need(value != "lse" || !wanted_.lse.empty(), "--lse e or 2");
      if (std::ranges::find(known, name) != known.end()) continue;
      throw Message(say::triton::no_argument{.name = name, .known = fmt::format("{}", fmt::join(known, ", "))});
    }
    if (!missing.empty()) throw Message(say::triton::missing{.options = fmt::format("{}", fmt::join(missing, "; "))});
  }

  /// Warps and stages are knobs where variants of the same constants differ in them.
  void find_knob(const char* name, int TritonVariant::*field) {
    std::map<std::map<std::string, std::int64_t>, std::set<int>> of_tile;
    std::vector<int> values;
    for (const auto& [variant, constants] : chosen_) {
      add_new(values, variant->*field);
      of_tile[constants].insert(variant->*field);
    }
    if (std::ranges::none_of(of_tile, [](const auto& each) { return each.second.size() > 1; })) return;
    knobs_[name] = {{"values", values}, {"means", attnscope::text(say::triton::knob{.name = name})}};
  }

  [[nodiscard]] std::string when(const Chosen& chosen) const {
    std::vector<std::string> all;
    for (const auto& [name, value] : chosen.constants) all.push_back(fmt::format("{} == {}", name, value));
    if (knobs_.contains("warps")) all.push_back(fmt::format("warps == {}", chosen.variant->warps));
    if (knobs_.contains("stages")) all.push_back(fmt::format("stages == {}", chosen.variant->stages));
    return fmt::format("{}", fmt::join(all, " && "));
  }

  [[nodiscard]] Json requirements() const {
    const TritonVariant& first = *chosen_.front().variant;
    Json all = Json::array();
    const auto add = [&](const std::string& that, const std::string& words) {
      all.push_back({{"that", that}, {"else", words}});
    };
    add(fmt::format("capability == {}", first.arch),
        attnscope::text(say::triton::other_gpu{.capability = fmt::format("{}.{}", first.arch / 10, first.arch % 10),
                                               .version = first.version}));
    for (const std::string& each : wanted_.requirements) {
      const auto [that, words] = cut(each, ':');
      if (words.empty()) throw Message(say::triton::requirement_form{.requirement = each});
      add(that, words);
    }
    // Triton makes other code where an integer is a multiple of 16, and looks at it whenever it is called.
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> divisible;
    for (const Chosen& chosen : chosen_) {
      for (const TritonArgument& each : chosen.variant->arguments) {
        if (each.divisor == 1 || (each.number != "int" && each.number != "long")) continue;
        divisible[{each.name, each.divisor}].push_back(fmt::format("({})", when(chosen)));
      }
    }
    for (const auto& [argument, whens] : divisible) {
      const std::string& value = given_.at(argument.first);
      const std::string here = whens.size() == chosen_.size() ? "" : fmt::format("!({}) || ", fmt::join(whens, " || "));
      add(fmt::format("{}({}) % {} == 0", here, value, argument.second),
          attnscope::text(
              say::triton::divisible{.argument = argument.first, .divisor = argument.second, .value = value}));
    }
    return all;
  }

  /// Of a program, for the hidden pointers that want any.
  [[nodiscard]] std::map<std::string, std::int64_t> scratch_bytes() const {
    std::map<std::string, std::int64_t> most;
    for (const auto& [variant, constants] : chosen_) {
      for (const auto& [name, bytes] : variant->hidden) {
        if (bytes > 0) most[name] = std::max(most[name], bytes * variant->cluster);
      }
    }
    return most;
  }

  [[nodiscard]] Json launch(const Chosen& chosen) const {
    constexpr int warp = 32;
    const TritonVariant& variant = *chosen.variant;
    Json launch{{"entry", kernel_.name}, {"source", cubin(variant)}, {"when", when(chosen)}, {"grid", wanted_.grid}};
    if (variant.cluster > 1) {
      launch["grid"][0] = fmt::format("({}) * {}", wanted_.grid[0], variant.cluster);
      launch["cluster"] = Json::array({variant.cluster});
    }
    launch["block"] = Json::array({variant.warps * warp});
    launch["shared_bytes"] = variant.shared_bytes;
    if (variant.cooperative) launch["cooperative"] = true;
    if (variant.starts_early) launch["starts_early"] = true;
    Json& list = launch["arguments"];
    for (const TritonArgument& each : variant.arguments) add_argument(each, list);
    for (const auto& [name, bytes] : variant.hidden) list.push_back(bytes > 0 ? name : "null");
    return launch;
  }

  void add_argument(const TritonArgument& argument, Json& list) const {
    const std::string& given = given_.at(argument.name);
    if (!argument.number.empty()) {
      list.push_back(argument.number + ' ' + given);
      return;
    }
    const auto [buffer, rest] = argument.block.empty() ? std::pair(given, std::string()) : cut(given, ':');
    const std::string own = buffer == "lse" ? "f32" : wanted_.dtype == "fp16" ? "f16" : "bf16";
    if (buffer != "null" && !argument.type.ends_with("<" + own + ">") && !argument.type.ends_with("x" + own + ">>")) {
      throw Message(
          say::triton::element_type{.name = argument.name, .type = argument.type, .buffer = buffer, .elements = own});
    }
    if (argument.block.empty()) {
      list.push_back(buffer);
      return;
    }
    // The map, then its shape and its strides in elements, as Triton hands them over.
    const std::vector<std::string> extents = split(rest);
    if (extents.size() != argument.block.size()) {
      throw Message(say::triton::map_form{.name = argument.name, .rank = argument.block.size()});
    }
    Json map{{"map", buffer}, {"swizzle", argument.swizzle_bytes}};
    for (std::size_t i = extents.size(); i-- > 0;) {
      map["extents"].push_back(extents[i]);
      map["box"].push_back(argument.block[i]);
      if (i > 0) map["strides"].push_back("element_bytes * " + product(extents, i));
    }
    list.push_back(std::move(map));
    for (const std::string& each : extents) list.push_back("int " + each);
    for (std::size_t i = 0; i < extents.size(); ++i) list.push_back("long " + product(extents, i + 1));
  }

  const TritonKernel& kernel_;
  const TritonImport& wanted_;
  std::vector<Chosen> chosen_;
  std::map<std::string, std::string> given_;
  Json knobs_;
};

}  // namespace

Result<std::filesystem::path, Message> import_triton(const TritonKernel& kernel, const TritonImport& wanted,
                                                     const std::filesystem::path& parent) {
  try {
    const Writer writer(kernel, wanted);
    const std::string text = writer.text();
    const std::filesystem::path folder = parent / wanted.name;
    if (const auto statement = parse_statement(text, folder); !statement) {
      throw Message(say::triton::wrong_statement{.why = statement.error()});
    }
    if (Message error = make_kernel_folder(parent, wanted.name); !error.empty()) throw error;
    for (const Chosen& each : writer.chosen()) {
      const std::filesystem::path file = folder / writer.cubin(*each.variant);
      std::error_code error;
      std::filesystem::copy_file(each.variant->cubin, file, std::filesystem::copy_options::skip_existing, error);
      if (error) throw Message(say::own_kernel::not_written{.file = file.string(), .error = error.message()});
    }
    const std::filesystem::path file = folder / (wanted.name + ".json");
    if (Message error = write_kernel_file(file, text); !error.empty()) throw error;
    return file;
  } catch (const Message& wrong) {
    return Failure{wrong};
  }
}

}  // namespace attnscope::user
