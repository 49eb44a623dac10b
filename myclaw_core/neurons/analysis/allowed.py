"""Which kinds of syntax, built-in names and attributes a neuron may use; whatever is not listed is refused."""

from __future__ import annotations

import ast

__all__ = [
    "ATTRIBUTES",
    "BUILTINS",
    "CALLED_ONLY",
    "CLASS_BASES",
    "DECORATORS",
    "IMPORT_CALLS",
    "IMPORT_METHODS",
    "METHODS",
    "NEVER_ATTRIBUTES",
    "NODES",
]


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


NODES: frozenset[type[ast.AST]] = frozenset(
    {
        *(ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.arguments, ast.arg),
        *(
            ast.Return,
            ast.Delete,
            ast.Assign,
            ast.AugAssign,
            ast.AnnAssign,
            ast.Expr,
            ast.Pass,
            ast.Break,
            ast.Continue,
        ),
        *(ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Raise, ast.Try, ast.ExceptHandler, ast.Assert),
        *(ast.Import, ast.ImportFrom, ast.alias, ast.Nonlocal),
        *(ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchMapping),
        *(ast.MatchClass, ast.MatchStar, ast.MatchAs, ast.MatchOr),
        *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Await),
        *(ast.Dict, ast.Set, ast.List, ast.Tuple, ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Starred),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Yield, ast.YieldFrom),
        *(ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.keyword, ast.Load, ast.Store, ast.Del),
        *(ast.And, ast.Or, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow, ast.LShift, ast.RShift),
        *(ast.BitOr, ast.BitXor, ast.BitAnd, ast.FloorDiv, ast.MatMult, ast.Invert, ast.Not, ast.UAdd, ast.USub),
        *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn),
    }
)

BUILTINS = _names(
    "ArithmeticError AssertionError ConnectionError EOFError Exception FileExistsError FileNotFoundError IOError "
    "IndexError IsADirectoryError KeyError LookupError NotADirectoryError NotImplemented NotImplementedError OSError "
    "OverflowError PermissionError RecursionError RuntimeError StopIteration TimeoutError TypeError "
    "UnicodeDecodeError UnicodeEncodeError UnicodeError ValueError ZeroDivisionError "
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float "
    "format frozenset hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print "
    "property range repr reversed round set slice sorted staticmethod str sum super tuple type zip"
)

CALLED_ONLY = _names("print super type")
"""Built-ins that may be called and nothing else: `print` with text, `super()`, `type(x)` in a comparison."""

ATTRIBUTES = _names(
    # text and bytes; `format` only on a literal, see `strings.py`
    "capitalize casefold center count decode encode endswith expandtabs find format fromhex hex index isalnum isalpha "
    "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower "
    "lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split "
    "splitlines startswith strip swapcase title translate upper zfill "
    # numbers
    "adjusted as_integer_ratio as_tuple bit_count bit_length conjugate denominator exp from_bytes imag is_finite "
    "is_infinite is_integer is_nan is_signed is_zero limit_denominator ln log10 normalize numerator quantize real "
    "scaleb sqrt to_bytes to_integral_value prec rounding "
    # containers
    "add append appendleft clear copy difference difference_update discard elements extend extendleft fromkeys get "
    "insert intersection intersection_update isdisjoint issubset issuperset items keys maxlen most_common "
    "move_to_end new_child parents pop popitem popleft remove reverse rotate setdefault sort start step stop subtract "
    "symmetric_difference symmetric_difference_update total union update values from_iterable "
    # dates
    "astimezone combine ctime date day days dst fold fromisocalendar fromisoformat fromordinal fromtimestamp hour "
    "isocalendar isoformat isoweekday max microsecond microseconds min minute month second seconds strftime strptime "
    "time timestamp timetuple toordinal total_seconds tzinfo tzname utc utcoffset week weekday year "
    # files of ctx.open, io and csv
    "close closed dialect fieldnames flush getvalue has_header line_num read readable readline readlines seek seekable "
    "sniff tell truncate writable write writeheader writelines writerow writerows delimiter line_buffering "
    # regular expressions
    "end expand finditer findall flags fullmatch group groupdict groupindex groups lastgroup lastindex match pattern "
    "pos search span string sub subn "
    # digests, packing
    "block_size digest digest_size hexdigest iter_unpack pack size unpack unpack_from "
    # pure paths, addresses, parts of a URL
    "as_posix broadcast_address compressed exploded fragment geturl hostname hosts is_absolute is_global "
    "is_link_local is_loopback is_multicast is_private is_relative_to is_reserved joinpath name netloc netmask "
    "network_address num_addresses overlaps parent parts path port prefixlen query relative_to root scheme stem "
    "subnet_of subnets suffix suffixes supernet version with_name with_stem with_suffix "
    # statistics, differences, templates, graphs, seeded chance, errors, enumerations, caches
    "cdf from_samples intercept inv_cdf mean median mode overlap pdf quantiles samples slope stdev variance zscore "
    "a b compare find_longest_match get_matching_blocks get_opcodes quick_ratio ratio real_quick_ratio safe_substitute "
    "substitute done get_ready is_active prepare static_order betavariate choice choices expovariate gauss "
    "getrandbits normalvariate randint random randrange sample shuffle triangular uniform "
    "args colno doc errno lineno msg reason strerror value cache_clear cache_info fill wrap int"
)

