#include "takt/model/parse_document.hpp"

#include <set>
#include <string>
#include <vector>

namespace takt::model {

namespace {

constexpr std::size_t largest_document = std::size_t{64} << 20;
constexpr std::size_t deepest_nesting = 64;

/// "line 3, column 7" of a byte offset.
std::string place(std::string_view text, std::size_t offset) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (const char c : text.substr(0, offset)) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  return fmt::format("line {}, column {}", line, column);
}

/// Checks a document before it is stored: that it is JSON, how deep it is nested, and that no
/// object names a field twice (a parser would keep only one of them). This takes O(n log n). With a
/// callback, nlohmann::json::parse() would take O(n²) for a list of n objects, because it searches
/// the list for rejected elements after each of them.
class Inspection final : public nlohmann::json::json_sax_t {
 public:
  Inspection(std::string_view text, std::string_view kind) : text_(text), kind_(kind) {}

  /// The fault, after one of the functions below has returned false.
  [[nodiscard]] const std::string& fault() const { return fault_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool key(string_t& name) override {
    if (fields_.back().insert(name).second) return true;
    fault_ = fmt::format("an object names the field \"{}\" twice; keep one of them", name);
    return false;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& found) override {
    fault_ = dynamic_cast<const nlohmann::json::out_of_range*>(&found) != nullptr
                 ? "a number is too large for JSON; times are integers in nanoseconds"
                 : fmt::format("{}: not valid JSON; is this a takt/{} document?",
                               place(text_, position == 0 ? 0 : position - 1), kind_);
    return false;
  }

 private:
  bool open() {
    fields_.emplace_back();
    if (fields_.size() <= deepest_nesting) return true;
    fault_ = fmt::format("nested more than {} deep; it is not a {}", deepest_nesting, kind_);
    return false;
  }
  bool close() {
    fields_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string_view kind_;
  std::string fault_;
  /// The field names seen so far in each object that is open; empty sets for open lists.
  std::vector<std::set<std::string>> fields_;
};

}  // namespace

Result<nlohmann::json> parse_document(std::string_view text, std::string_view source,
                                      std::string_view kind) {
  if (text.size() > largest_document) {
    return error("{}: the document has {} bytes, more than the {} that are read; it is not a {}",
                 source, text.size(), largest_document, kind);
  }
  Inspection inspection(text, kind);
  if (!nlohmann::json::sax_parse(text, &inspection)) {
    return error("{}: {}", source, inspection.fault());
  }
  return nlohmann::json::parse(text);
}

}  // namespace takt::model
