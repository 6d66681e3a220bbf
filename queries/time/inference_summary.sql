-- title: Inference summary
-- about: Steps of LLM servers by kind: their number, GPU time, idle time before them and, where markers state tokens, tokens per second: of the steps alone, and with the gaps before them. Rates are over the steps whose marker states tokens. The rates of ranks that serve one model together do not add up: every rank computes the same tokens.
-- kind: summary
-- needs: inference_steps processes
-- by: rank
-- dimensions: rank, process, node, hostname
-- column: rank id -- rank
-- column: kind text -- prefill, decode, mixed or other
-- column: steps count -- steps
-- column: total_ns ns -- sum of their durations, each from its first start to its last end on the GPU
-- column: share_pct pct -- share of the durations of all steps
-- column: mean_ns ns -- mean duration
-- column: p50_ns ns -- median duration
-- column: p99_ns ns -- 99th percentile
-- column: max_ns ns -- longest
-- column: gap_ns ns -- sum of the gaps before them
-- column: busy_pct pct -- share of their durations in which their GPUs worked for them
-- column: kernels count -- kernels
-- column: graph_kernel_pct pct -- share of these that launches of HIP graphs started
-- column: attention_pct pct -- share of kernel time in attention kernels
-- column: with_tokens count -- steps whose marker states tokens
-- column: prefill_requests count -- requests in their prefill, summed over the steps
-- column: decode_requests count -- requests in their decode, summed over the steps
-- column: prefill_tokens count -- tokens of prompts
-- column: decode_tokens count -- tokens of decodes
-- column: tokens_per_s number -- both over the durations of the steps with tokens
-- column: tokens_per_s_with_gaps number -- both over these durations and the gaps before the steps
{%- set quantities = 'duration_ns, busy_ns, gpu_ns, gap_ns, kernels, graph_kernels, kernel_ns, attention_ns, with_tokens, tokens, token_ns, token_gap_ns' %}
{%- set counts = ['prefill_requests', 'decode_requests', 'prefill_tokens', 'decode_tokens'] %}
WITH keyed AS (
    SELECT
        {{ keys_of('i') }}CAST(i.kind AS VARCHAR) AS kind,
        i.duration_ns, i.busy_ns, i.kernels, i.graph_kernels, i.kernel_ns,
        i.prefill_requests, i.decode_requests, i.prefill_tokens, i.decode_tokens,
        i.duration_ns * i.gpus AS gpu_ns,
        COALESCE(i.gap_before_ns, 0) AS gap_ns,
        i.prefill_attention_ns + i.decode_attention_ns + i.shared_attention_ns AS attention_ns,
        COALESCE(i.prefill_tokens + i.decode_tokens, 0) AS tokens,
        CASE WHEN i.prefill_tokens + i.decode_tokens IS NULL THEN 0 ELSE 1 END AS with_tokens
    FROM inference_steps AS i{{ join_processes('i') }}
),
summed AS (
    SELECT
        {{ keys }}kind,
        CAST(COUNT(*) AS BIGINT) AS steps,
        {{ sums('duration_ns, busy_ns, gpu_ns, gap_ns, kernels, graph_kernels, kernel_ns, attention_ns, with_tokens, tokens') }},
        {{ sum_if('with_tokens = 1', 'duration_ns') }} AS token_ns,
        {{ sum_if('with_tokens = 1', 'gap_ns') }} AS token_gap_ns,
        {%- for count in counts %}
        CASE WHEN COUNT({{ count }}) > 0 THEN CAST(SUM({{ count }}) AS BIGINT) END AS {{ count }},
        {%- endfor %}
        MEDIAN(CAST(duration_ns AS DOUBLE)) AS p50_ns,
        QUANTILE_CONT(CAST(duration_ns AS DOUBLE), 0.99) AS p99_ns,
        MAX(duration_ns) AS max_ns
    FROM keyed
    GROUP BY {{ keys }}kind
),
shared AS (
    SELECT
        {{ keys }}kind, steps, {{ quantities }}, {{ counts | join(', ') }}, p50_ns, p99_ns, max_ns,
        CAST(SUM(duration_ns) OVER ({{ per_group }}) AS BIGINT) AS all_ns
    FROM summed
)
SELECT
    {{ keys }}kind,
    steps,
    duration_ns AS total_ns,
    {{ percent('duration_ns', 'all_ns') }} AS share_pct,
    {{ ratio('duration_ns', 'steps') }} AS mean_ns,
    p50_ns,
    p99_ns,
    max_ns,
    gap_ns,
    {{ percent('busy_ns', 'gpu_ns') }} AS busy_pct,
    kernels,
    {{ percent('graph_kernels', 'kernels') }} AS graph_kernel_pct,
    {{ percent('attention_ns', 'kernel_ns') }} AS attention_pct,
    with_tokens,
    prefill_requests,
    decode_requests,
    prefill_tokens,
    decode_tokens,
    CASE WHEN with_tokens > 0 THEN CAST(1000000000 AS DOUBLE) * {{ ratio('tokens', 'token_ns') }} END AS tokens_per_s,
    CASE WHEN with_tokens > 0 THEN CAST(1000000000 AS DOUBLE) * {{ ratio('tokens', 'token_ns + token_gap_ns') }} END AS tokens_per_s_with_gaps
FROM shared
{{ order_by('kind') }}
