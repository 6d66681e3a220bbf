//! One training step: host threads make calls, calls queue work, GPUs run it. Ids are given later, when the order is known.

use anyhow::{Context, Result};

use crate::catalogue::{COPY_NAMES, LIGHT_CALLS, NESTED_CALLS};
use crate::device::{Direction, Gpu};
use crate::model::{Argument, KernelSymbol, Role, domain};
use crate::random::Random;

/// How many of everything the step must hold, exactly.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub layers: u64,
    pub compute: u64,
    pub collectives: u64,
    /// Launching calls for the compute kernels; fewer than kernels means graphs.
    pub compute_launches: u64,
    /// Calls beyond the necessary ones, spread over the launches.
    pub extra_calls: u64,
    pub copies: u64,
    pub allocations: u64,
    /// Whether calls and markers are recorded.
    pub traced: bool,
    /// Whether each kernel is waited for, as counter collection does.
    pub serialised: bool,
}

/// A host thread: its clock and the calls it is in.
#[derive(Debug)]
pub struct HostThread {
    pub id: i64,
    pub now_ns: u64,
    pub open_calls: Vec<usize>,
}

/// A call or marker range before it has an id.
#[derive(Debug)]
pub struct CallDraft {
    pub parent: Option<usize>,
    pub thread_id: i64,
    pub domain: &'static str,
    pub name: &'static str,
    pub message: Option<String>,
    pub start_ns: u64,
    pub end_ns: u64,
    pub arguments: Vec<Argument>,
}

/// A kernel before it has an id.
#[derive(Debug)]
pub struct DispatchDraft {
    pub call: usize,
    pub thread_id: i64,
    pub symbol: usize,
    pub agent_id: i64,
    pub queue_id: i64,
    pub stream_id: i64,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// A copy before it has an id.
#[derive(Debug)]
pub struct CopyDraft {
    pub call: usize,
    pub thread_id: i64,
    pub name: &'static str,
    pub source_agent_id: i64,
    pub target_agent_id: i64,
    pub bytes: u64,
    pub stream_id: i64,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// An allocation before it has an id; scratch has no call.
#[derive(Debug)]
pub struct AllocationDraft {
    pub call: Option<usize>,
    pub thread_id: i64,
    pub agent_id: Option<i64>,
    pub operation: &'static str,
    pub level: &'static str,
    pub address: i64,
    pub bytes: i64,
    pub queue_id: Option<i64>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// A step under construction.
pub struct Step<'a> {
    pub plan: Plan,
    /// For times.
    pub random: &'a mut Random,
    /// For which kernel is launched: equal in all passes of a rank, which record different things.
    pub choice: &'a mut Random,
    pub gpus: &'a mut [Gpu],
    pub threads: &'a mut [HostThread],
    pub symbols: &'a [KernelSymbol],
    /// Indices into `symbols` for each GPU and role.
    pub pools: &'a [(usize, Role, Vec<usize>)],
    pub streams: u64,
    /// Kernel time of this rank and of the slowest one, in percent.
    pub speed_percent: (u64, u64),
    pub calls: Vec<CallDraft>,
    pub dispatches: Vec<DispatchDraft>,
    pub copies: Vec<CopyDraft>,
    pub allocations: Vec<AllocationDraft>,
    pub marks: Vec<(usize, String)>,
    pub launches_done: u64,
    pub compute_done: u64,
    pub launch: Option<usize>,
    pub compute_ns: u64,
}

impl Step<'_> {
    /// The thread's clock.
    pub fn now_ns(&self, thread: usize) -> Result<u64> {
        Ok(self.threads.get(thread).context("no such thread")?.now_ns)
    }

    /// Lets the thread do something else until `time_ns`.
    pub fn wait_until(&mut self, thread: usize, time_ns: u64) -> Result<()> {
        let thread = self.threads.get_mut(thread).context("no such thread")?;
        thread.now_ns = thread.now_ns.max(time_ns);
        Ok(())
    }

