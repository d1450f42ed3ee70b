"""Codes 2xx: the syntax of a schema string."""

from __future__ import annotations

from .code import Code

SCHEMA_CODES = (
    Code(
        "TG200",
        "a character that has no place in a schema",
        "error",
        "Schemas consist of names, numbers, strings and `( ) [ ] , * ! ? = | : . ->`.",
        "- func: relu(Tensor @self) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG201",
        "unexpected text",
        "error",
        "The schema's grammar wants something else at this place.",
        "- func: relu(Tensor self; Tensor other) -> Tensor",
        "- func: relu(Tensor self, Tensor other) -> Tensor",
    ),
    Code(
        "TG202",
        "unknown type",
        "error",
        "The type is none of the schema language. It has its own names: `float` is C's double, `int` "
        "is int64_t, `T[]` is a list. A single small letter is a type variable.",
        "- func: relu(tensor self) -> tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG203",
        "duplicate name",
        "error",
        "Two arguments have the same name, so neither can be given by keyword; or two results, so no rule "
        "or formula can mean one of them.",
        "- func: add(Tensor a, Tensor a) -> Tensor",
        "- func: add(Tensor a, Tensor b) -> Tensor",
    ),
    Code(
        "TG204",
        "not a default value",
        "error",
        "Defaults are numbers, strings in quotes, True, False, None, named constants, and lists of these.",
        "- func: add(Tensor a, Scalar alpha=) -> Tensor",
        "- func: add(Tensor a, Scalar alpha=1) -> Tensor",
    ),
    Code(
        "TG205",
        "a bracket is not closed",
        "error",
        "The opening bracket has no partner.",
        "- func: relu(Tensor self -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG206",
        "no return type",
        "error",
        "Every schema says what it returns, after `->`; an operator that returns nothing says `-> ()`.",
        "- func: relu(Tensor self)",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG207",
        "misplaced `*`",
        "warning",
        "One `*` stands before the first keyword-only argument. A second one, or one with nothing "
        "behind it, is accepted by PyTorch and means nothing.",
        "- func: add(Tensor a, *) -> Tensor",
        "- func: add(Tensor a, *, Scalar alpha=1) -> Tensor",
    ),
    Code(
        "TG208",
        "malformed alias annotation",
        "error",
        "`(a)` means: may alias set a; `(a!)`: is written; `(a|b)`: either; `(a -> *)`: goes to the "
        "wildcard set. `Tensor!` is short for a set of its own that is written. It stands behind the tensor: "
        "`Tensor(a!)?`, `Tensor(a!)[]`.",
        "- func: add_(Tensor(!a) self) -> Tensor(a!)",
        "- func: add_(Tensor(a!) self) -> Tensor(a!)",
    ),
    Code(
        "TG209",
        "empty schema",
        "error",
        "There is no text where a schema is expected.",
        '- func: ""',
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG210",
        "text behind the schema",
        "error",
        "The schema ends before the text does.",
        "- func: relu(Tensor self) -> Tensor;",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG211",
        "`...` is not the last one",
        "error",
        "A variable number of arguments or returns can only come last.",
        "- func: f(..., Tensor x) -> Tensor",
        "- func: f(Tensor x, ...) -> Tensor",
    ),
    Code(
        "TG212",
        "type nested too deeply",
        "error",
        "Types may be nested 32 deep, which is far more than any operator has.",
        "- func: f(int[][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][][] x) -> ()",
        "- func: f(int[][] x) -> ()",
    ),
    Code(
        "TG213",
        "schema too long",
        "error",
        "A schema may have 65536 characters; PyTorch's longest has less than two thousand.",
        """\
$ printf -- '- func: f(%s) -> ()' "$(yes 'int x, ' | head -n 9999 | tr -d '\\n')" > native_functions.yaml
$ torchgen-lite lint""",
        "- func: f(int x) -> ()",
    ),
    Code(
        "TG214",
        "argument without a name",
        "error",
        "Every argument is a type and a name.",
        "- func: relu(Tensor) -> Tensor",
        "- func: relu(Tensor self) -> Tensor",
    ),
    Code(
        "TG215",
        "not an operator name",
        "error",
        "Operators are named by identifiers: `namespace::name.overload`. The overload names `default` "
        "and those that begin with two underscores are reserved.",
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
        "not a list size",
        "error",
        "Brackets behind a type are empty or hold the number of elements.",
        "- func: pool(int[x] size) -> ()",
        "- func: pool(int[2] size) -> ()",
    ),
    Code(
        "TG218",
        "the default does not fit the type",
        "error",
        "The default is a value, but not one of the argument's type. Only an optional type, `Tensor?`, has "
        "`None`.",
        "- func: add(Tensor a, int n=one) -> Tensor",
        "- func: add(Tensor a, int n=1) -> Tensor",
    ),
    Code(
        "TG220",
        "argument without a default behind one that has one",
        "error",
        "A caller who leaves the earlier argument out could not give the later one by position. PyTorch's "
        "dispatcher refuses the schema when it is registered. Keyword-only arguments have any order.",
        "- func: add(Tensor a, int n=1, int m) -> Tensor",
        "- func: add(Tensor a, int n=1, *, int m) -> Tensor",
    ),
    Code(
        "TG221",
        "out argument that is not written",
        "error",
        "A keyword-only tensor called `out` is where the result goes, and its annotation says so. Without it "
        "the operator counts as functional: autograd and functionalization pass over what the kernel writes.",
        "- func: neg.out(Tensor self, *, Tensor out) -> Tensor",
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    Code(
        "TG222",
        "out argument with a default",
        "warning",
        "An out variant is called with a tensor to write to; without one the functional variant is meant. An "
        "argument with a default makes no out variant, so none is found for the functional operator.",
        "- func: neg.out(Tensor self, *, Tensor(a!)? out=None) -> Tensor(a!)?",
        "- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ),
    Code(
        "TG223",
        "too many arguments",
        "error",
        "An operator has at most 64 arguments: c10's dispatcher keeps a bit for each. A registration of more is refused "
        "when a library is loaded, so this is said before.",
        f"- func: weigh({', '.join(f'Tensor w{number}' for number in range(65))}) -> Tensor",
        "- func: weigh(Tensor[] w) -> Tensor",
    ),
)
