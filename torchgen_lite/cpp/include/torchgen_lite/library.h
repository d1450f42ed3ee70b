// Library: registrations that are undone together (torch::Library), and the
// macros that make one when a program or a shared library is loaded.
//
//   TORCHGEN_LITE_LIBRARY(mylib, m) {
//     m.def("add.Tensor(Tensor self, Tensor other) -> Tensor");
//   }
//   TORCHGEN_LITE_LIBRARY_IMPL(mylib, CPU, m) {
//     m.impl("add.Tensor", TORCHGEN_LITE_FN(add_cpu));
//   }
#pragma once

#include <torchgen_lite/dispatcher.h>

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

namespace torchgen_lite {
namespace detail {

// Keeps the shared library that holds `address` loaded until the program ends,
// whatever is closed. A call may be running one of its kernels, and the
// dispatcher points to its signatures and file names. Compilers differ in what
// they pin themselves (STB_GNU_UNIQUE), so it is done explicitly.
inline void keepLoaded([[maybe_unused]] const void* address) {
#if defined(__unix__) || defined(__APPLE__)
  Dl_info where{};
  if (dladdr(address, &where) != 0 && where.dli_fname != nullptr) {
    // Null for the program itself, which is never closed.
    (void)dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
#endif
}

} // namespace detail

class Library final {
 public:
  enum Kind : std::uint8_t {
    DEF,
    FRAGMENT,
    IMPL,
  };

  // DEF owns a namespace, FRAGMENT adds definitions to one, IMPL gives kernels,
  // by default for `key`. Fallbacks go into an IMPL of the namespace `_`.
  // Throws Error for what c10 refuses: a second DEF of a namespace,
  // definitions under a key or in `_`, the reserved namespace `prim`. The
  // shared library that `site` is in stays loaded from now on.
  Library(
      Kind kind,
      std::string ns,
      std::optional<DispatchKey> key = std::nullopt,
      Dispatcher& dispatcher = Dispatcher::singleton(),
      Site site = Site::here())
      : kind_(kind),
        ns_(std::move(ns)),
        key_(key),
        dispatcher_(&dispatcher),
        site_(site) {
    detail::keepLoaded(site_.file);
    if (ns_ == "prim") {
      throw Error(
          "prim is a reserved namespace. Please try creating a library with "
          "another name.");
    }
    if (kind_ != IMPL && key_.has_value()) {
      throw Error(
          std::string(kindName()) +
          ": defines operators and has no dispatch key, but " +
          std::string(toString(*key_)) + " was given; " + site_.debug());
    }
    if (kind_ != IMPL && ns_ == "_") {
      throw Error(
          std::string(kindName()) + ": cannot define " + kindName() +
          " with the wildcard namespace _ (every library defines operators in "
          "a namespace of its own); " +
          site_.debug());
    }
    if (kind_ == DEF) {
      handles_.push_back(dispatcher_->registerLibrary(ns_, site_.debug()));
    }
  }

  Library(Library&& other) = default;
  Library& operator=(Library&& other) = delete;
  ~Library() {
    close();
  }

  // Undoes everything, newest first. Nothing can be registered afterwards.
  void close() {
    while (!handles_.empty()) {
      handles_.pop_back();
    }
    closed_ = true;
  }

  // Defines an operator from its schema, with or without the namespace.
  Library& def(
      std::string_view schema,
      std::initializer_list<std::string_view> tags = {},
      Site site = Site::here()) {
    return defAt(schema, tags, site);
  }
  Library& def(
      const char* schema,
      std::initializer_list<std::string_view> tags,
      Site site = Site::here()) {
    return defAt(schema, tags, site);
  }
  // Generated code has thousands of these in a row, and compilers are slow at
  // long functions whose calls pass more than registers hold.
  TORCHGEN_LITE_COLD Library& def(
      const char* schema,
      Site site = Site::here()) {
    return defAt(schema, {}, site);
  }

