-- title: Inference steps
-- about: Steps of LLM servers with their kind (prefill, decode, mixed, other), what it is known by, requests and tokens by the marker, GPU time, launches and attention kernels. Without markers of vLLM, SGLang or ATOM a step ends with the choice of its tokens. `evidence` states what decided; `other` means that nothing decided.
-- kind: trace
-- needs: inference_steps
-- by:
-- dimensions:
-- column: rank id -- rank
-- column: process id -- process
-- column: step id -- ordinal of the step, from 0
-- column: kind text -- prefill, decode, mixed or other
-- column: known_by text -- marker, kernels (names of attention kernels) or sizes (tokens by grid, against other steps)
-- column: prefill_requests count -- requests in their prefill, by the marker
-- column: prefill_tokens count -- tokens of prompts computed, by the marker
-- column: decode_requests count -- requests in their decode, by the marker
-- column: decode_tokens count -- tokens computed for them, by the marker
-- column: grid_tokens count -- workgroups of kernels that start one for each token, padding included
-- column: start_ns ns -- first start of its kernels and copies
-- column: duration_ns ns -- first start to last end
-- column: gap_before_ns ns -- from the end of all steps before it, 0 if one still ran
-- column: busy_ns ns -- time with at least one of its kernels or copies running, summed over its GPUs
-- column: busy_pct pct -- share of the duration on its GPUs
-- column: kernels count -- kernels
-- column: graph_launches count -- launches of HIP graphs
-- column: graph_kernels count -- kernels that they started
-- column: prefill_attention count -- attention kernels for prompts
-- column: prefill_attention_ns ns -- their time
-- column: decode_attention count -- attention kernels for single tokens
-- column: decode_attention_ns ns -- their time
-- column: shared_attention count -- attention kernels for both, or whose name does not show which
-- column: shared_attention_ns ns -- their time
-- column: marker text -- text of the range of the step
-- column: evidence text -- what the kind was decided by
SELECT
    rank,
    process,
    step,
    CAST(kind AS VARCHAR) AS kind,
    CAST(known_by AS VARCHAR) AS known_by,
    prefill_requests,
    prefill_tokens,
    decode_requests,
    decode_tokens,
    grid_tokens,
    start_ns,
    duration_ns,
    gap_before_ns,
    busy_ns,
    {{ percent('busy_ns', 'duration_ns * gpus') }} AS busy_pct,
    kernels,
    graph_launches,
    graph_kernels,
    prefill_attention,
    prefill_attention_ns,
    decode_attention,
    decode_attention_ns,
    shared_attention,
    shared_attention_ns,
    marker,
    evidence
FROM inference_steps
ORDER BY rank NULLS FIRST, process NULLS FIRST, step NULLS FIRST
