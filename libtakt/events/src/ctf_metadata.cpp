#include "ctf_metadata.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ranges>
#include <utility>

namespace takt::events::ctf {
namespace {

constexpr std::uint32_t metadata_magic = 0x75d11d57;
constexpr std::size_t packet_header_size = 37;
constexpr int max_depth = 32;
constexpr std::uint32_t max_parts = 10'000;
constexpr std::size_t max_choices = 100'000;  // of all variants
constexpr std::size_t max_size = std::size_t{256} << 20;
constexpr int max_slots = 4096;
constexpr std::uint64_t max_array_length = std::uint64_t{1} << 32;

std::uint32_t read_32(std::string_view bytes, bool is_big_endian) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return is_big_endian ? __builtin_bswap32(value) : value;
}

/// A fault in the text. Never leaves this file: parse_metadata() makes an Error of it. The parser
/// is deeply recursive, and handing results up through every rule would hide the grammar.
struct Fault {
  std::string message;
};

enum class TokenKind { end, identifier, number, string, symbol };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  std::int64_t number = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  [[nodiscard]] int line() const {
    return 1 + static_cast<int>(std::count(
                   text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position_), '\n'));
  }

  Token next() {
    skip_blanks();
    if (position_ == text_.size()) {
      return {};
    }
    const char c = text_[position_];
    if (is_letter(c)) {
      const std::size_t begin = position_;
      while (position_ < text_.size() &&
             (is_letter(text_[position_]) || is_digit(text_[position_]))) {
        ++position_;
      }
      return {TokenKind::identifier, std::string(text_.substr(begin, position_ - begin)), 0};
    }
    if (is_digit(c)) {
      return number();
    }
    if (c == '"') {
      return string();
    }
    for (const std::string_view symbol : {"...", ":="}) {
      if (text_.substr(position_).starts_with(symbol)) {
        position_ += symbol.size();
        return {TokenKind::symbol, std::string(symbol), 0};
      }
    }
    ++position_;
    return {TokenKind::symbol, std::string(1, c), 0};
  }

 private:
  static bool is_letter(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip_blanks() {
    while (position_ < text_.size()) {
      const std::string_view rest = text_.substr(position_);
      if (rest.starts_with("/*")) {
        const auto end = rest.find("*/", 2);
        position_ = end == std::string_view::npos ? text_.size() : position_ + end + 2;
      } else if (rest.starts_with("//")) {
        const auto end = rest.find('\n');
        position_ = end == std::string_view::npos ? text_.size() : position_ + end;
      } else if (rest[0] == ' ' || (rest[0] >= '\t' && rest[0] <= '\r')) {
        ++position_;
      } else {
        return;
      }
    }
  }

  Token number() {
    int base = 10;
    if (text_.substr(position_).starts_with("0x") || text_.substr(position_).starts_with("0X")) {
      base = 16;
      position_ += 2;
    } else if (text_[position_] == '0') {
      base = 8;
    }
    std::uint64_t value = 0;
    const char* const begin = text_.data() + position_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value, base);
    if (code != std::errc()) {
      throw Fault{"a number is out of range"};
    }
    position_ += static_cast<std::size_t>(end - begin);
    while (position_ < text_.size() &&
           std::string_view("uUlL").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
    return {TokenKind::number, {}, static_cast<std::int64_t>(value)};
  }

  Token string() {
    std::string value;
    for (++position_; position_ < text_.size() && text_[position_] != '"'; ++position_) {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) {
        ++position_;
      }
      value += text_[position_];
    }
    if (position_ == text_.size()) {
      throw Fault{"a string does not end"};
    }
    ++position_;
    return {TokenKind::string, std::move(value), 0};
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

/// A value of "name = value;".
struct Attribute {
  std::string text;
  std::int64_t number = 0;
  bool is_number = false;
};
using Attributes = std::unordered_map<std::string, Attribute>;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  Metadata parse() {
    while (token_.kind != TokenKind::end) {
      if (!accept(";")) {
        declaration();
      }
    }
    return std::move(metadata_);
  }

  [[nodiscard]] int line() const { return lexer_.line(); }

 private:
  void advance() { token_ = lexer_.next(); }
  [[nodiscard]] bool at(std::string_view text) const {
    return token_.kind != TokenKind::string && token_.text == text;
  }
  bool accept(std::string_view text) {
    if (!at(text)) {
      return false;
    }
    advance();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) {
      throw Fault{fmt::format("'{}' is expected", text)};
    }
  }
  std::string identifier() {
    if (token_.kind != TokenKind::identifier) {
      throw Fault{"a name is expected"};
    }
    return std::exchange(token_, lexer_.next()).text;
  }
  std::int64_t number() {
    const bool is_negative = accept("-");
    if (token_.kind != TokenKind::number) {
      throw Fault{"a number is expected"};
    }
    const auto value = static_cast<std::uint64_t>(std::exchange(token_, lexer_.next()).number);
    return static_cast<std::int64_t>(is_negative ? 0 - value : value);
  }
  static std::string plain(const std::string& name) {
    return name.starts_with('_') ? name.substr(1) : name;
  }

  void declaration() {
    if (at("typealias")) {
      advance();
      const TypePointer aliased = type();
      expect(":=");
      std::string name = identifier();
      while (token_.kind == TokenKind::identifier) {
        name += ' ' + identifier();
      }
      aliases_[name] = aliased;
    } else if (at("trace")) {
      advance();
      trace();
    } else if (at("env")) {
      advance();
      for (auto& [name, value] : attributes()) {
        metadata_.environment[name] = value.is_number ? std::to_string(value.number) : value.text;
      }
    } else if (at("clock")) {
      advance();
      clock();
    } else if (at("stream")) {
      advance();
      stream();
    } else if (at("event")) {
      advance();
      event();
    } else if (at("callsite")) {
      advance();
      attributes();
    } else {
      type();  // defines a structure, enumeration or variant by name
    }
    expect(";");
  }

  /// "{ name = value; name.name = value; … }". Calls `other` for "name := type;".
  template <typename Other>
  Attributes attributes(Other&& other) {
    Attributes result;
    expect("{");
    while (!accept("}")) {
      std::string name = identifier();
      while (accept(".")) {
        name += '.' + identifier();
      }
      if (accept(":=")) {
        other(name, type());
      } else {
        expect("=");
        result[name] = value();
      }
      expect(";");
    }
    return result;
  }
  Attributes attributes() {
    return attributes([](const std::string& name, const TypePointer&) {
      throw Fault{fmt::format("'{}' cannot be a type", name)};
    });
  }
  Attribute value() {
    if (token_.kind == TokenKind::number || at("-")) {
      return {{}, number(), true};
    }
    if (token_.kind == TokenKind::string) {
      return {std::exchange(token_, lexer_.next()).text, 0, false};
    }
    std::string name = identifier();
    while (accept(".")) {
      name += '.' + identifier();
    }
    return {name, 0, false};
  }

  void trace() {
    const Attributes given =
        attributes([this](const std::string& name, const TypePointer& defined) {
          if (name == "packet.header") {
            metadata_.packet_header = defined;
          }
        });
    if (const auto uuid = given.find("uuid"); uuid != given.end()) {
      metadata_.uuid = uuid->second.text;
    }
    if (const auto order = given.find("byte_order"); order != given.end()) {
      // LTTng gives the byte order after the first aliases. These do not depend on it: only
      // little-endian traces are read, and integers are little-endian unless they say otherwise.
      if (order->second.text == "be" || order->second.text == "network") {
        throw Fault{"big-endian traces"};
      }
    }
  }

  void clock() {
    Attributes given = attributes();
    if (metadata_.clock) {
      throw Fault{"several clocks"};
    }
    Clock made;
    if (given.contains("freq")) {
      made.frequency = static_cast<std::uint64_t>(given["freq"].number);
    }
    made.uuid = given["uuid"].text;
    made.offset_seconds = given["offset_s"].number;
    made.offset_cycles = static_cast<std::uint64_t>(given["offset"].number);
    metadata_.clock = made;
  }

  void stream() {
    StreamClass made;
    Attributes given = attributes([&made](const std::string& name, const TypePointer& defined) {
      (name == "event.header"     ? made.event_header
       : name == "event.context"  ? made.event_context
       : name == "packet.context" ? made.packet_context
                                  : throw Fault{fmt::format("'{}' of a stream", name)}) = defined;
    });
    made.id = static_cast<std::uint64_t>(given["id"].number);
    metadata_.streams.push_back(std::move(made));
  }

  void event() {
    EventClass made;
    Attributes given = attributes([&made](const std::string& name, const TypePointer& defined) {
      (name == "fields"    ? made.fields
       : name == "context" ? made.context
                           : throw Fault{fmt::format("'{}' of an event", name)}) = defined;
    });
    made.name = given["name"].text;
    made.id = static_cast<std::uint64_t>(given["id"].number);
    made.stream_id = static_cast<std::uint64_t>(given["stream_id"].number);
    metadata_.events.push_back(std::move(made));
  }

  TypePointer type() {
    if (++depth_ > max_depth) {
      throw Fault{"types are nested too deeply"};
    }
    TypePointer result = any_type();
    --depth_;
    return result;
  }

  /// The finished type, unless it is too large.
  static TypePointer make(Type made) {
    const auto contain = [&made](const Type& part) {
      made.depth = std::max(made.depth, part.depth + 1);
      made.parts += part.parts;
      if (made.depth > max_depth || made.parts > max_parts) {
        throw Fault{"a type is too large"};
      }
    };
    made.depth = 1;
    // Decoding a variant looks at its choices one after the other.
    made.parts = 1 + static_cast<std::uint32_t>(made.choices.size());
    if (made.element) {
      contain(*made.element);
    }
    for (const Member& member : made.members) {
      contain(*member.type);
    }
    return std::make_shared<const Type>(std::move(made));
  }

  TypePointer any_type() {
    if (accept("integer")) {
      return integer();
    }
    if (accept("floating_point")) {
      return floating();
    }
    if (accept("string")) {
      if (at("{")) {
        attributes();
      }
      Type made;
      made.kind = Type::Kind::string;
      made.align = 8;
      return make(std::move(made));
    }
    if (accept("enum")) {
      return enumeration();
    }
    if (accept("struct")) {
      return structure();
    }
    if (accept("variant")) {
      return variant();
    }
    return alias();
  }

  /// A name may be of several words, and is followed by the name of the field.
  TypePointer alias() {
    constexpr int most_words = 8;
    std::string name = identifier();
    for (int words = 1;
         words < most_words && !aliases_.contains(name) && token_.kind == TokenKind::identifier;
         ++words) {
      name += ' ' + identifier();
    }
    const auto found = aliases_.find(name);
    if (found == aliases_.end()) {
      throw Fault{fmt::format("the type '{}' is not known", name)};
    }
    return found->second;
  }

  static std::uint32_t in_range(std::int64_t value, std::int64_t least, std::int64_t most,
                                const char* what) {
    if (value < least || value > most) {
      throw Fault{fmt::format("{} of {}", what, value)};
    }
    return static_cast<std::uint32_t>(value);
  }
  static std::uint32_t alignment(Attributes& given, std::uint32_t size) {
    if (!given.contains("align")) {
      return size % 8 == 0 ? 8 : 1;
    }
    const auto align = in_range(given["align"].number, 1, 4096, "an alignment");
    if ((align & (align - 1)) != 0) {
      throw Fault{fmt::format("an alignment of {}", align)};
    }
    return align;
  }

  TypePointer integer() {
    Attributes given = attributes();
    Type made;
    made.size = in_range(given["size"].number, 1, 64, "an integer's size");
    made.align = alignment(given, made.size);
    const Attribute& sign = given["signed"];
    made.is_signed = sign.is_number ? sign.number != 0 : sign.text == "true" || sign.text == "TRUE";
    const std::string& order = given["byte_order"].text;
    made.is_big_endian = order == "be" || order == "network";
    const std::string& encoding = given["encoding"].text;
    made.is_text = encoding == "UTF8" || encoding == "utf8" || encoding == "ASCII" ||
                   encoding == "ascii" || encoding == "UTF-8";
    made.is_clock = given["map"].text.starts_with("clock.");
    return make(std::move(made));
  }

  TypePointer floating() {
    Attributes given = attributes();
    Type made;
    made.kind = Type::Kind::floating;
    const std::int64_t exponent = in_range(given["exp_dig"].number, 0, 64, "an exponent");
    made.size = in_range(exponent + in_range(given["mant_dig"].number, 0, 64, "a mantissa"), 1, 64,
                         "a size");
    made.align = alignment(given, made.size);
    return make(std::move(made));
  }

  TypePointer enumeration() {
    std::string name;
    if (token_.kind == TokenKind::identifier) {
      name = identifier();
    }
    if (!at(":") && !at("{")) {
      return named("enum " + name);
    }
    const TypePointer base = accept(":") ? type() : named("int");
    if (base->kind != Type::Kind::integer || !base->labels.empty()) {
      throw Fault{"an enumeration needs an integer"};
    }
    Type made = *base;
    expect("{");
    std::int64_t next = 0;
    while (!accept("}")) {
      const std::string label = token_.kind == TokenKind::string
                                    ? std::exchange(token_, lexer_.next()).text
                                    : identifier();
      std::int64_t lo = next;
      std::int64_t hi = next;
      if (accept("=")) {
        lo = hi = number();
        if (accept("...")) {
          hi = number();
        }
      }
      made.labels[plain(label)].emplace_back(lo, hi);
      next = static_cast<std::int64_t>(static_cast<std::uint64_t>(hi) + 1);
      if (!accept(",") && !at("}")) {
        throw Fault{"',' or '}' is expected"};
      }
    }
    return define("enum ", name, std::move(made));
  }

  TypePointer structure() {
    std::string name;
    if (token_.kind == TokenKind::identifier && !at("align")) {
      name = identifier();
    }
    if (!at("{")) {
      return named("struct " + name);
    }
    Type made;
    made.kind = Type::Kind::structure;
    members(made);
    if (accept("align")) {
      expect("(");
      made.align = std::max(made.align, in_range(number(), 1, 4096, "an alignment"));
      expect(")");
    }
    return define("struct ", name, std::move(made));
  }

  TypePointer variant() {
    if (!accept("<")) {
      throw Fault{"variants without a tag"};
    }
    const std::string tag = plain(identifier());
    expect(">");
    Type made;
    made.kind = Type::Kind::variant;
    const Member& selector = referenced(tag);
    made.slot = selector.slot;
    const TypePointer tag_type = selector.type;
    members(made);
    made.align = 1;  // its options align themselves
    for (std::size_t i = 0; i < made.members.size(); ++i) {
      if (const auto ranges = tag_type->labels.find(made.members[i].name);
          ranges != tag_type->labels.end()) {
        for (const auto& [lo, hi] : ranges->second) {
          // Many variants may name one enumeration.
          if (++choices_ > max_choices) {
            throw Fault{"variants have too many choices"};
          }
          made.choices.push_back({lo, hi, i});
        }
      }
    }
    return make(std::move(made));
  }

  /// "{ type name; type name[length]; … }"
  void members(Type& owner) {
    expect("{");
    open_.push_back(&owner);
    while (!accept("}")) {
      if (at("typealias")) {
        declaration();
        continue;
      }
      TypePointer declared = type();
      Member member{plain(identifier()), declared, -1};
      while (accept("[")) {
        member.type = array(member.type);
        expect("]");
      }
      expect(";");
      owner.align = std::max(owner.align, member.type->align);
      owner.members.push_back(std::move(member));
    }
    open_.pop_back();
  }

  TypePointer array(const TypePointer& element) {
    Type made;
    made.align = element->align;
    made.element = element;
    if (token_.kind == TokenKind::number) {
      made.kind = Type::Kind::array;
      made.length = static_cast<std::uint64_t>(number());
      if (made.length > max_array_length) {
        throw Fault{"an array is too long"};
      }
    } else {
      made.kind = Type::Kind::sequence;
      made.slot = referenced(plain(identifier())).slot;
    }
    return make(std::move(made));
  }

  /// The integer that a length or tag names: an earlier member of this or an enclosing structure.
  const Member& referenced(const std::string& name) {
    for (Type* const scope : std::views::reverse(open_)) {
      for (Member& member : std::views::reverse(scope->members)) {
        if (member.name == name && member.type->kind == Type::Kind::integer) {
          if (member.slot < 0) {
            if (metadata_.slots == max_slots) {
              throw Fault{"too many sequences and variants"};
            }
            member.slot = metadata_.slots++;
          }
          return member;
        }
      }
    }
    throw Fault{fmt::format("no integer '{}' comes before", name)};
  }

  TypePointer named(const std::string& name) {
    const auto found = aliases_.find(name);
    if (found == aliases_.end()) {
      throw Fault{fmt::format("'{}' is not defined", name)};
    }
    return found->second;
  }
  TypePointer define(const std::string& kind, const std::string& name, Type made) {
    TypePointer pointer = make(std::move(made));
    if (!name.empty()) {
      aliases_[kind + name] = pointer;
    }
    return pointer;
  }

  Lexer lexer_;
  Token token_;
  Metadata metadata_;
  std::unordered_map<std::string, TypePointer> aliases_;
  std::vector<Type*> open_;
  int depth_ = 0;
  std::size_t choices_ = 0;
};

}  // namespace

