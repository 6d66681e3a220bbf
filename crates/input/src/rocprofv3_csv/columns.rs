//! The columns of all kinds of files, in every known spelling.

use crate::common::csv::columns;

columns! {
    Guid Text "Id of the capture, of rocpd convert." "guid";
    Kind Text "Kind of record." "kind";
    Domain Text "Kind of call." "domain";
    Function Text "Name of a call, or text of a marker." "function";
    Direction Text "Direction of a copy." "direction";
    Operation Text "What an allocation or event did." "operation";
    ProcessId Integer "Process id." "process_id" "pid";
    ThreadId Integer "Thread id." "thread_id" "tid";
    Correlation Integer "Internal correlation id." "correlation_id";
    Start Integer "Start." "start_timestamp" "start";
    End Integer "End." "end_timestamp" "end";
    Time Integer "Time of a sample." "sample_timestamp" "timestamp";
    Agent Agent "Agent." "agent_id";
    SourceAgent Agent "Agent that is copied from." "source_agent_id" "src_agent_id";
    DestinationAgent Agent "Agent that is copied to." "destination_agent_id" "dst_agent_id";
    Queue Integer "Queue." "queue_id";
    SourceQueue Integer "Queue that was waited for." "source_queue_id";
    Stream Integer "Stream." "stream_id";
    Dispatch Integer "Dispatch." "dispatch_id";
    KernelId Integer "Kernel symbol." "kernel_id";
    KernelName Text "Name of the kernel." "kernel_name";
    Lds Integer "LDS of a workgroup." "lds_block_size" "group_segment_size" "lds_block_size_v";
    Scratch Integer "Scratch memory of a work-item." "scratch_size" "private_segment_size";
    Vgpr Integer "Vector registers." "vgpr_count" "arch_vgpr_count";
    AccumVgpr Integer "Accumulation registers." "accum_vgpr_count";
    Sgpr Integer "Scalar registers." "sgpr_count";
    WorkgroupX Integer "Workgroup size in x." "workgroup_size_x";
    WorkgroupY Integer "Workgroup size in y." "workgroup_size_y";
    WorkgroupZ Integer "Workgroup size in z." "workgroup_size_z";
    GridX Integer "Grid size in x." "grid_size_x";
    GridY Integer "Grid size in y." "grid_size_y";
    GridZ Integer "Grid size in z." "grid_size_z";
    Workgroup Integer "Work-items of a workgroup." "workgroup_size";
    Grid Integer "Work-items of the grid." "grid_size";
    CounterName Text "Counter." "counter_name";
    CounterValue Float "Value of a counter." "counter_value";
    Bytes Integer "Bytes." "allocation_size" "copy_bytes" "bytes" "size";
    Address Integer "Address." "address";
    Flags Integer "Flags of an allocation." "alloc_flags" "flags";
    ExecMask Integer "Active lanes." "exec_mask";
    Instruction Text "Instruction." "instruction";
    Comment Text "Source of the instruction." "instruction_comment";
    Issued Integer "Whether the wavefront issued an instruction." "wave_issued_instruction";
    InstructionType Text "Type of the instruction." "instruction_type";
    StallReason Text "Why nothing was issued." "stall_reason";
    GraphExec Integer "HIP graph execution." "graph_exec_id";
    GraphNode Integer "HIP graph node." "graph_node_id";
    GraphKernels Integer "Dispatches of a graph launch." "kernel_dispatch_count";
    EventHandle Integer "HIP event." "event_handle" "hip_event_handle";
    Duration Unused "End minus start." "duration";
    WaveCount Unused "Wavefronts of a sample." "wave_count";
    ReplayPass Integer "Repetition of a dispatch." "replay_pass";
}
