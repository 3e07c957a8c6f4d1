// SPDX-License-Identifier: Apache-2.0
// Canonical source text that identifies a kernel in files: independent of formatting, different for every change of the
// program.
#include "profiler/measure/gpu/user/source_text.h"
#include "profiler/metrics/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace attnscope::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string read(std::string_view main, std::vector<EmbeddedSource> others = {}) {
  others.push_back({"main.cuh", main});
  return normalized_source("main.cuh", others);
}

constexpr std::string_view once = "#pragma once\n";

TEST(NormalizedSource, IsIndependentOfFormatting) {
  const std::string plain = read("int a = 1;\n#define X(y) y\nchar b = '\\'';\n");
  for (const char* other : {"// first\nint a   =\n  1; /* 2 */\n#define X(y) y  // same\nchar b = '\\'';",
                            "/* of two\nlines */int a = 1;\n  #define X(y) \\\n  y\nchar b = '\\'';",
                            "int a =/**/1;\n\n\n#define X(y)   y\nchar b/* ' */= '\\'';"}) {
    EXPECT_EQ(read(other), plain) << other;
  }
}

TEST(NormalizedSource, DiffersForDifferentPrograms) {
  const std::vector<const char*> programs{"int a = 1;",          "int a = 1 ;",           "int a = 1'0;",
                                          "int b = 1;",          "#define a\nint b = 1;", "#define a int\nb = 1;",
                                          "#define a(b) 1",      "#define a (b) 1",       "asm(\"a // b\");",
                                          "asm(\"a\");",         "asm(\"a  /* b */\");",  "asm(\"a /* b */\");",
                                          "x = '\"'; // y '\"'", "x = '\"'; y '\"'",      "#include \"absent.cuh\""};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    for (std::size_t j = i + 1; j < programs.size(); ++j) {
      EXPECT_NE(read(programs[i]), read(programs[j])) << programs[i] << " and " << programs[j];
    }
  }
}

TEST(NormalizedSource, InlinesIncludesOnce) {
  const std::string header = std::string(once) + "int a;\n";
  const std::string plain = read("int a;\nint b;");
  EXPECT_EQ(read("#include \"h\"\nint b;", {{"h", header}}), plain);
  EXPECT_EQ(read("#include \"moved\"\nint b;", {{"moved", header}}), plain);
  EXPECT_EQ(read("#include \"h\"\n#include \"all\"\nint b;", {{"h", header}, {"all", "#include \"h\"\n"}}), plain);
  EXPECT_EQ(read("#include \"all\"", {{"h", header}, {"all", "#include \"h\"\nint b;"}}), plain)
      << "included through another file";
  EXPECT_NE(read("int b;\n#include \"h\"", {{"h", header}}), plain);
  EXPECT_NE(read("#include \"h\"\nint b;", {{"h", std::string(once) + "int c;\n"}}), plain);
  // Without `#pragma once` it appears as often as it is included.
  EXPECT_EQ(read("#include \"h\"\n#include \"h\"", {{"h", "f();"}}), read("f(); f();"));
  // Tokens of two files are never joined.
  EXPECT_EQ(read("int a\n#include \"h\"", {{"h", "b;"}}), read("int a b;"));
}

// If a condition skips the first of two includes, the second one is read.
TEST(NormalizedSource, HandlesConditionalIncludes) {
  const std::string header = std::string(once) + "int a;\n";
  EXPECT_NE(read("#if X\n#include \"h\"\n#endif\n#include \"h\"\n", {{"h", header}}),
            read("#if X\n#include \"h\"\n#endif\n", {{"h", header}}));
  EXPECT_EQ(read("#if X\n#endif\n#include \"h\"\n#include \"h\"\n", {{"h", header}}),
            read("#if X\n#endif\n#include \"h\"\n", {{"h", header}}));
}

TEST(NormalizedSource, CoversEmbeddedSources) {
  for (const EmbeddedSource& source : embedded_sources()) {
    for (const char* word : {"__LINE__", "__FILE__", "__COUNTER__", "R\"", "# include", "#include <"}) {
      EXPECT_THAT(std::string(source.text), Not(HasSubstr(word))) << source.path << " depends on formatting";
    }
    EXPECT_THAT(normalized_source(source.path, embedded_sources()), Not(HasSubstr("#include"))) << source.path;
  }
}

}  // namespace
}  // namespace attnscope::gpu
