#include "takt/estimation/expression.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

namespace takt::estimation {

/// Reads one formula by recursive descent. The first fault ends it; after that, everything is
/// register 0.
class FormulaReader {
 public:
  FormulaReader(Formulas& formulas, std::string_view text) : formulas_(formulas), text_(text) {}

  std::uint32_t read() {
    const std::uint32_t result = sum();
    skip_spaces();
    if (at_ < text_.size()) fail("unexpected \"{}\"", text_[at_]);
    return result;
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  using Operation = Formulas::Operation;

  static constexpr int deepest = 200;

  struct Function {
    std::string_view name;
    Operation operation;
    int least_arguments;
    int most_arguments;
  };
  static constexpr int any = 1000;
  static constexpr std::array<Function, 20> functions{{
      {"sin", Operation::sine, 1, 1},
      {"cos", Operation::cosine, 1, 1},
      {"tan", Operation::tangent, 1, 1},
      {"asin", Operation::arc_sine, 1, 1},
      {"acos", Operation::arc_cosine, 1, 1},
      {"atan", Operation::arc_tangent, 1, 1},
      {"sinh", Operation::hyperbolic_sine, 1, 1},
      {"cosh", Operation::hyperbolic_cosine, 1, 1},
      {"tanh", Operation::hyperbolic_tangent, 1, 1},
      {"asinh", Operation::area_sine, 1, 1},
      {"acosh", Operation::area_cosine, 1, 1},
      {"atanh", Operation::area_tangent, 1, 1},
      {"exp", Operation::exponential, 1, 1},
      {"log", Operation::logarithm, 1, 1},
      {"sqrt", Operation::square_root, 1, 1},
      {"Abs", Operation::absolute, 1, 1},
      {"sign", Operation::sign, 1, 1},
      {"Heaviside", Operation::step, 1, 1},
      {"atan2", Operation::arc_tangent2, 2, 2},
      {"Min", Operation::least, 2, any},
  }};
  static constexpr Function largest{"Max", Operation::largest, 2, any};

  template <typename... Args>
  std::uint32_t fail(fmt::format_string<Args...> format, Args&&... args) {
    if (fault_.empty()) {
      fault_ =
          fmt::format("character {}: ", at_ + 1) + fmt::format(format, std::forward<Args>(args)...);
    }
    at_ = text_.size();
    return 0;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  [[nodiscard]] bool is(std::string_view symbol) {
    skip_spaces();
    return text_.substr(at_, symbol.size()) == symbol;
  }

  bool take(std::string_view symbol) {
    if (!is(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  std::uint32_t make(Operation operation, std::uint32_t first, std::uint32_t second = 0) {
    if (!fault_.empty()) return 0;
    if (formulas_.nodes_.size() >= Formulas::most_nodes) {
      return fail("more than {} operations in all formulas", Formulas::most_nodes);
    }
    return formulas_.node(operation, first, second);
  }

  std::uint32_t sum() {
    std::uint32_t left = term();
    while (fault_.empty()) {
      if (take("+")) {
        left = make(Operation::add, left, term());
      } else if (take("-")) {
        left = make(Operation::subtract, left, term());
      } else {
        break;
      }
    }
    return left;
  }

  std::uint32_t term() {
    std::uint32_t left = factor();
    while (fault_.empty()) {
      if (is("**")) {
        return fail("a power of a power needs parentheses");
      }
      if (take("*")) {
        left = make(Operation::multiply, left, factor());
      } else if (take("/")) {
        left = make(Operation::divide, left, factor());
      } else {
        break;
      }
    }
    return left;
  }

  std::uint32_t factor() {
    if (++depth_ > deepest) return fail("more than {} levels", deepest);
    std::uint32_t result = 0;
    if (take("-")) {
      result = make(Operation::negate, factor());
    } else if (take("+")) {
      result = factor();
    } else {
      result = power();
    }
    --depth_;
    return result;
  }

  std::uint32_t power() {
    const std::uint32_t base = atom();
    if (!take("**")) return base;
    const std::uint32_t exponent = factor();
    if (!fault_.empty()) return 0;
    const Formulas::Node node = formulas_.nodes_[exponent];
    if (node.operation == Operation::constant) {
      // Small whole powers by multiplication, which is faster and as exact.
      const double size = std::abs(node.value);
      if (size == 0.5) {
        return reciprocal_if(node.value < 0, make(Operation::square_root, base));
      }
      if (size == 1 || size == 2 || size == 3 || size == 4) {
        std::uint32_t product = base;
        if (size == 4) {
          const std::uint32_t square = make(Operation::multiply, base, base);
          product = make(Operation::multiply, square, square);
        } else {
          for (int i = 1; i < static_cast<int>(size); ++i)
            product = make(Operation::multiply, product, base);
        }
        return reciprocal_if(node.value < 0, product);
      }
    }
    return make(Operation::power, base, exponent);
  }

  std::uint32_t reciprocal_if(bool is_negative, std::uint32_t value) {
    if (!is_negative || !fault_.empty()) return value;
    return make(Operation::divide, formulas_.constant(1), value);
  }

  std::uint32_t atom() {
    skip_spaces();
    if (at_ >= text_.size()) return fail("the expression ends too early");
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      const std::uint32_t result = sum();
      if (fault_.empty() && !take(")")) return fail("\")\" expected");
      return result;
    }
    if (c >= '0' && c <= '9') return number();
    if (is_letter(c)) return name();
    return fail("unexpected \"{}\"", is_printable(c) ? std::string(1, c) : "byte");
  }

  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_printable(char c) { return c > ' ' && c <= '~'; }

  std::uint32_t number() {
    double value = 0;
    const auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc{} || !std::isfinite(value)) return fail("a number that is too large");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.')) {
      return fail("a number is followed by \"{}\"", text_[at_]);
    }
    if (formulas_.nodes_.size() >= Formulas::most_nodes) {
      return fail("more than {} operations in all formulas", Formulas::most_nodes);
    }
    return formulas_.constant(value);
  }

  std::uint32_t name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9'))) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (is("(")) return call(name);
    if (const auto known = formulas_.names_.find(name); known != formulas_.names_.end()) {
      return known->second;
    }
    at_ = begin;
    return fail("\"{}\" is no state, input or parameter", name);
  }

  std::uint32_t call(std::string_view name) {
    const std::optional<Function> function = find(name);
    if (!function) return fail("\"{}\" is no function that is known here", name);
    static_cast<void>(take("("));
    std::uint32_t result = sum();
    std::uint32_t second = 0;
    int arguments = 1;
    while (fault_.empty() && take(",")) {
      second = sum();
      if (++arguments > function->most_arguments) break;
      result = make(function->operation, result, second);
    }
    if (!fault_.empty()) return 0;
    if (arguments < function->least_arguments || arguments > function->most_arguments) {
      return fail("{} has another number of arguments", name);
    }
    if (!take(")")) return fail("\")\" expected");
    return function->most_arguments == 1 ? make(function->operation, result) : result;
  }

  static std::optional<Function> find(std::string_view name) {
    for (const Function& function : functions) {
      if (function.name == name) return function;
    }
    return name == largest.name ? std::optional(largest) : std::nullopt;
  }

  Formulas& formulas_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string fault_;
};

Formulas::Formulas(const std::vector<std::string>& variables,
                   const std::map<std::string, double>& constants) {
  names_.emplace("pi", constant(std::numbers::pi));
  names_.emplace("E", constant(std::numbers::e));
  for (const auto& [name, value] : constants) names_[name] = constant(value);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    names_[variables[i]] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({Operation::variable, static_cast<std::uint32_t>(i), 0, 0});
  }
}

Result<void> Formulas::add(std::string_view text, std::string_view where) {
  if (text.size() > longest) return error("{}: longer than {} characters", where, longest);
  FormulaReader reader(*this, text);
  const std::uint32_t result = reader.read();
  if (!reader.fault().empty()) return error("{}: {}", where, reader.fault());
  results_.push_back(result);
  return {};
}

std::uint32_t Formulas::constant(double value) {
  const auto [known, is_new] =
      known_.try_emplace({Operation::constant, 0, 0, std::bit_cast<std::uint64_t>(value)},
                         static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({Operation::constant, 0, 0, value});
  return known->second;
}

std::uint32_t Formulas::node(Operation operation, std::uint32_t first, std::uint32_t second) {
  const bool has_second = (operation >= Operation::add && operation <= Operation::divide) ||
                          operation == Operation::power || operation >= Operation::arc_tangent2;
  if (nodes_[first].operation == Operation::constant &&
      (!has_second || nodes_[second].operation == Operation::constant)) {
    return constant(apply(operation, nodes_[first].value, nodes_[second].value));
  }
  const auto [known, is_new] =
      known_.try_emplace({operation, first, second, 0}, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({operation, first, second, 0});
  return known->second;
}

double Formulas::apply(Operation operation, double first, double second) {
  switch (operation) {
    case Operation::constant:
    case Operation::variable:
      break;
    case Operation::add:
      return first + second;
    case Operation::subtract:
      return first - second;
    case Operation::multiply:
      return first * second;
    case Operation::divide:
      return first / second;
    case Operation::negate:
      return -first;
    case Operation::power:
      return std::pow(first, second);
    case Operation::sine:
      return std::sin(first);
    case Operation::cosine:
      return std::cos(first);
    case Operation::tangent:
      return std::tan(first);
    case Operation::arc_sine:
      return std::asin(first);
    case Operation::arc_cosine:
      return std::acos(first);
    case Operation::arc_tangent:
      return std::atan(first);
    case Operation::hyperbolic_sine:
      return std::sinh(first);
    case Operation::hyperbolic_cosine:
      return std::cosh(first);
    case Operation::hyperbolic_tangent:
      return std::tanh(first);
    case Operation::area_sine:
      return std::asinh(first);
    case Operation::area_cosine:
      return std::acosh(first);
    case Operation::area_tangent:
      return std::atanh(first);
    case Operation::exponential:
      return std::exp(first);
    case Operation::logarithm:
      return std::log(first);
    case Operation::square_root:
      return std::sqrt(first);
    case Operation::absolute:
      return std::abs(first);
    case Operation::sign:
      return first > 0 ? 1 : (first < 0 ? -1 : first);
    case Operation::step:
      return first > 0 ? 1 : (first < 0 ? 0 : (first == 0 ? 0.5 : first));
    case Operation::arc_tangent2:
      return std::atan2(first, second);
    case Operation::least:
      // NaN if either is, so that it is not lost.
      return first < second || std::isnan(first) ? first : second;
    case Operation::largest:
      return first > second || std::isnan(first) ? first : second;
  }
  return first;
}

void Formulas::evaluate(const double* variables, double* registers, double* values) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    switch (node.operation) {
      case Operation::constant:
        registers[i] = node.value;
        break;
      case Operation::variable:
        registers[i] = variables[node.first];
        break;
      default:
        registers[i] = apply(node.operation, registers[node.first], registers[node.second]);
    }
  }
  for (std::size_t i = 0; i < results_.size(); ++i) values[i] = registers[results_[i]];
}

}  // namespace takt::estimation