    /// Enters a call.
    pub fn open(&mut self, thread: usize, call: (&'static str, &'static str)) -> Result<usize> {
        let (domain, name) = call;
        let lead_ns = self.random.between(120, 900);
        let index = self.calls.len();
        let thread = self.threads.get_mut(thread).context("no such thread")?;
        thread.now_ns += lead_ns;
        self.calls.push(CallDraft {
            parent: thread.open_calls.last().copied(),
            thread_id: thread.id,
            domain,
            name,
            message: None,
            start_ns: thread.now_ns,
            end_ns: 0,
            arguments: Vec::new(),
        });
        thread.open_calls.push(index);
        Ok(index)
    }

    /// Leaves a call after `tail_ns`.
    pub fn close(&mut self, thread: usize, call: usize, tail_ns: u64) -> Result<()> {
        let thread = self.threads.get_mut(thread).context("no such thread")?;
        thread.now_ns += tail_ns.max(1);
        thread.open_calls.retain(|open| *open != call);
        self.calls.get_mut(call).context("no such call")?.end_ns = thread.now_ns;
        Ok(())
    }

    fn leaf(&mut self, thread: usize, call: (&'static str, &'static str)) -> Result<()> {
        let index = self.open(thread, call)?;
        let tail_ns = self.random.between(90, 700);
        self.close(thread, index, tail_ns)
    }

    /// Begins a ROCTx range. It is not a parent: its correlation id is retired when the push returns.
    pub fn begin_range(&mut self, thread: usize, name: &'static str, message: String) -> Result<Option<usize>> {
        if !self.plan.traced {
            return Ok(None);
        }
        let index = self.open(thread, (domain::MARKER, name))?;
        let thread = self.threads.get_mut(thread).context("no such thread")?;
        thread.open_calls.retain(|open| *open != index);
        let call = self.calls.get_mut(index).context("no such call")?;
        call.parent = None;
        call.message = Some(message);
        Ok(Some(index))
    }

    /// Ends a ROCTx range.
    pub fn end_range(&mut self, thread: usize, range: Option<usize>) -> Result<()> {
        match range {
            Some(index) => self.close(thread, index, 250),
            None => Ok(()),
        }
    }

    /// A marker without duration.
    pub fn mark(&mut self, thread: usize, message: String) -> Result<()> {
        if let Some(index) = self.begin_range(thread, "roctxMarkA", message.clone())? {
            self.close(thread, index, 1)?;
            self.marks.push((index, message));
        }
        Ok(())
    }

    /// The share of the extra calls that belongs to the next launch.
    fn next_extra_calls(&mut self) -> u64 {
        let launches = (self.plan.compute_launches + self.plan.collectives).max(1);
        let before = self.plan.extra_calls * self.launches_done / launches;
        self.launches_done += 1;
        self.plan.extra_calls * self.launches_done / launches - before
    }

    /// Makes a launching call with its nested calls; what it launches may run from the returned time on.
    fn launching_call(&mut self, thread: usize, call: (&'static str, &'static str)) -> Result<(usize, u64)> {
        let extra_calls = self.next_extra_calls();
        let nested_calls = extra_calls.min(NESTED_CALLS.len() as u64);
        for light in LIGHT_CALLS.into_iter().cycle().take((extra_calls - nested_calls) as usize) {
            self.leaf(thread, light)?;
        }
        let index = self.open(thread, call)?;
        let ready_ns = self.now_ns(thread)? + self.random.between(2_500, 5_500);
        for nested in NESTED_CALLS.into_iter().take(nested_calls as usize) {
            self.leaf(thread, nested)?;
        }
        let tail_ns = self.random.between(1_800, 4_500);
        self.close(thread, index, tail_ns)?;
        Ok((index, ready_ns))
    }

