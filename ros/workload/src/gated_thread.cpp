#include "takt/workload/gated_thread.hpp"

#include "takt/linux/affinity.hpp"

namespace takt::workload {

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
  set_up_result_ = apply_setup();
  if (setup_.announcement) executor::announce(*setup_.announcement);
  is_set_up_.count_down();
  may_run_.wait();
  body_();
}

Result<void> GatedThread::apply_setup() const {
  if (setup_.processor) {
    if (Result<void> pinned = linux_os::set_affinity(0, {*setup_.processor}); !pinned)
      return pinned;
  }
  return linux_os::set_scheduling(0, setup_.scheduling);
}

}  // namespace takt::workload
