#include "takt/workload/plan_json.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "takt/linux/admission.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/model/names.hpp"
#include "takt/plan/supply_json.hpp"

namespace takt::workload {
namespace {

using nlohmann::json;

json processes_to_json(const model::Model& model, const WorkloadPlan& plan) {
  json processes = json::array();
  for (const WorkloadProcess& process : plan.processes) {
    json executors = json::array();
    for (const WorkloadExecutor& planned : process.executors) {
      const model::Executor& executor = model[planned.executor];
      json callbacks = json::array();
      for (const WorkloadCallback& callback : planned.callbacks) {
        callbacks.push_back(
            {{"id", model[callback.callback].id},
             {"name", model[callback.callback].name},
             {"kind", to_string(callback.kind)},
             {"execution_time", model[callback.callback].execution_time[0].count()}});
      }
      executors.push_back({{"id", executor.id},
                           {"name", executor.name},
                           {"kind", to_string(executor.kind)},
                           {"supply", plan::to_json(executor.supply)},
                           {"callbacks", std::move(callbacks)}});
    }
    processes.push_back({{"name", process.name}, {"executors", std::move(executors)}});
  }
  return processes;
}

/// One for each thread: each gets the executor's.
std::vector<linux_os::DeadlineScheduling> reservations(const model::Model& model) {
  std::vector<linux_os::DeadlineScheduling> result;
  for (const model::Executor& executor : model.executors) {
    if (const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply)) {
      result.insert(result.end(), static_cast<std::size_t>(executor.threads),
                    {.runtime = reservation->budget,
                     .deadline = reservation->deadline,
                     .period = reservation->period});
    }
  }
  return result;
}

/// null, or why not.
json obstacle(const Result<void>& result) { return result ? json() : json(result.error().message); }

}  // namespace

std::string plan_to_json(const model::Model& model, const WorkloadPlan& plan,
                         const std::vector<std::string>& warnings) {
  json document = {
      {"model", model.name}, {"processes", processes_to_json(model, plan)}, {"warnings", warnings}};
  if (const auto reserved = reservations(model); !reserved.empty()) {
    const auto processors =
        static_cast<int>(linux_os::affinity(0).value_or(std::vector<int>{0}).size());
    const linux_os::GfbTest gfb = linux_os::gfb_test(reserved, processors);
    document["reservations"] = {
        {"processors", processors},
        {"gfb",
         {{"total", gfb.total},
          {"largest", gfb.largest},
          {"limit", gfb.limit},
          {"holds", gfb.holds}}},
        {"admission", obstacle(linux_os::check_kernel_admission(reserved, processors))},
        {"privilege", obstacle(linux_os::check_deadline_scheduling())}};
  }
  return document.dump();
}

}  // namespace takt::workload
