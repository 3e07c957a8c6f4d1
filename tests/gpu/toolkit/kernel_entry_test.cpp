// SPDX-License-Identifier: Apache-2.0
// Entries of user-defined kernels in files from the real NVRTC, and messages of failed compilations.
#include "profiler/measure/gpu/user/kernel_entry.h"

#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measure/gpu/user/user_source.h"
#include "user_source_fixture.h"

namespace attnscope::gpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class KernelEntryTest : public UserSourceTest {
 protected:
  void SetUp() override {
    UserSourceTest::SetUp();
    if (!has_builder()) GTEST_SKIP() << "no NVRTC";
  }
  [[nodiscard]] std::string error_in_file(const std::string& name, UserSource::Kind kind, const std::string& entry) {
    KernelLaunch launch;
    launch.source = {.file = "own/" + name, .entry = entry, .defines = {}, .user_source = source(kind, name)};
    launch.arguments = {BufferArgument{"q"}};
    return english_text(KernelBuilder::open(folder_ / "cache").value()->build("sm_90a", launch).report.error);
  }
};

TEST_F(KernelEntryTest, UninstantiatedTemplatesFail) {
  const std::string text = "template <int D> __global__ void own(float* x) { x[0] = D; }\n";
  EXPECT_THAT(english_text(build(text).report.error), AllOf(HasSubstr("'own'"), HasSubstr("NAME<ARGUMENTS>")));
  EXPECT_EQ(build(text, "own<8>").report.error, Message());
}

TEST_F(KernelEntryTest, MissingEntriesListKernels) {
  std::string text =
      "template <int D> __global__ void tile(float* x) { x[0] = D; }\ntemplate __global__ void tile<64>(float*);\n";
  EXPECT_THAT(english_text(build(text, "tile").report.error),
              HasSubstr("(set \"entry\" to one of its kernels: tile<64>)"));
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"})
    text += std::string("extern \"C\" __global__ void ") + name + "(float* x) { x[0] = 1; }\n";
  EXPECT_THAT(english_text(build(text, "other").report.error), AllOf(HasSubstr("'other'"), HasSubstr(", ...)")));
}

TEST_F(KernelEntryTest, BinariesAreChecked) {
  const std::string text =
      "template <int D, bool causal> __global__ void tile(float* x) { x[0] = D; }\n"
      "template __global__ void tile<64, true>(float*);\ntemplate __global__ void tile<64, false>(float*);\n"
      "extern \"C\" __global__ void own(float* x) { x[0] = 1; }\n";
  const std::string cubin = build(text).cubin;
  write("kernel.cubin", cubin);
  EXPECT_EQ(error_in_file("kernel.cubin", UserSource::Kind::cubin, "own"), "");
  EXPECT_EQ(error_in_file("kernel.cubin", UserSource::Kind::cubin, "tile<64, true>"), "");
  EXPECT_EQ(error_in_file("kernel.cubin", UserSource::Kind::cubin, "_Z4tileILi64ELb0EEvPf"), "");
  EXPECT_THAT(error_in_file("kernel.cubin", UserSource::Kind::cubin, "tile<32, true>"),
              AllOf(HasSubstr("own"), HasSubstr("tile<64, true>"), HasSubstr("tile<64, false>")));
  for (std::size_t length = 0; length < cubin.size(); length += 7) {  // a damaged file has fewer symbols, or none
    const auto symbols = kernel_symbols(std::string_view(cubin).substr(0, length));
    EXPECT_TRUE(!symbols || symbols->size() <= 3);
  }
  write("kernel.ptx",
        ".version 8.7\n// .entry not(\n.visible .entry first(.param .u64 a)\n{ ret; }\n.entry\tsecond\n()\n{}\n");
  EXPECT_EQ(error_in_file("kernel.ptx", UserSource::Kind::ptx, "first"), "");
  EXPECT_THAT(error_in_file("kernel.ptx", UserSource::Kind::ptx, "not"), HasSubstr(": first, second)"));
  write("kernel.ptx", "no program at all");
  EXPECT_THAT(error_in_file("kernel.ptx", UserSource::Kind::ptx, "first"), HasSubstr("neither"));
}

TEST_F(KernelEntryTest, OtherInstancesAreRejected) {
  const std::string text =
      "template <int D> __global__ void tile(float* x) { x[0] = D; }\ntemplate __global__ void tile<64>(float*);\n"
      "extern \"C\" __global__ void own(float* x) { x[0] = 1; }\n";
  const std::string cubin = build(text).cubin;
  const auto symbol = [&](const char* rows) {
    return find_symbol({.file = "own.cubin", .entry = "tile<ROWS>", .defines = {rows}}, cubin);
  };
  EXPECT_EQ(symbol("ROWS=64").value(), "_Z4tileILi64EEvPf");
  EXPECT_EQ(symbol("ROWS=128").error().id, "point.no_entry");
  EXPECT_EQ(find_symbol({.file = "own.cubin", .entry = "tile<Alias>", .defines = {}}, cubin).error().id,
            "point.no_entry")
      << "an alias may have another value";
}

