#include "gated_thread.hpp"

namespace takt::workload {

Result<void> apply(const ThreadSetup& setup) {
  const Result<void> applied = executor::apply(setup.settings);
  if (setup.announcement) executor::announce(*setup.announcement);
  if (setup.is_outside) executor::announce_outside();
  return applied;
}

GatedThread::GatedThread(ThreadSetup setup, std::function<void()> body)
    : setup_(std::move(setup)), body_(std::move(body)), thread_([this] { run(); }) {}

GatedThread::~GatedThread() {
  // A thread that waits goes on without what it waits for.
  if (!sets_up_) may_set_up_.count_down();
  if (!runs_) may_run_.count_down();
  thread_.join();
}

Result<void> GatedThread::set_up() {
  sets_up_ = true;
  may_set_up_.count_down();
  is_set_up_.wait();
  return set_up_result_;
}

void GatedThread::go() {
  runs_ = true;
  may_run_.count_down();
}

void GatedThread::run() {
  may_set_up_.wait();
  if (sets_up_) set_up_result_ = apply(setup_);
  is_set_up_.count_down();
  may_run_.wait();
  if (runs_) body_();
}

}  // namespace takt::workload
