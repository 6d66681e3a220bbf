"""Statements drawn at random over the canonical tables, in SQL that DuckDB understands too.

Expressions are drawn by type, so that few statements are refused, and without more parentheses than they need: how operators bind
is compared as well.
"""

import random

WHOLE, REAL, TEXT, TRUTH = "whole", "real", "text", "truth"

# The columns of each source by type, and those that name a row.
SOURCES = {
    "kernels": (
        {
            WHOLE: ["process", "dispatch_id", "gpu", "rank", "duration_ns", "grid_x", "lds_bytes", "graph_exec_id", "correlation_id"],
            TEXT: ["category", "short_name", "region_name"],
            TRUTH: ["valid"],
            REAL: [],
        },
        ["process", "dispatch_id", "start_ns"],
    ),
    "memory_copies": (
        {
            WHOLE: ["process", "copy_id", "gpu", "peer_gpu", "bytes", "duration_ns", "rank"],
            TEXT: ["direction"],
            TRUTH: ["valid"],
            REAL: [],
        },
        ["process", "copy_id"],
    ),
    "regions": (
        {
            WHOLE: ["process", "region_id", "rank", "duration_ns", "parent_correlation_id", "tid"],
            TEXT: ["domain", "name", "message"],
            TRUTH: ["valid"],
            REAL: [],
        },
        ["process", "region_id"],
    ),
    "memory_allocations": (
        {
            WHOLE: ["process", "alloc_id", "gpu", "bytes", "flags", "duration_ns", "rank"],
            TEXT: ["operation", "level"],
            TRUTH: ["valid"],
            REAL: [],
        },
        ["process", "alloc_id"],
    ),
    "agents": (
        {
            WHOLE: ["process", "agent_id", "gpu", "cu_count", "num_xcc", "device", "rank"],
            TEXT: ["agent_type", "name"],
            TRUTH: [],
            REAL: [],
        },
        ["process", "agent_id"],
    ),
    "(VALUES (1, 2, 'gemm', 0.5e0, true), (2, NULL, NULL, -1.25e0, false), (3, -7, 'GPU', NULL, NULL), (4, 0, '', 2e0, true),"
    " (5, 2, 'H2D', 1e3, NULL))": (
        {WHOLE: ["n", "m"], TEXT: ["word"], TRUTH: ["flag"], REAL: ["x"]},
        ["n"],
    ),
}
VALUES = next(source for source in SOURCES if source.startswith("(VALUES"))
TABLES = [source for source in SOURCES if source != VALUES]
# Columns whose values two sources share.
SHARED = ["process", "gpu", "rank"]
TEXTS = ["gemm", "GPU", "H2D", "e", "", "hip", "copy", "D2H"]
PATTERNS = ["%e%", "g%", "%_", "H2_", "%", "", "a_t%"]


class Scope:
    """Columns that an expression may have, by type, as they are written."""

    def __init__(self, columns, keys):
        self.columns, self.keys = columns, keys

    @staticmethod
    def of(source, alias=None):
        columns, keys = SOURCES[source]
        prefix = f"{alias}." if alias else ""
        return Scope({kind: [prefix + name for name in names] for kind, names in columns.items()}, [prefix + key for key in keys])

    def joined(self, other):
        return Scope({kind: names + other.columns[kind] for kind, names in self.columns.items()}, self.keys + other.keys)


