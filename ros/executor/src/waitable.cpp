#include "takt/executor/waitable.hpp"

#include "takt/base/try.hpp"
#include "takt/executor/announcement.hpp"

namespace takt::executor {

Result<std::unique_ptr<Waitable>> Waitable::create(std::shared_ptr<Context> context,
                                                   std::string name, Callback callback,
                                                   const std::shared_ptr<Node>& node) {
  auto condition = TAKT_TRY(GuardCondition::create(std::move(context)));
  std::unique_ptr<Waitable> waitable(
      new Waitable(std::move(condition), std::move(name), std::move(callback)));
  if (node) {
    announce_waitable(waitable->callback_.address(), node->handle());
    waitable->is_announced_ = true;
  }
  waitable->callback_.announce();
  return waitable;
}

void Waitable::trigger() {
  if (is_announced_) announce_trigger(callback_.address());
  ++pending_;
  const std::scoped_lock lock(mutex_);
  if (arrived_) {
    arrived_(1);
  } else {
    condition_->trigger();
  }
}

Result<void> Waitable::notify(Arrived arrived) {
  const std::scoped_lock lock(mutex_);
  arrived_ = std::move(arrived);
  if (const std::size_t pending = pending_; arrived_ && pending > 0) arrived_(pending);
  return {};
}

Result<void> Waitable::add_to(rcl_wait_set_t& wait_set) {
  // A guard condition forgets its trigger when a wait has seen it; the instances behind the first
  // one must still be found.
  if (pending_ > 0) condition_->trigger();
  return condition_->add_to(wait_set);
}

bool Waitable::is_ready_in(const rcl_wait_set_t& /*wait_set*/) const { return pending_ > 0; }

Result<void> Waitable::execute() {
  --pending_;
  callback_();
  return {};
}

}  // namespace takt::executor
