-- title: Copy size histogram
-- about: Copies by size, in bins from a power of two bytes to the next, with the bandwidth of a copy of that size. Empty copies have a separate bin, copies without a recorded size a row without bounds.
-- kind: histogram
-- plot: histogram from=bin_start_bytes to=bin_end_bytes count=copies scale=log
-- needs: memory_copies processes
-- local: placed
-- by: direction
-- dimensions: direction, rank, gpu, process, device, node, hostname, peer_gpu, stream_id, tid, graph_exec_id
-- column: direction name -- H2D, D2H, D2D, P2P, H2H or NONE
-- column: bin_start_bytes bytes -- least size of the bin
-- column: bin_end_bytes bytes -- end of the bin, not included
-- column: copies count -- copies
-- column: total_bytes bytes -- sum of their sizes
-- column: total_ns ns -- sum of their durations
-- column: median_ns ns -- median duration of a copy
-- column: median_gb_per_s gb_per_s -- median over the copies of bytes over duration; null when none has a length
-- column: pct pct -- share of the copies of the group
-- column: pct_of_bytes pct -- share of the bytes of the group
WITH copies AS (
    SELECT
        {{ keys_of('c', as_text=['direction']) }}1 AS every_row, c.bytes, c.duration_ns,
        CAST(c.bytes AS DOUBLE) / CAST(NULLIF(c.duration_ns, 0) AS DOUBLE) AS copy_gb_per_s,
        {{ size_guess('c.bytes') }} AS guess
    FROM memory_copies AS c{{ join_processes('c') }}
    WHERE c.valid
),
{{ powers_of_two() }},
guessed AS (
    SELECT
        {{ keys }}every_row, bytes, duration_ns, copy_gb_per_s,
        {{ whole_guess() }} AS guess
    FROM copies
),
placed AS (
    SELECT
        {{ keys_in('g') }}g.every_row, g.bytes, g.duration_ns, g.copy_gb_per_s,
        {{ size_bin('g.bytes') }} AS bin
    FROM guessed AS g
    JOIN powers AS w ON w.bin = g.guess
),
counted AS (
    SELECT
        {{ keys }}every_row, bin,
        CAST(COUNT(*) AS BIGINT) AS copies,
        {{ sum_if('bytes > 0', 'bytes') }} AS total_bytes,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns,
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS median_ns,
        MEDIAN(copy_gb_per_s) AS median_gb_per_s
    FROM placed
    GROUP BY {{ keys }}every_row, bin
),
value_ranges AS (
    SELECT
        {{ keys }}every_row,
        MIN(bin) AS first_bin,
        MIN(CASE WHEN bin >= 0 THEN bin ELSE 63 END) AS first_size,
        MAX(bin) AS last_bin,
        MAX(CASE WHEN bin = -1 THEN 1 ELSE 0 END) AS has_empty,
        CAST(SUM(copies) AS BIGINT) AS group_copies,
        CAST(SUM(total_bytes) AS BIGINT) AS group_bytes
    FROM counted
    GROUP BY {{ keys }}every_row
),
bins AS (
    SELECT
        {{ keys_in('r') }}r.group_copies, r.group_bytes, w.bin, w.bin_start_bytes, w.bin_end_bytes
    FROM value_ranges AS r
    CROSS JOIN powers AS w
    WHERE (w.bin >= r.first_size AND w.bin <= r.last_bin)
        OR (w.bin = -1 AND r.has_empty = 1)
        OR (w.bin = -2 AND r.first_bin = -2)
),
filled AS (
    SELECT
        {{ keys_in('b') }}b.bin, b.bin_start_bytes, b.bin_end_bytes, b.group_copies, b.group_bytes,
        COALESCE(c.copies, 0) AS copies,
        COALESCE(c.total_bytes, 0) AS total_bytes,
        COALESCE(c.total_ns, 0) AS total_ns,
        c.median_ns, c.median_gb_per_s
    FROM bins AS b
    LEFT JOIN counted AS c ON c.bin = b.bin{{ and_same_keys('c', 'b') }}
)
SELECT
    {{ keys }}bin_start_bytes,
    bin_end_bytes,
    copies,
    CASE WHEN bin >= -1 THEN total_bytes END AS total_bytes,
    total_ns,
    median_ns,
    median_gb_per_s,
    {{ percent('copies', 'group_copies') }} AS pct,
    {{ percent('total_bytes', 'group_bytes') }} AS pct_of_bytes
FROM filled
ORDER BY
    {%- for column in by + ['bin'] %}
    {{ column }} NULLS FIRST{{ ',' if not loop.last }}
    {%- endfor %}
