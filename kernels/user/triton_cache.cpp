// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/triton_cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/user/json_lines.h"
#include "messages/triton.h"

// What is wrong is thrown as a Message and caught where a compilation is left out.
namespace attnscope::user {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int pointer_bytes = 8;

void check_file(const fs::path& file) {
  constexpr std::uintmax_t most_bytes = 64U << 20U;
  std::error_code error;
  const bool plain = fs::symlink_status(file, error).type() == fs::file_type::regular;
  if (!plain || fs::file_size(file, error) > most_bytes) {
    throw Message(say::triton::bad_file{.file = file.filename().string()});
  }
}

std::string text_of(const fs::path& file) {
  check_file(file);
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void bad(const std::string& key) {
  throw Message(say::triton::bad_value{.key = key});
}

/// `least` is not below 0: what is too large for 64 bits is read as negative.
int number(const Json& json, const char* key, int least, int most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) bad(key);
  const auto value = found->get<std::int64_t>();
  if (value < least || value > most) bad(key);
  return static_cast<int>(value);
}

std::string words(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) bad(key);
  return found->get<std::string>();
}

bool flag(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_boolean()) bad(key);
  return found != json.end() && found->get<bool>();
}

std::int64_t digits(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// What `mark` begins, each, between `head` and `end`.
std::vector<std::string> marked(const fs::path& file, const std::string& head, char end, std::string_view mark) {
  const std::string text = text_of(file);
  const std::size_t start = text.find(head);
  const std::size_t stop = start == std::string::npos ? start : text.find(end, start + head.size());
  if (stop == std::string::npos) throw Message(say::triton::no_signature{.file = file.filename().string()});
  std::vector<std::string> parts;
  for (std::size_t at = text.find(mark, start); at < stop;) {
    at += mark.size();
    const std::size_t next = std::min(text.find(mark, at), stop);
    parts.push_back(text.substr(at, next - at));
    at = next;
  }
  return parts;
}

/// Of "Q: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc("Q"(#loc)), ".
TritonArgument argument_of(const std::string& text) {
  constexpr std::string_view divisibility = "tt.divisibility = ";
  const std::size_t colon = std::min(text.find(": "), text.size() - 1);
  TritonArgument argument{.name = text.substr(0, colon), .type = text.substr(colon + 1), .number = "", .block = {}};
  argument.type.erase(0, 1);
  argument.type.resize(std::min(argument.type.find(' '), argument.type.size()));
  if (const std::size_t at = text.find(divisibility); at != std::string::npos) {
    argument.divisor = std::max<std::int64_t>(digits(std::string_view(text).substr(at + divisibility.size())), 1);
  }
  for (const auto& [type, word] : {std::pair{"i32", "int"}, std::pair{"i64", "long"}, std::pair{"f32", "float"}}) {
    if (argument.type == type) argument.number = word;
  }
  if (argument.number.empty() && !argument.type.starts_with("!tt.ptr<") &&
      !argument.type.starts_with("!tt.tensordesc<")) {
    throw Message(say::triton::argument{.name = argument.name, .type = argument.type});
  }
  return argument;
}

bool is_map(const TritonArgument& argument) {
  return argument.type.starts_with("!tt.tensordesc<");
}

/// As "u64 .ptr .global .align 1 NAME" and "align 64 .b8 NAME[128]" have them.
bool same_bytes(const std::string& parameter, const TritonArgument& argument) {
  constexpr int map_bytes = 128;
  constexpr int number_bytes = 4;
  std::string_view number = parameter;
  const std::size_t open = number.find('[');
  number.remove_prefix(std::min(open == std::string_view::npos ? 1 : open + 1, number.size()));
  const std::int64_t bytes = open == std::string_view::npos ? digits(number) / 8 : digits(number);
  if (is_map(argument)) return bytes == map_bytes;
  return bytes == (argument.number == "int" || argument.number == "float" ? number_bytes : pointer_bytes);
}

/// Gives a descriptor its box. Swizzles: CU_TENSOR_MAP_SWIZZLE_NONE, 32B, 64B, 128B.
void read_box(const Json& box, TritonArgument& map) {
  constexpr std::array swizzles{0, 32, 64, 128};
  constexpr std::size_t most_sides = 5;
  map.swizzle_bytes = swizzles.at(static_cast<std::size_t>(number(box, "swizzle", 0, swizzles.size() - 1)));
  (void)number(box, "elem_size", 2, 2);
  const auto sides = box.find("block_size");
  if (sides == box.end() || !sides->is_array() || sides->empty() || sides->size() > most_sides ||
      flag(box, "fp4_padded")) {
    bad("block_size");
  }
  for (const Json& side : *sides) map.block.push_back(number({{"block_size", side}}, "block_size", 1, 256));
}

/// Folds what follows a descriptor into it.
std::vector<TritonArgument> folded(const std::vector<TritonArgument>& all, const Json& metadata) {
  std::vector<TritonArgument> arguments;
  std::size_t maps = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    TritonArgument& each = arguments.emplace_back(all[i]);
    if (!is_map(each)) continue;
    const auto boxes = metadata.find("tensordesc_meta");
    if (boxes == metadata.end() || !boxes->is_array() || boxes->size() <= maps) bad("tensordesc_meta");
    read_box(boxes->at(maps++), each);
    for (std::size_t side = 0; side < 2 * each.block.size(); ++side) {
      if (++i < all.size() && all[i].number == (side < each.block.size() ? "int" : "long")) continue;
      throw Message(say::triton::argument{.name = each.name, .type = each.type});
    }
  }
  return arguments;
}

