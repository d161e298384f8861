#include "ranges.hpp"

#include <fmt/format.h>

#include "description.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::model {

namespace {

using curves::longest_time;
using curves::most_values;

/// A step of a JSON path: a field's name or, if the name is empty, a place in a list. Paths become
/// text only when something is wrong.
struct Step {
  const Step* before = nullptr;
  std::string_view name;
  std::size_t place = 0;

  [[nodiscard]] std::string text() const {
    std::string path = before == nullptr ? "" : before->text();
    if (name.empty()) return fmt::format("{}[{}]", path, place);
    if (!path.empty()) path += '.';
    return path + std::string(name);
  }
};

/// Checks one object by its description.
class RangeCheck {
 public:
  RangeCheck(const Step* path, std::string& fault) : path_(path), fault_(fault) {}

  void type(std::string_view, std::string_view) {}
  void header(std::string_view, std::int64_t, std::string_view) {}
  void provenance(std::string_view, const std::string&, const About&) {}

  template <typename T>
  void field(std::string_view name, const T& value, const About& about) {
    if (fault_.empty()) check({path_, name}, value, about);
  }
  template <typename T>
  void field_or(std::string_view name, const T& value, const T&, const About& about) {
    field(name, value, about);
  }
  template <typename... Alternatives>
  void one_of(const std::variant<Alternatives...>& value,
              const std::array<std::string_view, sizeof...(Alternatives)>&) {
    std::visit([&](const auto& alternative) { describe(*this, alternative); }, value);
  }

 private:
  void check(const Step&, const std::string&, const About&) {}
  void check(const Step&, ExecutorIndex, const About&) {}
  void check(const Step&, CallbackIndex, const About&) {}
  void check(const Step&, LinkIndex, const About&) {}
  template <typename Kind>
  requires std::is_enum_v<Kind>
  void check(const Step&, const Kind&, const About&) {}

  void check(const Step& path, std::int64_t integer, const About& about) {
    if (about.most && integer > *about.most) {
      fault_ = fmt::format("{}: must be at most {}", path.text(), *about.most);
    }
    if (!about.least || integer >= *about.least) return;
    fault_ = *about.least == 0 ? fmt::format("{}: must not be negative", path.text())
                               : fmt::format("{}: must be at least {}", path.text(), *about.least);
  }
  void check(const Step& path, Duration time, const About& about) {
    if (about.least && time.count() < *about.least) {
      const std::string_view must = *about.least == 0 ? "not be negative" : "be at least 1 ns";
      fault_ = fmt::format("{}: must {}, is {} ns", path.text(), must, time.count());
    } else if (time > longest_time) {
      fault_ = fmt::format("{}: {} ns is longer than the longest time, {} ns (11.5 days)",
                           path.text(), time.count(), longest_time.count());
    }
  }
  template <typename T>
  void check(const Step& path, const std::optional<T>& optional, const About& about) {
    if (optional) check(path, *optional, about);
  }
  template <typename T>
  void check(const Step& path, const std::vector<T>& list, const About& about) {
    if (list.size() < about.shortest) {
      fault_ = fmt::format("{}: needs at least {}", path.text(), about.needs);
    } else if (is_curve<T> && list.size() > most_values) {
      fault_ = fmt::format(
          "{}: has {} values, at most {} are used; drop the last ones, the curve is continued from "
          "the rest",
          path.text(), list.size(), most_values);
    } else if (is_slot<T> && list.size() > most_values) {
      fault_ = fmt::format("{}: has {} slots, at most {} are possible", path.text(), list.size(),
                           most_values);
    }
    for (std::size_t i = 0; i < list.size() && fault_.empty(); ++i) {
      check({&path, "", i}, list[i], about);
    }
    if constexpr (std::same_as<T, Duration>) {
      if (!about.first_is_zero.empty() && fault_.empty() && list.front() != Duration{0}) {
        fault_ = fmt::format("{}[0]: must be 0, {}", path.text(), about.first_is_zero);
      }
    }
  }
  template <typename T>
  void check(const Step& path, const T& object, const About&) {
    RangeCheck inner(&path, fault_);
    describe(inner, object);
  }

  template <typename T>
  static constexpr bool is_curve = std::same_as<T, Duration> || std::same_as<T, std::int64_t>;
  template <typename T>
  static constexpr bool is_slot = std::same_as<T, Slot> || std::same_as<T, SlotTable::Entry>;

  const Step* path_;
  std::string& fault_;
};

}  // namespace

std::string first_out_of_range(const Model& model) {
  std::string fault;
  RangeCheck check(nullptr, fault);
  describe(check, model);
  return fault;
}

}  // namespace takt::model
