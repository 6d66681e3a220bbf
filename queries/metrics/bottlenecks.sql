-- title: Bottlenecks of kernels
-- about: What holds every kernel back, told from its counters by rules: a resource that works near its peak, or a pattern that wastes it. With the values that show it. Where the counters that a rule needs were not collected, it is unknown. Most time first.
-- kind: summary
-- needs: kernel_bottlenecks kernel_symbols
-- param: show word = verdict [verdict, found, all] -- the verdict of each kernel, all bottlenecks that were found, or also those that were not
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: gpu id -- GPU of the process
-- column: kernel_name name -- kernel
-- column: time_ns ns -- durations of its dispatches in the counter pass
-- column: dispatches count -- its dispatches with counters
-- column: bottleneck text -- name of the rule, none, or unknown
-- column: verdict text -- the same in words
-- column: state text -- yes, no or unknown
-- column: evidence text -- metrics and the bounds from which they count
-- column: missing text -- what is needed and was not collected
WITH told AS (
    SELECT
        b.rank, b.gpu,
        {{ kernel_text('b') }},
        b.process, b.kernel_id, b.ordinal, b.time_ns, b.dispatches,
        {{ texts('bottleneck, verdict, state', 'b') }},
        b.evidence, b.missing
    FROM kernel_bottlenecks AS b{{ join_symbols('b') }}
    {%- if show == 'verdict' %}
    WHERE b.is_verdict
    {%- elif show == 'found' %}
    WHERE b.is_verdict OR CAST(b.state AS VARCHAR) = 'yes'
    {%- endif %}
)
SELECT
    rank,
    gpu,
    kernel_name,
    time_ns,
    dispatches,
    bottleneck,
    verdict,
    state,
    evidence,
    missing
FROM told
{{ top_by('time_ns DESC, rank, process, gpu, kernel_id, ordinal') }}