NEVER_ATTRIBUTES = _names(
    "ag_await ag_code ag_frame ag_running ag_suspended co_argcount co_cellvars co_code co_consts "
    "co_exceptiontable co_filename co_firstlineno co_flags co_freevars co_kwonlyargcount co_lines co_linetable "
    "co_lnotab co_name co_names co_nlocals co_positions co_posonlyargcount co_qualname co_stacksize co_varnames "
    "cr_await cr_code cr_frame cr_origin cr_running cr_suspended f_back f_builtins f_code f_globals f_lasti "
    "f_lineno f_locals f_trace f_trace_lines f_trace_opcodes gi_code gi_frame gi_running gi_suspended "
    "gi_yieldfrom tb_frame tb_lasti tb_lineno tb_next "
    "asend athrow aclose send throw format_map func_globals func_code mro with_traceback obj now today utcnow "
    "utcfromtimestamp"
)
"""Attributes that lead to frames, code, types or the clock; no class of the neuron may have one either.

A positional pattern such as `case Holder(x)` reads the attributes that the class names as its fields.
"""

METHODS = _names("__init__ __iter__ __len__ __lt__ __next__ __post_init__ __repr__ __str__")
"""The only names with a leading underscore, besides `_`: methods a class may define."""

DECORATORS = _names(
    "abc.abstractmethod classmethod dataclasses.dataclass enum.unique functools.cache functools.cached_property "
    "functools.lru_cache functools.total_ordering property staticmethod typing.final typing.overload"
)

CLASS_BASES = _names(
    "ArithmeticError Exception KeyError LookupError OSError RuntimeError TypeError ValueError abc.ABC dict "
    "enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.StrEnum int list object str typing.Generic typing.NamedTuple "
    "typing.Protocol typing.TypedDict"
)

IMPORT_CALLS = _names(
    "bytes bytes.fromhex collections.Counter collections.OrderedDict collections.defaultdict collections.deque "
    "collections.namedtuple dataclasses.dataclass dataclasses.field datetime.date datetime.datetime datetime.time "
    "datetime.timedelta datetime.timezone decimal.Context decimal.Decimal dict dict.fromkeys enum.auto float "
    "fractions.Fraction frozenset functools.lru_cache int ipaddress.ip_address ipaddress.ip_network list math.cos "
    "math.exp math.log math.log10 math.log2 math.radians math.sin math.sqrt operator.itemgetter pathlib.PurePosixPath "
    "range re.compile set str str.maketrans string.Template struct.Struct textwrap.dedent tuple typing.NamedTuple "
    "typing.NewType typing.TypeVar uuid.UUID"
)
"""What may be called while the file is imported: it only makes a value."""

IMPORT_METHODS = _names("casefold encode lower lstrip rstrip split splitlines strip upper")
"""What may be called of a literal text while the file is imported."""
