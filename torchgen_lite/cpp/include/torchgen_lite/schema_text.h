// What the dispatcher reads from a schema: its name, and the number of
// arguments and results. The generator has checked the rest.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

// Calls `item` with each text between commas, nested ones apart.
template <class F>
void forEachItem(std::string_view list, const F& item) {
  std::size_t start = 0;
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
      item(trimmed(list.substr(start, i - start)));
      start = i + 1;
    }
  }
  item(trimmed(list.substr(start)));
}

// `*` is not an item; -1 where the list ends in "...".
inline int countItems(std::string_view list) {
  int count = 0;
  forEachItem(list, [&](std::string_view item) {
    if (item == "..." || count < 0) {
      count = -1;
    } else if (!item.empty() && item != "*") {
      ++count;
    }
  });
  return count;
}

inline bool isNameCharacter(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
      (c >= '0' && c <= '9');
}

inline bool isIdentifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) {
    return false;
  }
  for (const char c : text) {
    if (!isNameCharacter(c)) {
      return false;
    }
  }
  return true;
}

// Throws Error unless the text is `ns::name` or `ns::name.overload` of
// identifiers. An overload cannot be called `default`, which is Python's name
// for the overload without a name, or `__anything`.
inline void checkOperatorName(std::string_view full) {
  const std::size_t dot = full.find('.');
  bool good = true;
  if (dot != std::string_view::npos) {
    const std::string_view overload = full.substr(dot + 1);
    good = isIdentifier(overload) && overload != "default" &&
        overload.substr(0, 2) != "__";
  }
  std::string_view name = full.substr(0, dot);
  for (std::size_t colons = name.find("::"); colons != std::string_view::npos;
       colons = name.find("::")) {
    good = good && isIdentifier(name.substr(0, colons));
    name.remove_prefix(colons + 2);
  }
  if (!good || !isIdentifier(name)) {
    throw Error(
        "\"" + std::string(full) +
        "\" is not the name of an operator; it has the form "
        "namespace::name or namespace::name.overload");
  }
}

// Throws Error if no call could pass the arguments: two with the same name, or
// a positional one without a default after one with a default.
inline void checkArguments(std::string_view list) {
  std::vector<std::string_view> names;
  bool keywords = false;
  bool defaults = false;
  forEachItem(list, [&](std::string_view item) {
    if (item.empty() || item == "..." || item == "*") {
      keywords = keywords || item == "*";
      return;
    }
    const std::size_t equals = item.find('=');
    const std::string_view declared = trimmed(item.substr(0, equals));
    std::size_t start = declared.size();
    while (start > 0 && isNameCharacter(declared[start - 1])) {
      --start;
    }
    const std::string_view name = declared.substr(start);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw Error(
          "two arguments are called " + std::string(name) + " in (" +
          std::string(list) + ")");
    }
    names.push_back(name);
    if (equals != std::string_view::npos) {
      defaults = true;
    } else if (defaults && !keywords) {
      throw Error(
          std::string(name) + " has no default and follows one that has, in (" +
          std::string(list) + ")");
    }
  });
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

// Throws Error if the text lacks a name, arguments or results, or if no call
// could pass the arguments.
inline SchemaFacts readSchema(std::string_view text) {
  SchemaFacts facts;
  const std::size_t open = text.find('(');
  const std::size_t close = open == std::string_view::npos
      ? std::string_view::npos
      : closing(text, open);
  const std::size_t arrow = close == std::string_view::npos
      ? std::string_view::npos
      : text.find("->", close);
  const std::string_view results = arrow == std::string_view::npos
      ? std::string_view()
      : trimmed(text.substr(arrow + 2));
  const bool listed = !results.empty() && results[0] == '(';
  if (results.empty() ||
      !trimmed(text.substr(close + 1, arrow - close - 1)).empty() ||
      (listed && closing(results, 0) != results.size() - 1)) {
    throw Error(
        "not a schema: \"" + std::string(text) +
        "\"; it has the form name(arguments) -> results");
  }
  const std::string_view name = trimmed(text.substr(0, open));
  checkOperatorName(name);
  splitName(name, facts.name, facts.overload_name);
  const std::string_view arguments = text.substr(open + 1, close - open - 1);
  checkArguments(arguments);
  facts.arguments = countItems(arguments);
  facts.returns =
      listed ? countItems(results.substr(1, results.size() - 2)) : 1;
  return facts;
}

} // namespace detail
} // namespace torchgen_lite