  // Registers a kernel for an operator, which may be defined before or after.
  // The newest kernel of a key is used; older ones come back when it is
  // removed.
  // If neither this call nor the library names a key, it is
  // CompositeImplicitAutograd.
  Library& impl(
      std::string_view name,
      const KernelFunction& function,
      Site site = Site::here()) {
    return implAt(name, key_, function, site);
  }
  Library& impl(
      std::string_view name,
      DispatchKey key,
      const KernelFunction& function,
      Site site = Site::here()) {
    checkKey(name, key);
    return implAt(name, key, function, site);
  }
  // Generated code has thousands of these; a KernelFunction is made elsewhere.
  template <class F, F function>
  TORCHGEN_LITE_ALWAYS_INLINE Library& impl(
      const char* name,
      detail::Constant<F, function> constant,
      Site site = Site::here()) {
    return implConstant(
        name,
        constant.call(),
        constant.boxed(),
        constant.signature,
        site);
  }

  // Registers boxed(f) or fallthrough() for every operator that has no kernel
  // at a runtime key. A key has at most one fallback.
  Library& fallback(const KernelFunction& function, Site site = Site::here()) {
    return fallbackAt(key_, function, site);
  }
  Library& fallback(
      DispatchKey key,
      const KernelFunction& function,
      Site site = Site::here()) {
    checkKey("", key);
    return fallbackAt(key, function, site);
  }

  Dispatcher& dispatcher() const {
    return *dispatcher_;
  }

 private:
  const char* kindName() const {
    constexpr const char* names[] = {
        "TORCHGEN_LITE_LIBRARY",
        "TORCHGEN_LITE_LIBRARY_FRAGMENT",
        "TORCHGEN_LITE_LIBRARY_IMPL"};
    return names[kind_];
  }

  void checkOpen() const {
    if (closed_) {
      throw Error("this library for namespace " + ns_ + " is closed");
    }
  }

  // `name` is empty for a fallback.
  void checkKey(std::string_view name, DispatchKey key) const {
    if (key_.has_value() && *key_ != key) {
      throw Error(
          (name.empty() ? "fallback(...)"
                        : "impl(\"" + std::string(name) + "\", ...)") +
          ": Explicitly provided dispatch key (" + std::string(toString(key)) +
          ") is inconsistent with the dispatch key of the enclosing " +
          kindName() + " block (" + std::string(toString(*key_)) +
          ").  Please declare a separate " + kindName() +
          " block for this dispatch key and move your impl() there.  (" +
          site_.debug() + ")");
    }
  }

  Library& defAt(
      std::string_view schema,
      std::initializer_list<std::string_view> tags,
      Site site) {
    checkOpen();
    if (kind_ == IMPL) {
      throw Error(
          "def(\"" + std::string(schema) +
          "\"): Cannot define an operator inside of a "
          "TORCHGEN_LITE_LIBRARY_IMPL block.  All def()s should be placed in "
          "the (unique) TORCHGEN_LITE_LIBRARY block for their namespace.  (" +
          site_.debug() + ")");
    }
    const std::string_view name = schema.substr(0, schema.find('('));
    const std::size_t colons = name.rfind("::");
    std::string full(schema);
    if (colons == std::string_view::npos) {
      full = ns_ + "::" + std::string(detail::trimmed(schema));
    } else if (name.substr(0, colons) != ns_) {
      throw Error(
          "def(\"" + std::string(schema) +
          "\"): Explicitly provided namespace (" +
          std::string(name.substr(0, colons)) +
          ") in schema string does not match namespace of enclosing " +
          kindName() + " block (" + ns_ +
          ").  Move this definition to the (unique) TORCHGEN_LITE_LIBRARY block "
          "corresponding to this namespace (and consider deleting the namespace "
          "from your schema string.)  (" +
          site_.debug() + ")");
    }
    handles_.push_back(dispatcher_->registerDef(
        std::move(full),
        std::vector<std::string>(tags.begin(), tags.end()),
        site));
    return *this;
  }

  TORCHGEN_LITE_COLD Library& implConstant(
      const char* name,
      detail::AnyFunction unboxed,
      detail::BoxedFunction boxed,
      const detail::SignatureInfo& signature,
      Site site) {
    return implAt(name, key_, KernelFunction(unboxed, boxed, signature), site);
  }