    /// Launches a compute kernel, or lets it be part of the last graph.
    pub fn launch_compute(&mut self, thread: usize, gpu: usize, role: Role) -> Result<()> {
        let kernels = self.plan.compute.max(1);
        let share = |done: u64| (done * self.plan.compute_launches).div_ceil(kernels);
        let own_call = share(self.compute_done + 1) > share(self.compute_done);
        // Two in three kernels are on the first stream; the rest runs alongside them.
        let compute_streams = self.streams.saturating_sub(1).max(1);
        let stream = match self.compute_done % 3 {
            2 => 1 + self.compute_done / 3 % compute_streams.saturating_sub(1).max(1),
            _ => 0,
        };
        let stream = stream.min(compute_streams - 1);
        self.compute_done += 1;
        let name = if self.plan.compute_launches < self.plan.compute { "hipGraphLaunch" } else { "hipLaunchKernel" };
        let (call, ready_ns) = match self.launch {
            Some(call) if !own_call => (call, self.now_ns(thread)?),
            _ => self.launching_call(thread, (domain::HIP, name))?,
        };
        self.launch = Some(call);
        self.dispatch(thread, gpu, stream, role, call, ready_ns)
    }

    /// Launches a collective that needs what the GPU's first stream has computed so far.
    pub fn launch_collective(&mut self, thread: usize, gpu: usize) -> Result<()> {
        let collective = self.open(thread, (domain::RCCL, "ncclAllReduce"))?;
        let (call, ready_ns) = self.launching_call(thread, (domain::HIP, "hipExtLaunchKernel"))?;
        let tail_ns = self.random.between(1_500, 3_000);
        self.close(thread, collective, tail_ns)?;
        let needed_ns = self.gpus.get(gpu).map_or(0, |gpu| gpu.stream_done_ns(0));
        let stream = self.streams - 1;
        self.dispatch(thread, gpu, stream, Role::Communication, call, ready_ns.max(needed_ns + 900))
    }

    fn dispatch(
        &mut self,
        thread: usize,
        gpu_index: usize,
        stream: u64,
        role: Role,
        call: usize,
        ready_ns: u64,
    ) -> Result<()> {
        let (_, _, pool) = self
            .pools
            .iter()
            .find(|(gpu, pool_role, _)| *gpu == gpu_index && *pool_role == role)
            .with_context(|| format!("no kernels of role {role:?}"))?;
        let chosen = self.choice.between(0, pool.len() as u64) as usize;
        let symbol = pool.get(chosen).copied().context("empty kernel pool")?;
        let template = self.symbols.get(symbol).context("no symbol")?.template;
        let (own_percent, slowest_percent) = self.speed_percent;
        let mut duration_ns = self.random.around(template.base_duration_ns) * own_percent / 100;
        if role == Role::Communication {
            // Whoever is early waits for the slowest rank inside the collective.
            duration_ns += self.compute_ns * (slowest_percent - own_percent) / 100;
            self.compute_ns = 0;
        } else {
            self.compute_ns += duration_ns;
        }
        let thread_id = self.calls.get(call).context("no such call")?.thread_id;
        let gpu = self.gpus.get_mut(gpu_index).context("no such GPU")?;
        let (start_ns, end_ns) = gpu.run_kernel(self.random, stream, ready_ns, duration_ns);
        self.dispatches.push(DispatchDraft {
            call,
            thread_id,
            symbol,
            agent_id: gpu.agent_id,
            queue_id: gpu.first_queue_id + gpu.queue_of(stream) as i64,
            stream_id: gpu.first_stream_id + stream as i64,
            start_ns,
            end_ns,
        });
        if self.plan.serialised {
            let pause_ns = self.random.between(20_000, 60_000);
            self.wait_until(thread, end_ns + pause_ns)?;
        }
        Ok(())
    }

