# Read by tests/run.sh: traces that steps read. Without the real ones, steps use the fixtures alone.

find_inputs() {
  database_inputs=(fixtures/{two_nodes,hostile,merged,counters})
  other_inputs=(fixtures/{two_nodes_json,counters_json,planted,kineto_two_ranks})
  derived_inputs=(fixtures/{two_nodes,hostile,counters})
  filter_inputs=(fixtures/{two_nodes_json,hostile,merged,counters})
  comparison_inputs=(fixtures/{two_nodes,merged,hostile})
  viewer_inputs=(fixtures/{two_nodes,merged,hostile})
  kineto_inputs=(fixtures/kineto_two_ranks)
  figure_inputs=(fixtures/{two_nodes,hostile,merged,counters,compute,thread_trace,profile,planted,scheduled,kineto_two_ranks})
  timeline_inputs=(fixtures/{two_nodes,planted,hostile,counters,kineto_two_ranks})
  view_inputs=(fixtures/two_nodes/node*/*.db fixtures/kineto_two_ranks/node0/*.json.gz)
  json_908="$WAVESIEVE_DATA/rocprofv3-json/908_results.json.gz"
  tracelens_908="$WAVESIEVE_DATA/tracelens-908"
  if [ ! -d "$WAVESIEVE_DATA" ]; then
    echo "WARNING: $WAVESIEVE_DATA is absent: checks run on the fixtures only (set WAVESIEVE_DATA)" >&2
    return
  fi
  # The folder of markers holds the RPD file it was made from too.
  local real="$WAVESIEVE_DATA" markers="$WAVESIEVE_DATA/rocpd-markers/rank2_1560_results.db"
  database_inputs+=("$real"/{rocpd-real,rocpd-ranks} "$markers" "$real/rocpd-pmc")
  other_inputs+=("$real"/{rocprofv3-json,rpd-ranks,csv/gfx1151})
  derived_inputs+=("$real"/{rocpd-real,rocpd-ranks/rank0_81681_results.db} "$markers" "$real/rocpd-pmc")
  filter_inputs+=("$real"/{rocpd-markers,rocpd-pmc})
  comparison_inputs+=("$real"/rocpd-ranks/rank{0_81681,3_81684}_results.db "$markers")
  viewer_inputs+=("$real"/rocpd-{ranks,pmc})
  figure_inputs+=("$real"/{rocpd-ranks,rocpd-markers/raptor.rpd.gz,kineto/single/mi300x_ddp_resnet18.json.gz,perfetto/csc-taylor})
  timeline_inputs+=("$json_908" "$real"/{rocpd-ranks,kineto/single/mi300x_ddp_resnet18.json.gz,perfetto/csc-taylor,rocpd-markers/raptor.rpd.gz})
  view_inputs+=("$json_908" "$real"/rocpd-ranks/*.db)
  kineto_inputs+=("$real"/{kineto,pairs/kineto-flux,pairs/kineto-normlayer})
}