  Library& implAt(
      std::string_view name,
      std::optional<DispatchKey> key,
      const KernelFunction& function,
      Site site) {
    checkOpen();
    const std::size_t colons = name.rfind("::");
    if (ns_ == "_") {
      throw Error(
          "impl(\"" + std::string(name) +
          "\", ...): kernels of operators cannot be registered in the wildcard namespace _  (" +
          site_.debug() + ")");
    }
    if (colons != std::string_view::npos && name.substr(0, colons) != ns_) {
      throw Error(
          "impl(\"" + std::string(name) +
          "\", ...): Explicitly provided namespace (" +
          std::string(name.substr(0, colons)) +
          ") in operator name does not match namespace of enclosing " +
          kindName() + " block (" + ns_ + ").  Move this definition to the " +
          kindName() +
          " block corresponding to this namespace (and consider deleting the "
          "namespace from your schema string.)  (" +
          site_.debug() + ")");
    }
    const std::string full = colons == std::string_view::npos
        ? ns_ + "::" + std::string(name)
        : std::string(name);
    handles_.push_back(dispatcher_->registerImpl(
        full,
        key.value_or(DispatchKey::CompositeImplicitAutograd),
        function,
        site));
    return *this;
  }

  Library& fallbackAt(
      std::optional<DispatchKey> key,
      const KernelFunction& function,
      Site site) {
    checkOpen();
    if (kind_ != IMPL || ns_ != "_") {
      throw Error(
          "fallback(...): Fallback can only be registered using "
          "TORCHGEN_LITE_LIBRARY_IMPL on the global namespace \"_\" but it is " +
          std::string(kindName()) + " on \"" + ns_ + "\"  (" + site_.debug() +
          ")");
    }
    if (!key.has_value()) {
      throw Error(
          "fallback(...): a fallback needs a dispatch key, and the enclosing "
          "block has none  (" +
          site_.debug() + ")");
    }
    handles_.push_back(dispatcher_->registerFallback(*key, function, site));
    return *this;
  }

  Kind kind_;
  std::string ns_;
  std::optional<DispatchKey> key_;
  Dispatcher* dispatcher_;
  Site site_;
  bool closed_ = false;
  std::vector<RegistrationHandle> handles_;
};

namespace detail {

// Runs a block of registrations when it is constructed.
class LibraryBlock final {
 public:
  LibraryBlock(
      Library::Kind kind,
      const char* ns,
      std::optional<DispatchKey> key,
      void (*block)(Library&),
      Site site)
      : library_(kind, ns, key, Dispatcher::singleton(), site) {
    block(library_);
  }

 private:
  Library library_;
};

} // namespace detail
} // namespace torchgen_lite

// `block` names what the two lines declare; it is unique in the program where
// necessary, and in the file otherwise.
#define TORCHGEN_LITE_BLOCK_(kind, ns, key, m, block)                      \
  static void block(::torchgen_lite::Library&);                            \
  static const ::torchgen_lite::detail::LibraryBlock TORCHGEN_LITE_CONCAT( \
      block,                                                               \
      _registration)(                                                      \
      ::torchgen_lite::Library::kind,                                      \
      #ns,                                                                 \
      key,                                                                 \
      &block,                                                              \
      ::torchgen_lite::Site{__FILE__, __LINE__});                          \
  static void block([[maybe_unused]] ::torchgen_lite::Library& m)

#define TORCHGEN_LITE_LIBRARY(ns, m) \
  TORCHGEN_LITE_BLOCK_(              \
      DEF,                           \
      ns,                            \
      ::std::nullopt,                \
      m,                             \
      TORCHGEN_LITE_CONCAT(torchgen_lite_def_, ns))

#define TORCHGEN_LITE_LIBRARY_FRAGMENT(ns, m) \
  TORCHGEN_LITE_BLOCK_(                       \
      FRAGMENT,                               \
      ns,                                     \
      ::std::nullopt,                         \
      m,                                      \
      TORCHGEN_LITE_CONCAT(torchgen_lite_fragment_, __COUNTER__))

#define TORCHGEN_LITE_LIBRARY_IMPL(ns, key, m) \
  TORCHGEN_LITE_BLOCK_(                        \
      IMPL,                                    \
      ns,                                      \
      ::torchgen_lite::DispatchKey::key,       \
      m,                                       \
      TORCHGEN_LITE_CONCAT(torchgen_lite_impl_, __COUNTER__))
