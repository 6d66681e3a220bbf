-- title: Counter values
-- about: Every counter of every dispatch. The value is the sum over the hardware instances.
-- kind: trace
-- needs: counters counter_dispatches kernel_symbols
-- param: top int = 0 -- first N rows, 0 = all
-- column: rank id -- rank
-- column: process id -- process, a counter pass may be one of its own
-- column: pass id -- counter pass
-- column: dispatch_id id -- dispatch
-- column: gpu id -- GPU of the process
-- column: kernel_name name -- kernel
-- column: start_ns ns -- start of the dispatch in that pass
-- column: duration_ns ns -- its duration in that pass
-- column: counter name -- counter
-- column: value number -- sum over the instances
-- column: min number -- least of the instances
-- column: max number -- greatest of the instances
-- column: mean number -- mean over the instances
-- column: instances count -- instances recorded
SELECT
    c.rank,
    c.process,
    c.pass,
    c.dispatch_id,
    k.gpu,
    {{ kernel_text('k') }},
    k.start_ns,
    k.duration_ns,
    CAST(c.counter AS VARCHAR) AS counter,
    c.value,
    c.min AS "min",
    c.max AS "max",
    c.mean,
    c.instances
FROM counters AS c
JOIN counter_dispatches AS k ON k.process = c.process AND k.pass = c.pass AND k.dispatch_id = c.dispatch_id
{{- join_symbols('k') }}
{{ top_by('c.rank, c.process, c.pass, k.start_ns, c.dispatch_id, CAST(c.counter AS VARCHAR)') }}
