-- title: Lateness over time
-- about: How late each GPU comes to its collectives, over the run: one heat map row per GPU, in equal bins of the time from its process's first to last collective. The lateness of a call is how much shorter its kernel runs than the longest of the collective, which waited for it; it needs no common clock. Bins without a collective have no row.
-- kind: heatmap
-- plot: heatmap row=rank,gpu bin=bin value=share_pct from=begin_ns length=length_ns
-- needs: collective_kernels
-- by:
-- dimensions:
-- param: bins int = 20 [1, 10000] -- bins of the time with collectives of each process
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: device id -- physical GPU
-- column: bin id -- number of the bin, from 0
-- column: begin_ns ns -- its start, from the first collective of the process
-- column: length_ns ns -- its length
-- column: collectives count -- kernels of collectives with a partner that start in it
-- column: late_ns ns -- sum of their lateness
-- column: mean_late_ns ns -- its mean
-- column: max_late_ns ns -- its maximum
-- column: share_pct pct -- late_ns as a share of the time that the longest kernels of these collectives take
WITH matched AS (
    SELECT process, rank, gpu, device, collective, start_ns, end_ns, duration_ns
    FROM collective_kernels
    WHERE gpus > 1 AND collective IS NOT NULL
),
longest AS (
    SELECT collective, MAX(duration_ns) AS longest_ns
    FROM matched
    GROUP BY collective
),
{{ bin_grids('matched') }},
placed AS (
    SELECT
        m.process, m.rank, m.gpu, m.device, g.length_ns,
        LEAST(
            CAST(FLOOR(CAST(m.start_ns - g.from_ns AS DOUBLE) / CAST(g.length_ns AS DOUBLE)) AS BIGINT), {{ bins - 1 }}
        ) AS bin,
        l.longest_ns,
        l.longest_ns - m.duration_ns AS late_ns
    FROM matched AS m
    JOIN longest AS l ON l.collective = m.collective
    JOIN grids AS g ON g.process = m.process
),
summed AS (
    SELECT
        rank, process, gpu, bin,
        MAX(device) AS device,
        MAX(length_ns) AS length_ns,
        CAST(COUNT(*) AS BIGINT) AS collectives,
        {{ sums('late_ns, longest_ns') }},
        MAX(late_ns) AS max_late_ns
    FROM placed
    GROUP BY rank, process, gpu, bin
)
SELECT
    rank,
    process,
    gpu,
    device,
    bin,
    bin * length_ns AS begin_ns,
    length_ns,
    collectives,
    late_ns,
    {{ ratio('late_ns', 'collectives') }} AS mean_late_ns,
    max_late_ns,
    {{ percent('late_ns', 'longest_ns') }} AS share_pct
FROM summed
{{ order_by('rank, process, gpu, bin') }}
