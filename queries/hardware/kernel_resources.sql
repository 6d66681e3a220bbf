-- title: Kernel resources
-- about: Registers, LDS and workgroups of every kernel, how many of its wavefronts fit on a SIMD unit, what limits them, and what a little less of that would give; most time first. Wavefronts per SIMD unit are what fits at most, in whole workgroups, and not what was reached. Over all dispatches of the trace, whatever the window.
-- kind: summary
-- needs: kernel_resources kernel_symbols processes
-- by:
-- dimensions: rank, gpu, process, node, hostname, category
-- param: top int = 0 -- first N rows of each group, 0 = all
-- column: kernel_name name -- kernel, in the name form that was asked for
-- column: architecture name -- LLVM target of the GPU, null when it is not recorded
-- column: vgpr count -- vector registers of a work-item, as recorded
-- column: accum_vgpr count -- accumulation registers of a work-item, as recorded
-- column: sgpr count -- scalar registers of a wavefront, as recorded
-- column: lds_bytes bytes -- LDS of a workgroup, with what was asked for at the launch
-- column: scratch_bytes bytes -- scratch memory of a work-item
-- column: workgroup_x count -- work-items of a workgroup in x
-- column: workgroup_y count -- work-items of a workgroup in y
-- column: workgroup_z count -- work-items of a workgroup in z
-- column: dispatches count -- dispatches
-- column: total_ns ns -- sum of their durations
-- column: waves_per_workgroup count -- wavefronts of a workgroup
-- column: allocated_vgpr count -- registers that a work-item occupies, accumulation registers included where they share the file
-- column: max_waves_per_simd count -- wavefront slots of a SIMD unit
-- column: vgpr_waves count -- wavefronts per SIMD unit that vector registers leave room for
-- column: sgpr_waves count -- wavefronts per SIMD unit that scalar registers leave room for
-- column: lds_waves number -- wavefronts per SIMD unit that LDS leaves room for
-- column: workgroup_waves number -- wavefronts per SIMD unit of the most workgroups that slots and barriers allow
-- column: waves_per_simd number -- wavefronts per SIMD unit that fit
-- column: occupancy_pct pct -- share of the wavefront slots
-- column: limited_by text -- none, workgroup size, vgpr, sgpr, lds or barriers
-- column: next_waves_per_simd number -- wavefronts per SIMD unit at the next step of what limits them; null where that alone does not help
-- column: next_step count -- registers or bytes less that it takes
-- column: unknown text -- why the occupancy is not known
{%- set used = 'vgpr, accum_vgpr, sgpr, lds_bytes, scratch_bytes, workgroup_x, workgroup_y, workgroup_z' %}
WITH shapes AS (
    SELECT
        {{ keys_of('r') }}{{ kernel_text('r') }},
        CAST(r.architecture AS VARCHAR) AS architecture,
        r.vgpr, r.accum_vgpr, r.sgpr, r.lds_bytes, r.scratch_bytes, r.workgroup_x, r.workgroup_y,
        r.workgroup_z, r.dispatches, r.total_ns, r.waves_per_workgroup, r.allocated_vgpr,
        r.max_waves_per_simd, r.vgpr_waves, r.sgpr_waves, r.lds_waves, r.workgroup_waves, r.waves_per_simd,
        r.occupancy_pct,
        CAST(r.limited_by AS VARCHAR) AS limited_by,
        r.next_waves_per_simd, r.next_step,
        CAST(r.unknown AS VARCHAR) AS unknown
    FROM kernel_resources AS r{{ join_symbols('r') }}{{ join_processes('r') }}
),
summed AS (
    SELECT
        {{ keys }}kernel_name, architecture,
        {{ used }},
        waves_per_workgroup, allocated_vgpr, unknown,
        {{ sums('dispatches, total_ns') }},
        MAX(max_waves_per_simd) AS max_waves_per_simd,
        MAX(vgpr_waves) AS vgpr_waves,
        MAX(sgpr_waves) AS sgpr_waves,
        MAX(lds_waves) AS lds_waves,
        MAX(workgroup_waves) AS workgroup_waves,
        MAX(waves_per_simd) AS waves_per_simd,
        MAX(occupancy_pct) AS occupancy_pct,
        MAX(limited_by) AS limited_by,
        MAX(next_waves_per_simd) AS next_waves_per_simd,
        MAX(next_step) AS next_step
    FROM shapes
    GROUP BY {{ keys }}kernel_name, architecture, {{ used }}, waves_per_workgroup, allocated_vgpr, unknown
)
{%- if top > 0 and by %},
placed AS (
    SELECT
        *,
        ROW_NUMBER() OVER (
            PARTITION BY {{ by | join(', ') }}
            ORDER BY
                -total_ns NULLS LAST,
                kernel_name NULLS LAST,
                architecture NULLS LAST,
                {{ used | replace(',', ' NULLS LAST,') }} NULLS LAST,
                waves_per_workgroup NULLS LAST,
                allocated_vgpr NULLS LAST,
                unknown NULLS LAST
        ) AS place
    FROM summed
)
{%- endif %}
SELECT
    {{ keys }}kernel_name,
    architecture,
    {{ used }},
    dispatches,
    total_ns,
    waves_per_workgroup,
    allocated_vgpr,
    max_waves_per_simd,
    vgpr_waves,
    sgpr_waves,
    lds_waves,
    workgroup_waves,
    waves_per_simd,
    occupancy_pct,
    limited_by,
    next_waves_per_simd,
    next_step,
    unknown
FROM {{ 'placed' if top > 0 and by else 'summed' }}
{{ top_by('total_ns DESC, kernel_name, architecture, ' ~ used ~ ', waves_per_workgroup, allocated_vgpr, unknown') }}
