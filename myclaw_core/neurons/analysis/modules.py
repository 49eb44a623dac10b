"""What a neuron may take from the standard library: attribute by attribute, never a module as a whole.

A module is listed only with names that read no file, start nothing, reach no network, tell no time, draw no chance and
lead to no other module.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["MODULES"]


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


MODULES: Mapping[str, frozenset[str]] = {
    "__future__": _names("annotations"),
    "abc": _names("ABC abstractmethod"),
    "base64": _names(
        "b16decode b16encode b32decode b32encode b64decode b64encode b85decode b85encode urlsafe_b64decode "
        "urlsafe_b64encode"
    ),
    "binascii": _names("Error crc32 hexlify unhexlify"),
    "bisect": _names("bisect bisect_left bisect_right insort insort_left insort_right"),
    "calendar": _names(
        "FRIDAY MONDAY SATURDAY SUNDAY THURSDAY TUESDAY WEDNESDAY day_abbr day_name isleap leapdays month_abbr "
        "month_name monthcalendar monthrange timegm weekday"
    ),
    "cmath": _names(
        "acos asin atan cos cosh e exp inf isclose isfinite log log10 nan phase pi polar rect sin sqrt tan"
    ),
    "collections": _names("ChainMap Counter OrderedDict defaultdict deque namedtuple"),
    "collections.abc": _names(
        "Awaitable Callable Collection Container Generator Hashable Iterable Iterator Mapping MutableMapping "
        "MutableSequence MutableSet Sequence Set Sized"
    ),
    "colorsys": _names("hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv"),
    "contextlib": _names("suppress"),
    "copy": _names("copy deepcopy"),
    "csv": _names(
        "DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer excel excel_tab "
        "reader unix_dialect writer"
    ),
    "dataclasses": _names("KW_ONLY asdict astuple dataclass field replace"),
    "datetime": _names("MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo"),
    "decimal": _names(
        "Context Decimal DecimalException DivisionByZero Inexact InvalidOperation ROUND_CEILING ROUND_DOWN ROUND_FLOOR "
        "ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP localcontext"
    ),
    "difflib": _names("Differ SequenceMatcher context_diff get_close_matches ndiff unified_diff"),
    "enum": _names("Enum Flag IntEnum IntFlag StrEnum auto unique"),
    "fnmatch": _names("filter fnmatch fnmatchcase translate"),
    "fractions": _names("Fraction"),
    "functools": _names("cache cached_property cmp_to_key lru_cache partial reduce total_ordering"),
    "graphlib": _names("CycleError TopologicalSorter"),
    "hashlib": _names("blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512"),
    "heapq": _names("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "hmac": _names("compare_digest digest"),
    "html": _names("escape unescape"),
    "io": _names("BytesIO StringIO"),
    "ipaddress": _names(
        "AddressValueError IPv4Address IPv4Network IPv6Address IPv6Network NetmaskValueError collapse_addresses "
        "ip_address ip_interface ip_network"
    ),
    "itertools": _names(
        "accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse "
        "groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest"
    ),
    "json": _names("JSONDecodeError dump dumps load loads"),
    "math": _names(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 "
        "expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf "
        "isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan perm pi pow prod "
        "radians remainder sin sinh sqrt tan tanh tau trunc ulp"
    ),
    "myclaw.runtime": _names("NeuronContext"),
    "numbers": _names("Complex Integral Number Rational Real"),
    "operator": _names(
        "add and_ concat contains countOf eq floordiv ge getitem gt index indexOf inv invert is_ is_not itemgetter le "
        "lshift lt mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor"
    ),
    "pathlib": _names("PurePath PurePosixPath PureWindowsPath"),
    "posixpath": _names("basename commonpath commonprefix dirname isabs join normpath relpath split splitext"),
    "pprint": _names("pformat"),
    "random": _names("Random"),
    "re": _names(
        "A ASCII DOTALL I IGNORECASE M MULTILINE Match NOFLAG Pattern RegexFlag S U UNICODE VERBOSE X compile error "
        "escape findall finditer fullmatch match search split sub subn"
    ),
    "shlex": _names("join quote split"),
    "statistics": _names(
        "NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean linear_regression mean "
        "median median_grouped median_high median_low mode multimode pstdev pvariance quantiles stdev variance"
    ),
    "string": _names(
        "Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable "
        "punctuation whitespace"
    ),
    "struct": _names("Struct calcsize error iter_unpack pack unpack unpack_from"),
    "textwrap": _names("TextWrapper dedent fill indent shorten wrap"),
    "tomllib": _names("TOMLDecodeError loads"),
    "typing": _names(
        "Annotated Any AnyStr Awaitable Callable ClassVar Collection Counter DefaultDict Deque Dict Final FrozenSet "
        "Generator Generic Hashable Iterable Iterator List Literal Mapping MutableMapping MutableSequence NamedTuple "
        "Never NewType NoReturn NotRequired Optional Pattern Protocol Required Self Sequence Set Sized TYPE_CHECKING "
        "Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union assert_never cast final overload"
    ),
    "unicodedata": _names(
        "bidirectional category combining decimal digit east_asian_width is_normalized lookup name normalize numeric"
    ),
    "urllib.parse": _names(
        "parse_qs parse_qsl quote quote_plus unquote unquote_plus urldefrag urlencode urljoin urlparse urlsplit "
        "urlunparse urlunsplit"
    ),
    "uuid": _names("NAMESPACE_DNS NAMESPACE_URL UUID uuid3 uuid5"),
    "zlib": _names("adler32 compress crc32 decompress error"),
}
