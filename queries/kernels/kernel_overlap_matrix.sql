-- title: Kernel overlap matrix
-- about: How long kernels of each pair of categories ran at the same time on a GPU; for a category with itself, how long two of its kernels did. Coarser groupings sum over GPUs.
-- kind: summary
-- needs: kernel_overlaps processes
-- by:
-- dimensions: rank, gpu, process, device, node, hostname
-- column: category name -- kernel category
-- column: other_category name -- the other one; every pair is there in both orders
-- column: overlap_ns ns -- time with kernels of both running
-- column: stretches count -- intervals of that
-- column: category_ns ns -- time with kernels of category running
-- column: other_ns ns -- time with kernels of other_category running
-- column: pct pct -- share of category_ns during which the other runs too
WITH stretches AS (
    SELECT
        {{ keys_of('o') }}{{ texts('category, other_category', 'o') }},
        o.duration_ns
    FROM kernel_overlaps AS o
    JOIN processes AS p ON p.process = o.process
    WHERE p.role = 'trace'
),
summed AS (
    SELECT
        {{ keys }}category, other_category,
        CAST(COUNT(*) AS BIGINT) AS stretches,
        CAST(SUM(duration_ns) AS BIGINT) AS total_ns
    FROM stretches
    GROUP BY {{ keys }}category, other_category
),
-- Both orders of each pair, every category with itself, and on either side what each ran at all, for windows to find.
every_side AS (
    SELECT {{ keys }}category, other_category, stretches, total_ns
    FROM summed
    UNION ALL
    SELECT {{ keys }}other_category AS category, category AS other_category, stretches, total_ns
    FROM summed
    WHERE other_category IS NULL OR other_category <> category
    UNION ALL
    SELECT
        {{ keys }}category,
        category AS other_category,
        CAST(0 AS BIGINT) AS stretches,
        CAST(0 AS BIGINT) AS total_ns
    FROM summed
    WHERE other_category IS NULL
),
sides AS (
    SELECT
        {{ keys }}category, other_category,
        {{ sums('stretches, total_ns') }}
    FROM every_side
    GROUP BY {{ keys }}category, other_category
),
joined AS (
    SELECT
        {{ keys }}category, other_category, stretches, total_ns,
        MAX(CASE WHEN other_category IS NULL THEN total_ns END) OVER (PARTITION BY {{ keys }}category) AS category_ns,
        MAX(CASE WHEN category IS NULL THEN total_ns END) OVER (PARTITION BY {{ keys }}other_category) AS other_ns
    FROM sides
)
SELECT
    {{ keys }}category,
    other_category,
    total_ns AS overlap_ns,
    stretches,
    category_ns,
    other_ns,
    {{ percent('total_ns', 'category_ns') }} AS pct
FROM joined
WHERE category IS NOT NULL AND other_category IS NOT NULL
{{ order_by('total_ns DESC, category, other_category') }}
