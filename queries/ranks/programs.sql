-- title: Programs
-- about: The programs among the inputs. Processes of one communicate, ran at the same time, or have the same command line or kernels; other programs are not ranks of the same run, and are not compared.
-- kind: summary
-- needs: programs processes kernels
-- by:
-- dimensions:
-- column: program id -- dense number in the order of processes
-- column: processes count -- processes that are traced; counter passes and thread traces apart
-- column: first_rank id -- least rank
-- column: last_rank id -- greatest rank
-- column: compared text -- yes if its ranks are compared: those of the only program, or of the one with most processes
-- column: kernels count -- dispatches
-- column: kernel_sum_ns ns -- sum of the kernel durations
WITH kernel_time AS (
    SELECT process, COUNT(*) AS kernels, SUM(duration_ns) AS kernel_sum_ns
    FROM kernels
    WHERE valid
    GROUP BY process
),
traced AS (
    SELECT
        g.program, g.compared, p.rank,
        CAST(COALESCE(k.kernels, 0) AS BIGINT) AS kernels,
        CAST(COALESCE(k.kernel_sum_ns, 0) AS BIGINT) AS kernel_sum_ns
    FROM programs AS g
    JOIN processes AS p ON p.process = g.process
    LEFT JOIN kernel_time AS k ON k.process = g.process
    WHERE p.role = 'trace' AND g.program IS NOT NULL
)
SELECT
    program,
    CAST(COUNT(*) AS BIGINT) AS processes,
    MIN(rank) AS first_rank,
    MAX(rank) AS last_rank,
    MAX(CASE WHEN compared THEN 'yes' ELSE 'no' END) AS compared,
    CAST(SUM(kernels) AS BIGINT) AS kernels,
    CAST(SUM(kernel_sum_ns) AS BIGINT) AS kernel_sum_ns
FROM traced
GROUP BY program
ORDER BY program NULLS FIRST
