#pragma once

#include <array>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/execution/windows.hpp"
#include "takt/model/model.hpp"

namespace takt::synthesis {

/// Sees in which order threads run what their executors found ready together.
class CallbackOrders {
 public:
  /// Adds an instance of an executor. To be called in the order of their ends.
  void add(const execution::Objects& objects, const execution::CallbackInstance& instance);

  /// How the thread's ready sets agree with an order.
  [[nodiscard]] execution::WindowCheck::Counts counts(execution::ThreadIndex thread,
                                                      model::CallbackOrder order) const;
  /// Whether rclcpp's buffers brought the thread messages within its process. rclcpp treats
  /// subscriptions with such buffers as waitables.
  [[nodiscard]] bool has_intra_process(execution::ThreadIndex thread) const;

 private:
  static constexpr std::array orders{model::CallbackOrder::registered,
                                     model::CallbackOrder::any_in_category,
                                     model::CallbackOrder::by_node};
  struct Thread {
    std::array<execution::WindowCheck, orders.size()> checks;
    bool has_intra_process = false;
  };
  std::vector<Thread> threads_;
};

}  // namespace takt::synthesis