Result<std::string> metadata_text(std::string_view file) {
  if (file.empty()) {
    return error(
        "the metadata is empty: the recording was copied before it had ended, or the copy ended "
        "too "
        "early; of LTTng's sessions 'lttng stop' or 'lttng regenerate metadata' completes it");
  }
  if (file.starts_with('\x1e')) {  // a sequence of JSON texts
    return error(
        "a trace of CTF 2, which needs babeltrace 2.1 or later where Takt was built; record with "
        "'lttng create --trace-format=ctf-1.8', or convert it: 'babeltrace2 --component "
        "sink.ctf.fs --params ctf-version=\"1\",path=\"NEW\" OLD'");
  }
  if (file.size() > max_size) {
    return error("metadata of {} bytes is too large", file.size());
  }
  if (file.size() < packet_header_size) {
    return file.starts_with("/* CTF") ? Result<std::string>(std::string(file))
                                      : error("metadata is too short");
  }
  const bool is_big_endian = read_32(file, true) == metadata_magic;
  if (!is_big_endian && read_32(file, false) != metadata_magic) {
    return std::string(file);
  }
  std::string text;
  while (file.size() >= packet_header_size) {
    const std::uint64_t content = read_32(file.substr(24), is_big_endian) / 8;
    const std::uint64_t size = read_32(file.substr(28), is_big_endian) / 8;
    if (read_32(file, is_big_endian) != metadata_magic || content < packet_header_size ||
        size < content) {
      return error("metadata has a damaged packet");
    }
    if (content > file.size()) {
      return error("metadata is truncated: it ends in the middle of a packet");
    }
    text += file.substr(packet_header_size, content - packet_header_size);
    file.remove_prefix(std::min<std::size_t>(size, file.size()));
  }
  return text;
}

Result<Metadata> parse_metadata(std::string_view text) {
  std::optional<Parser> parser;
  try {
    parser.emplace(text);
    return parser->parse();
  } catch (const Fault& fault) {
    return error("metadata, line {}: {}", parser ? parser->line() : 1, fault.message);
  }
}

}  // namespace takt::events::ctf
