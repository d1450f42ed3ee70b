// What the dispatcher reads in a schema: its name and how many arguments and
// results it has. The generator has checked the rest.
#pragma once

#include <string>
#include <string_view>

#include <torchgen_lite/errors.h>

namespace torchgen_lite {
namespace detail {

struct SchemaFacts {
  // "ns::name", without the namespace if the text has none.
  std::string name;
  std::string overload_name;
  // -1 where the text ends in "..." and takes any number.
  int arguments = 0;
  int returns = 0;
};

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// The end of the parenthesis that opens at `start`, npos if it never ends.
inline std::size_t closing(std::string_view text, std::size_t start) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// The items between commas, nested ones apart; `*` is none.
inline int countItems(std::string_view list) {
  int count = 0;
  std::size_t start = 0;
  const auto item = [&](std::string_view text) {
    text = trimmed(text);
    if (text == "..." || count < 0) {
      count = -1;
    } else if (!text.empty() && text != "*") {
      ++count;
    }
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(' || list[i] == '[') {
      const std::size_t end = closing(list, i);
      i = end == std::string_view::npos ? list.size() : end;
    } else if (list[i] == '"' || list[i] == '\'') {
      const char quote = list[i++];
      while (i < list.size() && list[i] != quote) {
        i += list[i] == '\\' ? 2U : 1U;
      }
    } else if (list[i] == ',') {
      item(list.substr(start, i - start));
      start = i + 1;
    }
  }
  item(list.substr(start));
  return count;
}

inline void splitName(
    std::string_view full,
    std::string& name,
    std::string& overload_name) {
  const std::size_t dot = full.find('.');
  name = full.substr(0, dot);
  overload_name =
      dot == std::string_view::npos ? "" : std::string(full.substr(dot + 1));
}

// Throws Error for a text without a name, arguments and results.
inline SchemaFacts readSchema(std::string_view text) {
  SchemaFacts facts;
  const std::size_t open = text.find('(');
  const std::size_t close = open == std::string_view::npos
      ? std::string_view::npos
      : closing(text, open);
  const std::size_t arrow = close == std::string_view::npos
      ? std::string_view::npos
      : text.find("->", close);
  splitName(trimmed(text.substr(0, open)), facts.name, facts.overload_name);
  if (arrow == std::string_view::npos || facts.name.empty() ||
      !trimmed(text.substr(close + 1, arrow - close - 1)).empty()) {
    throw Error(
        "not a schema: \"" + std::string(text) +
        "\"; it has the form name(arguments) -> results");
  }
  facts.arguments = countItems(text.substr(open + 1, close - open - 1));
  const std::string_view results = trimmed(text.substr(arrow + 2));
  facts.returns = 1;
  if (!results.empty() && results[0] == '(') {
    const std::size_t end = closing(results, 0);
    facts.returns = countItems(
        end == std::string_view::npos ? results : results.substr(1, end - 1));
  }
  return facts;
}

} // namespace detail
} // namespace torchgen_lite
