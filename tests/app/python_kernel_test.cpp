// SPDX-License-Identifier: Apache-2.0
// Python functions on the command line. A shell script replaces the interpreter with the Python package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "subprocess.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Arguments: -m attnscope.worker SUBCOMMAND ...
constexpr const char* interpreter = R"sh(#!/bin/sh
echo "$*" >> "$0.log"
if [ "$3" = worker ]; then echo "no module named torch" >&2; exit 1; fi
case $5 in
flash) cat <<END
{"attnscope_kernel": 1, "name": "flash", "source": "$4",
 "supports": {"dtype": ["fp16"], "d": [64], "mask": ["full", "causal"]}, "tile": {"br": [128], "bc": [64]},
 "layout": "bnhd", "launches": [{"entry": "flash", "pass": "fwd"}], "law": {"like": "fa2"}}
END
;;
path) echo "error: path is $PYTHONPATH" >&2; exit 2 ;;
silent) ;;
killed) kill -9 $$ ;;
missing) echo "python: Error (ModuleNotFoundError: No module named 'attnscope')" >&2; exit 1 ;;
*) printf 'Traceback\nerror: no function %s.\n' "$5" >&2; exit 2 ;;
esac
)sh";

class PythonKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(python) << interpreter;
    ::chmod(python.c_str(), 0755);
    std::ofstream(file) << "def flash(q, k, v, causal): ...\n";
  }

  [[nodiscard]] Outcome attnscope(const std::vector<std::string>& arguments) const {
    return run(folder, arguments, {.environment = {{"ATTNSCOPE_PYTHON", python}, {"PYTHONPATH", "/elsewhere"}}});
  }
  [[nodiscard]] Outcome dry_run(const std::string& kernel) const {
    return attnscope({"collect", "--kernel", kernel, "--algorithms", "flash", "-a", "N=1024", "-a", "d=64", "--device",
                      "simulated", "--dry-run"});
  }
  [[nodiscard]] std::string interpreter_log() const {
    std::ifstream log(python.string() + ".log");
    return {std::istreambuf_iterator<char>(log), {}};
  }

  TemporaryFolder folder;
  const fs::path python = folder / "python";
  const fs::path file = folder / "my.py";
  const std::string kernel = file.string() + ":flash";
};

TEST_F(PythonKernel, IsPlannedAndModeledWithoutGpu) {
  const Outcome plan = dry_run(kernel);
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("flash      fp16"));
  EXPECT_EQ(interpreter_log(), "-m attnscope.worker describe " + file.string() + " flash\n");
  const Outcome model =
      attnscope({"model", "--kernel", kernel, "--algorithms", "flash", "-a", "N=1024", "-a", "d=64", "--csv"});
  EXPECT_EQ(model.exit_code, 0) << model.err;
  EXPECT_THAT(model.out, HasSubstr("flash,all"));
}

TEST_F(PythonKernel, ErrorsAreOneLine) {
  const auto error = [&](const std::string& function) {
    const Outcome outcome = dry_run(file.string() + ":" + function);
    EXPECT_EQ(outcome.exit_code, 2) << function;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_EQ(error("nothing"), "error: " + file.string() + ":nothing: no function nothing\n");
  EXPECT_THAT(error("silent"), HasSubstr("manifest is empty"));
  EXPECT_THAT(error("killed"), HasSubstr("signal 9"));
  EXPECT_THAT(error("missing"), AllOf(HasSubstr("attnscope"), HasSubstr("ATTNSCOPE_PYTHON")));
  const Outcome none = dry_run((folder / "none.py").string() + ":flash");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("none.py does not exist"));
  EXPECT_THAT(dry_run(file).err, HasSubstr("my.py:NAME"));
  fs::remove(python);
  EXPECT_THAT(error("flash"), AllOf(HasSubstr("cannot start " + python.string()), HasSubstr("ATTNSCOPE_PYTHON")));
}

TEST_F(PythonKernel, FindsThePackageNextToTheProgram) {
  const fs::path package = fs::path(ATTNSCOPE_PROGRAM).parent_path().parent_path() / "python";
  if (!fs::exists(package / "attnscope" / "worker.py")) GTEST_SKIP() << "the Python package is not built";
  EXPECT_THAT(dry_run(file.string() + ":path").err, EndsWith("path is " + package.string() + ":/elsewhere\n"));
}

TEST_F(PythonKernel, IsMeasuredInAPythonProcess) {
  const Outcome outcome = attnscope({"collect", "--kernel", kernel, "--algorithms", "flash", "-a", "N=1024", "-a",
                                     "d=64", "--device", "0", "--no-counters"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the Python worker process cannot open a device: no module named torch"));
  EXPECT_THAT(interpreter_log(), EndsWith("-m attnscope.worker worker --no-counters --device 0\n"));
}

TEST_F(PythonKernel, IsASideOfAb) {
  const std::vector<std::string> sides{"ab",     "--baseline", "kernel=" + kernel, "--candidate", "algorithm=fa2",
                                       "N=1024", "d=64",       "--device",         "simulated"};
  EXPECT_THAT(attnscope(sides).err, HasSubstr("flash is a user-defined kernel and cannot be simulated"));
  const Outcome programs = attnscope(
      {"ab", "--kernel", kernel, "--baseline-program", ATTNSCOPE_PROGRAM, "-o", (folder / "ab.attnscope").string()});
  EXPECT_EQ(programs.exit_code, 2);
  EXPECT_THAT(programs.err, HasSubstr("Python functions"));
}

/// Runs a script with the program as $A, with a worker at the other end of descriptors 3 (input) and 4 (output).
Outcome run_with_peer(const TemporaryFolder& folder, const std::string& worker, const std::string& script) {
  const std::string all = "cd '" + folder.path().string() + "'; A='" ATTNSCOPE_PROGRAM "'; mkfifo to from; { " +
                          worker + "; } <to >from & exec 4>to 3<from; " + script +
                          "; code=$?; exec 4>&- 3<&-; wait; exit $code";
  return run(folder, {"-c", all}, {.program = "/bin/sh"});
}

TEST(InheritedDevice, IsTheWorkerAtTheOtherEnd) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_with_peer(folder, "\"$A\" worker --device simulated:H100",
                    "\"$A\" collect --device fd:3,4 --algorithms fa2 -a N=[256,512] -a d=64 -o runs.attnscope");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Device: simulated NVIDIA H100"));
  EXPECT_THAT(outcome.out, HasSubstr(", in the calling process\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Complete: 2 ok"));
}

TEST(InheritedDevice, IsNotRestarted) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_with_peer(folder, "\"$A\" worker --device simulated | head -n 1",
                    "\"$A\" collect --device fd:3,4 --algorithms fa2 -a N=256 -a d=64 -o runs.attnscope");
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("The worker of the calling process has ended."));
}

TEST(InheritedDevice, ErrorsAreOneLine) {
  const TemporaryFolder folder;
  for (const char* word : {"fd:", "fd:3", "fd:3,x", "fd:3,4,5"}) {
    const Outcome outcome = run(folder, {"collect", "--device", word});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("expected two descriptors")) << word;
  }
  EXPECT_THAT(run(folder, {"collect", "--device", "fd:998,999"}).err, HasSubstr("Bad file descriptor"));
}

}  // namespace
}  // namespace attnscope::testing
