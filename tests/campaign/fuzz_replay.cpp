// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without a fuzzer: on all files of a corpus, then on random mutations of them. Keeps an input that
// crashes or takes longer than 10 s.
//   fuzz_NAME CORPUS [--mutations N] [--seed N] [--keep FOLDER]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/fuzz_input.h"

namespace attnscope::campaign {
namespace {

namespace fs = std::filesystem;

constexpr unsigned max_seconds = 10;
constexpr std::size_t longest = 1 << 16;

// Current case, for the signal handler.
std::array<char, 4096> case_file{};
const char* case_data = nullptr;
std::size_t case_size = 0;

void keep_case(int signal) {
  const int file = ::open(case_file.data(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0) {
    const auto written = ::write(file, case_data, case_size);
    (void)written;
    ::close(file);
  }
  const char* said = signal == SIGALRM ? "campaign: timeout (10 s); input kept as " : "campaign: crash; input kept as ";
  for (const char* text : {said, static_cast<const char*>(case_file.data()), "\n"}) {
    const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
    (void)written;
  }
  ::_exit(1);
}

void run(const std::string& input) {
  case_data = input.data();
  case_size = input.size();
  ::alarm(max_seconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  ::alarm(0);
}

std::vector<std::string> corpus_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

/// Mutates bytes and numbers, duplicates pieces and JSON keys, and splices in pieces of other inputs.
class Mutator {
 public:
  Mutator(std::uint64_t seed, const std::vector<std::string>& corpus) : random_(seed), corpus_(corpus) {}

  std::string next() {
    std::string text = corpus_[below(corpus_.size())];
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    text.resize(std::min(text.size(), longest));
    return text;
  }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

  void change(std::string& text) {
    static constexpr std::array<std::string_view, 28> words{"0",
                                                            "-1",
                                                            "1e308",
                                                            "1e999",
                                                            "nan",
                                                            "inf",
                                                            "9223372036854775807",
                                                            "-9223372036854775808",
                                                            "\"",
                                                            ",",
                                                            "\n",
                                                            ":",
                                                            "[",
                                                            "]",
                                                            "{",
                                                            "}",
                                                            "=",
                                                            "+",
                                                            "null",
                                                            "1,5",
                                                            "1.5,0",
                                                            "<unnamed>",
                                                            "::",
                                                            "\\u0000",
                                                            "\xFF",
                                                            "2^63",
                                                            "1e15",
                                                            "lengths:ramp"};
    const std::size_t at = text.empty() ? 0 : below(text.size() + 1);
    const std::size_t length = text.size() == at ? 0 : below(std::min<std::size_t>(text.size() - at, 64)) + 1;
    switch (below(7)) {
      case 0:
        text.insert(at, words.at(below(words.size())));
        break;
      case 1:
        text.replace(at, length, words.at(below(words.size())));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 5:
        repeat_member(text, at);
        break;
      default: {
        const std::string& other = corpus_[below(corpus_.size())];
        if (!other.empty()) {
          const std::size_t from = below(other.size());
          text.insert(at, other.substr(from, below(256)));
        }
      }
    }
  }

  /// Gives a JSON object two values for the key that ends at or before `at`.
  static void repeat_member(std::string& text, std::size_t at) {
    const std::size_t end = text.rfind("\":", at);
    const std::size_t begin = end == 0 || end == std::string::npos ? end : text.rfind('"', end - 1);
    if (begin < text.size()) text.insert(begin, text.substr(begin, end + 2 - begin) + "0,");
  }

  std::mt19937_64 random_;
  const std::vector<std::string>& corpus_;
};

struct Options {
  fs::path corpus;
  fs::path keep = ".";
  std::uint64_t mutations = 0;
  std::uint64_t seed = 1;
};

Options options_of(int argc, char** argv) {
  Options options;
  const auto number = [](std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    require(error == std::errc() && end == text.data() + text.size(), "invalid number");
    return value;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool takes = word.starts_with("--");
    require(!takes || i + 1 < argc, "an option has no value");
    if (word == "--mutations") {
      options.mutations = number(argv[++i]);
    } else if (word == "--seed") {
      options.seed = number(argv[++i]);
    } else if (word == "--keep") {
      options.keep = argv[++i];
    } else {
      require(!takes, "unknown option (available: --mutations N, --seed N, --keep FOLDER)");
      options.corpus = word;
    }
  }
  require(!options.corpus.empty(), "no corpus folder given");
  return options;
}

int replay(const Options& options, const std::string& name) {
  fs::create_directories(options.keep);
  const std::string file = (options.keep / (name + "-" + std::to_string(options.seed))).string();
  require(file.size() < case_file.size(), "the path is too long");
  std::ranges::copy(file, case_file.begin());
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, keep_case);

  const std::vector<std::string> corpus = corpus_of(options.corpus);
  require(!corpus.empty(), "the corpus is empty");
  for (const std::string& input : corpus) run(input);
  Mutator mutator(options.seed, corpus);
  for (std::uint64_t i = 0; i < options.mutations; ++i) run(mutator.next());
  std::printf("%s: %zu corpus files, %llu mutations, seed %llu\n", name.c_str(), corpus.size(),
              static_cast<unsigned long long>(options.mutations), static_cast<unsigned long long>(options.seed));
  return 0;
}

}  // namespace
}  // namespace attnscope::campaign

int main(int argc, char** argv) {
  using namespace attnscope::campaign;  // NOLINT(google-build-using-namespace): the program
  return replay(options_of(argc, argv), std::filesystem::path(argv[0]).filename().string());
}
