-- title: Memory chart
-- about: Traffic, hit rates and latencies at every level of the memory, from registers to HBM. Over all kernels unless they are grouped.
-- kind: summary
-- needs: metric_sums kernel_symbols processes
-- by:
-- dimensions: kernel_name, category, rank, gpu, process, device, node, hostname
-- param: agg word = ratio [ratio, mean] -- ratio of the sums over the dispatches, or the mean of the values of dispatches as AMD's tools print it
-- param: per word = wave [wave, cycle, second, kernel] -- what counts are divided by
-- column: level text -- LDS, caches, fabric (all that leaves the L2 cache) and HBM (the part of it that goes to the memory of the GPU itself)
-- column: reads number -- read requests per what --per says; of LDS all of its instructions
-- column: writes number -- write requests
-- column: atomics number -- atomic requests
-- column: hit_pct pct -- requests found there
-- column: read_latency_cycles number -- mean latency of reads
-- column: write_latency_cycles number -- mean latency of writes
-- column: gbps number -- bandwidth, reads and writes
-- column: peak_gbps number -- highest bandwidth that the hardware allows, null where GPUs differ
-- column: pct_of_peak pct -- share of gbps in peak_gbps
WITH chosen AS (
    SELECT
        {{ keys_of('m') }}CASE
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.lds_requests', 'chart.lds_latency', 'sol.theoretical_lds_bandwidth') THEN 10
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.vl1d_reads', 'chart.vl1d_writes', 'chart.vl1d_atomics', 'chart.vl1d_hit', 'vl1d.1603.l1_access_latency', 'sol.vl1d_cache_bw') THEN 20
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.sl1d_reads', 'chart.sl1d_hit', 'sol.sl1d_cache_bw') THEN 30
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.l1i_fetches', 'chart.l1i_hit', 'chart.l1i_latency', 'sol.l1i_bw') THEN 40
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.l2_reads', 'chart.l2_writes', 'chart.l2_atomics', 'chart.l2_hit', 'sol.l2_cache_bw') THEN 50
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.fabric_reads', 'chart.fabric_writes', 'chart.fabric_atomics', 'chart.fabric_read_latency', 'chart.fabric_write_latency', 'sol.l2_fabric_read_bw', 'sol.l2_fabric_write_bw') THEN 60
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.hbm_reads', 'chart.hbm_writes') THEN 70
        END AS level_order,
        CASE
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.lds_requests', 'chart.vl1d_reads', 'chart.sl1d_reads', 'chart.l1i_fetches', 'chart.l2_reads', 'chart.fabric_reads', 'chart.hbm_reads') THEN 'reads'
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.lds_latency', 'vl1d.1603.l1_access_latency', 'chart.l1i_latency', 'chart.fabric_read_latency') THEN 'read_latency'
            WHEN CAST(m.metric AS VARCHAR) IN ('sol.theoretical_lds_bandwidth', 'sol.vl1d_cache_bw', 'sol.sl1d_cache_bw', 'sol.l1i_bw', 'sol.l2_cache_bw', 'sol.l2_fabric_read_bw', 'sol.l2_fabric_write_bw') THEN 'gbps'
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.vl1d_writes', 'chart.l2_writes', 'chart.fabric_writes', 'chart.hbm_writes') THEN 'writes'
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.vl1d_atomics', 'chart.l2_atomics', 'chart.fabric_atomics') THEN 'atomics'
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.vl1d_hit', 'chart.sl1d_hit', 'chart.l1i_hit', 'chart.l2_hit') THEN 'hit'
            WHEN CAST(m.metric AS VARCHAR) IN ('chart.fabric_write_latency') THEN 'write_latency'
        END AS measure,
        CAST(m.metric AS VARCHAR) AS metric,
        m.numerator, m.denominator, m.valued_dispatches, m.value_sum, m.peak
    FROM metric_sums AS m{{ join_symbols('m', 'kernel_name' in by) }}{{ join_processes('m') }}
    WHERE (m.per IS NULL OR CAST(m.per AS VARCHAR) = '{{ per }}')
        AND CAST(m.metric AS VARCHAR) IN ('chart.lds_requests', 'chart.lds_latency', 'sol.theoretical_lds_bandwidth', 'chart.vl1d_reads', 'chart.vl1d_writes', 'chart.vl1d_atomics', 'chart.vl1d_hit', 'vl1d.1603.l1_access_latency', 'sol.vl1d_cache_bw', 'chart.sl1d_reads', 'chart.sl1d_hit', 'sol.sl1d_cache_bw', 'chart.l1i_fetches', 'chart.l1i_hit', 'chart.l1i_latency', 'sol.l1i_bw', 'chart.l2_reads', 'chart.l2_writes', 'chart.l2_atomics', 'chart.l2_hit', 'sol.l2_cache_bw', 'chart.fabric_reads', 'chart.fabric_writes', 'chart.fabric_atomics', 'chart.fabric_read_latency', 'chart.fabric_write_latency', 'sol.l2_fabric_read_bw', 'sol.l2_fabric_write_bw', 'chart.hbm_reads', 'chart.hbm_writes')
),
summed AS (
    SELECT
        {{ keys }}level_order, measure, metric,
        {{ metric_value() }} AS value,
        CASE WHEN MIN(peak) = MAX(peak) THEN MAX(peak) END AS peak
    FROM chosen
    GROUP BY {{ keys }}level_order, measure, metric
),
pivoted AS (
    SELECT
        {{ keys }}level_order,
        SUM(CASE WHEN measure = 'reads' THEN value END) AS reads,
        SUM(CASE WHEN measure = 'writes' THEN value END) AS writes,
        SUM(CASE WHEN measure = 'atomics' THEN value END) AS atomics,
        SUM(CASE WHEN measure = 'hit' THEN value END) AS hit_pct,
        SUM(CASE WHEN measure = 'read_latency' THEN value END) AS read_latency_cycles,
        SUM(CASE WHEN measure = 'write_latency' THEN value END) AS write_latency_cycles,
        -- Reads and writes of the fabric are two metrics: one alone is not their sum.
        CASE
            WHEN COUNT(CASE WHEN measure = 'gbps' THEN metric END) = COUNT(CASE WHEN measure = 'gbps' THEN value END)
            THEN SUM(CASE WHEN measure = 'gbps' THEN value END)
        END AS gbps,
        MAX(CASE WHEN measure = 'gbps' THEN peak END) AS peak_gbps,
        COUNT(value) AS known
    FROM summed
    GROUP BY {{ keys }}level_order
),
labelled AS (
    SELECT
        {{ keys_as_text(['kernel_name']) }}level_order, reads, writes, atomics, hit_pct, read_latency_cycles,
        write_latency_cycles, gbps, peak_gbps
    FROM pivoted
    WHERE known > 0
)
SELECT
    {{ keys }}CASE
        WHEN level_order = 10 THEN 'LDS'
        WHEN level_order = 20 THEN 'vector L1'
        WHEN level_order = 30 THEN 'scalar L1'
        WHEN level_order = 40 THEN 'instruction L1'
        WHEN level_order = 50 THEN 'L2'
        WHEN level_order = 60 THEN 'fabric'
        WHEN level_order = 70 THEN 'HBM'
    END AS level,
    reads,
    writes,
    atomics,
    hit_pct,
    read_latency_cycles,
    write_latency_cycles,
    gbps,
    peak_gbps,
    CAST(100 AS DOUBLE) * gbps / NULLIF(peak_gbps, CAST(0 AS DOUBLE)) AS pct_of_peak
FROM labelled
{{ order_by('level_order') }}
