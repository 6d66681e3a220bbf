-- title: Device constants
-- about: Figures of every model of GPU that metrics and roofs are computed with, and where each is from: recorded in the trace, else listed for its PCI id, its product or its architecture, else computed from others. A model whose GPUs differ in a figure has a row for each value. Of a part of a partitioned GPU the figures are those of the part. The table `device_constants` has the figures of each GPU.
-- kind: summary
-- needs: device_constants agents
-- column: architecture name -- LLVM target of the GPU
-- column: product text -- marketing name, null where it was not recorded
-- column: gpus count -- GPUs of all nodes with this figure
-- column: constant text -- name of the figure, as the formulas of metrics have it
-- column: value number -- its value; null where it is not known
-- column: unit name -- its unit
-- column: source name -- agent record, pci id, product, architecture, computed or unknown
-- column: weak text -- yes where a figure that it depends on was never checked against the maker's documents
-- column: reference text -- column of `agents`, reference of a listed figure, formula, or why it is not known
WITH figures AS (
    SELECT
        CAST(a.name AS VARCHAR) AS architecture,
        a.product_name AS product,
        a.device AS device,
        CAST(c.constant AS VARCHAR) AS constant,
        c.value AS value,
        {{ texts('unit, source', 'c') }},
        CASE WHEN c.weak THEN 'yes' ELSE 'no' END AS weak,
        c.reference AS reference
    FROM device_constants AS c
    INNER JOIN agents AS a ON c.process = a.process AND c.agent_id = a.agent_id
)
SELECT
    architecture,
    product,
    CAST(COUNT(DISTINCT device) AS BIGINT) AS gpus,
    constant,
    value,
    unit,
    source,
    weak,
    reference
FROM figures
GROUP BY architecture, product, constant, value, unit, source, weak, reference
ORDER BY
    architecture NULLS FIRST,
    product NULLS FIRST,
    constant NULLS LAST,
    value NULLS LAST,
    source NULLS LAST,
    reference NULLS LAST,
    unit NULLS LAST,
    weak NULLS LAST
