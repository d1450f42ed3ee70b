"""Codes 2xx: the syntax of a schema string."""

from __future__ import annotations

from .code import Code

SCHEMA_CODES = (
    Code(
        "TG200",
        "character that is not allowed in a schema",
        "error",
        "Schemas consist of names, numbers, strings and `( ) [ ] , * ! ? = | : . ->`.",
        "- func: relu(Tensor @self) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG201",
        "unexpected text",
        "error",
        "The grammar of schemas requires something else here.",
        "- func: relu(Tensor self; Tensor other) -> Tensor",
        "- func: relu(Tensor self, Tensor other) -> Tensor",
    ),
    Code(
        "TG202",
        "unknown type",
        "error",
        "The type is not in the schema language, which has its own names: `float` is a C++ double, `int` "
        "is an int64_t, `T[]` is a list. A single lower-case letter is a type variable.",
        "- func: relu(tensor self) -> tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG203",
        "duplicate name",
        "error",
        "Two arguments have the same name, so neither can be passed by keyword; or two results have, so no rule "
        "or formula can refer to one of them.",
        "- func: add(Tensor a, Tensor a) -> Tensor",
        "- func: add(Tensor a, Tensor b) -> Tensor",
    ),
    Code(
        "TG204",
        "invalid default value",
        "error",
        "Defaults are numbers, strings in quotes, True, False, None, named constants, and lists of these.",
        "- func: add(Tensor a, Scalar alpha=) -> Tensor",
        "- func: add(Tensor a, Scalar alpha=1) -> Tensor",
    ),
    Code(
        "TG205",
        "unclosed bracket",
        "error",
        "This bracket is never closed.",
        "- func: relu(Tensor self -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG206",
        "missing return type",
        "error",
        "Every schema ends with `->` and its return types; an operator that returns nothing has `-> ()`.",
        "- func: relu(Tensor self)",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG207",
        "misplaced `*`",
        "warning",
        "A `*` precedes the first keyword-only argument. A second one, or one with nothing after it, "
        "is accepted by PyTorch and has no meaning.",
        "- func: add(Tensor a, *) -> Tensor",
        "- func: add(Tensor a, *, Scalar alpha=1) -> Tensor",
    ),
    Code(
        "TG208",
        "malformed alias annotation",
        "error",
        "`(a)` means: may alias set a; `(a!)`: is written; `(a|b)`: either; `(a -> *)`: goes to the "
        "wildcard set. `Tensor!` is short for a separate set that is written. The annotation directly follows the "
        "tensor type: `Tensor(a!)?`, `Tensor(a!)[]`.",
        "- func: add_(Tensor(!a) self) -> Tensor(a!)",
        "- func: add_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG209",
        "empty schema",
        "error",
        "A schema is expected, and the text is empty.",
        '- func: ""',
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG210",
        "text after the schema",
        "error",
        "The schema ends before the text does.",
        "- func: relu(Tensor self) -> Tensor;",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG211",
        "`...` is not last",
        "error",
        "A variable number of arguments or returns can only come last.",
        "- func: f(..., Tensor x) -> Tensor",
        "- func: f(Tensor x, ...) -> Tensor",
    ),
    Code(
        "TG212",
        "type nested too deeply",
        "error",
        "Types may be nested 32 levels deep, far more than any operator needs.",
        "- func: f(int[][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][] x) -> ()",
        "- func: f(int[][] x) -> ()",
    ),
    Code(
        "TG213",
        "schema too long",
        "error",
        "A schema may have 65536 characters; the longest in PyTorch has less than two thousand.",
        """\
$ printf -- '- func: f(%s) -> ()' "$(yes 'int x, ' | head -n 9999 | tr -d '\\n')" > native_functions.yaml
$ torchgen-lite lint""",
        "- func: f(int x) -> ()",
    ),
    Code(
        "TG214",
        "missing argument name",
        "error",
        "Every argument has a type and a name.",
        "- func: relu(Tensor) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG215",
        "invalid operator name",
        "error",
        "Operators are named by identifiers: `namespace::name.overload`. The overload names `default` "
        "and those that begin with two underscores are reserved, and so is the namespace `_`, which "
        "stands for every namespace.",
        "- func: 6relu(Tensor self) -> Tensor",
        "- func: relu6(Tensor self) -> Tensor",
    ),
    Code(
        "TG216",
        "default on a return value",
        "error",
        "Only arguments have defaults.",
        "- func: relu(Tensor self) -> Tensor out=None",
        "- func: relu(Tensor self) -> Tensor out",
    ),
    Code(
        "TG217",
        "invalid list size",
        "error",
        "Brackets after a type are empty or contain the number of elements.",
        "- func: pool(int[x] size) -> ()",
        "- func: pool(int[2] size) -> ()",
    ),
    Code(
        "TG218",
        "the default does not fit the type",
        "error",
        "The default is not a value of the argument's type. Only an optional type, such as `Tensor?`, can be "
        "`None`.",
        "- func: add(Tensor a, int n=one) -> Tensor",
        "- func: add(Tensor a, int n=1) -> Tensor",
    ),
    Code(
        "TG220",
        "argument without a default after one that has a default",
        "error",
        "A caller who omits the earlier argument could not pass the later one by position. PyTorch's "
        "dispatcher refuses the schema when it is registered. Keyword-only arguments may have any order.",
        "- func: add(Tensor a, int n=1, int m) -> Tensor",
        "- func: add(Tensor a, int n=1, *, int m) -> Tensor",
    ),
    Code(
        "TG221",
        "out argument that is not written",
        "error",
        "A keyword-only tensor called `out` receives the result, and needs an annotation that says so. Without it "
        "the operator counts as functional: autograd and functionalization do not see what the kernel writes.",
        "- func: neg.out(Tensor self, *, Tensor out) -> Tensor",
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    Code(
        "TG222",
        "out argument with a default",
        "warning",
        "An out variant is called with a tensor to write to; without one, callers use the functional variant. An "
        "operator whose out argument has a default is not an out variant, so the functional operator has none.",
        "- func: neg.out(Tensor self, *, Tensor(a!)? out=None) -> Tensor(a!)?",
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    Code(
        "TG223",
        "too many arguments",
        "error",
        "An operator has at most 64 arguments: c10's dispatcher keeps a bit for each. It refuses one with more "
        "when the library is loaded.",
        f"- func: weigh({', '.join(f'Tensor w{number}' for number in range(65))}) -> Tensor",
        "- func: weigh(Tensor[] w) -> Tensor",
    ),
)
