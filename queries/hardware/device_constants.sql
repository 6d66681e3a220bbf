-- title: Device constants
-- about: Figures of every GPU that metrics and roofs are computed with, and where each is from: recorded in the trace, else listed for its PCI id, its product or its architecture, else computed from others. Of a part of a partitioned GPU the figures are those of the part.
-- kind: summary
-- needs: device_constants
-- column: rank id -- rank
-- column: process id -- process
-- column: gpu id -- GPU of the process
-- column: constant text -- name of the figure, as the formulas of metrics have it
-- column: value number -- its value; null where it is not known
-- column: unit name -- its unit
-- column: source name -- agent record, pci id, product, architecture, computed or unknown
-- column: weak text -- yes where a figure that it depends on was never checked against the maker's documents
-- column: reference text -- column of `agents`, reference of a listed figure, formula, or why it is not known
SELECT
    rank,
    process,
    gpu,
    constant,
    value,
    unit,
    source,
    CASE WHEN weak THEN 'yes' ELSE 'no' END AS weak,
    reference
FROM device_constants
ORDER BY
    rank NULLS FIRST,
    process NULLS FIRST,
    gpu NULLS LAST,
    CAST(constant AS VARCHAR) NULLS LAST,
    agent_id NULLS LAST