/// An ELF file with one kernel symbol per name, and a table of its own for each list.
std::string elf_with(const std::vector<std::vector<std::string>>& tables, std::uint16_t section_bytes = 64) {
  const auto bytes = [](const auto& value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  std::string body;
  std::string sections = bytes(Elf64_Shdr{});
  for (const auto& names : tables) {
    std::string strings(1, '\0');
    std::string symbols;
    for (const std::string& name : names) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<Elf64_Word>(strings.size());
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_other = 0x10;
      symbols += bytes(symbol);
      strings += name + '\0';
    }
    Elf64_Shdr table{};
    table.sh_type = SHT_SYMTAB;
    table.sh_link = static_cast<Elf64_Word>(sections.size() / sizeof table + 1);
    table.sh_offset = sizeof(Elf64_Ehdr) + body.size();
    table.sh_size = symbols.size();
    Elf64_Shdr text{};
    text.sh_type = SHT_STRTAB;
    text.sh_offset = table.sh_offset + symbols.size();
    text.sh_size = strings.size();
    sections += bytes(table) + bytes(text);
    body += symbols + strings;
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header + body.size();
  header.e_shentsize = section_bytes;
  header.e_shnum = static_cast<Elf64_Half>(sections.size() / sizeof(Elf64_Shdr));
  return bytes(header) + body + sections;
}

TEST(KernelSymbols, AreBounded) {
  EXPECT_THAT(kernel_symbols(elf_with({{"a", "b"}, {"c"}})).value(), ElementsAre("a", "b")) << "of one table";
  EXPECT_THAT(kernel_symbols(elf_with({{std::string(4096, 'x'), "b"}})).value(), ElementsAre("b"));
  EXPECT_TRUE(kernel_symbols(elf_with({{"a"}}, 32)).value().empty());
  EXPECT_EQ(kernel_symbols(elf_with({std::vector<std::string>(65'540, "k")})).value().size(), 65'536U);
}

// Each template has the previous one twice, so that the demangled name would have more than 2^30 characters.
TEST(KernelSymbols, LongNamesAreNotDemangled) {
  std::string symbol = "_Z3ownI1aIiiE";
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 1; i <= 30; ++i) {
    const std::size_t before = 2 * i - 1;  // S1_, S3_, ...: the previous instance
    const std::string use = "S" + (before < 36 ? "" : std::string(1, digits[before / 36])) + digits[before % 36] + "_";
    symbol += fmt::format("1{}I{}{}E", static_cast<char>('a' + i % 26), use, use);
  }
  symbol += "EvPf";
  const auto found = find_symbol({.file = "own.cubin", .entry = "own<8>", .defines = {}}, elf_with({{symbol}}));
  EXPECT_THAT(english_text(found.error()), HasSubstr(symbol));
  const std::string usual = "_Z3ownI6__halfLi8EEvPT_PKS1_S4_S4_S4_PfS5_";
  EXPECT_EQ(find_symbol({.file = "own.cubin", .entry = "own<__half, 8>", .defines = {}}, elf_with({{usual}})).value(),
            usual);
}

TEST_F(KernelEntryTest, DefinesAreValuesOfTemplateArguments) {
  EXPECT_EQ(instantiated_entry({.file = {}, .entry = "BR<BR, BRX, f(D)>", .defines = {"BR=64", "D=8"}}),
            "BR<64, BRX, f(8)>");
}

TEST_F(KernelEntryTest, MissingHeadersHaveAdvice) {
  const auto first_line = [&](const std::string& text) {
    const std::string all = english_text(build(text).report.error);
    const std::size_t begin = all.find('\n') + 1;
    return all.substr(begin, all.find('\n', begin) - begin);
  };
  EXPECT_THAT(first_line("#include \"tiles.h\"\n"), AllOf(HasSubstr("tiles.h"), HasSubstr("\"include\": [...]")));
  EXPECT_THAT(first_line("#include <vector>\n"), AllOf(HasSubstr("vector"), HasSubstr("\"compiler\": \"nvcc\"")));
  EXPECT_THAT(first_line("#include <torch/extension.h>\n"), HasSubstr("library"));
  EXPECT_THAT(first_line("__global__ void k() {}\nvoid launch() { k<<<1, 1>>>(); }\n"), HasSubstr("\"nvcc\""));
  EXPECT_THAT(first_line("int unused() { int x; return 1; }\n__global__ void own() { nothing; }\n"),
              AllOf(HasSubstr("(2): error"), Not(HasSubstr("include"))))
      << "errors precede warnings";
}

TEST(CompilerLog, BeginsWithTheFirstError) {
  const std::string log =
      "k.cu(1): warning #177-D: unused\n  int x;\n\nk.cu(9): error: late\n  y\n\nk.cu(3): error: early\n  z\n\n2 "
      "errors\n";
  EXPECT_EQ(
      errors_first(log, UserSource::Compiler::nvrtc),
      "k.cu(9): error: late\n  y\nk.cu(3): error: early\n  z\nk.cu(1): warning #177-D: unused\n  int x;\n2 errors\n");
  EXPECT_THAT(
      errors_first("k.cu:1:10: fatal error: cute/layout.hpp: No such file or directory\n", UserSource::Compiler::nvcc),
      AllOf(StartsWith("k.cu:1:10"), HasSubstr("\"include\"")));
  EXPECT_THAT(errors_first("__nv_name_map(2): error: cannot determine which instance\n", UserSource::Compiler::nvrtc),
              HasSubstr("\"defines\""));
}

}  // namespace
}  // namespace attnscope::gpu
