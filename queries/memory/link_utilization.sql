-- title: Link utilization
-- about: What copies achieve over the time in which they run, against the peak of the link they go over. The peaks are facts by architecture (share/links.toml), of PCIe for H2D and D2H, of one link for P2P, of half the memory's bandwidth for D2D. Small copies cannot reach a peak: their share of the time is told beside.
-- kind: summary
-- plot: bars label=direction value=utilization_pct role=copy
-- needs: memory_copies agents processes
-- local: summed_of_process
-- by: rank, gpu
-- dimensions: rank, gpu, process, device, node, hostname, peer_gpu, stream_id
-- param: small_bytes int = 1048576 [1, 1000000000000] -- a copy below this size is small
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: direction name -- H2D, D2H, D2D or P2P
-- column: architecture name -- LLVM target of the GPU, null when it is not recorded
-- column: copies count -- copies that have a size
-- column: total_bytes bytes -- sum of their sizes
-- column: busy_ns ns -- time with at least one of them running, added up over process, GPU, other GPU and direction
-- column: gb_per_s gb_per_s -- total_bytes over busy_ns, in 10^9 bytes per second
-- column: peak_gb_per_s gb_per_s -- peak of the link in this direction, null when it is not known
-- column: utilization_pct pct -- share of the peak; above 100 the copies went over several links or a cache, or the facts are wrong
-- column: small_pct pct -- share of the summed durations that small copies took
-- column: copies_without_size count -- copies left out because no size is recorded
{%- set others = by | reject('in', ['rank', 'gpu', 'process', 'node', 'hostname', 'peer_gpu']) | list %}
{%- set lane = (['process', 'gpu', 'peer_gpu', 'direction'] + others) | join(', ') %}
{%- set in_order = 'PARTITION BY ' ~ lane ~ ' ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST, copy_id NULLS FIRST' %}
{%- set so_far = in_order ~ ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW' %}
{%- set copy = keys_but(['process', 'gpu', 'peer_gpu']) ~ 'process, gpu, peer_gpu, direction, architecture' %}
WITH gpus AS (
    SELECT
        process, gpu,
        MIN(CAST(name AS VARCHAR)) AS architecture,
        MAX(mem_clock_mhz) AS mem_clock_mhz,
        MAX(mem_bus_bits) AS mem_bus_bits
    FROM agents
    WHERE gpu IS NOT NULL
    GROUP BY process, gpu
),
peaks AS (
    SELECT
        process, gpu, architecture,
        CASE
            {%- for known in links %}
            WHEN architecture = '{{ known.name }}' OR architecture LIKE '{{ known.name }}:%' THEN CAST({{ known.host }} AS DOUBLE)
            {%- endfor %}
        END AS host_peak,
        CASE
            {%- for known in links %}
            WHEN architecture = '{{ known.name }}' OR architecture LIKE '{{ known.name }}:%' THEN CAST({{ known.peer }} AS DOUBLE)
            {%- endfor %}
        END AS peer_peak,
        CASE
            {%- for known in links %}
            WHEN architecture = '{{ known.name }}' OR architecture LIKE '{{ known.name }}:%' THEN
                CASE
                    WHEN mem_clock_mhz > 0 AND mem_bus_bits > 0 THEN
                        CAST(mem_clock_mhz * mem_bus_bits * {{ known.transfers_per_clock }} AS DOUBLE) * CAST(0.0000625 AS DOUBLE)
                    ELSE CAST({{ known.memory / 2 }} AS DOUBLE)
                END
            {%- endfor %}
        END AS copy_peak
    FROM gpus
),
copies AS (
    SELECT
        {{ keys_of('c', ['process', 'gpu', 'peer_gpu']) }}c.process, c.gpu, c.peer_gpu, c.direction,
        k.architecture,
        CASE
            WHEN c.direction = 'H2D' OR c.direction = 'D2H' THEN k.host_peak
            WHEN c.direction = 'P2P' THEN k.peer_peak
            ELSE k.copy_peak
        END AS peak_gb_per_s,
        c.copy_id, c.bytes, c.start_ns, c.end_ns, c.duration_ns
    FROM memory_copies AS c
    LEFT JOIN peaks AS k ON k.process = c.process AND k.gpu = c.gpu{{ join_processes('c') }}
    WHERE c.valid AND c.direction IN ('H2D', 'D2H', 'D2D', 'P2P')
),
reached AS (
    SELECT
        {{ copy }}, peak_gb_per_s, copy_id, bytes, start_ns, end_ns, duration_ns,
        MAX(CASE WHEN bytes IS NULL THEN start_ns ELSE end_ns END) OVER ({{ so_far }}) AS reach_ns
    FROM copies
),
followed AS (
    SELECT
        {{ copy }}, peak_gb_per_s, bytes, start_ns, end_ns, duration_ns,
        LAG(reach_ns) OVER ({{ in_order }}) AS before_ns
    FROM reached
),
summed_of_process AS (
    SELECT
        {{ keys }}direction, architecture,
        MAX(peak_gb_per_s) AS peak_gb_per_s,
        CAST(COUNT(bytes) AS BIGINT) AS copies,
        CAST(COUNT(*) AS BIGINT) AS all_copies,
        CAST(SUM(bytes) AS BIGINT) AS total_bytes,
        CAST(SUM(CASE WHEN bytes IS NULL THEN 0 ELSE duration_ns END) AS BIGINT) AS total_ns,
        CAST(SUM(CASE WHEN bytes < {{ small_bytes }} THEN duration_ns ELSE 0 END) AS BIGINT) AS small_ns,
        {{ union_time('before_ns', unless='bytes IS NULL', length='duration_ns') }} AS busy_ns
    FROM followed
    GROUP BY {{ keys }}direction, architecture
),
summed AS (
    SELECT
        {{ keys }}direction, architecture,
        MAX(peak_gb_per_s) AS peak_gb_per_s,
        {{ sums('copies, all_copies, total_bytes, total_ns, small_ns, busy_ns') }}
    FROM summed_of_process
    GROUP BY {{ keys }}direction, architecture
),
rated AS (
    SELECT
        {{ keys }}CAST(direction AS VARCHAR) AS direction,
        architecture, copies, all_copies,
        CASE WHEN copies > 0 THEN total_bytes END AS total_bytes,
        busy_ns,
        CASE WHEN copies > 0 THEN CAST(total_bytes AS DOUBLE) END / NULLIF(CAST(busy_ns AS DOUBLE), CAST(0 AS DOUBLE)) AS gb_per_s,
        peak_gb_per_s, total_ns, small_ns
    FROM summed
)
SELECT
    {{ keys }}direction,
    architecture,
    copies,
    total_bytes,
    busy_ns,
    gb_per_s,
    peak_gb_per_s,
    CAST(100 AS DOUBLE) * gb_per_s / peak_gb_per_s AS utilization_pct,
    {{ percent('small_ns', 'total_ns') }} AS small_pct,
    all_copies - copies AS copies_without_size
FROM rated
{{ order_by('direction, architecture') }}
