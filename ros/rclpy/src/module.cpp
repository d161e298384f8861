#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "entities.hpp"
#include "executor.hpp"
#include "takt/scheduling/description.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

// NOLINTNEXTLINE(performance-unnecessary-value-param)
NB_MODULE(takt_executors, module) {
  using namespace takt::python;
  module.doc() =
      "The core of takt.executors. Handles are addresses of rcl's structures, which must outlive\n"
      "their scheduling. Callbacks are called with what finds the message or expiry of the "
      "instance.";

  module.attr("LONGEST_DEADLINE") = takt::scheduling::PolicyDescription::longest_deadline.count();
  module.attr("MOST_WAITING") = takt::executor::TimerExecutable::most_waiting;

  nb::class_<takt::executor::Executable>(module, "Executable");
  nb::class_<MessageEntity, takt::executor::Executable>(module, "MessageEntity")
      .def("looked", &MessageEntity::looked, "found"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Subscription, MessageEntity>(module, "Subscription")
      .def(nb::init<std::uintptr_t, nb::callable, bool>(), "handle"_a, "run"_a, "was_heard"_a);
  nb::class_<Service, MessageEntity>(module, "Service")
      .def(nb::init<std::uintptr_t, nb::callable, bool>(), "handle"_a, "run"_a, "was_heard"_a);
  nb::class_<Client, MessageEntity>(module, "Client")
      .def(nb::init<std::uintptr_t, nb::callable, bool>(), "handle"_a, "run"_a, "was_heard"_a);
  nb::class_<Timer, takt::executor::Executable>(module, "Timer")
      .def(nb::init<std::uintptr_t, nb::callable>(), "handle"_a, "run"_a);
  nb::class_<Trigger, takt::executor::Executable>(module, "Trigger")
      .def(nb::init<nb::callable, bool>(), "run"_a, nb::kw_only(), "merges"_a = false)
      .def("trigger", &Trigger::trigger, nb::call_guard<nb::gil_scoped_release>());

  nb::class_<Event>(module, "Event")
      .def(nb::init<std::uintptr_t, Trigger&>(), "handle"_a, "told"_a, nb::keep_alive<1, 3>(),
           nb::call_guard<nb::gil_scoped_release>())
      .def(nb::init<std::uintptr_t, std::uintptr_t>(), "handle"_a, "told"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("take", &Event::take);

  nb::class_<ScheduledEntity>(module, "ScheduledEntity")
      .def(
          "__init__",
          [](ScheduledEntity* self, nb::object entity, std::string node, std::string kind,
             std::string topic, std::optional<std::int64_t> period,
             std::optional<std::int64_t> group) {
            auto* executable = nb::cast<takt::executor::Executable*>(entity);
            new (self) ScheduledEntity{std::move(entity),
                                       executable,
                                       std::move(node),
                                       std::move(kind),
                                       std::move(topic),
                                       period,
                                       group};
          },
          "entity"_a, nb::kw_only(), "node"_a, "kind"_a, "topic"_a = "", "period"_a = nb::none(),
          "group"_a = nb::none());

  module.def("read_plan", &read_plan, "path"_a, "executor"_a);

  nb::class_<Executor>(module, "Executor")
      .def(nb::init<std::size_t, const std::string&>(), "threads"_a, "missed"_a = "all")
      .def(
          "replace",
          [](Executor& self, const std::vector<ScheduledEntity*>& entities, const std::string& plan,
             const std::string& id) {
            std::vector<ScheduledEntity> scheduled;
            for (const ScheduledEntity* entity : entities) scheduled.push_back(*entity);
            return self.replace(scheduled, plan, id);
          },
          "entities"_a, "plan"_a, "executor"_a)
      .def("spin", &Executor::spin, nb::call_guard<nb::gil_scoped_release>())
      .def("spin_once", &Executor::spin_once, "timeout"_a = nb::none(), "since"_a = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("interrupt", &Executor::interrupt, nb::call_guard<nb::gil_scoped_release>())
      .def("interruptions", &Executor::interruptions)
      .def("is_running_here", &Executor::is_running_here)
      .def("cancel", &Executor::cancel, nb::call_guard<nb::gil_scoped_release>());
}