TritonVariant variant_of(const fs::path& folder, const std::string& kernel) {
  auto parsed = parse_json_with_lines(text_of(folder / (kernel + ".json")));
  if (!parsed) throw parsed.error();
  const Json& metadata = parsed->json;
  TritonVariant variant;
  variant.hash = words(metadata, "hash");
  variant.version = words(metadata, "triton_version");
  if (!variant.version.starts_with("3.")) throw Message(say::triton::version{.version = variant.version});
  const bool hexadecimal = variant.hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (variant.hash.size() != 64 || !hexadecimal) bad("hash");
  if (words(metadata, "name") != kernel) bad("name");
  const Json target = metadata.value("target", Json());
  if (words(target, "backend") != "cuda") bad("backend");
  variant.arch = number(target, "arch", 50, 999);
  variant.warps = number(metadata, "num_warps", 1, 32);
  variant.stages = number(metadata, "num_stages", 0, 64);
  variant.shared_bytes = number(metadata, "shared", 0, 1 << 20);
  variant.cluster = number(metadata, "num_ctas", 1, 16);
  if (metadata.value("cluster_dims", Json::array({variant.cluster, 1, 1})) != Json::array({variant.cluster, 1, 1})) {
    bad("cluster_dims");
  }
  variant.cooperative = flag(metadata, "launch_cooperative_grid");
  variant.starts_early = flag(metadata, "launch_pdl");

  std::vector<TritonArgument> stated;
  for (const std::string& each : marked(folder / (kernel + ".ttir"), "tt.func public @" + kernel + "(", '\n', "%")) {
    stated.push_back(argument_of(each));
  }
  variant.arguments = folded(stated, metadata);
  for (const std::string name : {"global_scratch", "profile_scratch"}) {
    const std::string key = name + "_size";
    if (metadata.contains(key)) variant.hidden.emplace_back(name, number(metadata, key.c_str(), 0, 1 << 30));
  }
  const std::vector<std::string> parameters =
      marked(folder / (kernel + ".ptx"), ".entry " + kernel + "(", ')', ".param .");
  const std::size_t of_ttir = stated.size();
  stated.resize(of_ttir + variant.hidden.size());
  if (!std::ranges::equal(parameters, stated, same_bytes)) {
    throw Message(say::triton::parameters{.ptx = parameters.size(), .ttir = of_ttir, .hidden = variant.hidden.size()});
  }
  variant.cubin = folder / (kernel + ".cubin");
  check_file(variant.cubin);
  return variant;
}

}  // namespace

Result<TritonKernel, Message> read_triton_cache(const fs::path& folder, const std::string& kernel) {
  std::error_code error;
  std::set<fs::path> folders{folder};
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(each->symlink_status(ignored))) folders.insert(each->path());
  }
  if (error) return Failure<Message>{say::triton::no_folder{.folder = folder.string()}};
  TritonKernel result{.name = kernel, .variants = {}, .left_out = {}};
  std::set<std::string> known;
  for (const fs::path& each : folders) {
    for (fs::directory_iterator file(each, error), end; !error && file != end; file.increment(error)) {
      if (file->path().extension() != ".ttir") continue;
      known.insert(file->path().stem().string());
      if (file->path().stem() != kernel) continue;
      try {
        result.variants.push_back(variant_of(each, kernel));
      } catch (const Message& why) {
        result.left_out.emplace_back(say::triton::left_out{.variant = each.filename().string(), .why = why});
      }
    }
  }
  std::ranges::sort(result.variants, {}, &TritonVariant::hash);
  if (!result.variants.empty()) return result;
  if (!result.left_out.empty()) return Failure{result.left_out.front()};
  if (known.empty()) return Failure<Message>{say::triton::empty_cache{.folder = folder.string()}};
  return Failure<Message>{say::triton::no_kernel{
      .folder = folder.string(), .known = fmt::format("{}", fmt::join(known, ", ")), .kernel = kernel}};
}

}  // namespace attnscope::user
