#include "ros_programs.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "takt/base/descriptor.hpp"

namespace takt::capture {
namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Has what this process has mapped.
class RecordedProcess {
 public:
  RecordedProcess() : process_(fork()) {
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  RecordedProcess(const RecordedProcess&) = delete;
  RecordedProcess& operator=(const RecordedProcess&) = delete;
  ~RecordedProcess() { waitpid(process_, nullptr, 0); }

  [[nodiscard]] pid_t number() const { return process_; }
  void end() const { kill(process_, SIGKILL); }

 private:
  pid_t process_;
};

/// The loader and a library of ROS 2 before many mappings, and Takt's tracing library after them.
class Mappings {
 public:
  Mappings() {
    map_library("librcl.so", "a library", 0);
    map_library("ld-linux.so.2", "a loader", 1);
    for (std::size_t i = 3; i < count - 1; i += 2) mprotect(start_ + i * page, page, PROT_READ);
    map_library("libtracetools.so", "takt_trace_begin", count - 1);
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  ~Mappings() {
    munmap(start_, count * page);
    std::filesystem::remove_all(folder_);
  }

 private:
  static constexpr std::size_t count = 8'000;

  void map_library(std::string_view name, std::string_view content, std::size_t place) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << content;
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_NE(mmap(start_ + place * page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.get(), 0),
              MAP_FAILED);
  }

  std::filesystem::path folder_ = [] {
    std::string name = testing::TempDir() + "takt-ros-programs-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }();
  std::byte* start_ = static_cast<std::byte*>(
      mmap(nullptr, count* page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

TEST(RosPrograms, OneThatEndsMeanwhileIsNotTakenForOneWithoutTheLibrary) {
  const Mappings mappings;
  std::chrono::steady_clock::duration whole{};
  {
    const RecordedProcess alive;
    const auto begin = std::chrono::steady_clock::now();
    const RosProgram program = look_into(alive.number(), Tracer::ring);
    whole = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(program.uses_ros);
    EXPECT_TRUE(program.has_tracer);
    alive.end();
  }
  constexpr int places = 40;
  for (int place = 0; place < places; ++place) {
    const RecordedProcess process;
    const std::jthread end([&] {
      std::this_thread::sleep_for(whole * place / places);
      process.end();
    });
    const RosProgram program = look_into(process.number(), Tracer::ring);
    EXPECT_TRUE(program.has_tracer || !program.uses_ros) << "ended after " << place << " of 40";
  }
}

}  // namespace
}  // namespace takt::capture
