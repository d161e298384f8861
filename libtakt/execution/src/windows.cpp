#include "takt/execution/windows.hpp"

#include <algorithm>

namespace takt::execution {

void WindowCheck::begin(bool is_known) {
  is_known_ = is_known;
  contradicts_ = false;
  instances_ = 0;
  left_.clear();
}

void WindowCheck::add(const CallbackInstance& instance, std::optional<WindowPlace> place) {
  if (instance.start < end_) {
    begin(false);  // the callbacks before ran within this one
  } else if (instance.first_after_wait || !instance.wait_end) {
    begin(instance.wait_end.has_value());
  }
  end_ = instance.end;
  if (!is_known_ || !place) return;
  if (++instances_ == 2) ++counts_.windows;
  bool follows = instances_ == 1 || last_ <= *place;
  if (instances_ > 1 && place->block != last_.block) {
    left_.push_back(last_.block);
    follows = std::ranges::find(left_, place->block) == left_.end();
  }
  last_ = *place;
  if (follows || contradicts_) return;
  contradicts_ = true;
  ++counts_.contradicting;
}

}  // namespace takt::execution
