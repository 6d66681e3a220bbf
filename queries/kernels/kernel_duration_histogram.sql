-- title: Kernel duration histogram
-- about: Dispatches by duration, in bins of equal ratios: as wide as octaves (a power of two nanoseconds to the next) or down to a 32nd of one, by the rule of Freedman and Diaconis, at most 64. Zero durations have a separate bin.
-- kind: histogram
-- plot: histogram from=bin_start_ns to=bin_end_ns count=calls scale=log
-- needs: kernels processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname, category, queue_id, stream_id, tid, agent_id, region_name, graph_exec_id
-- column: bin_start_ns ns -- least duration of the bin
-- column: bin_end_ns ns -- end of the bin, not included
-- column: calls count -- dispatches
-- column: total_ns ns -- sum of their durations
-- column: pct pct -- share of the dispatches of the group
-- column: pct_of_time pct -- share of the kernel time of the group
WITH dispatches AS (
    SELECT
        {{ keys_of('k') }}1 AS every_row,
        k.duration_ns,
        -- Without what is smaller than a unit, it has few enough digits for a logarithm that distinguishes neighbors.
        CASE
            WHEN k.duration_ns < 0 THEN 0
            WHEN k.duration_ns < 4294967296 THEN k.duration_ns
            ELSE k.duration_ns - k.duration_ns % 4294967296
        END AS units_ns,
        CASE WHEN k.duration_ns < 4294967296 THEN 1 ELSE 4294967296 END AS unit_ns
    FROM kernels AS k{{ join_processes('k') }}
    WHERE k.valid
),
-- The 32nd parts of octaves; what has no length is below them. Half a unit more than whole units is near no edge, where the
-- logarithm may round either way.
placed AS (
    SELECT
        {{ keys }}every_row, duration_ns,
        CAST(FLOOR(
            CAST(32 AS DOUBLE) * LOG2(CAST(2 AS DOUBLE) * CAST(units_ns AS DOUBLE) + CAST(unit_ns AS DOUBLE))
        ) AS BIGINT) - 32 AS part
    FROM dispatches
),
parted AS (
    SELECT
        {{ keys }}every_row, part,
        CAST(COUNT(*) AS BIGINT) AS calls,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MIN(duration_ns) AS min_ns,
        MAX(duration_ns) AS max_ns
    FROM placed
    GROUP BY {{ keys }}every_row, part
),
-- All groups have the same bins, so that they can be compared.
lengths AS (
    SELECT every_row, part, CAST(SUM(calls) AS BIGINT) AS calls, MIN(min_ns) AS min_ns, MAX(max_ns) AS max_ns
    FROM parted
    WHERE part >= 0
    GROUP BY every_row, part
),
running AS (
    SELECT
        every_row, part, min_ns, max_ns,
        CAST(SUM(calls) OVER (PARTITION BY every_row) AS BIGINT) AS all_calls,
        CAST(SUM(calls) OVER (
            PARTITION BY every_row ORDER BY part NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) AS calls_so_far
    FROM lengths
),
spreads AS (
    SELECT
        every_row,
        MAX(all_calls) AS calls,
        MIN(min_ns) AS min_ns,
        MAX(max_ns) AS max_ns,
        MAX(part) - MIN(part) AS span,
        MIN(CASE WHEN 4 * calls_so_far >= 3 * all_calls THEN part END)
            - MIN(CASE WHEN 4 * calls_so_far >= all_calls THEN part END) AS middle
    FROM running
    GROUP BY every_row
),
-- The rule of Freedman and Diaconis, for logarithms: twice the distance of the quartiles by the cubic root of their number.
-- There are at most 64 bins, at least four unless all durations are close, and powers of two where parts of octaves are less
-- than a nanosecond or lengths have more digits than the logarithm distinguishes.
widths AS (
    SELECT
        every_row,
        CASE
            WHEN min_ns < 64 OR max_ns >= 4294967296 THEN 32
            {%- for width in [32, 16, 8, 4, 2] %}
            WHEN {{ width * 32 }} < span
                OR ({{ width * 4 }} <= span AND {{ width * width * width }} * calls <= 8 * middle * middle * middle)
                THEN {{ width }}
            {%- endfor %}
            ELSE 1
        END AS width
    FROM spreads
),
-- Bin -1 holds what has no length.
binned AS (
    SELECT
        {{ keys_in('p') }}p.every_row, p.calls, p.total_ns,
        COALESCE(w.width, 32) AS width,
        CASE
            WHEN p.part < 0 THEN -1
            ELSE CAST(FLOOR(CAST(p.part AS DOUBLE) / CAST(COALESCE(w.width, 32) AS DOUBLE)) AS BIGINT)
        END AS bin
    FROM parted AS p
    LEFT JOIN widths AS w ON w.every_row = p.every_row
),
counted AS (
    SELECT
        {{ keys }}every_row, bin, width,
        CAST(SUM(calls) AS BIGINT) AS calls,
        CAST(SUM(total_ns) AS BIGINT) AS total_ns
    FROM binned
    GROUP BY {{ keys }}every_row, bin, width
),
value_ranges AS (
    SELECT
        {{ keys }}every_row,
        MIN(bin) AS first_bin,
        MIN(CASE WHEN bin >= 0 THEN bin ELSE 4096 END) AS first_length,
        MAX(bin) AS last_bin,
        MAX(width) AS width,
        CAST(SUM(calls) AS BIGINT) AS group_calls,
        CAST(SUM(total_ns) AS BIGINT) AS group_ns
    FROM counted
    GROUP BY {{ keys }}every_row
),
places AS (
    SELECT
        {{ keys_in('r') }}r.group_calls, r.group_ns, r.width,
        CASE WHEN n = 0 THEN -1 ELSE r.first_length + n - 1 END AS bin
    FROM value_ranges AS r
    CROSS JOIN numbers
    WHERE n < 80 AND CASE WHEN n = 0 THEN r.first_bin = -1 ELSE r.first_length + n - 1 <= r.last_bin END
),
-- Octaves at the edges of the bins; the last one has no end among the numbers.
octaves AS (
    SELECT
        {{ keys }}group_calls, group_ns, bin,
        CAST(CASE WHEN bin < 0 THEN 0 ELSE bin * width END AS DOUBLE) / CAST(32 AS DOUBLE) AS from_octave,
        CAST(CASE WHEN (bin + 1) * width < 2016 THEN (bin + 1) * width ELSE 0 END AS DOUBLE) / CAST(32 AS DOUBLE) AS to_octave,
        CASE WHEN (bin + 1) * width < 2016 THEN 0 ELSE 1 END AS is_last
    FROM places
),
bins AS (
    SELECT
        {{ keys }}group_calls, group_ns, bin,
        CASE
            WHEN bin < 0 THEN 0
            ELSE CAST(CEIL(POWER(CAST(2 AS DOUBLE), from_octave) - CAST('0.5' AS DOUBLE)) AS BIGINT)
        END AS bin_start_ns,
        CASE
            WHEN bin < 0 THEN 1
            WHEN is_last = 1 THEN 9223372036854775807
            ELSE CAST(CEIL(POWER(CAST(2 AS DOUBLE), to_octave) - CAST('0.5' AS DOUBLE)) AS BIGINT)
        END AS bin_end_ns
    FROM octaves
),
filled AS (
    SELECT
        {{ keys_in('b') }}b.bin_start_ns, b.bin_end_ns, b.group_calls, b.group_ns,
        COALESCE(c.calls, 0) AS calls,
        COALESCE(c.total_ns, 0) AS total_ns
    FROM bins AS b
    LEFT JOIN counted AS c ON c.bin = b.bin{{ and_same_keys('c', 'b') }}
)
SELECT
    {{ keys }}bin_start_ns,
    bin_end_ns,
    calls,
    total_ns,
    {{ percent('calls', 'group_calls') }} AS pct,
    {{ percent('total_ns', 'group_ns') }} AS pct_of_time
FROM filled
{{ order_by('bin_start_ns') }}