    /// Copies between the host, a GPU and its neighbour.
    pub fn copy(&mut self, thread: usize, direction: Direction, gpu_index: usize) -> Result<()> {
        let bytes = 1_u64 << self.random.between(14, 24);
        let call = self.open(thread, (domain::HIP, "hipMemcpyAsync"))?;
        let ready_ns = self.now_ns(thread)? + self.random.between(2_500, 5_000);
        self.leaf(thread, (domain::HSA_AMD, "hsa_amd_memory_async_copy_on_engine"))?;
        let tail_ns = self.random.between(1_500, 4_000);
        self.close(thread, call, tail_ns)?;
        let neighbour = (gpu_index + 1) % self.gpus.len().max(1);
        let neighbour_id = self.gpus.get(neighbour).context("no such GPU")?.agent_id;
        let thread_id = self.calls.get(call).context("no such call")?.thread_id;
        let gpu = self.gpus.get_mut(gpu_index).context("no such GPU")?;
        let (source_agent_id, target_agent_id, name_index, kind) = match direction {
            Direction::ToDevice => (0, gpu.agent_id, 0, "hipMemcpyHostToDevice"),
            Direction::ToHost => (gpu.agent_id, 0, 1, "hipMemcpyDeviceToHost"),
            Direction::BetweenDevices => (gpu.agent_id, neighbour_id, 2, "hipMemcpyDeviceToDevice"),
            Direction::Within => (gpu.agent_id, gpu.agent_id, 2, "hipMemcpyDeviceToDevice"),
        };
        let ready_ns = match direction {
            Direction::ToDevice => ready_ns,
            // Results must have been computed before they can be copied.
            _ => ready_ns.max(gpu.stream_done_ns(0)),
        };
        let (start_ns, end_ns) = gpu.run_copy(direction, ready_ns, bytes);
        let stream_id = gpu.first_stream_id;
        let draft = self.calls.get_mut(call).context("no such call")?;
        draft.arguments = vec![
            argument("void*", "dst", format!("0x7e{:010x}", 0x4000_0000 + bytes)),
            argument("const void*", "src", format!("0x7d{bytes:010x}")),
            argument("size_t", "sizeBytes", bytes.to_string()),
            argument("hipMemcpyKind", "kind", kind.to_owned()),
            argument("hipStream_t", "stream", format!("{stream_id:#x}")),
        ];
        self.copies.push(CopyDraft {
            call,
            thread_id,
            name: COPY_NAMES.get(name_index).copied().unwrap_or(""),
            source_agent_id,
            target_agent_id,
            bytes,
            stream_id,
            start_ns,
            end_ns,
        });
        Ok(())
    }

    /// `hipMalloc` or `hipFree` with the HSA call inside.
    pub fn allocate(&mut self, thread: usize, gpu: usize, draft: Request) -> Result<()> {
        let names = if draft.operation == "ALLOC" {
            ("hipMalloc", "hsa_amd_memory_pool_allocate")
        } else {
            ("hipFree", "hsa_amd_memory_pool_free")
        };
        let call = self.open(thread, (domain::HIP, names.0))?;
        let inner = self.open(thread, (domain::HSA_AMD, names.1))?;
        let start_ns = self.now_ns(thread)? + 50;
        let duration_ns = self.random.between(4_000, 40_000);
        self.close(thread, inner, duration_ns)?;
        self.close(thread, call, 800)?;
        let outer = self.calls.get_mut(call).context("no such call")?;
        outer.arguments = vec![argument("void*", "ptr", format!("{:#x}", draft.address))];
        if draft.bytes > 0 {
            let bytes = argument("size_t", "size", draft.bytes.to_string());
            outer.arguments.push(bytes);
        }
        let agent_id = self.gpus.get(gpu).map(|gpu| gpu.agent_id);
        self.allocations.push(AllocationDraft {
            call: Some(call),
            thread_id: outer.thread_id,
            agent_id: agent_id.filter(|_| draft.operation == "ALLOC"),
            operation: draft.operation,
            level: "REAL",
            address: draft.address,
            bytes: draft.bytes,
            queue_id: None,
            start_ns,
            end_ns: start_ns + duration_ns - 100,
        });
        Ok(())
    }

    /// Waits for the GPUs and returns when they are done.
    pub fn synchronise(&mut self, thread: usize) -> Result<u64> {
        let call = self.open(thread, (domain::HIP, "hipStreamSynchronize"))?;
        let inner = self.open(thread, (domain::HSA, "hsa_signal_wait_scacquire"))?;
        let done_ns = self.gpus.iter().map(Gpu::all_done_ns).max().unwrap_or(0);
        self.wait_until(thread, done_ns + 2_000)?;
        self.close(thread, inner, 700)?;
        self.close(thread, call, 900)?;
        self.now_ns(thread)
    }
}

/// A request to `hipMalloc` or `hipFree`.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub operation: &'static str,
    pub address: i64,
    pub bytes: i64,
}

fn argument(type_name: &'static str, name: &'static str, value: String) -> Argument {
    Argument { type_name, name, value }
}
