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
  if (!is_wanted_) may_set_up_.count_down();
  thread_.join();
}

Result<void> GatedThread::set_up() {
  is_wanted_ = true;
  may_set_up_.count_down();
  is_set_up_.wait();
  return set_up_result_;
}

void GatedThread::go() { may_run_.count_down(); }

void GatedThread::run() {
  may_set_up_.wait();
  if (!is_wanted_) return;
  set_up_result_ = apply(setup_);
  is_set_up_.count_down();
  may_run_.wait();
  body_();
}

}  // namespace takt::workload