class Draw:
    """Draws statements."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.choice, self.chance = self.random.choice, lambda share: self.random.random() < share

    # Expressions

    def expression(self, kind, scope, depth):
        return {WHOLE: self.whole, REAL: self.real, TEXT: self.text, TRUTH: self.truth}[kind](scope, depth)

    def column(self, kind, scope):
        names = scope.columns[kind]
        return self.choice(names) if names else self.literal(kind)

    def literal(self, kind):
        if kind == WHOLE:
            return self.choice(["0", "1", "2", "3", "-1", "7", "1000", "100000", "NULL"])
        if kind == REAL:
            return self.choice(["0.5e0", "-2e0", "1e3", "3e0", "1.25e0"])
        if kind == TEXT:
            return f"'{self.choice(TEXTS)}'"
        return self.choice(["true", "false", "NULL"])

    def leaf(self, kind, scope):
        return self.column(kind, scope) if self.chance(0.8) else self.literal(kind)

    def whole(self, scope, depth):
        if depth <= 0:
            return self.leaf(WHOLE, scope)
        one, other = (lambda: self.whole(scope, depth - 1)), (lambda kind: self.expression(kind, scope, depth - 1))
        return self.choice(
            [
                lambda: self.leaf(WHOLE, scope),
                lambda: f"{one()} + {one()}",
                lambda: f"{one()} - {self.leaf(WHOLE, scope)}",
                lambda: f"{self.leaf(WHOLE, scope)} * {self.choice(['2', '3', '-1'])} + {one()}",
                lambda: f"{self.leaf(WHOLE, scope)} % {self.choice(['2', '3', '7', '-4'])}",
                lambda: f"{self.leaf(WHOLE, scope)} // {self.choice(['2', '3', '-5', '1000'])}",
                lambda: f"({one()})",
                lambda: f"-({one()})",
                lambda: f"abs({one()})",
                lambda: f"coalesce({one()}, {one()})",
                lambda: f"nullif({one()}, {one()})",
                lambda: f"greatest({one()}, {one()})",
                lambda: f"least({one()}, {self.leaf(WHOLE, scope)})",
                lambda: f"length({other(TEXT)})",
                lambda: f"strpos({other(TEXT)}, '{self.choice(['e', 'G', '_', '.'])}')",
                lambda: f"CAST({other(TRUTH)} AS INTEGER)",
                lambda: f"CAST({other(REAL)} AS BIGINT)",
                lambda: f"CASE WHEN {other(TRUTH)} THEN {one()} ELSE {one()} END",
                lambda: f"CASE {one()} WHEN 1 THEN {one()} WHEN {self.leaf(WHOLE, scope)} THEN 5 END",
                lambda: self.scalar(WHOLE),
            ]
        )()

    def real(self, scope, depth):
        if depth <= 0:
            return self.leaf(REAL, scope)
        one, whole = (lambda: self.real(scope, depth - 1)), (lambda: self.whole(scope, depth - 1))
        return self.choice(
            [
                lambda: self.leaf(REAL, scope),
                lambda: f"{one()} + {whole()}",
                lambda: f"{self.leaf(WHOLE, scope)} / {self.choice(['2', '4', '1000', '-8'])}",
                lambda: f"{self.leaf(WHOLE, scope)} * {self.choice(['0.5e0', '1e-3', '2e0'])}",
                lambda: f"round({self.leaf(WHOLE, scope)} / 8, {self.choice(['0', '1', '2'])})",
                lambda: f"{self.literal(REAL)} + {self.leaf(WHOLE, scope)} % 5 * 2 ^ 2",
                lambda: f"sqrt(abs({one()}))",
                lambda: f"floor({one()})",
                lambda: f"ceil({one()})",
                lambda: f"coalesce({one()}, {one()})",
                lambda: f"CAST({whole()} AS DOUBLE)",
                lambda: f"CASE WHEN {self.truth(scope, depth - 1)} THEN {one()} END",
                lambda: self.scalar(REAL),
            ]
        )()

    def text(self, scope, depth):
        if depth <= 0:
            return self.leaf(TEXT, scope)
        one = lambda: self.text(scope, depth - 1)
        return self.choice(
            [
                lambda: self.leaf(TEXT, scope),
                lambda: f"upper({one()})",
                lambda: f"lower({one()})",
                lambda: f"substr({one()}, {self.choice(['1', '2', '-3'])}, {self.choice(['1', '3'])})",
                lambda: f"{one()} || {self.leaf(TEXT, scope)}",
                lambda: f"concat({one()}, '-', {self.leaf(WHOLE, scope)})",
                lambda: f"replace({one()}, 'e', 'E')",
                lambda: f"left({one()}, 2)",
                lambda: f"trim({one()})",
                lambda: f"coalesce({one()}, {one()})",
                lambda: f"nullif({one()}, {self.literal(TEXT)})",
                lambda: f"CASE WHEN {self.truth(scope, depth - 1)} THEN {one()} ELSE {one()} END",
                lambda: f"CAST({self.leaf(WHOLE, scope)} AS VARCHAR)",
                lambda: self.scalar(TEXT),
            ]
        )()

    def truth(self, scope, depth):
        if depth <= 0:
            return self.leaf(TRUTH, scope) if scope.columns[TRUTH] and self.chance(0.4) else self.comparison(scope, 0)
        one = lambda: self.truth(scope, depth - 1)
        kind = self.choice([WHOLE, WHOLE, TEXT, REAL, TRUTH])
        value = lambda: self.expression(kind, scope, depth - 1)
        # An operand of an operator needs parentheses if it is an operator that binds less.
        side = lambda: f"({self.truth(scope, depth - 1)})" if kind == TRUTH else value()
        return self.choice(
            [
                lambda: self.comparison(scope, depth),
                lambda: f"{one()} AND {one()}",
                lambda: f"{one()} OR {one()}",
                lambda: f"NOT {one()}",
                lambda: f"({one()})",
                lambda: f"{side()} IS DISTINCT FROM {side()}",
                lambda: f"{side()} IS NOT DISTINCT FROM {side()}",
                lambda: f"{side()} IS DISTINCT FROM {side()} AND {one()}",
                lambda: f"{one()} OR {side()} IS NOT DISTINCT FROM {side()} AND {one()}",
                lambda: f"{side()} IS NULL",
                lambda: f"{side()} IS NOT NULL",
                lambda: f"({one()}) IS {self.choice(['TRUE', 'FALSE', 'NOT TRUE', 'NOT FALSE', 'UNKNOWN', 'NOT UNKNOWN'])}",
                lambda: f"CASE WHEN {one()} THEN {one()} ELSE {one()} END",
                lambda: f"coalesce({one()}, {one()})",
                lambda: self.exists(),
            ]
        )()

    def comparison(self, scope, depth):
        kind = self.choice([WHOLE, WHOLE, WHOLE, TEXT, REAL])
        value = lambda: self.expression(kind, scope, depth - 1)
        literal = lambda: self.literal(kind)
        compared = f"{value()} {self.choice(['=', '<>', '<', '<=', '>', '>='])} {value()}"
        if kind == TEXT and self.chance(0.4):
            return f"{value()} {self.choice(['LIKE', 'NOT LIKE', 'ILIKE'])} '{self.choice(PATTERNS)}'"
        return self.choice(
            [
                lambda: compared,
                lambda: compared,
                lambda: f"{value()} BETWEEN {literal()} AND {value()}",
                lambda: f"{value()} NOT BETWEEN {literal()} AND {literal()}",
                lambda: f"{value()} IN ({literal()}, {literal()})",
                lambda: f"{value()} NOT IN ({literal()}, {literal()}, {literal()})",
            ]
        )()

    def scalar(self, kind):
        source = self.choice(TABLES)
        scope = Scope.of(source)
        where = f" WHERE {self.truth(scope, 0)}" if self.chance(0.5) else ""
        if kind == TEXT:
            return f"(SELECT {self.choice(['min', 'max'])}({self.column(TEXT, scope)}) FROM {source}{where})"
        if kind == REAL:
            return f"(SELECT avg({self.column(WHOLE, scope)}) FROM {source}{where})"
        call = self.choice(["max({})", "min({})", "count({})", "count(DISTINCT {})"])
        return f"(SELECT {call.format(self.column(WHOLE, scope))} FROM {source}{where})"

    def exists(self):
        source = self.choice(TABLES)
        return f"EXISTS (SELECT 1 FROM {source} WHERE {self.truth(Scope.of(source), 0)})"

    def aggregate(self, scope, depth):
        """An aggregate with the type of its values."""
        whole = lambda: self.whole(scope, depth)
        kind, call = self.choice(
            [
                (WHOLE, lambda: "count(*)"),
                (WHOLE, lambda: f"count({self.expression(self.choice([WHOLE, TEXT]), scope, depth)})"),
                (WHOLE, lambda: f"count(DISTINCT {self.column(self.choice([WHOLE, TEXT]), scope)})"),
                (WHOLE, lambda: f"sum({whole()})"),
                (WHOLE, lambda: f"min({whole()})"),
                (WHOLE, lambda: f"max({whole()})"),
                (WHOLE, lambda: f"count_if({self.truth(scope, depth)})"),
                (REAL, lambda: f"avg({whole()})"),
                (REAL, lambda: f"median({whole()})"),
                (REAL, lambda: f"quantile_cont({self.column(WHOLE, scope)}, {self.choice(['0.25', '0.5', '0.9'])})"),
                (WHOLE, lambda: f"quantile_disc({self.column(WHOLE, scope)}, {self.choice(['0.25', '0.5', '0.9'])})"),
                (REAL, lambda: f"{self.choice(['var_pop', 'stddev_pop', 'var_samp', 'stddev'])}({self.column(WHOLE, scope)})"),
                (TEXT, lambda: f"{self.choice(['min', 'max'])}({self.text(scope, depth)})"),
                (TRUTH, lambda: f"{self.choice(['bool_and', 'bool_or'])}({self.truth(scope, depth)})"),
            ]
        )
        filtered = f" FILTER (WHERE {self.truth(scope, depth)})" if self.chance(0.25) else ""
        return kind, call() + filtered

    def window(self, scope):
        keys = ", ".join(scope.keys)
        part = f"PARTITION BY {self.column(self.choice([WHOLE, TEXT]), scope)}" if self.chance(0.6) else ""
        by = self.column(WHOLE, scope)
        order = f"ORDER BY {by}{self.choice(['', ' DESC', ' NULLS FIRST', ' DESC NULLS FIRST'])}"
        total = f"{order}, {keys}"
        value = self.column(WHOLE, scope)
        over = lambda *parts: f"OVER ({' '.join(part for part in parts if part)})"
        frame = self.choice(
            [
                "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
                "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
                "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            ]
        )
        return self.choice(
            [
                lambda: f"row_number() {over(part, total)}",
                lambda: f"rank() {over(part, order)}",
                lambda: f"dense_rank() {over(part, order)}",
                lambda: f"percent_rank() {over(part, order)}",
                lambda: f"cume_dist() {over(part, order)}",
                lambda: f"ntile({self.choice('345')}) {over(part, total)}",
                lambda: f"lag({value}) {over(part, total)}",
                lambda: f"lead({value}, 2, -1) {over(part, total)}",
                lambda: f"first_value({value}) {over(part, total)}",
                lambda: f"last_value({self.column(TEXT, scope)}) {over(part, total)}",
                lambda: f"{self.choice(['sum', 'min', 'max', 'avg', 'count'])}({value}) {over(part)}",
                lambda: f"{self.choice(['sum', 'min', 'max', 'count'])}({value}) {over(part, order)}",
                lambda: f"{self.choice(['sum', 'min', 'max', 'avg'])}({value}) {over(part, total, frame)}",
                lambda: f"count(*) {over(part)}",
            ]
        )()

    # Statements

    def where(self, scope, share=0.6):
        return f" WHERE {self.truth(scope, self.choice([1, 1, 2, 3]))}" if self.chance(share) else ""

    def limit(self):
        return f" LIMIT {self.choice(['3', '10', '40'])}{self.choice(['', '', ' OFFSET 2'])}"

    def source(self):
        """A FROM clause of one relation, and its columns."""
        source = self.choice([*TABLES, "kernels", VALUES])
        alias = " AS t(n, m, word, x, flag)" if source == VALUES else ""
        return source + alias, Scope.of(source)

    def rows(self):
        source, scope = self.source()
        kinds = [self.choice([WHOLE, WHOLE, REAL, TEXT, TRUTH]) for _ in range(self.choice([1, 2, 3]))]
        items = [f"{self.expression(kind, scope, self.choice([1, 2]))} AS c{at}" for at, kind in enumerate(kinds)]
        if self.chance(0.25):
            items.append(f"{self.window(scope)} AS w")
        order = [self.choice(["c0", "c0 DESC", "c0 NULLS FIRST"]), *scope.keys]
        return f"SELECT {', '.join(items)} FROM {source}{self.where(scope)} ORDER BY {', '.join(order)}{self.limit()}"

    def windows(self):
        source, scope = self.source()
        items = [f"{self.window(scope)} AS w{at}" for at in range(self.choice([1, 2]))]
        if self.chance(0.4):
            items.append(f"{self.scalar(self.choice([WHOLE, TEXT, REAL]))} AS s")
        if self.chance(0.3):
            items.append(f"{self.window(scope)} + {self.leaf(WHOLE, scope)} AS v")
        keys = ", ".join(scope.keys)
        statement = f"SELECT {keys}, {', '.join(items)} FROM {source}{self.where(scope, 0.3)}"
        if self.chance(0.2):
            return f"SELECT * FROM ({statement}) WHERE w0 IS NOT NULL ORDER BY ALL"
        return f"{statement} ORDER BY {keys}{self.limit()}"

    def alike(self):
        """Rows in which all items are the same."""
        source, scope = self.source()
        none = Scope({kind: [] for kind in scope.columns}, [])
        call = self.choice(["sum({})", "avg({})", "count({})", "min({})"]).format(self.column(WHOLE, scope))
        kind = self.choice([WHOLE, REAL, TEXT, TRUTH])
        draws = [f"{call} OVER ()", f"{call} OVER () + 1", "count(*) OVER ()", self.expression(kind, none, 1), self.expression(kind, none, 1)]
        items = [f"{item} AS c{at}" for at, item in enumerate(self.random.sample(draws, self.choice([1, 1, 2])))]
        rest = self.choice(["", "", f" ORDER BY {', '.join(scope.keys)}"])
        distinct = "DISTINCT " if not rest and self.chance(0.3) else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {source}{self.where(scope)}{rest}"

    def grouped(self, source, scope):
        kinds = self.choice([[], [WHOLE], [TEXT], [WHOLE, TEXT], [TRUTH]])
        keys = [self.expression(kind, scope, self.choice([0, 0, 1])) for kind in kinds]
        keys = [key for key in keys if key != "NULL" and not key.lstrip("-").isdigit()]
        calls = [self.aggregate(scope, self.choice([0, 1])) for _ in range(self.choice([1, 2, 3]))]
        items = [f"{key} AS k{at}" for at, key in enumerate(keys)] + [f"{call} AS a{at}" for at, (_, call) in enumerate(calls)]
        group = f" GROUP BY {self.written_keys(keys)}" if keys else ""
        if keys and self.chance(0.3):
            at = self.random.randrange(len(keys))
            items.append(self.choice([f"k{at} IS NULL AS m", f"concat({keys[at]}, '.', count(*)) AS m", f"coalesce({keys[at]}, k{at}) AS m"]))
        if kinds and scope.columns[WHOLE] and self.chance(0.15):
            return self.renamed(source, scope)
        having = ""
        if self.chance(0.3):
            numbers = [call for kind, call in calls if kind in (WHOLE, REAL)] or ["count(*)"]
            condition = self.choice(["{} > 1", "{} IS NOT NULL", "{} IS DISTINCT FROM 3 AND count(*) > 1", "{} BETWEEN 0 AND 1000000"])
            having = f" HAVING {condition.format(self.choice(numbers))}"
        order = "ALL"
        if keys and self.chance(0.2):
            order = ", ".join([self.choice(keys), *(f"k{at}" for at in range(len(keys)))])
        return f"SELECT {', '.join(items)} FROM {source}{self.where(scope, 0.5)}{group}{having} ORDER BY {order}"

    def written_keys(self, keys):
        """Keys of groups as people write them."""
        names = [f"k{at}" for at in range(len(keys))]
        return ", ".join(self.choice([names, names, [str(at + 1) for at in range(len(keys))], keys, ["ALL"]]))

    def renamed(self, source, scope):
        """Groups whose aggregate has the name of a column, by which HAVING chooses."""
        key, column = self.choice(scope.keys[:1]), self.choice(scope.columns[WHOLE])
        name = column.rpartition(".")[2]
        call = self.choice(["sum({})", "max({})", "count({})"]).format(column)
        condition = self.choice([f"{name} > 2", f"{name} IS NOT NULL AND count(*) > 1", f"NOT {name} < 100"])
        return f"SELECT {key} AS k0, {call} AS {name} FROM {source} GROUP BY {key} HAVING {condition} ORDER BY k0"

    def groups(self):
        return self.grouped(*self.source())

    def join(self):
        """A FROM clause of two relations that are joined, and its columns."""
        one, other = self.random.sample(TABLES, 2)
        left, right = Scope.of(one, "a"), Scope.of(other, "b")
        if self.chance(0.2):
            kind = self.choice(["JOIN", "LEFT JOIN"])
            right = Scope.of(VALUES, "b")
            on = self.choice([f"{self.column(TEXT, left)} = b.word", f"{self.column(WHOLE, left)} = b.n"])
            return f"{one} a {kind} {VALUES} AS b(n, m, word, x, flag) ON {on}", left.joined(right)
        kind = self.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"])
        shared = [key for key in SHARED if key in SOURCES[one][0][WHOLE] and key in SOURCES[other][0][WHOLE]]
        keys = self.random.sample(shared, self.choice([1, 2]))
        conditions = [f"a.{key} = b.{key}" for key in keys]
        scope = left if kind in ("SEMI JOIN", "ANTI JOIN") else left.joined(right)
        if kind == "JOIN" and self.chance(0.4):
            conditions.append(self.choice([self.truth(scope, 0), "a.process < b.rank"]))
        return f"{one} a {kind} {other} b ON {' AND '.join(conditions)}", scope

    def joined(self):
        source, scope = self.join()
        if self.chance(0.6):
            return self.grouped(source, scope)
        kinds = [self.choice([WHOLE, TEXT, TRUTH]) for _ in range(2)]
        items = [f"{self.expression(kind, scope, 1)} AS c{at}" for at, kind in enumerate(kinds)]
        order = ", ".join(["c0", "c1", *scope.keys])
        return f"SELECT {', '.join(items)} FROM {source}{self.where(scope, 0.4)} ORDER BY {order}{self.limit()}"

    def side(self, kinds):
        """One side of a set operation, with columns of these types."""
        source, scope = self.source()
        items = [f"{self.expression(kind, scope, 1)} AS c{at}" for at, kind in enumerate(kinds)]
        return f"SELECT {', '.join(items)} FROM {source}{self.where(scope, 0.5)}"

    def united(self):
        kinds = [self.choice([WHOLE, TEXT]) for _ in range(2)]
        operators = [self.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]) for _ in range(self.choice([1, 1, 2]))]
        sides = [self.side(kinds) for _ in range(len(operators) + 1)]
        body = sides[0] + "".join(f" {operator} {side}" for operator, side in zip(operators, sides[1:]))
        return f"{body} ORDER BY ALL" if self.chance(0.5) else f"SELECT c0, count(*) AS n, max(c1) AS m FROM ({body}) GROUP BY c0 ORDER BY ALL"

    def nested(self):
        source, scope = self.source()
        items = {kind: self.expression(kind, scope, 1) for kind in (WHOLE, REAL, TEXT, TRUTH)}
        listed = ", ".join(f"{text} AS {kind}_" for kind, text in items.items())
        inner = f"SELECT {listed}, {scope.keys[0]} AS key_ FROM {source}{self.where(scope, 0.4)}"
        inner_scope = Scope({kind: [f"{kind}_"] for kind in items}, ["key_"])
        outer = self.grouped("t", inner_scope)
        return f"WITH t AS ({inner}) {outer}" if self.chance(0.5) else outer.replace("FROM t", f"FROM ({inner}) AS t", 1)

    def member(self):
        source, scope = self.choice([(table, Scope.of(table, "o")) for table in TABLES])
        other = self.choice(TABLES)
        inner = Scope.of(other, "i")
        more = f" AND {self.truth(inner, 1)}" if self.chance(0.5) else ""
        condition = self.choice(
            [
                lambda: f"o.{self.choice(SHARED[::2])} IN (SELECT i.{self.choice(SHARED[::2])} FROM {other} i WHERE true{more})",
                lambda: f"o.process NOT IN (SELECT i.rank FROM {other} i WHERE i.rank IS NOT NULL{more})",
                lambda: f"EXISTS (SELECT 1 FROM {other} i WHERE i.process = o.process{more})",
                lambda: f"NOT EXISTS (SELECT 1 FROM {other} i WHERE i.rank = o.rank{more})",
            ]
        )()
        rest = f" AND ({self.truth(scope, 1)})" if self.chance(0.5) else ""
        _, call = self.aggregate(scope, 1)
        return f"SELECT count(*) AS n, {call} AS a FROM {source} o WHERE {condition}{rest}"

    def statement(self):
        draws = [self.rows, self.rows, self.windows, self.windows, self.groups, self.groups, self.joined, self.joined]
        return self.choice([*draws, self.united, self.nested, self.member, self.alike])()


def random_statements(count, seed):
    """So many statements."""
    draw = Draw(seed)
    return [draw.statement() for _ in range(count)]
