-- title: Copy bandwidth over time
-- about: Bytes copied in equal bins of the activity of each process, by direction. The bytes of a copy spread evenly over its duration; bins without copies have no row.
-- kind: pace
-- plot: heatmap row=direction bin=bin value=gb_per_s from=start_ns to=end_ns
-- needs: memory_copies kernels processes
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, peer_gpu, stream_id, tid, graph_exec_id
-- param: bins int = 50 [1, 10000] -- equal bins between the first start and the last end of the kernels and copies of a process
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: direction name -- H2D, D2H, D2D, P2P, H2H or NONE
-- column: bin count -- bin, from 0
-- column: start_ns ns -- start of the bin on the process's clock; null if the row is of several processes
-- column: end_ns ns -- end of the bin
-- column: copies count -- copies that touch the bin
-- column: copies_without_size count -- of them without a recorded size: they are in no figure of bytes and not in the bandwidth
-- column: bytes bytes -- bytes that the copies with a size moved in it, null when none has
-- column: busy_ns ns -- time in it with at least one copy running, added up over process, GPU and direction
-- column: sized_busy_ns ns -- the same of the copies that have a size
-- column: gb_per_s gb_per_s -- bytes over sized_busy_ns, in 10^9 bytes per second
-- column: busy_pct pct -- share of the bin with at least one copy running, average per process and GPU
{%- set copy = keys_but(['process', 'gpu']) ~ 'process, gpu, direction' %}
{%- set measured = copy ~ ', copy_id, bytes, start_ns, end_ns, from_ns, to_ns, width_ns' %}
{%- set others = by | reject('in', ['rank', 'gpu', 'process', 'node', 'hostname']) | list %}
{%- set lane = (['process', 'gpu', 'direction', 'bin'] + others) | join(', ') %}
{%- set by_start = 'piece_start_ns NULLS FIRST, piece_end_ns NULLS FIRST, copy_id NULLS FIRST' %}
{%- set in_order = 'PARTITION BY ' ~ lane ~ ' ORDER BY ' ~ by_start %}
{%- set so_far = in_order ~ ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW' %}
WITH extents AS (
    SELECT process, MIN(start_ns) AS from_ns, MAX(end_ns) AS to_ns
    FROM kernels
    WHERE valid
    GROUP BY process
    UNION ALL
    SELECT process, MIN(start_ns) AS from_ns, MAX(end_ns) AS to_ns
    FROM memory_copies
    WHERE valid
    GROUP BY process
),
spans AS (
    SELECT process, MIN(from_ns) AS from_ns, MAX(to_ns) AS to_ns
    FROM extents
    GROUP BY process
),
-- Edges are whole nanoseconds, so that stretches add up; the last one is cut, and a short span has fewer.
counts AS (
    SELECT process, from_ns, to_ns, 0 * process + {{ bins }} AS bin_count
    FROM spans
),
widths AS (
    SELECT process, from_ns, to_ns, CEIL(CAST(to_ns - from_ns AS DOUBLE) / CAST(bin_count AS DOUBLE)) AS width_ns
    FROM counts
),
grids AS (
    SELECT process, from_ns, to_ns, CASE WHEN width_ns < CAST(1 AS DOUBLE) THEN 1 ELSE CAST(width_ns AS BIGINT) END AS width_ns
    FROM widths
),
copies AS (
    SELECT
        {{ keys_of('c', ['process', 'gpu']) }}c.process, c.gpu, c.direction, c.copy_id, c.bytes, c.start_ns,
        c.end_ns, g.from_ns, g.to_ns, g.width_ns
    FROM memory_copies AS c
    JOIN grids AS g ON g.process = c.process{{ join_processes('c') }}
    WHERE c.valid
),
placed AS (
    SELECT
        {{ measured }},
        CAST(FLOOR(CAST(start_ns - from_ns AS DOUBLE) / CAST(width_ns AS DOUBLE)) AS BIGINT) AS first_bin,
        CAST(FLOOR(CAST(CASE WHEN end_ns > start_ns THEN end_ns - from_ns - 1 ELSE start_ns - from_ns END AS DOUBLE)
            / CAST(width_ns AS DOUBLE)) AS BIGINT) AS last_bin
    FROM copies
),
crossing AS (
    SELECT {{ measured }}, first_bin, last_bin
    FROM placed
    WHERE first_bin < last_bin
),
edges AS (
    SELECT n
    FROM numbers
    WHERE n < {{ bins }} + 1
),
-- Few copies cross an edge: only those are looked for in every bin.
pieces AS (
    SELECT {{ measured }}, first_bin AS bin
    FROM placed
    WHERE first_bin = last_bin
    UNION ALL
    SELECT {{ measured }}, n AS bin
    FROM crossing
    CROSS JOIN edges
    WHERE CASE WHEN n < first_bin OR n > last_bin THEN 0 ELSE 1 END = 1
),
cut AS (
    SELECT
        {{ copy }}, copy_id, bytes, from_ns, to_ns, width_ns,
        CASE WHEN bin * width_ns >= to_ns - from_ns AND bin > 0 THEN bin - 1 ELSE bin END AS bin,
        end_ns - start_ns AS copy_ns,
        GREATEST(start_ns, from_ns + bin * width_ns) AS piece_start_ns,
        LEAST(end_ns, from_ns + (bin + 1) * width_ns) AS piece_end_ns
    FROM pieces
),
reached AS (
    SELECT
        {{ copy }}, copy_id, bytes, from_ns, to_ns, width_ns, bin, copy_ns, piece_start_ns, piece_end_ns,
        MAX(piece_end_ns) OVER ({{ so_far }}) AS reach_ns,
        MAX(CASE WHEN bytes IS NULL THEN piece_start_ns ELSE piece_end_ns END) OVER ({{ so_far }}) AS sized_reach_ns
    FROM cut
),
followed AS (
    SELECT
        {{ copy }}, bytes, from_ns, to_ns, width_ns, bin, copy_ns, piece_start_ns, piece_end_ns,
        LAG(reach_ns) OVER ({{ in_order }}) AS before_ns,
        LAG(sized_reach_ns) OVER ({{ in_order }}) AS sized_before_ns
    FROM reached
),
per_lane AS (
    SELECT
        {{ copy }}, bin,
        MIN(from_ns + bin * width_ns) AS bin_start_ns,
        MIN(LEAST(to_ns, from_ns + (bin + 1) * width_ns)) AS bin_end_ns,
        CAST(COUNT(*) AS BIGINT) AS copies,
        CAST(COUNT(bytes) AS BIGINT) AS sized,
        SUM(
            CASE
                WHEN copy_ns = 0 THEN CAST(bytes AS DOUBLE)
                ELSE CAST(bytes AS DOUBLE) * CAST(piece_end_ns - piece_start_ns AS DOUBLE)
                    / CAST(NULLIF(copy_ns, 0) AS DOUBLE)
            END
        ) AS bytes,
        {{ union_time('before_ns', 'piece_start_ns', 'piece_end_ns') }} AS busy_ns,
        {{ union_time('sized_before_ns', 'piece_start_ns', 'piece_end_ns', unless='bytes IS NULL') }} AS sized_busy_ns
    FROM followed
    GROUP BY {{ copy }}, bin
),
summed AS (
    SELECT
        {{ keys }}direction, bin,
        MIN(process) AS first_process,
        MAX(process) AS last_process,
        MIN(bin_start_ns) AS bin_start_ns,
        MAX(bin_end_ns) AS bin_end_ns,
        CAST(SUM(bin_end_ns - bin_start_ns) AS BIGINT) AS bin_ns,
        {{ sums('copies, sized') }},
        SUM(bytes) AS bytes,
        {{ sums('busy_ns, sized_busy_ns') }}
    FROM per_lane
    GROUP BY {{ keys }}direction, bin
),
labelled AS (
    SELECT
        {{ keys }}CAST(direction AS VARCHAR) AS direction,
        bin, first_process, last_process, bin_start_ns, bin_end_ns, bin_ns, copies, sized, bytes, busy_ns, sized_busy_ns
    FROM summed
)
SELECT
    {{ keys }}direction,
    bin,
    CASE WHEN first_process = last_process THEN bin_start_ns END AS start_ns,
    CASE WHEN first_process = last_process THEN bin_end_ns END AS end_ns,
    copies,
    copies - sized AS copies_without_size,
    CASE WHEN sized > 0 THEN bytes END AS bytes,
    busy_ns,
    sized_busy_ns,
    CASE WHEN sized > 0 THEN bytes END / NULLIF(CAST(sized_busy_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS gb_per_s,
    {{ percent('busy_ns', 'bin_ns') }} AS busy_pct
FROM labelled
{{ order_by('direction, bin') }}
