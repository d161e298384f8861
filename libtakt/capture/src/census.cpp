#include "census.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <span>
#include <string>
#include <utility>

#include "process.hpp"
#include "process_trace.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/event.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/ctf/event_classes.hpp"

namespace takt::capture {

using namespace std::chrono_literals;

namespace {

// A program of ROS 2 lives for longer. What this process started is few, the machine is many.
constexpr auto interval = 200ms;
// Looks take at most one part in so many of a processor's time, however many processes there are.
constexpr int rarity = 50;
constexpr auto longest_interval = 2s;
// A process may load ROS 2 late, as Python does. After so many looks it is looked at rarely.
constexpr unsigned many_looks = 25;
constexpr unsigned seldom = 25;
// A program waits for its admission for a second at most.
constexpr unsigned admission_looks = 5;

/// How long this thread has used a processor.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Census::Census(Tracer tracer, bool only_started, std::function<bool(pid_t)> records)
    : tracer_(tracer),
      only_started_(only_started),
      records_(std::move(records)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Census::close() {
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::vector<Unrecorded> Census::found() const {
  const std::scoped_lock lock(mutex_);
  return found_;
}

void Census::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "takt-census");
  try_to_keep_only_capabilities(watching_capabilities);
  std::chrono::nanoseconds pause = interval;
  std::mutex waiting;
  std::unique_lock lock(waiting);
  do {
    const auto begin = processor_time();
    look();
    const std::chrono::nanoseconds rest = (processor_time() - begin) * rarity;
    pause = std::clamp<std::chrono::nanoseconds>(rest, interval, longest_interval);
  } while (!ended_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
  look();
}

void Census::look() {
  ++number_of_look_;
  std::map<pid_t, Known> known;
  std::set<pid_t> family;
  std::set<pid_t> strangers;
  for_each_other_process([&](pid_t process) {
    const auto before = known_.find(process);
    if (only_started_ && !family_.contains(process)) {
      // Parents have smaller numbers than their children, unless the numbers begin anew.
      const pid_t parent = strangers_.contains(process) ? 0 : parent_of(process);
      if (parent != getpid() && !family.contains(parent) && !family_.contains(parent)) {
        strangers.insert(process);
        return;
      }
    }
    family.insert(process);
    Known& now = known[process];
    if (before != known_.end()) now = before->second;
    const bool is_due = now.looks < many_looks || number_of_look_ % seldom == 0;
    ++now.looks;
    if (!now.is_done && is_due) look_at(process, now);
  });
  known_ = std::move(known);
  family_ = std::move(family);
  strangers_ = std::move(strangers);
}

void Census::look_at(pid_t process, Known& known) {
  const RosProgram program = look_into(process, tracer_);
  if (!program.uses_ros) {
    known.is_suspect = false;
    return;
  }
  if (program.has_tracer && !is_passed_over(process, program, known)) return;
  // A child that is about to run another program looks like its parent for a moment.
  if (!std::exchange(known.is_suspect, true)) {
    const pid_t parent = parent_of(process);
    const std::scoped_lock lock(mutex_);
    if (std::ranges::find(found_, parent, &Unrecorded::process) != found_.end()) return;
  }
  known.is_done = true;
  Unrecorded found{process, program_of(process),
                   why_unrecorded(process, program, tracer_, only_started_), ring::now()};
  const std::scoped_lock lock(mutex_);
  found_.push_back(std::move(found));
}

bool Census::is_passed_over(pid_t process, const RosProgram& program, Known& known) const {
  known.is_done = (tracer_ != Tracer::ebpf && !only_started_) || records_(process);
  if (known.is_done || tracer_ == Tracer::ebpf) return !known.is_done;
  // Takt's library makes itself known at the program's first event, which takes a moment, and only
  // to a recorder of which its environment tells. Where it knows one, the recorder finds it later.
  return program.has_begun && !knows_a_recorder(process) && ++known.strange_looks > admission_looks;
}

Result<void> Census::write(ctf::Storage& storage) {
  const std::scoped_lock lock(mutex_);
  if (written_ == found_.size()) return {};
  constexpr auto event = tracepoints::EventType::unrecorded_process;
  constexpr std::size_t no_gid = 0;
  if (!trace_) {
    trace_ =
        TAKT_TRY(ctf::Trace::create(storage, "census",
                                    describe_process("takt-census", getpid(), program_of(getpid()),
                                                     {ctf::event_class(event, no_gid)})));
    stream_ = trace_->open_stream("found", ctf::Kept::while_room);
  }
  for (; written_ < found_.size(); ++written_) {
    const Unrecorded& found = found_[written_];
    std::array<char, 16> name{};
    std::memcpy(name.data(), found.program.data(), std::min(found.program.size(), name.size() - 1));
    std::string why = found.why;
    why.push_back('\0');
    stream_->append(found.since, static_cast<std::uint16_t>(event),
                    ctf::contexts(found.process, static_cast<std::uint32_t>(found.process), name),
                    std::as_bytes(std::span(why)));
  }
  stream_->flush();
  return {};
}

}  // namespace takt::capture
